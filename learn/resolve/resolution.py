"""From mentions to entities: blocks, comparisons, decisions of people; what is joined, and what is only proposed. Pure.

    mentions  ->  nodes (one name, one type)  ->  edges  ->  entities, proposals

A node is a name as it is compared, within one memory. Aliases and stated names join nodes first, then names that are
close and borne out; only nodes that share a block are compared. What people decided goes before all of it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import combinations, pairwise
from typing import Final, Literal, NamedTuple

from braid.learn.resolve.compare import Described, Similarity, Verdict, compare, cues_of
from braid.learn.resolve.names import folded, initials_of, parts_of, stands_for
from braid.learn.words import KIN
from braid.stance.mentions import NAMED, SELF, EntityType, MentionRole, owned
from braid.text.aliases import packaged
from braid.text.words import normal

Tier = Literal["exact", "alias", "stated", "close", "decided"]
MAX_BLOCK: Final = 40
"""Of more nodes with one word in common, the word tells nothing: they are not compared for it."""
_CONTEXTS: Final = 12
"""So many of the newest contexts of a node are looked at."""
_SORTS: Final = frozenset(("person", "organisation", "product", "place"))
_ROLE_RELATIONS: Final = {
    rel: tuple(word for word, of in KIN.items() if of == rel)
    for rel in ("sibling", "child", "parent", "partner_is", "boss_is")
} | {"married_to": ("wife", "husband", "spouse")}
"""Relation → words for who is meant by it."""


class Spoken(NamedTuple):
    """A mention in a living record: where, what it is called, of which memory, and what was said."""

    at: int
    """Of the record that claims it."""
    k: int
    role: MentionRole
    name: str
    key: str
    canonical: str
    type: EntityType
    turn: int
    """Index of what was said: the record's parent, else itself."""
    owner: str = ""
    """Whose memory it is of: entities of two are never one."""
    context: str = ""
    rel: str = ""
    other: str = ""
    """The key of what it is related to."""
    polarity: bool = True


class Node(NamedTuple):
    """A name within one memory."""

    owner: str
    name: str
    """The name in normal form; with what tells it from another of that name behind `#`, `~` or `@`."""


class Decision(NamedTuple):
    """What a person or a model decided and nothing has taken back."""

    at: int
    id: str
    op: Literal["merge", "apart", "split", "alias"]
    nodes: tuple[Node, ...]
    sides: tuple[int, ...] = ()
    """Of what is apart: on which side each node is."""
    turns: frozenset[int] = frozenset()
    """Of a split: where the name means another."""
    aliases: tuple[str, ...] = ()
    """Names that are told of it though nobody has mentioned them."""


class Entity(NamedTuple):
    """Somebody or something, within one memory."""

    id: str
    owner: str
    name: str
    type: EntityType
    names: tuple[str, ...]
    """As they were written, the one mentioned most first."""
    nodes: tuple[Node, ...]
    mentions: tuple[Spoken, ...]
    joined: tuple[tuple[str, str, Tier, str], ...] = ()
    """Which two names were joined, how, and why."""


class Proposal(NamedTuple):
    """Two entities that may be one: for somebody to say."""

    one: str
    other: str
    names: tuple[str, str]
    why: str
    score: float


class Resolution(NamedTuple):
    """Entities in the order in which they were first mentioned, proposals from the likeliest down."""

    entities: tuple[Entity, ...]
    proposals: tuple[Proposal, ...]
    comparisons: int
    """How many pairs of nodes were compared."""


def entity_id(node: Node) -> str:
    """Return the id of the entity that a node is the first of: the same for as long as that name is its first."""
    return "ent_" + sha256(f"{node.owner}\x1f{node.name}".encode()).hexdigest()[:12]


def resolve(
    spoken: Iterable[Spoken], decisions: Sequence[Decision] = (), similarity: Similarity | None = None
) -> Resolution:
    """Return who is who. The same mentions, decisions and rules give the same entities, in whatever order they come."""
    mentions = sorted(spoken, key=lambda one: (one.at, one.k, one.role, one.name))
    nodes = _nodes(mentions, decisions)
    joining = _Joining(nodes, decisions, similarity)
    joining.join()
    return joining.resolution()


# -- nodes -----------------------------------------------------------------------------------------


