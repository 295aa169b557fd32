"""Redis Streams as the transport of jobs: one stream a consumer's version, with a consumer group of workers.

What Redis holds can be lost or flushed: it has ids and indexes alone, and the log offers them again. Stale leases are
claimed by XAUTOCLAIM; what is dead goes into a stream of its own; every stream is bounded.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import msgspec

from braid.work.breaker import Breaker
from braid.work.errors import BreakerOpenError, LeaseLostError, TransportError
from braid.work.job import ACTIVE, Batch, Job, Lease
from braid.work.spans import Spans
from braid.work.transport import DEAD_KEPT_S, DEPTH, KEPT_S, Offered

GROUP: Final = "workers"
MAXLEN: Final = 10_000
"""Entries of a stream at the most: ten times what may wait, so no entry that counts is cut off."""
TIMEOUT_S: Final = 5.0

# Each act is one script: Redis runs it as a whole. KEYS: jobs (by age), due (by time), token; ARGV[1] is the prefix.
_LIB: Final = """
local jobs, due, token, p = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local function hash(id) return p .. ':job:' .. id end
local function stream(id) return p .. ':stream:' .. redis.call('HGET', hash(id), 'kind') end
local function unlist(id)
  local entry = redis.call('HGET', hash(id), 'entry')
  if entry and entry ~= '' then
    local s = stream(id)
    pcall(redis.call, 'XACK', s, 'workers', entry)
    redis.call('XDEL', s, entry)
    redis.call('HSET', hash(id), 'entry', '')
  end
  redis.call('ZREM', due, id)
end
local function list(id, maxlen)
  redis.call('HSET', hash(id), 'entry', redis.call('XADD', stream(id), 'MAXLEN', '~', maxlen, '*', 'job', id))
end
local function put(id, kind, consumer, version, spans, now)
  if redis.call('EXISTS', hash(id)) == 1 then unlist(id) end
  redis.call('DEL', hash(id))
  redis.call('HSET', hash(id), 'kind', kind, 'consumer', consumer, 'version', version, 'spans', spans, 'state',
    'pending', 'attempts', 0, 'due', now, 'owner', '', 'expires', 0, 'token', 0, 'stage', '', 'error', '',
    'changed', now, 'entry', '')
  redis.call('ZADD', jobs, redis.call('INCR', token), id)
end
local function lease(id, owner, now, expires)
  local mine = redis.call('INCR', token)
  redis.call('HINCRBY', hash(id), 'attempts', 1)
  redis.call('HSET', hash(id), 'state', 'leased', 'owner', owner, 'expires', expires, 'token', mine, 'changed', now)
  return {mine, redis.call('HGET', hash(id), 'attempts'), redis.call('HGET', hash(id), 'consumer'),
    redis.call('HGET', hash(id), 'version'), redis.call('HGET', hash(id), 'spans')}
end
local function active(id)
  local state = redis.call('HGET', hash(id), 'state')
  return state == 'pending' or state == 'leased' or state == 'retry_scheduled'
end
local function holds(id, owner, mine)
  return redis.call('HGET', hash(id), 'state') == 'leased' and redis.call('HGET', hash(id), 'owner') == owner
    and redis.call('HGET', hash(id), 'token') == mine
end
"""
# ARGV: id, kind, consumer, version, spans, now, depth, maxlen, kept
_OFFER: Final = """
local id = ARGV[2]
if active(id) then return 'known' end
local waiting = 0
for _, each in ipairs(redis.call('ZRANGE', jobs, 0, -1)) do
  if redis.call('EXISTS', hash(each)) == 0 then redis.call('ZREM', jobs, each)
  elseif active(each) then waiting = waiting + 1 end
end
if waiting >= tonumber(ARGV[8]) then return 'full' end
put(id, ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])
list(id, ARGV[9])
return 'offered'
"""
# ARGV: now, maxlen. What is due again, and what was taken without an entry and whose lease has expired.
_PROMOTE: Final = """
for _, id in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', ARGV[2])) do
  redis.call('ZREM', due, id)
  if redis.call('EXISTS', hash(id)) == 1 and active(id) then
    redis.call('HSET', hash(id), 'state', 'pending', 'owner', '', 'expires', 0)
    list(id, ARGV[3])
  end
