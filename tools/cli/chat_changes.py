"""What a chat changes: it finds what is meant, shows it, asks, and puts right or forgets.

Of several that fit none is changed: they are shown, and the next line may choose. Only the last thing told is put right
without being asked for.
"""

import sys
from collections.abc import Callable, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from braid.tools.cli.output import line, many, put

if TYPE_CHECKING:
    from braid.agent.request.change import ChangeRequest
    from braid.agent.request.pointing import Pointed
    from braid.agent.request.removal import Removal
    from braid.agent.request.righting import Righting
    from braid.memories.operations import Meant
    from braid.store import Store
    from braid.tools.cli.chat_lines import Lines

MOST_SHOWN: Final = 10
MOST_NAMED: Final = 3
"""So many ids stand in a command that is advised."""
_WHOLE: Final = "say it as a whole sentence"
_SEVERAL: Final = "Several say that. Which? A number, its words, or no:"
_NEAR: Final = "Nothing says just that; this comes near. Which? A number, its words, or no:"
_TELLING: Final = 3
"""What is said beside a request is remembered where it has so many telling words."""


class _Choice(NamedTuple):
    """What was shown, as ids and texts, and what is done with those that are chosen."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    then: Callable[[list[str]], object]


class Changes:
    """Changes of one conversation. `told`: the record of the last thing that was told in it."""

    def __init__(
        self,
        store: "Store",
        whose: dict[str, Any],
        *,
        tell: Callable[[str], None],
        lines: "Lines",
        braid: str,
    ) -> None:
        """`tell` remembers a line; `braid`: how a command on the same store begins."""
        self.told: str | None = None
        self._store = store
        self._whose = whose
        self._tell = tell
        self._lines = lines
        self._braid = braid
        self._choice: _Choice | None = None

    def carry_out(self, asked: "Removal | Righting | ChangeRequest | Pointed", text: str) -> None:
        """Do what a line asks for, as far as it is clear what is meant."""
        from braid.agent.request.pointing import Pointed
        from braid.agent.request.removal import Removal
        from braid.agent.request.righting import Righting

        if isinstance(asked, Pointed):
            self._point_or_tell(text)
        elif isinstance(asked, Removal):
            self._remove(asked, text)
        elif isinstance(asked, Righting):
            self._put_right(asked, text)
        else:
            self._change(asked, text)

    def chosen(self, reply: str) -> bool:
        """Do what was asked for with what a reply chooses of what was just shown; return whether it chooses."""
        from braid.agent.request.choice import picked

        choice, self._choice = self._choice, None
        if choice is None or (found := picked(reply, choice.texts)) is None:
            return False
        if not found.is_clear:
            self._choice = choice
            put("Which of them? A number, its words, or no.")
        elif found.places:
            choice.then([choice.ids[place] for place in found.places])
        else:
            put("Kept.")
        return True

    def _let_choose(
        self, ids: "Sequence[str]", then: Callable[[list[str]], object], why: str = _SEVERAL
    ) -> None:
        """Show what may be meant, numbered: the next line may choose."""
        put(why)
        shown = tuple(ids[:MOST_SHOWN])
        self._list(ids, numbered=True)
        self._choice = _Choice(shown, tuple(self._store.get(id).text for id in shown), then)

    # -- putting right ----------------------------------------------------------------------------

    def meant(self, right: str) -> None:
        """Put the last thing right, by what "I meant …" says."""
        from braid.agent.request.meant import righted

        if self.told is None:
            raise ValueError(f"you have said nothing yet that could be put right: {_WHOLE}")
        before = self._store.get(self.told).text
        new = righted(before, right, self._object(self.told))
        if new is None:
            raise ValueError(
                "what is to be put right isn't clear: say “I meant NEW, not OLD”, or a whole sentence"
            )
        self._put_last_right(before, new)

    def perhaps_meant(self, about: str, right: str, wrong: str | None) -> bool:
        """Put a memory right by a bare "no, NEW", where that fits it and who says it agrees; return whether it fits.

        `wrong`: what was answered by it; else it is what the memory states.
        """
        from braid.agent.request.meant import righted

        before = self._store.get(about).text
        stated = wrong if wrong and wrong in before else self._object(about)
        if stated is None or not (stated[:1].isupper() or any(map(str.isdigit, stated))):
            return False  # a name or a number takes the place of no deed
        if (new := righted(before, right, stated)) is None:
            return False
        put(line(f"Put “{new}” in place of “{before}”? yes or no"))
        if self._answered_yes():
            self.told = self._store.correct(about, new, reason="said in a chat")
            self._store.learn()
            put("Put right.")
        else:
            put("Kept.")
        return True

    def _last(self) -> str:
        return self._store.get(self.told).text if self.told is not None else ""

    def _put_last_right(self, before: str, new: str) -> None:
        if self.told is not None:
            self.told = self._store.correct(self.told, new, reason="said in a chat")
            self._store.learn()
            put(line(f"Put right: “{new}” stands in place of “{before}”"))

    def _put_right(self, asked: "Righting", text: str) -> None:
        """Put right what a line denies, where that was said; else it is something told."""
        from braid.agent.request.change import change_request
        from braid.agent.request.naming import mended
        from braid.agent.request.pointing import pointed
        from braid.agent.request.righting import as_number, corrected, fits, meant_by, righting

        before = self._last()
        if (new := corrected(before, asked)) is not None and fits(before, asked):
            self._put_last_right(before, new)
            return
        saying = self._saying(asked.wrong, text)
        if not saying:
            asked = as_number(asked)
            saying = self._saying(asked.wrong, text)
        found = meant_by(asked, saying)
        if len(found) != 1:
            again = righting(mended(text, [one.text for one in self._near(text)], but=asked.wrong)) or asked
            found = meant_by(again, saying) or found
            asked = again if len(found) == 1 else asked
        if found:
            self._replace(found, lambda said: corrected(said, asked), text)
            self._tell_rest(asked.rest)
        elif (change := change_request(text)) is not None:
            self._change(change, text)
        elif not saying and asked.value is not None and asked.is_cued and pointed(text) is None:
            raise ValueError(f"nothing that is remembered says {asked.wrong!r}: {_WHOLE}")
        else:
            self._point_or_tell(text)

    def _change(self, asked: "ChangeRequest", text: str) -> None:
        """Change the one memory that is meant, as it is asked to be; without one the line is something told."""
        from braid.agent.request.change import changed
        from braid.agent.request.righting import fitting

        if asked.of:
            found = self._meant(asked.of)
        else:
            found = fitting([(one, one.text) for one in self._near(asked.statement)], asked.statement)
        if len(found) > 1 or (found and changed(found[0].text, asked) not in (None, found[0].text)):
            self._replace(found, lambda said: changed(said, asked), text)
        else:
            self._point_or_tell(text)

    # -- by what a line points to -----------------------------------------------------------------

    def _point_or_tell(self, text: str) -> None:
        """Do what is asked of the memory that a line points to; without one it is something told."""
        if not self._point(text):
            self._tell(text)

    def _point(self, text: str) -> bool:
        """Change or forget what a line points to; return whether something is."""
        from braid.agent.request.naming import mended
        from braid.agent.request.pointing import changed_to, meant_by, pointed

        asked = pointed(text)
        if asked is None:
            return self.aim(text)
        if asked.is_of_last:
            return self.aim(text) or self._change_last(asked)
        near = [(one, one.text) for one in self._near(text)]
        asked = (pointed(mended(text, [said for _, said in near])) or asked)._replace(value=asked.value)
        found = meant_by(asked, near)
        if found and asked.kind == "forget":
            self._forget_chosen([one.id for one in found], "")
        elif found:
            self._replace(found, lambda said: changed_to(said, asked), text)
        return bool(found) or self.aim(text)

    def _change_last(self, asked: "Pointed") -> bool:
        from braid.agent.request.pointing import changed_to

        before = self._last()
        if (new := changed_to(before, asked)) is None:
            return False
        self._put_last_right(before, new)
        return True

    def aim(self, text: str) -> bool:
        """Do what a line says of something remembered, wherever in it; return whether it says it of any."""
        from braid.agent.request.aim import aimed, may_aim

        if not may_aim(text):
            return False
        asked = aimed(text, [(one, one.text) for one in self._near(text)])
        if asked is None:
            return False
        if asked.text is not None:
            self._replace(asked.found, lambda said: asked.text, text)
        elif asked.is_all or len(asked.found) == 1:
            if not self._forget([one.id for one in asked.found], "") and not asked.is_asked:
                self._tell(text)  # how things are: it doesn't say that anything should go
        else:
            self._forget_chosen([one.id for one in asked.found], "")
        return True

    def _replace(self, found: "Sequence[Meant]", new: Callable[[str], str | None], text: str) -> None:
        """Put another text in the place of the one memory that is meant, after asking; of several they are shown.

        Where it isn't clear what would stand there, or no is said, the line is something told.
        """
        if len(found) > 1:
            self._let_choose(
                [one.id for one in found],
                lambda chosen: self._replace_each([one for one in found if one.id in chosen], new, text),
            )
            return
        one = found[0]
        if (instead := new(one.text)) is None:
            self._tell(text)
            return
        put(line(f"Put “{instead}” in place of “{one.text}”? yes or no"))
        if not self._answered_yes():
            put("Kept.")
            self._tell(text)
            return
        done = self._store.modify(one.id, text=instead, reason="said in a chat", if_version=one.version)
        self.told = done.id
        self._store.learn()
        put("Put right.")

    def _replace_each(self, found: "Sequence[Meant]", new: Callable[[str], str | None], text: str) -> None:
        for one in found:
            self._replace([one], new, text)

    def _meant(self, what: str) -> "list[Meant]":
        """Return what has every telling word of a topic: one that has only some of them is about something else."""
        return self._found(what, match="topic")

    def _near(self, line: str) -> "list[Meant]":
        """Return what a line is near to in meaning, best first."""
        return self._found(line, match="meaning")

    def _found(self, what: str, *, match: Literal["topic", "meaning"]) -> "list[Meant]":
        from braid.memories.operations import MOST_SHOWN as MOST_PREVIEWED

        found = self._store.preview_forget(what, match=match, limit=MOST_PREVIEWED, **self._whose)
        return list(found.memories)

    def _saying(self, what: str, line: str) -> "list[tuple[Meant, str]]":
        """Return the memories that say some words once, with their texts: looked for by them, or, where none of them is
        a telling one ("three"), by the line.
        """
        from braid.agent.request.righting import place_of
        from braid.text.words import telling

        near = self._meant(what) if telling(what) else self._near(line)
        return [(one, one.text) for one in near if place_of(one.text, what)]

    def _answered_yes(self) -> bool:
        sys.stdout.flush()
        return self._lines.says() == "yes"

    def _object(self, id: str) -> str | None:
        """Return what a turn states, where that is one thing: the object of the one claim that was read of it."""
        from braid.ledger.record.record import ExperienceBody

        children = self._store.trace(id, up=False, depth=1).down
        bodies = [
            self._store.get(node.id).body
            for node in children
            if node.role == "parent" and node.kind == "experience"
        ]
        claims = [claim for body in bodies if isinstance(body, ExperienceBody) for claim in body.symbolic]
        return claims[0].object if len(claims) == 1 else None

    # -- forgetting -------------------------------------------------------------------------------

    def forget_all(self, text: str) -> None:
        """Hide nothing: so much goes by a command that shows it first."""
        del text
        whose = " ".join(
            f"--where {quote(f'{name}={value}')}" for name, value in self._whose.items() if value
        )
        how = (
            f"`{self._braid} erase {whose} --dry-run` shows all that is kept; without --dry-run it is erased for good"
            if whose
            else "`braid erase --help` says how all of somebody is erased"
        )
        raise ValueError(f"a chat forgets some things at a time, and nothing was forgotten. {how}")

    def _remove(self, asked: "Removal", text: str) -> None:
        if asked.kind == "forget_last":
            self._forget_last()
        elif asked.kind == "forget_about":
            if not self._forget_about(asked.texts, is_one=asked.is_one) and not self._point(text):
                put(line(f"Nothing that is remembered speaks of {asked.texts[-1]}."))
        elif not self._forget_that(asked.texts) and not self._point(text):
            put(line(f"Nothing that is remembered says that {asked.texts[0]}."))
        self._tell_rest(asked.rest, about=asked.texts[-1] if asked.kind == "forget_about" else "")

    def _forget_last(self) -> None:
        if self.told is None:
            raise ValueError("you have said nothing yet that could be forgotten: say what it was about")
        record, hidden = self._store.get(self.told), self._store.reader.control.hidden
        put_right = [link.id for link in record.targets("supersedes") if link.index not in hidden]
        if self._forget([self.told, *put_right], ""):
            self.told = None

    def _forget_about(self, texts: Sequence[str], *, is_one: bool) -> bool:
        """Hide what has every word of a topic; where one thing is meant and several have them, show these.

        "All about no piano" speaks of what says there is none.
        """
        from braid.text.wording import denies

        for what in texts:
            if meant := [one.id for one in self._meant(what) if denies(one.text) or not denies(what)]:
                (self._forget_chosen if is_one else self._forget)(meant, what)
                return True
        return False

    def _forget_chosen(self, meant: "Sequence[str]", about: str) -> None:
        """Hide the one thing that is meant; of several that which is chosen."""
        if len(meant) > 1:
            self._let_choose(meant, lambda ids: self._forget(ids, ""))
        else:
            self._forget(meant, about)

    def _forget_that(self, texts: Sequence[str]) -> bool:
        """Hide what states just this; return whether something does, or comes near: that is shown and stays."""
        from braid.memories.operations import MOST_SHOWN as MOST_PREVIEWED
        from braid.text.wording import plainly, says_alike

        near: list[str] = []
        for what in texts:
            found = self._store.preview_forget(what, limit=MOST_PREVIEWED, **self._whose)
            meant = [str(one.id) for one in found.memories]
            if meant and not found.near:
                self._forget(meant, what)
                return True
            near = near or meant
        for what in texts:
            # the same, with its words bent otherwise, where nothing else says so
            alike = [one.id for one in self._meant(plainly(what)) if says_alike(one.text, what)]
            if len(alike) == 1:
                self._forget(alike, what)
                return True
        if near:
            self._let_choose(near, lambda ids: self._forget(ids, ""), _NEAR)
        return bool(near)

    def _tell_rest(self, rest: str, about: str = "") -> None:
        """Remember what a line says beside its request, but for what speaks of what was to go."""
        from braid.text.sentences import statements
        from braid.text.words import telling_stems

        topic = telling_stems(about)
        for said in statements(rest):
            if len(own := telling_stems(said)) < _TELLING:
                continue
            if topic and topic <= own:
                put(line(f"Not remembered, since it speaks of {about}, too: “{said}”"))
            else:
                self._tell(said)

    def _forget(self, ids: "Sequence[str]", about: str) -> bool:
        """Show what would be hidden, ask, and hide it; return whether it was.

        With it go the answers that quote it, and the questions that say it again, unless `only` is answered.
        """
        again = self._saying_again(ids, about)
        self._list(ids)
        if again:
            put("What you asked says it again:")
            self._list(again)
        quoting = [id for id in dict.fromkeys(self._quoting([*ids, *again])) if id not in ids]
        also = f", and {many(len(quoting), 'answer')} from it" if quoting else ""
        count = len(ids) + len(again)
        choice = "yes or no" if not again else "yes, no, or only what you told"
        put(f"Forget {'this' if count == 1 else f'these {count}'}{also}? {choice}")
        sys.stdout.flush()
        said = self._lines.says(choice)
        if said == "only":
            self._hide(ids, self._quoting(ids))
            put("What you asked was kept: it says it again.")
            return True
        if said == "no":
            put("Kept.")
            return False
        self._hide([*ids, *again], quoting)
        return True

    def _list(self, ids: "Sequence[str]", *, numbered: bool = False) -> None:
        for number, id in enumerate(ids[:MOST_SHOWN], 1):
            record = self._store.get(id)
            day, before = record.body.occurred_at or record.created_at, f"{number:>2}  " if numbered else ""
            put(f"  {before}{day:%Y-%m-%d}  {line(record.text)[:160]}")
        if len(ids) > MOST_SHOWN:
            put(f"  … and {len(ids) - MOST_SHOWN} more")

    def _hide(self, ids: "Sequence[str]", quoting: list[str]) -> None:
        self._store.forget(*dict.fromkeys([*ids, *quoting]), reason="asked for in a chat")
        days = self._store.reader.control.retention_days
        which = " ".join(ids) if len(ids) <= MOST_NAMED else "ID …"
        put(
            f"Forgotten. `{self._braid} recover {which}` brings it back within {many(days, 'day')}; "
            "then `braid retain` erases it."
        )

    def _saying_again(self, ids: "Sequence[str]", about: str) -> list[str]:
        """Return the questions that were asked of this memory and give away what these records say."""
        from braid.agent.answer.pipeline import TOP_K
        from braid.agent.request.wish import says_again
        from braid.ledger.record.record import ASK
        from braid.search.question import Question
        from braid.search.retrieval import find

        told = [self._store.get(id).text for id in ids[:MOST_SHOWN]]
        asked: dict[str, str] = {}
        for query in (*told, about):
            if query.strip():
                wanted = Question(query=query, top_k=TOP_K, filters={"method": {"eq": ASK}}, **self._whose)
                hits = find(self._store.session, wanted).results
                asked |= {hit.id: hit.text for hit in hits}
        return [
            id
            for id, text in asked.items()
            if id not in ids and any(says_again(text, each, about) for each in told)
        ]

    def _quoting(self, ids: "Sequence[str]") -> list[str]:
        """Return the answers that cite these records."""
        from braid.ledger.record.record import ExperienceBody

        found = [node for id in ids for node in self._store.trace(id, up=False, depth=1).down]
        living = [
            self._store.get(node.id)
            for node in found
            if node.role == "evidence" and not (node.forgotten or node.erased)
        ]
        return [
            record.id
            for record in living
            if isinstance(record.body, ExperienceBody) and record.body.provenance.method == "answer"
        ]
