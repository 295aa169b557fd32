"""The words by which clauses deny, wish, ask, report and end things, and by which relations are stated. Tables,
as data."""

from collections.abc import Mapping
from typing import Final

from braid.learn.words import HEDGES, KIN
from braid.text.words import listed, stem


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, text.split()))


FIRST: Final = listed("i me my mine myself we us our ours ourselves 's")
SECOND: Final = listed("you your yours yourself u")
THIRD: Final = listed(
    "he she they it him her them his hers their its who that which this these those one somebody someone"
)
NOBODY: Final = listed("nobody none neither nothing no-one noone")
DENIERS: Final = listed("no not n't never without neither nor hardly barely scarcely rarely almost nearly nt")
INSTEAD: Final = listed("instead rather without except unlike besides")
UNDONE: Final = listed("refuse decline fail forget deny stop quit cease avoid")
"""Verbs that say of another that it was not done."""
UNWANTED: Final = listed("hate dislike detest loathe despise resent avoid dread abhor")
"""Verbs of an attitude against something: they deny that it is liked, and nothing else."""
ENDING: Final = listed(
    "stop quit leave refuse decline reject cancel drop end scrap abandon cease discontinue terminate retire ditch"
    " unsubscribe deprecate"
)
"""Verbs of an end, or of what was not done."""
AGAINST: Final = _stems("dislike hate avoid detest dread loathe oppose resent unwanted")
ENDED: Final = _stems(
    "left leave quit stop ended end cancelled cancel drop dropped scrap abandon lost lose sold sell removed"
    " remove retired"
    " retire divorced separated broke former ex unsubscribed resigned fired deprecated died not no never without"
    " lack lacks"
    " refuse refused decline failed forgot denies finished ditched moved_from"
)
ATTITUDES: Final = _stems(
    "like love enjoy prefer favourite favorite want interested fan hate dislike avoid adore value need wish crave"
)
WISHED: Final = listed("wish imagine pretend suppose dream fantasise fantasize picture assume")
WANTED: Final = listed("want hope need wanna like love prefer long ask appreciate let make ensure try")
PLANNED: Final = listed("plan intend aim decide agree go gon prepare expect promise commit mean schedule")
PONDERED: Final = listed("consider contemplate doubt debate ponder")
REPORTED: Final = listed(
    "say tell think believe claim reckon hear mention write guess feel suggest insist swear argue report state"
    " find admit"
    " announce read know figure"
)
NOTED: Final = listed("remember note know remind mind")
TRANSFERRED: Final = listed("think believe guess feel reckon suppose say expect figure")
"""A denial of these denies what is thought: "I don't think I like it"."""
CONTROLLED: Final = listed("tell ask want make let help force allow get need order teach have see watch hear")
"""Their object does what the verb behind them says."""
POLITE: Final = listed("like love prefer appreciate rather want")
CONDITIONS: Final = listed("if unless whether provided supposing lest")
PEOPLE: Final = frozenset(KIN) | listed("parent man woman guy girl boy client customer supplier")