def _nodes(mentions: Sequence[Spoken], decisions: Sequence[Decision]) -> dict[Node, list[Spoken]]:
    """Return the mentions of each node, nodes in the order of their first mention."""
    sorts = defaultdict[Node, set[str]](set)
    for one in mentions:
        sorts[Node(one.owner, one.key)] |= {one.type} & _SORTS
    found: dict[Node, list[Spoken]] = {}
    splits = [one for one in decisions if one.op == "split"]
    cued = defaultdict[Node, list[tuple[frozenset[str], str]]](list)
    for one in mentions:
        node = Node(one.owner, one.key)
        if len(sorts[node]) > 1:
            node = Node(one.owner, f"{one.key}~{one.type}")
        node = _told_apart(node, one, cued[node])
        for split in splits:
            if node in split.nodes and one.turn in split.turns:
                node = split_node(node, split.at)
        found.setdefault(node, []).append(one)
    return found


def split_node(node: Node, index: int) -> Node:
    """Return the node of those mentions that the record at `index` has parted from a node."""
    return Node(node.owner, f"{base_of(node)}@{index}")


def _told_apart(node: Node, one: Spoken, known: list[tuple[frozenset[str], str]]) -> Node:
    """Return the node of a mention: another for "Nadia, my yoga teacher" than for "Nadia from finance".

    `known` grows by what tells one from another. Who was mentioned with nothing beside the name is the first of it
    before there is a second; after that, nobody can tell.
    """
    if (
        one.type not in ("person", "place", "thing")
        or not one.name[:1].isupper()
        or len(one.key.split()) != 1
    ):
        return node
    cues = cues_of(one.name, (one.context,) if one.context else ())
    told = cues.roles | cues.whence | cues.part_of
    if not told:
        return node if len(known) < 2 else Node(node.owner, f"{node.name}#")
    for place, (before, label) in enumerate(known):
        if before & told:
            known[place] = (before | told, label)
            return Node(node.owner, node.name + label)
    label = f"#{min(told)}" if known else ""
    known.append((told, label))
    return Node(node.owner, node.name + label)


def base_of(node: Node) -> str:
    """Return the name of a node without what tells it from another of that name."""
    return re.split("[#~@]", node.name, maxsplit=1)[0]


# -- edges -----------------------------------------------------------------------------------------


