"""The parser of a session, as answers ask it: what it fails by costs no answer, and `degraded` says why."""

from collections.abc import Sequence

from braid.session import Session
from braid.text.parse import Parse, ParserError, ParserMissingError, Parses


def parses_of(session: Session, trouble: list[str]) -> Parses | None:
    """Return what takes sentences apart; None where no parser is installed. What fails is named in `trouble`."""
    try:
        parser = session.parser
    except ParserMissingError:
        return None

    def parses(texts: Sequence[str]) -> Sequence[Parse] | None:
        try:
            return parser.parse(texts)
        except ParserMissingError:
            return None
        except ParserError as error:
            trouble.append(f"parser: {error}")
            return None

    return parses
