"""Changes of memories: compared with what the caller saw and appended in one turn of the writer."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from braid.caller import asking, speaks_for_owner
from braid.errors import VersionConflictError
from braid.ledger.errors import (
    IdempotencyConflictError,
    IntegrityError,
    InvalidRecordError,
    LedgerError,
    NoVaultError,
    ReadOnlyError,
)
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import (
    Body,
    Draft,
    EventBody,
    ExperienceBody,
    Record,
    is_reading,
    with_article,
)
from braid.ledger.record.source import WORDS, at_first_hand, is_least
from braid.log import drafts
from braid.log.chain import Chain, kept, memory_of, refuse_gone, setting
from braid.log.lock import lock_until, refuse_locked
from braid.log.operations import correcting, keyed, own_living
from braid.memories.operations import Modified, Modify, Outcome
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError

_STOPS = (IntegrityError, NoVaultError, ReadOnlyError)
"""What goes wrong with the store, and not with one change."""


def modify(session: Session, asked: Modify) -> Modified:
    """See `memories.operations.modify`."""
    session.reader.need_vault()
    with session.writer.turn():
        session.refresh()
        chain = memory_of(session.reader, asked.id)
        if (done := _done(session, asked, chain)) is not None:
            return done
        if asked.if_version not in (None, chain.version):
            raise VersionConflictError(asked.id, asked.if_version or 0, chain.version)
        refuse_gone(chain, asked.id)
        refuse_locked(session, [asked.id])
        old = own_living(session, chain)
        batch = _batch(session, asked, chain, old)
        placed = session.append_drafts(batch)
        version = memory_of(session.reader, asked.id).version
    if batch[0].kind == "experience":
        session.follow([one.id for one in old])
    return Modified(id=placed[0].id, index=placed[0].index, version=version)


def modify_all(session: Session, changes: Iterable[Modify]) -> Iterator[Outcome]:
    """Yield what becomes of each change. Raises what is wrong with the store and not with one of them."""
    for one in changes:
        try:
            yield Outcome(asked=one.id, done=modify(session, one))
        except _STOPS:
            raise
        except OutcomeUnknownError:
            raise
        except (LedgerError, ValueError, LookupError) as error:
            yield Outcome(asked=one.id, error=type(error).__name__, message=str(error))


def _batch(session: Session, asked: Modify, chain: Chain, replaced: Sequence[Record]) -> list[Draft]:
    """Return what says the change; InvalidRecordError where there is none."""
    record, now = replaced[0], kept(session.reader, chain)
    body = record.body
    assert isinstance(body, ExperienceBody)  # noqa: S101 - a chain has no other
    wanted: dict[str, object] = {"pinned": asked.pinned, "importance": asked.importance}
    if asked.lock_days is not None:
        wanted["locked_until"] = lock_until(session, asked.lock_days)
    changed = {name: value for name, value in wanted.items() if value not in (None, getattr(now, name))}
    text = body.content.text if asked.text is None else asked.text
    tags = body.tags if asked.tags is None else _tags(body.tags, asked.tags)
    if text == body.content.text and sorted(tags) == sorted(body.tags):
        if not changed:
            raise InvalidRecordError(f"nothing of {record.id} would change")
        _refuse_higher(session, replaced)
        event = setting(changed, record.id, body.scope, asked.reason)
        return [keyed(event, asked.idempotency_key)]
    new = drafts.correction(replaced, text, by_owner=speaks_for_owner(asking()))
    new = msgspec.structs.replace(new, body=_retagged(new.body, body, asked.tags))
    return correcting(session.reader, chain, keyed(new, asked.idempotency_key), asked.reason, changed)


def _refuse_higher(session: Session, records: Iterable[Record]) -> None:
    """Raise InvalidRecordError where who speaks for no owner would say how what a higher class said is kept."""
    if speaks_for_owner(asking()):
        return
    for record in records:
        said = session.reader.source_classes.to_be_replaced(record.index)
        if not is_least("agent", said):
            raise InvalidRecordError(
                f"an agent doesn't pin what {with_article(said)} said, or say how important it is: {record.id} stays as"
                " it is; let a person or an operator do it"
            )


def _tags(held: Sequence[str], asked: Iterable[str]) -> list[str]:
    """Return the tags that are asked for, with those that say whose words it is: no change of tags raises a class."""
    wanted = [tag for tag in asked if tag in held or not tag.startswith(WORDS)]
    return [*wanted, *(tag for tag in held if tag.startswith(WORDS) and tag not in wanted)]


def _own_tags(tags: Iterable[str]) -> list[str]:
    """Return tags without those that say whose words it is, in one order."""
    return sorted(tag for tag in tags if not tag.startswith(WORDS))


def _retagged(new: Body, old: ExperienceBody, asked: Sequence[str] | None) -> Body:
    """Return what takes a memory's place with the tags that are asked for; the same words remain whose they were."""
    assert isinstance(new, ExperienceBody)  # noqa: S101 - nothing else takes its place
    made = new if asked is None else msgspec.structs.replace(new, tags=_tags(new.tags, asked))
    was = at_first_hand("", old)
    if made.content.text == old.content.text and at_first_hand("", made) != was and not is_reading(old):
        return msgspec.structs.replace(made, tags=[*made.tags, f"{WORDS}{was}"])
    return made


def _done(session: Session, asked: Modify, chain: Chain) -> Modified | None:
    """Return what a key did already, None where it is new; IdempotencyConflictError where it did something else."""
    key = asked.idempotency_key
    if key is None:
        return None
    at = session.reader.key_index.find([key]).get(key)
    if at is None:
        return None
    record = session.reader.at(at, include_forgotten=True)
    unlike = _unlike(asked, record, chain)
    if unlike:
        raise IdempotencyConflictError(key, record.id, unlike)
    return Modified(id=RecordId(record.id), index=record.index, version=chain.version, known=True)


def _unlike(asked: Modify, record: Record, chain: Chain) -> list[str]:
    """Return what a change that was made under a key has otherwise than what is asked now."""
    if record.index not in (*chain.members, *chain.settings):
        return ["memory"]
    body = record.body
    if isinstance(body, ExperienceBody):
        said = {
            "text": asked.text in (None, body.content.text),
            "tags": asked.tags is None or _own_tags(asked.tags) == _own_tags(body.tags),
        }
        return [name for name, same in said.items() if not same]
    data = body.data if isinstance(body, EventBody) else {}
    wanted = {"pinned": asked.pinned, "importance": asked.importance}
    unlike = [name for name, value in wanted.items() if name in data and value not in (None, data[name])]
    return [*unlike, *(["text"] if asked.text is not None else [])]
