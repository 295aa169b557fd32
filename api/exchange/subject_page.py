"""A subject's records as one HTML page for a person: self-contained, for screen, paper and a screen reader. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, Final, cast

from braid.ledger.record.source import voice_of_source
from braid.ledger.subject.format import Change, HeldRecord, LinkOut, MediaFile, OtherRecord, Summary

_STYLE: Final = """
:root{color-scheme:light dark;--ink:#1b1f24;--dim:#59636e;--paper:#fff;--line:#d1d9e0;--soft:#f6f8fa;--own:#1d4ed8;
--derived:#6d28d9;--gone:#9a3412}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#9198a1;--paper:#0d1117;--line:#3d444d;--soft:#161b22;
--own:#79b8ff;--derived:#c4a7ff;--gone:#ffa657}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:52rem;margin:0 auto;padding:2rem 1.25rem 4rem}h1{font-size:1.6rem;margin:0 0 .25rem}
h2{font-size:1.2rem;margin:2.25rem 0 .75rem}h3{font-size:1rem;margin:0 0 .3rem}p{margin:.4rem 0}.dim{color:var(--dim)}
article{border:1px solid var(--line);border-left:.35rem solid var(--own);border-radius:.4rem;padding:.8rem 1rem;
margin:.8rem 0;break-inside:avoid}article.derived{border-left-color:var(--derived)}article.gone{border-style:dashed}
.said{white-space:pre-wrap;overflow-wrap:anywhere;font-size:1.05rem;margin:.3rem 0 .6rem}
.mark{color:var(--gone);font-weight:600}dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .9rem;margin:0;
font-size:.9rem}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}code{font:.86em ui-monospace,monospace}
.figures{grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.6rem;font-size:1rem}
.figures div{background:var(--soft);border:1px solid var(--line);border-radius:.4rem;padding:.5rem .7rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:.6rem;border-radius:.4rem;margin:.3rem 0}
table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{text-align:left;vertical-align:top;
padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
@media print{main{max-width:none;padding:0}body{font-size:11pt}a{color:inherit}}
""".strip().replace("\n", "")
_FIGURES: Final = {
    "own": "about or by the subject",
    "derived": "derived from these",
    "shared": "of them from others' records, too",
    "forgotten": "forgotten, not yet erased",
    "others": "linked, named by id only",
    "claims": "claims",
    "media": "media files",
}
_SHOWN: Final = frozenset((
    "id", "kind", "type", "created_at", "content", "question", "provenance", "occurred_at", "sign", "key_id", "index",
    "scope", "parents", "evidence_ptrs", "supersedes", "applied_to", "provenance_braid", "experience_id",
))  # fmt: skip
"""Members of a record that the page shows in a way of their own, or as links."""
_LABELS: Final = {"embeddings": "claims and indexes", "imported": "came from another log"}
_NOTHING: Final[tuple[Any, ...]] = (None, "", [], {})


def render_page(summary: Summary, records: Iterable[HeldRecord]) -> Iterator[str]:
    """Yield the page: who, how much, every record with where it is from, what was changed, how to check it."""
    yield from (f"{part}\n" for part in _parts(summary, records) if part)


def _parts(summary: Summary, records: Iterable[HeldRecord]) -> Iterator[str]:
    who = ", ".join(f"{name} = {value}" for name, value in summary.subject.items())
    figures = "".join(
        f"<div><dt>{label}</dt><dd>{getattr(summary.counts, name)}</dd></div>"
        for name, label in _FIGURES.items()
    )
    yield from (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>What is held about {escape(who)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>",
        f"<header>\n<h1>What is held about <bdi>{escape(who)}</bdi></h1>",
        f'<p class="dim">From the log {escape(summary.origin)}, as it stood at record {summary.checkpoint.size}; '
        f"made {escape(summary.made_at)}.</p>\n</header>",
        f'<section aria-label="Figures"><dl class="figures">{figures}</dl></section>',
        "<section>\n<h2>Records</h2>",
    )
    yield from map(_article, records)
    yield from (
        "</section>",
        _changes(summary.changes),
        _others(summary.others),
        _checking(summary),
        "</main>\n</body>\n</html>",
    )


def _article(held: HeldRecord) -> str:
    record = held.record
    content: dict[str, Any] = record.get("content") or {}
    css = f"{held.belongs} gone" if held.forgotten else held.belongs
    when = _second(str(record.get("occurred_at") or held.created_at))
    text = content.get("text") or record.get("question")
    rest = {_LABELS.get(name, name): value for name, value in record.items() if name not in _SHOWN and value}
    facts = [*_facts(held).items(), *((name, escape(_words(value))) for name, value in rest.items())]
    parts = (
        f'<article class="{css}" id="{escape(held.id)}">',
        f"<h3>{escape(held.type or held.kind)}, <time>{escape(when)}</time></h3>",
        _marks(held),
        f'<p class="said" dir="auto">{escape(str(text))}</p>' if text else "",
        f"<pre>{escape(_words(content['structured']))}</pre>" if content.get("structured") else "",
        *map(_media, held.media),
        f"<dl>{''.join(_fact(name, value) for name, value in facts if value)}</dl>",
        f'<p class="dim"><code>{escape(held.id)}</code></p>\n</article>',
    )
    return "\n".join(part for part in parts if part)


def _facts(held: HeldRecord) -> dict[str, str]:
    """Return where a record is from and where it went, as HTML."""
    record, signed = held.record, held.signed
    provenance: dict[str, Any] = record.get("provenance") or {}
    scope: dict[str, Any] = record.get("scope") or {}
    sources: list[dict[str, Any]] = provenance.get("sources") or []
    return {
        "said by": escape(_who(provenance, record.get("tags") or ())),
        "how": escape(str(provenance.get("method") or "")),
        "sources": escape(", ".join(str(source.get("uri")) for source in sources)),
        "recorded": escape(_second(held.created_at)),
        "within": escape(", ".join(f"{name} {value}" for name, value in scope.items() if value)),
        "corrected by": ", ".join(f'<a href="#{escape(id)}">{escape(id)}</a>' for id in held.superseded_by),
        "made from": _links(held.links),
        "used in": _links(held.linked_from),
        "signed by": escape(f"{signed.role} key {signed.key}" + (", disputed" if signed.disputed else "")),
        "proof": escape(held.proof),
    }


def _who(provenance: dict[str, Any], tags: Iterable[str]) -> str:
    """Return the actor and its own name; what an agent says in a person's name is the agent's."""
    actor, name = str(provenance.get("actor") or ""), provenance.get("name")
    who = voice_of_source(actor, name, tags)
    return f"{actor} {name}" if who == name else who


def _links(links: list[LinkOut]) -> str:
    return "<br>".join(
        f'{escape(link.role)}: <a href="#{escape(link.id)}">{escape(link.id)}</a>'
        if link.content
        else f"{escape(link.role)}: {escape(link.id)} (named only)"
        for link in links
    )


def _second(time: str) -> str:
    """Return a time without the parts of its second."""
    return re.sub(r"\.\d+", "", time).replace("T", " ")


def _marks(held: HeldRecord) -> str:
    marks: list[str] = []
    if held.belongs == "derived":
        marks.append("derived from records about the subject" + (" and from others'" if held.shared else ""))
    elif held.shared:
        marks.append("derived from others' records, too")
    if held.forgotten:
        marks.append(f"forgotten on {_second(held.forgotten.at)}: hidden from use, and to be erased")
    return f'<p class="mark">{escape("; ".join(marks))}</p>' if marks else ""


def _media(one: MediaFile) -> str:
    label = escape(one.name or one.path)
    what = escape(f"{one.media_type}, {one.size} bytes")
    return f'<p>File: <a href="{escape(one.path)}"><bdi>{label}</bdi></a> ({what})</p>'


def _fact(name: str, value: str) -> str:
    return f"<dt>{escape(name)}</dt><dd><bdi>{value}</bdi></dd>"


def _words(value: Any) -> str:
    """Return JSON as words: members with their values, the parts of a list by semicolons."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return ", ".join(f"{name}: {_words(part)}" for name, part in members.items() if part not in _NOTHING)
    if isinstance(value, list):
        return "; ".join(map(_words, cast("list[object]", value)))
    return str(value)


def _changes(changes: list[Change]) -> str:
    rows = [(_second(one.at), one.action, ", ".join(one.records), one.reason or "") for one in changes]
    return _table("Forgotten, recovered, erased", ("When", "What", "Records", "Why"), rows)


def _others(others: list[OtherRecord]) -> str:
    rows = [(one.id, one.type or one.kind, _second(one.created_at), _fate(one)) for one in others]
    return _table("Linked records, named only", ("Id", "Kind", "Recorded", "Since then"), rows)


def _fate(one: OtherRecord) -> str:
    if one.erased:
        return f"erased {_second(one.erased.at)}"
    return "forgotten" if one.forgotten else ""


def _table(title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "\n".join(
        f"<tr>{''.join(f'<td><bdi>{escape(cell)}</bdi></td>' for cell in row)}</tr>" for row in rows
    )
    return (
        f"<section>\n<h2>{title}</h2>\n<table>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>\n</section>"
    )


def _checking(summary: Summary) -> str:
    return f"""<section>
<h2>How to check this</h2>
<p>Each record was signed when it was made, and the log that it stands in is signed as a whole:
{summary.checkpoint.size} records, root <code>{escape(summary.checkpoint.root)}</code>. With the log's public key,
which whoever runs the log publishes, <code>braid check-proof FOLDER --key VKEY</code> checks that every record of this
folder is in that log, that its author signed it, and that its text is what was signed. <code>records.json</code> holds
the same for machines, <code>graph.graphml</code> the links, <code>evidence.jsonl</code> what another store imports.</p>
</section>"""