class _Joining:
    """Joins nodes; a set of nodes is named by its first."""

    def __init__(
        self, nodes: dict[Node, list[Spoken]], decisions: Sequence[Decision], similarity: Similarity | None
    ) -> None:
        self._nodes = nodes
        self._decisions = sorted(decisions, key=lambda one: one.at)
        self._similarity = similarity
        self._place = {node: place for place, node in enumerate(nodes)}
        self._root: dict[Node, Node] = {node: node for node in nodes}
        self._members: dict[Node, list[Node]] = {node: [node] for node in nodes}
        self._edges: list[tuple[Node, Node, Tier, str]] = []
        self._verdicts: dict[tuple[Node, Node], Verdict] = {}
        self._described = {node: _described(said) for node, said in nodes.items()}
        self._aliases = defaultdict[Node, list[str]](list)
        self._apart: set[frozenset[Node]] = set()

    def join(self) -> None:
        """Join what people decided, then what is one by aliases and statements, then what is close."""
        for decision in self._decisions:
            if decision.op == "apart":
                placed = combinations(zip(decision.nodes, decision.sides, strict=True), 2)
                self._apart |= {frozenset((a, b)) for (a, side), (b, there) in placed if side != there}
        for decision in self._decisions:
            if decision.op in ("merge", "alias"):
                self._decide(decision)
        for one, other, tier, why in [*self._by_alias(), *self._by_statement()]:
            self._try(one, other, tier, why)
        for verdict, one, other in self._close():
            self._try(one, other, "close", verdict.why)

    def _decide(self, decision: Decision) -> None:
        present = [node for node in decision.nodes if node in self._root]
        for node in present[:1]:
            self._aliases[node] += decision.aliases
        for one, other in pairwise(present):
            self._unite(one, other, "decided", decision.id)

    def _by_alias(self) -> Iterator[tuple[Node, Node, Tier, str]]:
        """Yield nodes that the dictionary of the release calls one thing."""
        first: dict[tuple[str, str, str], Node] = {}
        for node, said in self._nodes.items():
            if "#" in node.name or "@" in node.name or said[0].canonical not in packaged().types:
                continue
            one = first.setdefault((node.owner, said[0].canonical, node.name.partition("~")[2]), node)
            if one != node:
                yield one, node, "alias", "an alias"

    def _by_statement(self) -> Iterator[tuple[Node, Node, Tier, str]]:
        """Yield nodes that were said to be one: by name (`name_is`), or as whose relative: Maya's sister is Nadia."""
        relatives = defaultdict[tuple[str, str, str], set[Node]](set)
        where = {(said.at, said.k, said.role): node for node, all_ in self._nodes.items() for said in all_}
        for node, all_ in self._nodes.items():
            for said in all_:
                if said.role != "object" or not said.polarity:
                    continue
                subject = where.get((said.at, said.k, "subject"))
                if subject is None:
                    continue
                if said.rel in NAMED and subject != node:
                    yield subject, node, "stated", "its name was stated"
                for word in _ROLE_RELATIONS.get(said.rel, ()):
                    if f" {word} " in f" {normal(said.context).replace(',', ' ').replace('.', ' ')} ":
                        relatives[node.owner, subject.name, word].add(node)
        for node in self._nodes:
            whose = owned(node.name)
            found = relatives.get((node.owner, *whose), set[Node]()) if whose else set[Node]()
            if len(found) == 1:
                yield node, next(iter(found)), "stated", "whose relative it is was stated"

    def _close(self) -> list[tuple[Verdict, Node, Node]]:
        """Return nodes whose names are close and borne out, the nearest first; none of which there may be two."""
        near = defaultdict[Node, set[Node]](set)
        found: list[tuple[Verdict, Node, Node]] = []
        for one, other in self._pairs():
            verdict = self._compare(one, other)
            if verdict.is_one or verdict.sameness == "open":
                near[one].add(other)
                near[other].add(one)
            if verdict.is_one:
                found.append((verdict, one, other))
        return sorted(
            (each for each in found if self._is_only(each[1], each[2], near)),
            key=lambda each: (-each[0].score, self._place[each[1]], self._place[each[2]]),
        )

    def _is_only(self, one: Node, other: Node, near: Mapping[Node, set[Node]]) -> bool:
        """Whether no third is as near to one of two, and not the same as the other: "Sarah" beside two full names."""
        for here, there in ((one, other), (other, one)):
            for third in near[here] - {there}:
                if third in near[there] or self._root[third] == self._root[there]:
                    continue
                if len(third.name.split()) > 1 and not self._compare(there, third).is_one:
                    return False
        return True

    def _pairs(self) -> Iterator[tuple[Node, Node]]:
        """Yield the pairs of nodes that share a block, each once."""
        blocks = defaultdict[tuple[str, str], list[Node]](list)
        for node in self._nodes:
            for block in blocks_of(self._described[node]):
                blocks[node.owner, block].append(node)
        seen: set[tuple[Node, Node]] = set()
        for members in blocks.values():
            if len(members) > MAX_BLOCK:
                continue
            for pair in combinations(members, 2):
                if pair not in seen and self._root[pair[0]] != self._root[pair[1]]:
                    seen.add(pair)
                    yield pair

    def _compare(self, one: Node, other: Node) -> Verdict:
        pair = (one, other) if self._place[one] < self._place[other] else (other, one)
        if pair not in self._verdicts:
            known = [self._described[node] for node in pair]
            self._verdicts[pair] = compare(known[0], known[1], self._similarity)
        return self._verdicts[pair]

    # -- joining -----------------------------------------------------------------------------------

    def _try(self, one: Node, other: Node, tier: Tier, why: str) -> None:
        """Join two nodes, unless anything that they bring together is never one."""
        mine, theirs = self._members[self._root[one]], self._members[self._root[other]]
        if self._root[one] == self._root[other]:
            return
        for a in mine:
            for b in theirs:
                if frozenset((a, b)) in self._apart or base_of(a) == base_of(b):
                    return
                if tier == "close" and self._compare(a, b).sameness == "apart":
                    return
        self._unite(one, other, tier, why)

    def _unite(self, one: Node, other: Node, tier: Tier, why: str) -> None:
        first, second = sorted((self._root[one], self._root[other]), key=self._place.__getitem__)
        self._edges.append((one, other, tier, why))
        if first == second:
            return
        for node in self._members.pop(second):
            self._root[node] = first
            self._members[first].append(node)

    def resolution(self) -> Resolution:
        """Return the entities, and what stays open."""
        entities = [self._entity(first, nodes) for first, nodes in self._members.items()]
        entities.sort(key=lambda one: self._place[one.nodes[0]])
        return Resolution(tuple(entities), tuple(self._proposals()), len(self._verdicts))

    def _entity(self, first: Node, nodes: list[Node]) -> Entity:
        nodes = sorted(nodes, key=self._place.__getitem__)
        mentions = sorted(one for node in nodes for one in self._nodes[node])
        counts: dict[str, int] = {}
        for one in mentions:
            counts[one.name] = counts.get(one.name, 0) + 1
        written = sorted(counts, key=lambda name: (-counts[name], name))
        told = dict.fromkeys([*written, *(alias for node in nodes for alias in self._aliases[node])])
        named = [name for name in written if normal(name) not in SELF]
        best = max(
            named or written, key=lambda name: (_is_full(name), counts[name], name[:1].isupper(), name)
        )
        edges = [edge for edge in self._edges if self._root[edge[0]] == first]
        return Entity(
            id=entity_id(first),
            owner=first.owner,
            name=best,
            type=_type_of(mentions),
            names=tuple(told),
            nodes=tuple(nodes),
            mentions=tuple(mentions),
            joined=tuple((a.name, b.name, tier, why) for a, b, tier, why in edges),
        )

    def _proposals(self) -> Iterator[Proposal]:
        seen: set[frozenset[Node]] = set()
        found = sorted(self._verdicts.items(), key=lambda one: (-one[1].score, *map(self._place.get, one[0])))
        for (one, other), verdict in found:
            roots = frozenset((self._root[one], self._root[other]))
            if verdict.sameness not in ("open", "close") or len(roots) < 2 or roots in seen:
                continue
            if frozenset((one, other)) in self._apart:
                continue
            seen.add(roots)
            ids = [entity_id(self._root[node]) for node in (one, other)]
            names = (self._described[one].name, self._described[other].name)
            yield Proposal(ids[0], ids[1], names, verdict.why, verdict.score)