STATED_BY: Final[Mapping[str, frozenset[str]]] = {
    rel: _stems(said)
    for rels, said in (
        ("lives", "live move base reside home settle stay house flat apartment place from address"),
        ("located", "live in at base sit locate stand near office is"),
        (
            "works",
            "work job employ join hire company team engineer position role start as office for firm shift",
        ),
        ("owns own has_pet pet", "own have has got 've buy bought my our get adopt pet mine inherit"),
        (
            "likes loves enjoys",
            "like love enjoy adore fan into keen favourite favorite prefer good great best fond"
            " happy thing dig obsess passion",
        ),
        (
            "prefers preference favourite favorite",
            "prefer rather favourite favorite always like love best over than"
            " instead better want not default usual stick go use",
        ),
        (
            "dislikes hates",
            "dislike hate not n't never stand detest loathe annoy awful terrible worst easy instead fan"
            " can't sick avoid miss bad",
        ),
        ("uses", "use run on with via using switch rely through work have 've"),
        (
            "married engaged partner",
            "marry married wife husband spouse partner engaged fiancé fiancée fiance wedding"
            " girlfriend boyfriend propose",
        ),
        ("child", "son daughter kid child baby boy girl twin"),
        ("parent mother father", "mother mom mum father dad parent"),
        ("sibling", "sister brother sibling twin"),
        ("friend", "friend mate buddy pal"),
        ("allergic", "allergic allergy allergies react intolerant anaphylaxis"),
        ("speaks", "speak fluent language talk native"),
        ("born birthday", "born birthday birth turn"),
        ("bought", "buy bought get got purchase order ordered pick"),
        ("wants", "want like love need hope wish prefer rather look"),
    )
    for rel in rels.split()
}
"""By the first word of a relation: stems of the words of which one has to be in the sentence. Of other relations, a
word of their own."""
IDLE_RELATION: Final = listed(
    "is are was be has have had a an the at to of in on by for with as and did does do from it that user about states"
)
SARCASM: Final = (
    r"(?:^|\s)/s\b|🙄|\byeah,? right\b|\bas if\b(?! (?:i|it|he|she|they|we|you)\b)"
    r"|\bjust what (?:i|we) (?:needed|wanted)\b|\blucky me\b"
    r"|\bthanks? (?:a lot|so much|very much)?,? for (?:nothing|breaking|losing|ignoring|wasting)\b"
    r"|\b(?:sure|right|obviously|clearly),? (?:because|since)\b"
    r"|\bwho doesn['’]?t[.!?]*\s*$|\bi(?:['’]m| am) (?:the )?(?:queen|king|pope|emperor|santa)\b"
    r"|\bbecause (?:who doesn['’]?t|everyone|everybody) (?:just )?(?:love|enjoy|want|need)s?\b"
)
"""Of what is said beside these, nothing is meant."""
IRONY: Final = (
    r"\bmy (?:absolute |all-time )?(?:favou?rite|passion|dream)(?: (?:thing|part|pastime|hobby|activity"
    r"|day))?(?: \w+){0,3}"
    r" (?:ever|in the (?:whole )?world)\b|\bmy (?:absolute|true|great) passion\b"
    r"|\b(?:best|greatest|highlight) (?:day|moment|part)?\s?of my (?:life|day|week|month|year|career)\b"
    r"|\bcould ?n['’]?t be (?:more )?(?:happier|thrilled|excited)\b[^.!?\n]{0,40}\b(?:again|another|broken|wait)"
    r"|\b(?:what a|such a) (?:joy|treat|delight|pleasure)\b|\bhow (?:wonderful|lovely|delightful|convenient)\b"
    r"|\byay,? another\b|\bwhat a (?:bargain|deal|surprise|shock|gem|star)\b|\btell me more about\b"
    r"|\blove it when\b|\bjust (?-i:LOVE|ADORE)\b|\b(?:living the|a real|pure) (?:dream|bliss)\b"
    r"|\b(?:oh|ah|wow|well|just|yay|how|so|really|absolutely|simply|truly)?,? ?(?:great|wonderful|fantastic|lovely"
    r"|perfect"
    r"|brilliant|awesome|terrific|amazing|fabulous|super|love|adore|thrilled|delighted|enjoy|exciting|fun)\b"
    r"(?=[^.!?\n]{0,80}\b(?:another|yet again|again|outage|delay(?:ed|s)?|on hold|waiting (?:in (?:line|queues?)"
    r"|(?:for )?(?:\w+ ){0,2}hours?)|stuck|traffic|broken?|breaks?"
    r"|crash\w*|explod\w+|ignor\w+|for the \w+ time|monday (?:morning )?meetings?|3 ?am|4 ?am|paperwork|queu\w+"
    r"|late fee"
    r"|chargebacks?|flat ty[rl]e|double[- ]charged|lost my|root canal|tax audit|error\w*|rejected|debug\w*)\b)"
)
"""Of what is said beside these, no liking is meant."""
FRAME: Final = (
    r"\b(?:what if|hypothetically|for the sake of argument|say for (?:example|instance)|let['’]?s say|in theory)\b"
    r"|\bin (?:the|my|a|our|his|her) (?:\w+ )?(?:novel|story|game|dream|film|movie|scenario|script|play|campaign"
    r"|book)\b"
    r"|\b(?:it['’]?s|it is|that['’]?s|is) (?:false|untrue|not true|a lie|a myth|a rumou?r|just a rumou?r) that\b"
    r"|\b(?:it['’]?s|it is) not that\b|\b(?:example|sample|dummy|test) (?:for|data|text|record)\b"
    r"|(?:^|[.!?\n]\s*)(?:should|were) (?:the|my|our|i|we|he|she|they|it|you)\b"
)
"""What frames all that its sentence says behind it as not so."""
STRONG: Final = listed(
    "hate everything nothing terrible awful horrible worst disgusting furious ugh miserable hopeless useless pathetic"
    " nightmare sick fed scream done ruined screw damn fucking goddamn quit unbearable hell stupid pointless disaster"
    " everyone nobody always never"
)
"""Words of which three in a turn, or two in a sentence, are an outburst."""
HEDGED: Final = (
    rf"\b(?:{'|'.join(sorted(HEDGES))}|might|i guess|i suppose|kind of|kinda|sort of|sorta|not sure|i think"
    r"|somewhat|something|stuff|whatever|dunno|could be|or so|idk)\b"
)
