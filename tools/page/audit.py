"""An audit's report as one HTML page: self-contained, readable aloud, on paper, in the dark (SPEC §11.3). Pure."""

from collections import Counter
from html import escape
from typing import Final

from braid.ledger.audit.findings import MEANING, Finding, Report

MAX_ROWS: Final = 5_000
_MODES: Final = {"full": "full audit", "deep": "deep audit", "hash": "hashes only, no signatures"}
_NOT_LOOKED: Final = {
    "hash": (
        "author signatures, payloads, links, bodies",
        "the content of bodies",
        "projections",
    ),
    "full": ("the content of bodies (a deep audit opens them)", "projections (a deep audit compares them)"),
    "deep": (),
}
_STYLE: Final = """
:root{color-scheme:light dark;--ink:#1b1f24;--dim:#59636e;--paper:#fff;--line:#d1d9e0;--soft:#f6f8fa;
--good:#116329;--good-bg:#dafbe1;--bad:#a40e26;--bad-bg:#ffebe9;--warn:#7d4e00;--warn-bg:#fff8c5}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#9198a1;--paper:#0d1117;--line:#3d444d;--soft:#161b22;
--good:#7ee787;--good-bg:#12261e;--bad:#ff9492;--bad-bg:#25171c;--warn:#e3b341;--warn-bg:#272115}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:62rem;margin:0 auto;padding:2rem 1.25rem 4rem}h1{font-size:1.6rem;margin:0 0 .25rem}
h2{font-size:1.15rem;margin:2.25rem 0 .75rem}p{margin:.4rem 0}.dim{color:var(--dim)}
.verdict{margin:1.25rem 0;padding:1rem 1.25rem;border-left:.4rem solid;
border-radius:.4rem;font-size:1.1rem;font-weight:600}
.good{color:var(--good);background:var(--good-bg)}.bad{color:var(--bad);background:var(--bad-bg)}
.warn{color:var(--warn);background:var(--warn-bg)}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:.75rem;margin:0}
dl div{background:var(--soft);border:1px solid var(--line);border-radius:.4rem;padding:.6rem .8rem}
dt{color:var(--dim);font-size:.85rem}dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.wide{grid-column:1/-1}code{font:.88em ui-monospace,monospace;overflow-wrap:anywhere}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}
caption{text-align:left;color:var(--dim);padding-bottom:.4rem}
th,td{text-align:left;vertical-align:top;padding:.45rem .7rem;border-bottom:1px solid var(--line)}
thead th{background:var(--soft)}tbody th{font-weight:600;white-space:nowrap}
li{margin:.2rem 0}@media print{main{max-width:none;padding:0}.verdict{border:2px solid}}
""".strip().replace("\n", "")


def render_html(report: Report, title: str = "Audit of a Braid store") -> str:
    """Return one HTML page: verdict, figures, findings with their positions, what was looked at and what was not."""
    tone = "bad" if report.findings else "warn" if report.could_not_look else "good"
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>",
        f"<header>\n<h1>{escape(title)}</h1>",
        f'<p class="dim">{escape(report.store)} · {_MODES[report.mode]} · {escape(report.verified_at)}</p>\n</header>',
        f'<p class="verdict {tone}" role="status">{escape(_capital(report.verdict))}.</p>',
        _figures(report),
        _findings(report.findings),
        _list("What could not be looked at", report.could_not_look),
        _list("Notes", report.notes),
        _list("What was checked", report.checked),
        _list("What was not", _not_looked(report)),
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _figures(report: Report) -> str:
    seconds = max(report.seconds, 1e-9)
    rows = [
        ("Records audited", f"{report.records:,}", ""),
        ("From record", f"{report.verified_from:,}", ""),
        ("Records in the log", f"{report.size:,}", ""),
        ("Under the signed head", f"{report.head_size:,}", ""),
        ("Bytes read", f"{report.bytes:,}", ""),
        ("Time", f"{report.seconds:.2f} s", ""),
        ("Rate", f"{report.records / seconds:,.0f} records/s, {report.bytes / seconds / 1e6:,.1f} MB/s", ""),
        ("Last record of", report.head_time or "not known", ""),
        ("Root", report.root or "not known", "wide"),
        ("Log key", report.vkey or "not known", "wide"),
    ]
    cells = "\n".join(
        f"<div{f' class={chr(34)}{css}{chr(34)}' if css else ''}><dt>{name}</dt><dd>{_value(value, css)}</dd></div>"
        for name, value, css in rows
    )
    return f'<section aria-labelledby="figures">\n<h2 id="figures">Figures</h2>\n<dl>\n{cells}\n</dl>\n</section>'


def _value(value: str, css: str) -> str:
    return f"<code>{escape(value)}</code>" if css else escape(value)


def _findings(findings: list[Finding]) -> str:
    if not findings:
        return ""
    shown = findings[:MAX_ROWS]
    counts = ", ".join(f"{count} × {kind}" for kind, count in Counter(f.kind for f in findings).most_common())
    left = "" if len(shown) == len(findings) else f"; the first {MAX_ROWS:,} are listed"
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("Kind", "Record", "Where", "What is wrong"))
    rows = "\n".join(map(_row, shown))
    meanings = "\n".join(
        f"<li><b>{kind}</b>: {escape(MEANING[kind])}</li>"
        for kind in sorted({finding.kind for finding in findings})
    )
    return (
        f'<section aria-labelledby="findings">\n<h2 id="findings">Findings</h2>\n<div class="scroll" tabindex="0" '
        f'role="region" aria-labelledby="findings">\n<table>\n<caption>{escape(counts)}{left}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>\n<ul>\n{meanings}\n</ul>\n</section>"
    )


def _row(finding: Finding) -> str:
    record = "" if finding.index is None else f"{finding.index:,}"
    if finding.index is not None and finding.count > 1:
        record = f"{finding.index:,} to {finding.index + finding.count - 1:,}"
    if finding.id:
        record += f"<br><code>{escape(finding.id)}</code>"
    where = "" if finding.file is None else f"<code>{escape(finding.file)}</code>"
    if finding.offset is not None:
        where += f"<br>offset {finding.offset:,}"
    return (
        f'<tr><th scope="row">{escape(finding.kind)}</th><td>{record}</td><td>{where}</td>'
        f"<td>{escape(finding.message)}</td></tr>"
    )


def _not_looked(report: Report) -> list[str]:
    what = list(_NOT_LOOKED[report.mode])
    if report.verified_from:
        what.insert(
            0, f"records 0 to {report.verified_from - 1:,}: they stand on the audit before, under its root"
        )
    return what


def _list(name: str, items: list[str]) -> str:
    if not items:
        return ""
    rows = "\n".join(f"<li>{escape(_capital(item))}</li>" for item in items)
    return f"<section>\n<h2>{name}</h2>\n<ul>\n{rows}\n</ul>\n</section>"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
