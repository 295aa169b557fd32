"""What a record says: the bodies of each kind, the drafts that become records, the records that are read back.

Schema: SPEC §4.6. Structs are the known members; a body's own bytes are kept beside them, so that members which
this release doesn't know survive a round trip.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Literal, Protocol

import msgspec

from braid.ledger.record.envelope import Envelope, Link, unwrap
from braid.ledger.record.ids import RecordId

KINDS: Final = (
    "experience",
    "view",
    "stance",
    "affect",
    "embedding",
    "tombstone",
    "key",
    "event",
    "genesis",
)
SourceType = Literal["explicit", "implicit_intentional", "implicit_unintentional", "inferred", "corrected"]


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of everything inside a body."""


class Media(_Part, frozen=True):
    """A sealed blob: its name (SHA-256 of the sealed bytes), sealed size in bytes, and its own key (base64)."""

    blob: str
    size: int
    key: str
    media_type: str = "application/octet-stream"
    name: str | None = None
    caption: str | None = None


class Content(_Part, frozen=True):
    """What was experienced."""

    text: str = ""
    media: list[Media] = []
    structured: dict[str, Any] = {}


class Source(_Part, frozen=True):
    """Where it came from: a URI and, where known, a hash (`sha256:…`)."""

    uri: str
    hash: str | None = None


class Provenance(_Part, frozen=True):
    """Who or what it is from. `actor`: `user`, `agent`, `system` or `tool(name)`; `name` is the person's own."""

    actor: str = "user"
    method: str = "capture"
    name: str | None = None
    sources: list[Source] = []


class Confidence(_Part, frozen=True):
    """Probability in [0, 1] and how it was come by."""

    p: float
    method: str = "stated"


class Vad(_Part, frozen=True):
    """Valence [-1, 1], arousal [0, 1], dominance [-1, 1]."""

    v: float
    a: float
    d: float


class Affect(_Part, frozen=True):
    """Tone of an experience; intensity and confidence in [0, 1]."""

    vad: Vad
    labels: list[str] = []
    intensity: float | None = None
    confidence: float | None = None


class Scope(_Part, frozen=True):
    """Whose memory it is."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    project_id: str | None = None
    session_id: str | None = None


class Claim(_Part, frozen=True):
    """A statement in symbols; valid from, and before, two instants. `hedge`: the words that soften it, as they were
    said; `said_by`: whose word it is, where the record only reports it. `at`: from which character of the parent's
    text on the quote stands. `type`: preference, skill, interest, goal, episode, step, relation, else a fact;
    `details`: what its type adds (category, key, strength, proficiency, modality, level of privacy), as text."""

    subject: str
    rel: str
    object: str
    polarity: bool = True
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    source_type: SourceType = "explicit"
    quote: str | None = None
    hedge: str | None = None
    said_by: str | None = None
    at: int | None = None
    type: str = "fact"
    details: dict[str, str] = {}


class Reweighted(_Part, frozen=True):
    """A weight in [0, 1] that a derivation changed, of the record's k-th link."""

    link: int
    w_old: float
    w_new: float


class LinkDiff(_Part, frozen=True):
    """What changed along the record's k-th link."""

    link: int
    added: str | None = None
    removed: str | None = None
    reweighted: list[Reweighted] = []