end
return 1
"""
# ARGV: id, entry, owner, now, expires. An entry that no job names any more is dropped by the caller.
_LEASE: Final = """
local id = ARGV[2]
if redis.call('HGET', hash(id), 'entry') ~= ARGV[3] or not active(id) then return false end
return lease(id, ARGV[4], ARGV[5], ARGV[6])
"""
# ARGV: id, kind, consumer, version, spans, now, owner, expires
_TAKE: Final = """
local id = ARGV[2]
if redis.call('HGET', hash(id), 'state') == 'leased'
  and tonumber(redis.call('HGET', hash(id), 'expires')) > tonumber(ARGV[7]) then return false end
if not active(id) then put(id, ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]) else unlist(id) end
redis.call('ZADD', due, ARGV[9], id)
return lease(id, ARGV[8], ARGV[7], ARGV[9])
"""
# ARGV: id, owner, token, now, expires
_BEAT: Final = """
local id = ARGV[2]
if not holds(id, ARGV[3], ARGV[4]) then return 0 end
redis.call('HSET', hash(id), 'expires', ARGV[6], 'changed', ARGV[5])
local entry = redis.call('HGET', hash(id), 'entry')
if entry ~= '' then redis.call('XCLAIM', stream(id), 'workers', ARGV[3], 0, entry, 'JUSTID')
else redis.call('ZADD', due, ARGV[6], id) end
return 1
"""
# ARGV: id, owner, token
_HOLDS: Final = "if holds(ARGV[2], ARGV[3], ARGV[4]) then return 1 end return 0"
# ARGV: id, owner, token, state, now, due, attempts, stage, error, kept, maxlen
_END: Final = """
local id = ARGV[2]
if not holds(id, ARGV[3], ARGV[4]) then return 0 end
unlist(id)
redis.call('HSET', hash(id), 'state', ARGV[5], 'changed', ARGV[6], 'due', ARGV[7], 'owner', '', 'expires', 0,
  'attempts', ARGV[8], 'stage', ARGV[9], 'error', ARGV[10])
if active(id) then redis.call('ZADD', due, ARGV[7], id) else redis.call('EXPIRE', hash(id), ARGV[11]) end
if ARGV[5] == 'dead' then redis.call('XADD', p .. ':dead', 'MAXLEN', '~', ARGV[12], '*', 'job', id) end
return 1
"""
# ARGV: id, kind, consumer, version, spans, now, maxlen
_REQUEUE: Final = """
put(ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])
list(ARGV[2], ARGV[8])
return 1
"""
# ARGV: id
_DISCARD: Final = """
if redis.call('EXISTS', hash(ARGV[2])) == 1 then unlist(ARGV[2]) end
redis.call('DEL', hash(ARGV[2]))
redis.call('ZREM', jobs, ARGV[2])
return 1
"""
# ARGV: done before, dead before
_DROP: Final = """
for _, id in ipairs(redis.call('ZRANGE', jobs, 0, -1)) do
  local state, changed = redis.call('HGET', hash(id), 'state'), redis.call('HGET', hash(id), 'changed')
  local before = state and ({done = ARGV[2], dead = ARGV[3]})[state]
  if before and tonumber(changed) < tonumber(before) then
    redis.call('DEL', hash(id))
    redis.call('ZREM', jobs, id)
  end
