"""What a verb, an adjective or a noun does to the clause that hangs on it, as words. Pure.

"Offered to pay" leaves it open whether anybody paid, "refused to pay" denies it, "glad that he paid" takes it for
granted. After Karttunen (1971), "Implicative Verbs", and Kiparsky & Kiparsky (1970), "Fact".
"""

from collections.abc import Set
from typing import Final, Literal

Effect = Literal["open", "so", "turned", "factive", "beside"]
"""What a clause becomes under the one that it hangs on: left open, as true as that, the contrary, true in any case, or
true beside it."""
_TOWARDS: Final = frozenset((
    "manage", "get", "happen", "begin", "start", "continue", "keep", "go", "come", "love", "like", "enjoy", "hate",
    "able", "bother", "help", "regret", "finish", "end", "resume", "spend", "busy",
))  # fmt: skip
"""What follows them as an infinitive or a gerund is so."""
_FELT: Final = frozenset(("hate", "regret"))
"""After them only a gerund is so: "I hate to cancel"."""
_HELPING: Final = frozenset(("help", "get"))
"""What another is said to do behind them is so: "I like Tom to cook" isn't."""
_AWAY: Final = frozenset((
    "forget", "fail", "refuse", "decline", "neglect", "avoid", "omit", "unable", "skip",
))  # fmt: skip
"""What follows them so isn't."""
ENDING: Final = frozenset(("stop", "quit", "cease", "use"))
"""What follows them was so, and isn't now."""
_FACTIVE: Final = frozenset((
    "know", "realise", "realize", "glad", "happy", "unhappy", "sorry", "sad", "pleased", "delighted", "annoyed",
    "upset", "surprised", "regret", "mind", "learn", "notice", "remember", "secret", "wonder",
    "shame", "pity", "proud", "relieved", "thrilled", "angry", "furious", "care", "love", "hate", "like",
    "grateful", "thankful", "gutted", "forget", "aware", "amazed", "good", "great", "bad", "strange",
    "lucky", "complain", "admit", "discover", "keen",
))  # fmt: skip
"""What follows them as a clause is so, whether they are denied or not."""
_TRUE: Final = frozenset(("true", "case"))
"""What follows them as a clause is so, and denied with them."""
_SURE: Final = frozenset(
    ("sure", "certain", "clear", "obvious", "fact", "news", "confirm", "prove", "see", "find")
)
"""What follows them as a clause is so, and left open where they are denied."""
SPEAKING: Final = frozenset((
    "say", "think", "tell", "claim", "reckon", "hear", "believe", "suppose", "guess",
))  # fmt: skip
"""What is before them is somebody's word: "he's ill, she says"."""


def after(lemma: str, *, to: bool, of_other: bool, of_ever: bool, of_done: bool) -> Effect:
    """Return what an infinitive (`to`) or a gerund becomes after a word; `of_other`: it is another's doing.

    `of_ever`, `of_done`: whether it is asked if it ever was, and what was done.
    """
    if (to and lemma in _FELT) or (of_other and lemma not in _HELPING):
        return "open"
    if lemma in ENDING:
        return "so" if of_ever else "open" if of_done else "turned"
    return "turned" if lemma in _AWAY else "so" if lemma in _TOWARDS else "open"


def behind(above: Set[str], *, denied: bool) -> Effect:
    """Return what a clause becomes behind the words that say how it is known; `denied`: whether these are."""
    if above & _FACTIVE:
        return "factive"
    return "so" if above & _TRUE or (above & _SURE and not denied) else "open"