class Body(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What every kind may carry. `occurred_at`: when it happened, where that is not when it was recorded; `once`: the
    key under which the same thing is not recorded twice."""

    scope: Scope | None = None
    external_id: str | None = None
    tags: list[str] = []
    occurred_at: datetime | None = None
    diffs: list[LinkDiff] = []
    reason: str | None = None
    once: str | None = None


class ExperienceBody(Body, frozen=True):
    """An `experience`. `evidence_uris` are the external ones; records are links. `raw`: its words are kept, and nothing
    is read of them. `content_hash`: by it an exact duplicate is found; only the vault's holder can compute it."""

    content: Content = Content()
    provenance: Provenance = Provenance()
    evidence_uris: list[str] = []
    confidence: Confidence | None = None
    affect: Affect | None = None
    symbolic: list[Claim] = []
    embeddings: dict[str, str] = {}
    raw: bool = False
    content_hash: str | None = None


class Delta(_Part, frozen=True):
    """A structural difference to the raw records."""

    added: Any = None
    removed: Any = None
    reweighted: list[Reweighted] = []


class AffectDelta(_Part, frozen=True, rename={"before": "from", "after": "to"}):
    """A shift of tone from the source to the view. `by`: which weights read it, where it was read."""

    before: Vad
    after: Vad
    by: str | None = None


READING: Final = "read:"
"""What the method of a reading begins with: an inference that states in symbols what its parent says (SPEC §19)."""


ASK: Final = "ask"
"""The method of a question that was asked of this store."""
RESULT: Final = "result"
"""The method of what a tool gave to a program: it was asked for one question, and speaks for no other."""
IMPORTED: Final = "imported"
"""The member that a record from another log keeps its first life in."""
ANSWER: Final = "answer"
"""The method of an answer that this store gave: its evidence is what it quotes."""
PROGRAM: Final = "program"
"""The name of the events of a program: their evidence is what they hold words of."""
PLACEHOLDERS: Final = "placeholders"
"""The name of the events that keep what stood behind placeholders: their evidence is where those words stand."""
QUOTING: Final = frozenset((PROGRAM, PLACEHOLDERS))
"""The names of the events that hold words of their evidence."""
CORRECTION: Final = "correction"
"""The name of the event beside a record that stands in place of another: it says why, maybe in the words of either."""
ENTITY: Final = "entity"
"""The name of the events by which somebody decides that names are of one thing, or aren't."""
ENTITY_NAME: Final = "entity_name"
"""The name of the events that such a decision stands on: each is a name, and rests on the turns that say it."""
ASKED_BY: Final = "asked_by"
"""The member of a body that says who asked for a record through a server, as `kind name`."""
REFLECTION: Final = "reflect"
"""The method of what is noted of an answer after it was given."""
_SAID: Final = ("occurrence", "observation")


def with_article(kind: str) -> str:
    """Return a kind as a sentence names one of it: a view, an experience."""
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def is_turn(type: str | None, method: str) -> bool:
    """Whether an experience of this type and method was said or done in its session, not made of what was (§10.8)."""
    return type in _SAID and method != REFLECTION and not method.startswith(READING)


def content_key(content_hash: str) -> str:
    """Return the key under which records of a content hash are found: none that a caller may choose."""
    return f"\0content\0{content_hash}"


def keys_of(once: str | None, content_hash: str | None) -> list[str]:
    """Return the keys under which a record with these members is found."""
    return [
        *([] if once is None else [once]),
        *([] if content_hash is None else [content_key(content_hash)]),
    ]


def is_reading(body: Body) -> bool:
    """Whether a record says nothing of its own, but what a reader of claims found in its parent."""
    return isinstance(body, ExperienceBody) and body.provenance.method.startswith(READING)


class ViewBody(Body, frozen=True):
    """A `view`: what a lens made of the records that it was applied to (links `applied_to`)."""

    lens: str
    version: str | None = None
    delta_from_raw: Delta = Delta()
    affect_delta: AffectDelta | None = None
    content: Content | None = None


class Candidate(_Part, frozen=True):
    """What the k-th `candidate` link claims, with probability p."""

    claim: str
    p: float


class Decision(_Part, frozen=True, kw_only=True):
    """What was decided; the support is the record's `support` links. Uncertainty in [0, 1]. Without a claim it is
    undecided, and `undecided` says why.
    """

    claim: str = ""
    residual_uncertainty: float
    undecided: str = ""


class Asks(_Part, frozen=True):
    """A question in symbols: whose, which relations (any where none is named), of which object, at which instant.
    `wants`: the object, a check (yes or no), or the time of what is claimed.
    """

    subjects: list[str]
    rels: list[str]
    object: str | None = None
    at: datetime | None = None
    """When it should hold; the time that was asked about."""
    dated: bool = False
    """Whether the question said so; else it was the present."""
    wants: Literal["object", "check", "time"] = "object"


class Justification(_Part, frozen=True):
    """What the k-th candidate rests on: link numbers of the records it needs (`inn`) and of those that would take its
    say (`out`); `held` says whether it is held, `status` what became of it, `why` in words.
    """

    candidate: int
    held: bool
    inn: list[int] = []
    out: list[int] = []
    why: str = ""
    status: str = ""


class StanceBody(Body, frozen=True):
    """A `stance`: candidates, one for each `candidate` link, and a decision: a function of what the record names, so
    that it can be made again. `known` is how many records of the log were known to it.
    """

    question: str
    candidates: list[Candidate] = []
    method: str = "justified_truth_maintenance+bayes_pool"
    version: str = ""
    asks: Asks | None = None
    known: int | None = None
    justifications: list[Justification] = []
    decision: Decision | None = None
    would_change: list[str] = []


class AffectBody(Body, frozen=True):
    """An `affect` snapshot of the record behind the `experience` link.

    Valence and dominance in [-1, 1], arousal, intensity and confidence in [0, 1].
    """

    actor: str
    stage: str
    valence: float
    arousal: float
    dominance: float
    primary_emotion: str = "neutral"
    intensity: float | None = None
    confidence: float | None = None
    notes: str | None = None
    signals: dict[str, Any] = {}


class Signature(_Part, frozen=True):
    """One embedding's description; the vector itself is a projection. Salience in [0, 1]."""

    role: str
    model: str
    label: str | None = None
    salience: float = 1.0
    hash: str | None = None
    metadata: dict[str, Any] = {}


class EmbeddingBody(Body, frozen=True):
    """An `embedding` batch: one signature for each `experience` link."""

    signatures: list[Signature] = []


class KeyBody(Body, frozen=True):
    """Whose key was admitted: the actor's name is content."""

    actor: str | None = None


class EventBody(Body, frozen=True):
    """An `event`: its name and what belongs to it."""

    name: str = ""
    data: dict[str, Any] = {}


BODY_TYPES: Final[dict[str, type[Body]]] = {
    "experience": ExperienceBody,
    "view": ViewBody,
    "stance": StanceBody,
    "affect": AffectBody,
    "embedding": EmbeddingBody,
    "tombstone": Body,
    "key": KeyBody,
    "event": EventBody,
    "genesis": Body,
}
_DECODERS: Final = {kind: msgspec.json.Decoder(body).decode for kind, body in BODY_TYPES.items()}


class Written(Protocol):
    """Something of the present transaction that later drafts of it may link to."""

    @property
    def place(self) -> int:
        """Its place in the transaction, from 0."""
        ...


Target = str | Written
"""A link's target: a record's id, or a draft that went earlier into the same transaction."""


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A record before it has index, id, time and signature."""

    kind: str
    body: Body
    type: str = ""
    links: Sequence[tuple[str, Any]] = ()
    public: dict[str, Any] = {}
    blobs: Sequence[tuple[str, int]] = ()
    extra: dict[str, Any] = {}
    """Members of the body that this release has no field for."""


class Record:
    """A record as it stands in the log, verified. Without a vault, `raw` is None and the body can't be had."""

    __slots__ = ("__dict__", "envelope", "links", "raw", "stored")

    def __init__(self, envelope: Envelope, links: list[Link], raw: bytes | None, stored: bytes) -> None:
        """`stored` is the envelope as it stands in the log: the leaf."""
        self.envelope = envelope
        self.links = links
        self.raw = raw
        self.stored = stored

    @property
    def signature(self) -> bytes:
        """The author's signature, 64 bytes."""
        return unwrap(self.stored).signature

    @property
    def id(self) -> RecordId:
        """The record's id."""
        return RecordId(self.envelope.id)

    @property
    def index(self) -> int:
        """The record's log index."""
        return self.envelope.index

    @property
    def kind(self) -> str:
        """The record's kind; may be one that this release doesn't know."""
        return self.envelope.kind

    @property
    def type(self) -> str:
        """The experience's type; empty for other kinds."""
        return self.envelope.type

    @property
    def created_at(self) -> datetime:
        """Transaction time, UTC."""
        return datetime.fromisoformat(self.envelope.created_at)

    @cached_property
    def body(self) -> Body:
        """The known members of the body; raises ValueError when it can't be had or isn't of its kind."""
        if self.raw is None:
            raise ValueError(f"{self.id}: the body is sealed and there is no vault here")
        decode = _DECODERS.get(self.kind)
        if decode is None:
            raise ValueError(f"{self.id}: this release doesn't know the kind {self.kind}")
        try:
            return decode(self.raw)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ValueError(
                f"{self.id}: the body is not that of {with_article(self.kind)}: {error}"
            ) from error

    @cached_property
    def members(self) -> dict[str, Any]:
        """All members of the body as decoded JSON, unknown ones too; empty without a vault."""
        decoded: dict[str, Any] = msgspec.json.decode(self.raw) if self.raw else {}
        return decoded

    @property
    def text(self) -> str:
        """The text of an experience; empty for other kinds."""
        body = self.body
        return body.content.text if isinstance(body, ExperienceBody) else ""

    def targets(self, role: str) -> list[Link]:
        """Return the links of one role, in order."""
        return [link for link in self.links if link.role == role]

    def __repr__(self) -> str:
        return f"<{self.id}>"
