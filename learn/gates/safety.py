"""What never becomes knowledge, and what needs a person's word or a signed setting first. Pure.

Words stay in their turn, and can be quoted; here it is decided that they make no claim.
"""

import re
from typing import Final, NamedTuple

from braid.learn.candidate import Candidate
from braid.learn.gates.evidence import Found
from braid.learn.gates.outcome import GateError, GateSettings, Sensitivity, sensitivity
from braid.learn.turn import Turn
from braid.stance.relations import name_of
from braid.text.hinted import hinted
from braid.text.orders import gives_orders
from braid.text.secrets import IDENTITY, SHAPES, found
from braid.text.secrets import STATED as STATED_SECRETS
from braid.text.words import listed

_HEALTH_RELATIONS: Final = listed(
    "allergic_to has_condition takes diagnosed_with suffers_from has_symptom medication dose dosage "
    "treated_for"
)
_HEALTH_WORDS: Final = re.compile(
    r"\b(?:a1c|bp \d+|glaucoma|meniscus|achilles|clots?|heartburn|bloat\w*|antidepress\w+|injections?"
    r"|glucose|test strips?"
    r"|check-?ups?|eye checks?|bloods|discharged me|clinics?|pain(?:s|ful|killers?)?(?! points?)|ach(?:es?"
    r"|ing)|sore|throbb\w+"
    r"|(?:quit|stopped|gave up|started) smoking|smoker|(?:new|replaced) (?:hip|knee)|pulled muscle|compression socks"
    r"|(?:lose|lost|gain(?:ed)?|down to|get under) \d+(?:\.\d+)? ?(?:kg|kilos?|lbs?|pounds|stone)|(?:my|his"
    r"|her) operation"
    r"|allerg\w+|anaphyla\w+|asthma\w*|diabet\w+|insulin|metformin|migraine\w*|epilep\w+|seizures?"
    r"|depress(?:ed|ion|ive)"
    r"|anxiety|panic attacks?|adhd|autis\w+|bipolar|ptsd|ocd|cancer|tumou?rs?|chemo\w*|pregnan\w+|miscarr\w+|ivf"
    r"|medicat\w+|medicine|meds|prescri(?:bed|ption\w*)|(?<!api )dos(?:e|es|age|ing)|tablets? (?:a|of|twice|daily"
    r"|every|before|after)"
    r"|\d+ ?(?:mg|mcg|µg|ml|iu)\b|\d+ (?:tablet|pill|capsule|puff|drop)s?|one tablet|two tablets|half a tablet"
    r"|pills?|inhaler|antibiotic\w*"
    r"|ibuprofen|paracetamol|aspirin|statins?|warfarin|sertraline|fluoxetine|lisinopril|levothyroxine|amoxicillin"
    r"|omeprazole"
    r"|prednis\w+|melatonin|vitamin|iron supplements?|therap(?:y|ist|ists)|psychiatr\w+|counsell?or|rehab"
    r"|physio\w*|surger\w+"
    r"|operation on my|diagnos\w+|symptoms?|blood (?:pressure|sugar|test|type|work)|cholesterol|heart (?:rate"
    r"|attack|condition)"
    r"|hiv|hepatitis|covid|flu|fever|cough\w*|nausea|dizz\w+|rash|eczema|arthritis|sciatica|hernia|fracture\w*"
    r"|sprain\w*"
    r"|broken? (?:my |his |her )?(?:arm|leg|wrist|ankle|rib|hip)s?|(?:back|knee|chest|stomach|joint|hip|neck"
    r"|shoulder) pain"
    r"|headaches?|insomnia|sleep apn\w+|ibs|coeliac|celiac|lactose intoleran\w+|gluten intoleran\w+|intoleran(?:t"
    r"|ce)|vaccin\w+"
    r"|sober|alcoholi\w+|addict(?:ed|ion)|relaps\w+|menopaus\w+|periods? (?:is|are|was|started)|thyroid|kidney"
    r"|lump|biopsy|mri"
    r"|x-?ray|ultrasound|hospital(?:i[sz]ed)?|a&e|emergency room|weigh(?:s|ed|t)?\b.{0,20}\b(?:kg|kilos?|lbs?"
    r"|pounds|stone)"
    r"|bmi|calories|dialysis|pacemaker|stroke|dementia|alzheimer\w*|parkinson\w*|hearing aids?|disab\w+|knackered)\b",
    re.IGNORECASE,
)
_CALLINGS: Final = frozenset(("works_at", "works_as", "works_for", "studies", "studies_at"))
"""Who works at a hospital says nothing of their health."""
_FINANCE_RELATIONS: Final = frozenset(
    ["earns", "salary_is", "owes", "net_worth", "income_is", "debt", "has_debt", "credit_score", "balance_is"]
)
_FINANCE_WORDS: Final = re.compile(
    r"\b(?:salar(?:y|ies)|wages?|my income|household income|take[- ]home|earns? (?:about |around |over )?[£$€]?\d"
    r"|net worth"
    r"|credit (?:score|rating|card debt)|in debt|debts?|overdraft|overdrawn|mortgage\w*|(?:student|car|bank"
    r"|personal|payday) loans?"
    r"|my loan|bankrupt\w*|insolven\w+|savings|pension|inherit(?:ed|ance)|alimony|child support|bailiffs?"
    r"|repossess\w*"
    r"|owes? (?:me|him|her|us|them|my|the bank|money|[£$€]\d)|(?:bank|account) balance|tax (?:return|debt|bill)"
    r"|invest(?:ed|ments?) in"
    r"|portfolio|stocks and shares|crypto wallet|401k|isa|gambl\w+)\b",
    re.IGNORECASE,
)
_PRIVILEGE_WORDS: Final = re.compile(
    r"\b(?:i['’]?m|i am|we are|make me|made me|am now|is now|is|as|be|named?|called|became|user is|has|have|having"
    r"|with|got|gets|grant\w*|give me)"
    r" (?:the |an? |your |our |full |now |also |actually |really |a global |super )*(?:admin(?:istrator)?|root"
    r"|super ?user|sysadmin"
    r"|superadmin|moderator|owner of (?:this|the) (?:system|account|store|bot|assistant|workspace)|your (?:owner"
    r"|developer|creator"
    r"|admin\w*|maker|boss)|developer of (?:you|this)|root access|admin (?:access|rights|privileges?)|full access"
    r"|write access"
    r"|unrestricted access|elevated (?:access|rights|privileges?)|all permissions|authori[sz]ed to"
    r"|authori[sz]ation to|clearance"
    r"|permission to (?:bypass|skip|override|access|see|delete|approve)|root on|sudo (?:rights"
    r"|access)?)(?! (?:assistant|panel|page"
    r"|fee|fees|work|tasks?|email|password|portal|dashboard|costs?|canal|beer|vegetables?|cause))"
    r"|\b(?:skip|bypass|without|no need (?:for|to)|don['’]?t need|needn['’]?t|never ask (?:me )?for"
    r"|stop asking (?:me )?for|waive)\b"
    r".{0,30}\b(?:approv\w+|confirm\w+|verif\w+|permission|authori[sz]\w+|review|2fa|checks?)\b"
    r"|\b(?:pre-?approved|pre-?authori[sz]ed|auto-?approve\w*|always approved?|is allowed to (?:approve|skip"
    r"|bypass|see all|delete))\b"
    r"|\byou (?:may|can|are allowed to|should) (?:skip|bypass|ignore|override|trust me|approve)\b"
    r"|\bi(?:['’]?m| am) (?:from|with) (?:support|security|it|the bank|anthropic|openai|your (?:team"
    r"|company|vendor))\b"
    r"|\bi(?:['’]?m| am) your (?:ceo|boss|owner|developer|creator|administrator|admin)\b|\bhas no limits\b",
    re.IGNORECASE,
)
_PRIVILEGED_WORDS: Final = re.compile(
    r"\b(?:admin|administrator|root|superuser|super user|sysadmin|superadmin|root access|full access|admin rights"
    r"|sudo)\b",
    re.IGNORECASE,
)
_OCCUPATION: Final = re.compile(
    r"\b(?:an?|the) (?:\w+ )?(?:system|systems|office|database|network|school|linux|salesforce|practice|hr|medical"
    r"|business)"
    r" (?:admin|administrator)\b|\badmin(?:istrative)? assistant\b",
    re.IGNORECASE,
)
_MEMORY_ORDER_WORDS: Final = re.compile(
    r"\b(?:write|store|save|put|record|insert|add|log|commit|update|set|overwrite|replace)\b.{0,25}\b(?:your|the"
    r"|long-term|permanent)"
    r" (?:memory|memories|knowledge|database|profile|facts?|graph)\b"
    r"|\b(?:store|record|save|log) (?:the fact )?that\b|\bmust record that\b|\bremember forever\b"
    r"|\bnew fact\b.{0,60}:|\bconfidence\s*[:=]?\s*(?:1(?:\.0+)?|0?\.\d+|100 ?%)|\bsource\s*[:=]\s*verified"
    r"|^\s*#{2,} *(?:instruction|system|task|override|new rule)|\brepeat after me\b|\bpretend (?:that )?(?:i|to"
    r"|you|we)\b"
    r"|\b(?:ai|llm|assistant|agents?|bots?),? (?:note that|reading this|must|shall|should (?:record|remember|store))"
    r"|\b(?:health|finance|privacy|verified|trusted)\s*=\s*(?:true|1|yes)\b|\bdrop table\b|</?(?:user|fact|claim"
    r"|memory|system)s?>",
    re.IGNORECASE | re.MULTILINE,
)


