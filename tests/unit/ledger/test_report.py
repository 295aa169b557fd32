"""The HTML page of an audit: whole, escaped, and dependent on nothing."""

import re
from html.parser import HTMLParser

import msgspec
import pytest

from braid.ledger.audit.findings import Finding, Report
from braid.tools.page.audit import render_html

VOID = {"meta", "br"}


def report(**changed: object) -> Report:
    plain = Report(
        store="/home/me/memory",
        mode="full",
        findings=[],
        notes=[],
        could_not_look=[],
        records=1234,
        bytes=1_234_567,
        size=1234,
        root="ab" * 32,
        origin="braid.local/x",
        vkey="braid.local/x+00000000+AAAA",
        head_size=1234,
        head_time="2026-01-02T03:04:05.000006Z",
        verified_from=0,
        verified_at="2026-01-02T03:04:06Z",
        seconds=0.5,
        checked=["every signature"],
    )
    return msgspec.structs.replace(plain, **changed)


class Balance(HTMLParser):
    """Fails on a tag that is not closed, or closed out of turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not any(name in ("src", "href") for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parse(page: str) -> Balance:
    parser = Balance()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


FINDINGS = [
    Finding("signature", "the signature by k_x does not hold", 7, "exp_x", "log/000000000000.seg", 4096),
    Finding("frame", "3 records are missing", 10, count=3),
    Finding("guard", "<script>alert('&')</script>", file='/tmp/"<b>'),
]


def test_clean_page() -> None:
    page = parse(render_html(report(), "Audit"))
    assert "Clean: all 1234 records" in page.text
    assert "2,468 records/s" in page.text
    assert "table" not in page.seen


def test_findings_and_positions() -> None:
    page = parse(render_html(report(findings=FINDINGS), "Audit"))
    assert "3 findings" in page.text
    for part in ("offset 4,096", "log/000000000000.seg", "10 to 12", "exp_x", "1 × signature"):
        assert part in page.text


def test_everything_is_escaped() -> None:
    title = '<i>"title"</i>'
    source = render_html(report(findings=FINDINGS, store="<u>", notes=["<s>"], could_not_look=["<q>"]), title)
    page = parse(source)
    assert not page.seen & {"script", "i", "u", "s", "q"}
    assert title in page.text
    assert "<script>alert('&')</script>" in page.text


def test_nothing_is_fetched_and_both_schemes_are_there() -> None:
    source = render_html(report(findings=FINDINGS))
    assert not re.search(r"https?:|url\(|@import|<link|<script|<img", source)
    assert "prefers-color-scheme:dark" in source
    assert '<html lang="en">' in source
    assert 'scope="col"' in source


@pytest.mark.parametrize(
    ("changed", "code", "tone"),
    [
        ({}, 0, "good"),
        ({"could_not_look": ["no vault"]}, 2, "warn"),
        ({"findings": FINDINGS[:1]}, 1, "bad"),
        ({"findings": FINDINGS[:1], "could_not_look": ["no vault"]}, 1, "bad"),
    ],
)
def test_verdict_and_exit_code(changed: dict[str, object], code: int, tone: str) -> None:
    audit = report(**changed)
    assert audit.exit_code == code
    assert f'class="verdict {tone}"' in render_html(audit)


def test_what_was_not_looked_at() -> None:
    assert "Author signatures, payloads" in parse(render_html(report(mode="hash"))).text
    assert "records 0 to 999" in parse(render_html(report(verified_from=1000))).text.lower()


def test_many_findings_are_cut_with_a_word() -> None:
    page = parse(render_html(report(findings=FINDINGS[1:2] * 6000)))
    assert "the first 5,000 are listed" in page.text


def test_json_has_verdict_and_exit_code() -> None:
    decoded = msgspec.json.decode(report(findings=FINDINGS).to_json())
    assert decoded["exit_code"] == 1
    assert decoded["findings"][1] == {
        "kind": "frame",
        "message": "3 records are missing",
        "index": 10,
        "count": 3,
    }
    assert str(FINDINGS[0]).startswith("signature: record 7: log/000000000000.seg, offset 4096")
