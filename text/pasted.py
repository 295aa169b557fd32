"""What somebody pasted into a turn and did not say: mails, talks, articles, output, code. Few rules, by line. Pure.

Behind the head of a mail, or a line that hands a text over ("Translate this:"), nothing is the speaker's own, unless
lines are marked as quoted (">"): then these and their head alone are another's. In a talk that was pasted the lines of
other names are not. Where a line may be either it counts as another's, but for the labels that people put before their
own words ("Update:", "Allergies:").
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from braid.text import labels
from braid.text.handed import Line, handed_over, is_quoted, taken_up

_MAX_LINE: Final = 300
"""So much of a line is looked at; a longer one is prose."""
_MOST_LINES: Final = 5_000
"""What stands behind so many lines is nobody's talk."""

# -- mails ------------------------------------------------------------------------------------------

_FORWARDED: Final = re.compile(
    r"\s*[-_=*]{2,} ?(?:forwarded|original|weitergeleitete|ursprüngliche)\b.{0,40}[-_=*]{2,}\s*$"
    r"|\s*begin forwarded message\b"
    r"|\s*(?:fwd?|wg|tr|rv)\s*:"
    r"|(?=.*\d)\s*(?:on|am|le|el|em|il)\b.{6,160}"
    r"\b(?:wrote|schrieb\b.{0,60}|a écrit|escribió|escreveu|ha scritto)\s*:\s*$",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(
    r"[\s*]*(?P<name>from|to|cc|bcc|sent|date|subject|reply-to|von|an|gesendet|datum|betreff|de|para|enviado|fecha"
    r"|asunto|à|envoyé|objet)\s?:[\s*]",
    re.IGNORECASE,
)
_SENDER: Final = frozenset(("from", "von", "de"))
_GREETING: Final = re.compile(
    r"\s*(?:dear|hi|hello|hey|good (?:morning|evening))\b,? (?P<whom>[^,!.:\n]{1,40})[,!.:–-]?\s*$",
    re.IGNORECASE,
)
_CLOSING: Final = re.compile(
    r"\s*(?:(?:with )?(?:all )?(?:best|kind|kindest|warm|many)? ?(?:wishes|regards|thanks)|best|sincerely|cheers|love"
    r"|thank you|yours(?: (?:sincerely|faithfully|truly|ever))?|take care|greetings|hugs|x{1,3})[,.!]?\s*$",
    re.IGNORECASE,
)
_SIGNED: Final = re.compile(r"\s*[-–—]?\s*(?P<name>[A-ZÀ-Þ][\w.'’-]*(?: [A-ZÀ-Þ][\w.'’-]*){0,2})\s*$")

# -- talks, code, logs ------------------------------------------------------------------------------

_STAMP: Final = (
    r"(?:\[[\d/.:,apmAPM TZ+-]{4,30}\]\s*"
    r"|\d[\d/.:,-]{3,}(?:,? ?\d[\d:.]{3,})?(?: ?[ap]m)?(?:\s+[-–]\s+|\s+))?"
)
_LABEL: Final = re.compile(
    rf"[ \t]*(?:[-*•]\s+)?{_STAMP}\**(?P<name>@?[^\W\d_][\w.'’ -]{{0,38}}?)\**"
    r"(?P<does> (?:says?|said|wrote|writes|replied|answered|texted))?"
    r"(?: ?\([^()\n]{1,30}\))?\s?:(?P<rest>\**(?:\s.*|)$)"
)
_BEGINS: Final = re.compile(
    r"[\s*]*(?:(?:well|yes|yeah|no|so|oh|ok|okay|hey|hi|and|but|sorry|thanks)\b[,.!]?\s+){0,2}(?:i\b|i['’]|my\b)",
    re.I,
)
_MOST_WORDS: Final = 3
"""So many words name who says something."""
_LOGGED: Final = re.compile(
    r"\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*\s+\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|TRACE|FATAL|NOTICE|CRITICAL)\b"
)
_REMARK: Final = re.compile(r"\s*//")
_HASH: Final = re.compile(r"\s*(?:#|--) ")
_CODED: Final = re.compile(
    r"[ \t]*(?:def|class|import|return|function|const|let|var|public|private|static|SELECT|#include)\b.*[({;:=]"
    r"|.*[;{}]\s*$"
)


def pasted(text: str, speaker: str) -> list[tuple[int, int]]:
    """Return the stretches of a turn that its speaker pasted, from the first; no two touch. `speaker`: their name."""
    if not any(mark in text for mark in (":", "\n", "/*", "//", ">")):
        return []
    lines = list(islice(_lines(text), _MOST_LINES + 1))
    rest = lines.pop().start if len(lines) > _MOST_LINES else None
    start = min(
        (at for at in (rest, _mail(lines), handed_over(lines), _letter(lines, speaker)) if at is not None),
        default=len(text),
    )
    found = [(start, len(text))] if start < len(text) else []
    found += _talk([line for line in lines if line.start < start], speaker)
    found += [(line.start, line.stop) for line in lines if not line.is_blank and _LOGGED.match(line.text)]
    found += _quoted(lines)
    found += [(line.start, line.stop) for line in lines if not line.is_blank and _REMARK.match(line.text)]
    found += _remarks(text)
    if any(not line.is_blank and _CODED.match(line.text) for line in lines):
        found += [(line.start, line.stop) for line in lines if _HASH.match(line.text)]
    if (above := taken_up(lines)) is not None:
        found.append((0, above))
    return _joined(found)


def own(text: str, speaker: str, blank: str = " ") -> str:
    """Return a turn with what its speaker pasted blanked, each character by one."""
    parts: list[str] = []
    at = 0
    for start, stop in pasted(text, speaker):
        parts += (text[at:start], blank * (stop - start))
        at = stop
    return "".join((*parts, text[at:])) if parts else text


def _lines(text: str) -> Iterator[Line]:
    start = 0
    for line in text.split("\n", _MOST_LINES + 1):
        yield Line(start, start + len(line), line[:_MAX_LINE], not line or line.isspace())
        start += len(line) + 1


def _joined(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    whole: list[tuple[int, int]] = []
    for start, stop in sorted(found):
        if whole and start <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(stop, whole[-1][1]))
        else:
            whole.append((start, stop))
    return whole


def _mail(lines: list[Line]) -> int | None:
    """Return where the first mail begins that was forwarded or answered."""
    for place, line in enumerate(lines):
        if line.is_blank or is_quoted(lines[place : place + 4]):
            continue
        if _heads(lines[place : place + 2]):
            return line.start
        names = _header_names(lines[place : place + 6])
        if len(names) > 1 and not _SENDER.isdisjoint(names):
            return line.start
    return None


def _heads(lines: list[Line]) -> int:
    """Return how many lines say that a mail follows which was forwarded or answered; two where that was wrapped."""
    if _FORWARDED.match(lines[0].text):
        return 1
    behind = lines[1].text.strip() if len(lines) > 1 else ""
    return 2 if behind.endswith("wrote:") and _FORWARDED.match(f"{lines[0].text} {behind}") else 0


def _quoted(lines: list[Line]) -> Iterator[tuple[int, int]]:
    """Yield the lines that are marked as quoted, and the head of the mail that they are of."""
    for place, line in enumerate(lines):
        if is_quoted([line]):
            yield line.start, line.stop
        elif is_quoted(lines[place + 1 : place + 4]) and (count := _heads(lines[place : place + 2])):
            yield line.start, lines[place + count - 1].stop


def _header_names(lines: list[Line]) -> list[str]:
    """Return the names of the mail headers that begin these lines without a gap."""
    names: list[str] = []
    for line in lines:
        match = _HEADER.match(line.text)
        if match is None:
            break
        names.append(match["name"].lower())
    return names


def _letter(lines: list[Line], speaker: str) -> int | None:
    """Return where a letter begins that is to the speaker, or that another signed."""
    if not _named(speaker):
        return None
    greeted = None
    for place, line in enumerate(lines):
        if line.is_blank:
            continue
        if (match := _GREETING.match(line.text)) is not None:
            if labels.is_same(match["whom"], speaker):
                return line.start
            greeted = line.start if greeted is None else greeted
        if _CLOSING.match(line.text):
            behind = next((one for one in lines[place + 1 : place + 4] if not one.is_blank), None)
            signed = _SIGNED.match(behind.text) if behind is not None else None
            if signed is not None and not labels.is_same(signed["name"], speaker):
                return greeted if greeted is not None else 0
    return None


def _named(speaker: str) -> bool:
    return speaker[:1].isupper()


def _talk(lines: list[Line], speaker: str) -> Iterator[tuple[int, int]]:
    """Yield the lines of others in a talk: each reaches to the next name, or to the end of its paragraph."""
    found = [(line, _label(line, speaker)) for line in lines]
    voices = [label for _, label in found if label in ("another", "chat", "maybe", "own")]
    is_talk = len(voices) > 1 and set(voices) != {"maybe"}
    others = False
    for line, label in found:
        if label == "":
            others = others and is_talk and not line.is_blank
        else:
            others = label == "another" or (label in ("chat", "maybe") and is_talk)
        if others:
            yield line.start, line.stop


def _label(line: Line, speaker: str) -> str:
    """Return whose line it is by what it begins with: `own`, `another`'s; in a talk another's, with words like "I"
    (`chat`) or without (`maybe`); of no voice (`label`), or empty."""
    match = _LABEL.match(line.text) if ":" in line.text else None
    if match is None:
        return ""
    name, rest = match["name"].strip(), match["rest"]
    if labels.is_same(name, speaker) or name.lower() in labels.SELF:
        return "own"
    who = name.lower().split()
    reports = match["does"] is not None and len(who) <= _MOST_WORDS and who[-1] not in ("i", "we")
    if not reports and not labels.is_voice(name):
        return "maybe" if labels.may_be_name(name) else "label"
    if reports or not rest.strip(" *"):
        return "another"
    if labels.FIRST.search(rest) is None:
        return "maybe"
    # "Cache: chose Redis, but we need it" is a topic: alone, only who begins with themselves is another.
    is_certain = name[0] == "@" or (name[0].isupper() and _BEGINS.match(rest) is not None)
    return "another" if is_certain else "chat"


def _remarks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the remarks of code that may reach over several lines."""
    start = text.find("/*")
    while start >= 0 and (end := text.find("*/", start + 2)) >= 0:
        yield start, end + 2
        start = text.find("/*", end + 2)