def blocks_of(one: Described) -> set[str]:
    """Return the blocks that a name is in: only names that share one are compared.

    Its words, its first and last letters, its initials, its numbers, its role: whatever two names of one thing share.
    """
    parts = parts_of(one.name, one.type)
    found = {f"w:{word}" for word in parts.words}
    found |= {f"n:{number}" for number in parts.numbers if len(number) >= 4}
    found |= {f"k:{role}:{parts.owner}" for role in parts.kin}
    if parts.squashed:
        found |= {f"<{parts.squashed[:3]}", f">{parts.squashed[-4:]}"}
        found |= {f"i:{letters}" for letters in initials_of(parts.words)}
        if len(parts.words) == 1 and len(parts.squashed) <= 5:
            found.add(f"i:{parts.squashed.replace('&', '')}")
    found |= {f"g:{name}" for word in parts.words[:1] for name in stands_for(word)}
    return found


def _is_full(name: str) -> bool:
    """Whether a name is one of several words, as names are written: "Marta van Dyk", and not "a friend of Marta"."""
    parts = name.split()
    capital = sum(part[:1].isupper() or not part[:1].isalpha() for part in parts)
    return len(parts) > 1 and 2 * capital > len(parts) and parts[0][:1].isupper()


def _described(said: Sequence[Spoken]) -> Described:
    name = max((one.name for one in said), key=lambda name: (name != name.lower(), len(name), name))
    contexts = tuple(dict.fromkeys(one.context for one in said if one.context))[-_CONTEXTS:]
    related = frozenset((one.rel, one.other) for one in said if one.other and one.other not in SELF)
    return Described(name, _type_of(said), contexts, related)


def _type_of(said: Sequence[Spoken]) -> EntityType:
    """Return the type that most mentions tell, the first told of several; where none tells any, a known
    given name is a person's, and all else a thing's.
    """
    counts: dict[EntityType, int] = {}
    for one in said:
        if one.type != "thing":
            counts[one.type] = counts.get(one.type, 0) + 1
    if counts:
        return max(counts, key=lambda type_: counts[type_])
    name = said[0].name.split()
    return "person" if len(name) <= 3 and name[0][:1].isupper() and stands_for(folded(name[0])) else "thing"