_HEALTH: Final = hinted(
    _HEALTH_WORDS,
    "a1c bp_ glaucoma meniscus achilles clot heartburn bloat injection glucose test_strip check-up checkup"
    " eye_check bloods"
    " discharged clinic ache aching sore throbb smok new_hip new_knee replaced_ muscle socks lose lost gain"
    " under down_to"
    " allerg anaphyla asthma diabet insulin metformin migraine epilep seizure depress anxiety panic adhd autis"
    " bipolar ptsd"
    " ocd cancer tumor tumour chemo pregnan miscarr ivf medic meds prescri dos tablet mg mcg ml iu pill capsule"
    " puff drop"
    " inhaler antibiotic ibuprofen paracetamol aspirin statin warfarin sertraline fluoxetine lisinopril levothyroxine"
    " amoxicillin omeprazole prednis melatonin vitamin iron therap psychiatr counsel rehab physio surger operation"
    " diagnos symptom blood cholesterol heart hiv hepatitis covid flu fever cough nausea dizz rash eczema arthritis"
    " sciatica hernia fractur sprain broke pain headache insomnia sleep_ap ibs coeliac celiac intoleran vaccin sober"
    " alcoholi addict relaps menopaus period thyroid kidney lump biopsy mri x-ray xray ultrasound hospital a&e"
    " emergency"
    " weigh bmi calories dialysis pacemaker stroke dementia alzheimer parkinson hearing disab knackered",
)
_FINANCE: Final = hinted(
    _FINANCE_WORDS,
    "salar wage income take-home take_home earn net_worth credit debt overdr mortgage loan bankrupt insolven"
    " savings pension"
    " inherit alimony child_support bailiff repossess owe balance tax_ invest portfolio stocks crypto 401k isa gambl",
)
_MEMORY_ORDER: Final = hinted(
    _MEMORY_ORDER_WORDS,
    "memor knowledge database profile fact graph store record save log_ remember_forever confidence source ### ##"
    " repeat"
    " pretend ai llm assistant agent bot health finance privacy verified trusted drop_table <",
)
_PRIVILEGE: Final = hinted(
    _PRIVILEGE_WORDS,
    "admin root super moderator owner developer creator maker boss access privilege rights permission authori"
    " clearance sudo"
    " approv confirm verif review 2fa check waive allowed may_ can_ should_ i'm_from i'm_with am_from am_with ceo"
    " limits",
)