end
return 1
"""


class RedisStreams:
    """Jobs of one store in Redis. Implements `Transport`; a connection is opened when it is first needed."""

    name = "redis"

    def __init__(
        self, url: str, store_id: str, *, depth: int = DEPTH, breaker: Breaker | None = None
    ) -> None:
        """`url` is `redis://…`, or `unix://…`. Raises ModuleNotFoundError without the extra `redis`."""
        from redis import Redis
        from redis.exceptions import RedisError

        made: Any = Redis  # its types are known in part
        self._redis: Any = made.from_url(
            url, decode_responses=True, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S
        )
        self._error: type[Exception] = RedisError
        self._prefix = f"braid:{store_id}"
        self._depth = depth
        self._breaker = breaker
        self._scripts: dict[str, Any] = {}

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()

    def offer(self, batch: Batch, now: float) -> Offered:
        """Let a batch be done at `now`, in seconds since 1970; `known` where it waits, `full` where too many do."""
        answer: Offered = self._run(_OFFER, *_said(batch), now, self._depth, MAXLEN)
        return answer

    def lease(self, kinds: Sequence[str], owner: str, now: float, lease_s: float) -> Lease | None:
        """Return a lease of `lease_s` seconds on the next job of these kinds that is due at `now`, else None."""
        if not kinds:
            return None
        self._run(_PROMOTE, now, MAXLEN)
        for kind in kinds:
            while (entry := self._next(kind, owner, lease_s)) is not None:
                place, id = entry
                leased = self._run(_LEASE, id, place, owner, now, now + lease_s)
                if leased:
                    return _lease(leased, owner, now + lease_s)
                with self._asking() as redis:  # an entry that was left behind
                    redis.xack(self._stream(kind), GROUP, place)
                    redis.xdel(self._stream(kind), place)
        return None

    def _next(self, kind: str, owner: str, lease_s: float) -> tuple[str, str] | None:
        """Return an entry whose lease is stale, else a new one: its place in the stream, and its job."""
        stream = self._stream(kind)
        with self._asking() as redis:
            self._make_group(stream)
            stale = redis.xautoclaim(stream, GROUP, owner, int(1000 * lease_s), count=1)[1]
            if stale:
                return _entry(stale)
            fresh = redis.xreadgroup(GROUP, owner, {stream: ">"}, count=1)
        return _entry(fresh[0][1]) if fresh else None

    def _make_group(self, stream: str) -> None:
        """Have a group: after a flush there is none."""
        from redis.exceptions import ResponseError

        with suppress(ResponseError):  # it is there
            self._redis.xgroup_create(stream, GROUP, id="0", mkstream=True)

    def take(self, batch: Batch, owner: str, now: float, lease_s: float) -> Lease | None:
        """Return a lease of `lease_s` seconds on one batch from `now` on, due or not; None while another has it."""
        taken = self._run(_TAKE, *_said(batch), now, owner, now + lease_s)
        return _lease(taken, owner, now + lease_s) if taken else None

    def heartbeat(self, lease: Lease, now: float, lease_s: float) -> None:
        """Let a lease last `lease_s` seconds from `now` on. Raises LeaseLostError."""
        if not self._run(_BEAT, lease.batch.id, lease.owner, lease.token, now, now + lease_s):
            raise _lost(lease)

    def require(self, lease: Lease, now: float) -> None:
        """Raise LeaseLostError where a lease is lost; at `now`, in seconds, an expired one that nobody took counts."""
        del now
        if not self._run(_HOLDS, lease.batch.id, lease.owner, lease.token):
            raise _lost(lease)

    def done(self, lease: Lease, now: float) -> None:
        """Note that the log has the outcome, at `now` in seconds; nothing, where the lease was lost."""
        self._end(lease, "done", now, attempts=lease.attempt, kept_s=KEPT_S)

    def retry(self, lease: Lease, due_at: float, stage: str, error: str, now: float) -> None:
        """Note at `now` that an attempt failed, and that the next is due at `due_at`; both in seconds."""
        self._end(lease, "retry_scheduled", now, due=due_at, attempts=lease.attempt, stage=stage, error=error)

    def release(self, lease: Lease, due_at: float, now: float) -> None:
        """Give a job back at `now`, due at `due_at`, both in seconds: it cost no attempt."""
        self._end(lease, "pending", now, due=due_at, attempts=lease.attempt - 1)

    def bury(self, lease: Lease, stage: str, error: str, now: float) -> None:
        """Note at `now`, in seconds, that a job is dead: it failed at a stage of an error."""
        self._end(lease, "dead", now, attempts=lease.attempt, stage=stage, error=error, kept_s=DEAD_KEPT_S)

    def _end(
        self,
        lease: Lease,
        state: str,
        now: float,
        *,
        due: float = 0.0,
        attempts: int,
        stage: str = "",
        error: str = "",
        kept_s: float = 0.0,
    ) -> None:
        self._run(
            _END, lease.batch.id, lease.owner, lease.token, state, now, due, attempts, stage, error,
            int(kept_s), MAXLEN,
        )  # fmt: skip

    def requeue(self, batch: Batch, now: float) -> None:
        """Let a batch be done from its first attempt on, from `now` on, in seconds."""
        self._run(_REQUEUE, *_said(batch), now, MAXLEN)

    def discard(self, batch: Batch) -> None:
        """Forget the job of a batch."""
        self._run(_DISCARD, batch.id)

    def drop_ended(self, done_before: float, dead_before: float) -> None:
        """Forget the jobs that were done, or died, before these times, in seconds since 1970."""
        self._run(_DROP, done_before, dead_before)

    def jobs(self) -> list[Job]:
        """Return all jobs that are known, oldest first."""
        with self._asking() as redis:
            ids = redis.zrange(f"{self._prefix}:jobs", 0, -1)
            found = [redis.hgetall(f"{self._prefix}:job:{id}") for id in ids]
        return [_job(one) for one in found if one]

    def next_due(self, kinds: Sequence[str], now: float) -> float | None:
        """Return when the next job of these kinds can be leased, in seconds, at `now` at the earliest; None: never."""
        waiting = [
            one.expires_at if one.state == "leased" else one.due_at
            for one in self.jobs()
            if one.state in ACTIVE and one.batch.kind in kinds
        ]
        return max(now, min(waiting)) if waiting else None

    # -- the connection ---------------------------------------------------------------------------

    def _stream(self, kind: str) -> str:
        return f"{self._prefix}:stream:{kind}"

    def _run(self, script: str, *values: object) -> Any:
        with self._asking() as redis:
            known = self._scripts.get(script)
            if known is None:
                known = self._scripts[script] = redis.register_script(_LIB + script)
            keys = [f"{self._prefix}:{name}" for name in ("jobs", "due", "token")]
            return known(keys=keys, args=[self._prefix, *map(_text, values)])

    @contextmanager
    def _asking(self) -> Generator[Any]:
        """Ask Redis, through its breaker where there is one. Raises TransportError."""
        try:
            if self._breaker is None:
                yield self._redis
            else:
                with self._breaker.passing():
                    yield self._redis
        except (self._error, BreakerOpenError) as error:
            raise TransportError(f"Redis gave no answer ({type(error).__name__}): {error}") from error


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _said(batch: Batch) -> tuple[str, ...]:
    spans = msgspec.json.encode(batch.spans).decode()
    return (batch.id, batch.kind, batch.consumer, batch.version, spans)


def _entry(entries: Any) -> tuple[str, str]:
    place, members = entries[0]
    return str(place), str(members["job"]) if members and "job" in members else ""


def _lease(answer: Any, owner: str, expires_at: float) -> Lease:
    token, attempts, consumer, version, spans = answer
    batch = Batch(consumer, version, msgspec.json.decode(spans, type=Spans))
    return Lease(batch=batch, attempt=int(attempts), token=int(token), owner=owner, expires_at=expires_at)


def _lost(lease: Lease) -> LeaseLostError:
    return LeaseLostError(f"the lease of {lease.batch.id} is not in force any more: another may have it")


def _job(said: Any) -> Job:
    return Job(
        batch=Batch(said["consumer"], said["version"], msgspec.json.decode(said["spans"], type=Spans)),
        state=said["state"],
        attempts=int(said["attempts"]),
        due_at=float(said["due"]),
        owner=said["owner"],
        expires_at=float(said["expires"]),
        stage=said["stage"],
        error=said["error"],
        changed_at=float(said["changed"]),
    )
