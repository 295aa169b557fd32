"""Readings made again, by whatever read them; of those that a model made, only that they quote what was said."""

from collections.abc import Callable
from typing import Final, cast

from braid.learn import inference, stated
from braid.learn.gates.outcome import EVERY_SENSITIVITY
from braid.learn.model.extractor import NAME
from braid.learn.parse.reader import ParseReader
from braid.learn.reading import made_of, method_of, misquoted
from braid.ledger.errors import NotRederivableError
from braid.ledger.record.record import READING, Draft, ExperienceBody, Record
from braid.text.parse import ParserMissingError, Parsing

_BY_MODEL: Final = f"{READING}{NAME}@"


def rederive(record: Record, read: Callable[[int], Record], parsing: Parsing | None = None) -> Draft:
    """Return the draft that the records which a reading names give; what a parse gave only by the parser of `parsing`.

    `read` gives verified records, and raises what reading them raises. Raises NotRederivableError for what a model
    made, and for a reader or a parser that isn't here; ValueError for a quote that isn't where it is said to be.
    """
    body = cast("ExperienceBody", record.body)
    method = body.provenance.method
    if method.startswith(_BY_MODEL):
        if (wrong := misquoted(record, read(record.targets("parent")[0].index))) is not None:
            raise ValueError(wrong)
        raise NotRederivableError(
            f"made by the model {body.content.structured.get('model')}, and can't be made again"
        )
    if method in (method_of(made_of(stated.MAKER, kinds)) for kinds in EVERY_SENSITIVITY):
        return stated.rederive(record, read)
    try:
        readers = () if parsing is None else tuple(ParseReader(parsing(), of) for of in EVERY_SENSITIVITY)
    except ParserMissingError as error:
        raise NotRederivableError(str(error)) from None
    return inference.rederive(record, read, readers)