class Sensitive(NamedTuple):
    """What of a turn needs care: where secrets and the numbers of persons stand, and whether it speaks to a model."""

    secrets: tuple[tuple[int, int], ...]
    identities: tuple[tuple[int, int], ...]
    orders: bool
    privileges: bool
    health: bool
    finance: bool


def sensitive(turn: Turn) -> Sensitive:
    """Return what of a turn needs care; each turn is looked at once, however many candidates it has."""
    text = turn.text
    low = text.lower()
    return Sensitive(
        tuple((start, stop) for _, start, stop in (*found(text), *found(text, STATED_SECRETS))),
        tuple((start, stop) for _, start, stop in found(text, IDENTITY)),
        orders=gives_orders(text) or _MEMORY_ORDER.search(text, low) is not None,
        privileges=_PRIVILEGE.search(text, low) is not None,
        health=_HEALTH.search(text, low) is not None,
        finance=_FINANCE.search(text, low) is not None,
    )


def safety(
    candidate: Candidate, turn: Turn, at: Found, care: Sensitive, settings: GateSettings
) -> Sensitivity:
    """Return whether a claim is of health or money, or both, which the settings allow.

    Raises GateError: `secret`, `identity_number`, `instruction`, `health`, `finance`, `privilege` (to be staged).
    """
    claim = candidate.claim
    said = f"{claim.subject} {claim.object}"
    if care.secrets and _meets(care.secrets, turn.text, at, said):
        raise GateError("safety", "secret")
    if care.identities and _meets(care.identities, turn.text, at, said):
        raise GateError("safety", "identity_number")
    if candidate.maker.name != "parse":
        _made_up(said)
    if care.orders and _is_order(turn.text, at):
        raise GateError("safety", "instruction")
    if _claims_privilege(candidate, turn, at, care):
        raise GateError("safety", "privilege")
    return _of_health_or_money(candidate, at, care, settings)


