"""Changes of memories: compared with what the caller saw and appended in one turn of the writer."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from braid.caller import asking, speaks_for_owner
from braid.errors import VersionConflictError
from braid.isolation import require_own_request, told_to_asker
from braid.ledger.errors import (
    IdempotencyConflictError,
    IntegrityError,
    InvalidRecordError,
    LedgerError,
    NoVaultError,
    ReadOnlyError,
    UnknownRecordError,
)
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import (
    Body,
    Draft,
    ExperienceBody,
    Record,
    is_reading,
    with_article,
)
from braid.ledger.record.source import WORDS, at_first_hand, is_least
from braid.log import drafts
from braid.log.chain import Chain, kept, memory_of, refuse_gone, setting
from braid.log.lock import lock_until, locks_for, refuse_locked
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
            require_own_request(session, one)
        except UnknownRecordError as error:
            yield _failed(one, error)
            continue
        try:
            yield Outcome(asked=one.id, done=modify(session, one))
        except _STOPS:
            raise
        except OutcomeUnknownError:
            raise
        except (LedgerError, ValueError, LookupError) as error:
            yield _failed(one, told_to_asker(session, "modify", error))


def _failed(asked: Modify, error: Exception) -> Outcome:
    return Outcome(asked=asked.id, error=type(error).__name__, message=str(error))


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
    unlike = _unlike(session, asked, record, chain)
    if unlike:
        raise IdempotencyConflictError(key, record.id, unlike)
    return Modified(id=RecordId(record.id), index=record.index, version=chain.version, known=True)


def _unlike(session: Session, asked: Modify, record: Record, chain: Chain) -> list[str]:
    """Return what a change that was made under a key has otherwise than what is asked now."""
    if record.index not in (*chain.members, *chain.settings):
        return ["memory"]
    return [*_said_otherwise(session, asked, record, chain), *_kept_otherwise(session, asked, record, chain)]


def _said_otherwise(session: Session, asked: Modify, record: Record, chain: Chain) -> list[str]:
    """Return what is asked of text and tags, and isn't what the memory had behind the change."""
    members = [at for at in chain.members if at <= record.index]
    if not members or members[-1] in session.reader.control.erased:
        return []  # what it said can't be known any more
    body = session.reader.at(members[-1], include_forgotten=True).body
    if not isinstance(body, ExperienceBody):
        return []
    same = {
        "text": asked.text in (None, body.content.text),
        "tags": asked.tags is None or _own_tags(asked.tags) == _own_tags(body.tags),
    }
    return [name for name, is_same in same.items() if not is_same]


def _kept_otherwise(session: Session, asked: Modify, record: Record, chain: Chain) -> list[str]:
    """Return what is asked of how a memory is kept, and isn't how it was kept behind the change."""
    reader = session.reader
    change = record.envelope.tx[0]
    its_own = [at for at in chain.settings if reader.envelope(at).tx[0] == change]
    if any(at in reader.control.hidden or at in reader.control.erased for at in its_own):
        return []  # what it set can't be known any more
    earlier = [at for at in chain.settings if at < record.index and at not in its_own]
    before = kept(reader, chain._replace(settings=tuple(earlier)))
    behind = kept(reader, chain._replace(settings=(*earlier, *its_own)))
    same = {
        "pinned": asked.pinned in (None, behind.pinned),
        "importance": asked.importance in (None, behind.importance),
        "lock_days": before.locked_until == behind.locked_until
        if asked.lock_days is None
        else locks_for(behind.locked_until, record.created_at, asked.lock_days),
    }
    return [name for name, is_same in same.items() if not is_same]