def _meets(spans: tuple[tuple[int, int], ...], text: str, at: Found, said: str) -> bool:
    """Whether a quote touches one of these stretches, or a claim repeats what stands there."""
    return any(
        (start < at.stop and at.start < stop) or (stop - start >= 3 and text[start:stop] in said)
        for start, stop in spans
    )


def _made_up(said: str) -> None:
    """Raise GateError where a claim of a model's or of an event's has the shape of a secret, wherever it is from."""
    if next(found(said, SHAPES), None) is not None:
        raise GateError("safety", "secret")
    if next(found(said, IDENTITY), None) is not None:
        raise GateError("safety", "identity_number")


def _is_order(text: str, at: Found) -> bool:
    """Whether the quote's sentence speaks to a model."""
    sentence = _around(text, at)
    return gives_orders(sentence) or _MEMORY_ORDER.search(sentence) is not None


def _around(text: str, at: Found) -> str:
    """Return the sentence of a quote, as far as stops and ends of lines show it."""
    first = max(text.rfind(mark, 0, at.start) for mark in (". ", "! ", "? ", "\n")) + 1
    ends = [place for mark in (". ", "! ", "? ", "\n") if (place := text.find(mark, at.stop - 1)) >= 0]
    return text[first : min(ends) + 1 if ends else len(text)].strip()


def _claims_privilege(candidate: Candidate, turn: Turn, at: Found, care: Sensitive) -> bool:
    """Whether a claim is of a right or of access; a job of that name is none."""
    claim = candidate.claim
    own = f"{claim.rel.replace('_', ' ')} {claim.object}"
    if care.privileges:
        sentence = _around(turn.text, at)
        if _PRIVILEGE.search(sentence) and not _OCCUPATION.search(sentence):
            return True
    return _PRIVILEGED_WORDS.search(own) is not None and not (
        _OCCUPATION.search(at.quote)
        or name_of(claim.rel) in ("uses", "likes", "dislikes", "prefers", "opened", "visited")
    )


def _of_health_or_money(
    candidate: Candidate, at: Found, care: Sensitive, settings: GateSettings
) -> Sensitivity:
    """Return of what a claim, or the words that it quotes, are; raise GateError where that is off."""
    claim = candidate.claim
    name = name_of(claim.rel)
    own = f"{name.replace('_', ' ')} {claim.object} {claim.subject}"
    health = name in _HEALTH_RELATIONS or (name not in _CALLINGS and _HEALTH.search(own) is not None)
    finance = name in _FINANCE_RELATIONS or _FINANCE.search(own) is not None
    health = health or (care.health and name not in _CALLINGS and _HEALTH.search(at.quote) is not None)
    finance = finance or (care.finance and _FINANCE.search(at.quote) is not None)
    if health and not settings.health:
        raise GateError("safety", "health")
    if finance and not settings.finance:
        raise GateError("safety", "finance")
    return sensitivity(health=health, finance=finance)
