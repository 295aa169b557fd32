"""Which verb, with what behind it, states which relation: rows of data, each with an example that a test reads.

A clause is held against the rows of its verb in their order; the first that fits is taken. What no row knows is said
in the speaker's own words: `did`, `does`, `is`, `has`, `plans_to` (`learn/parse/own_words.py`).
"""

from typing import Final, NamedTuple

from braid.text.words import listed


class Row(NamedTuple):
    """One rule. `slot`: where the object stands (`dobj`, `acomp`, `attr`, `xcomp`, `to in at …`: governed by one of
    these prepositions, `verb`: the words from the verb on). `sort`: what it must be (`learn/parse/sorts.py`), empty
    for anything.
    """

    verbs: str
    slot: str
    rel: str
    example: str
    sort: str = ""
    when: str = "now"
    """now: present, perfect or able. past: past or perfect. ahead: planned, or in progress with a time to come. any."""
    type: str = "fact"
    polarity: bool = True
    only: str = ""
    """Which noun the object must be governed by, or which adjective must stand before: `allergic`, `fan`, `job`."""


ROWS: Final = (
    # where
    Row("live reside", "in near at on outside", "lives_in", "I live in Leeds.", "place"),
    Row("base locate", "in near at", "lives_in", "We're based in Leeds.", "place"),
    Row("settle", "in", "lives_in", "We settled in Hull.", "name", when="past"),
    Row("move relocate", "to into", "moved_to", "I moved to Glasgow.", "place", when="past", type="episode"),
    Row(
        "move relocate",
        "to",
        "moving_to",
        "I'm moving to Ghent on the first.",
        "place",
        when="ahead",
        type="goal",
    ),
    Row("move", "from", "moved_from", "I moved from Sweden.", "name", when="past", type="episode"),
    Row("grow up", "in", "grew_up_in", "I grew up in Naples.", "place", when="past"),
    Row("bear", "in", "born_in", "I was born in Split.", "name", when="any"),
    Row("bear", "on", "born_on", "I was born on 2 May 1990.", "date", when="any"),
    Row("come", "from", "comes_from", "I come from Iceland.", "name"),
    Row("be", "from", "comes_from", "I'm from Iceland.", "name"),
    # work
    Row("work", "as", "works_as", "She works as a vet.", "trade"),
    Row("work", "at for", "works_at", "Rui works at Airbus.", "organisation"),
    Row("start begin", "as", "works_as", "I just started as a junior architect.", "trade", when="past"),
    Row(
        "start begin get land take accept",
        "at with",
        "works_at",
        "I got a job at the post office!",
        "organisation",
        when="past",
        only="job",
    ),
    Row(
        "leave quit resign",
        "at from",
        "works_at",
        "I left my job at Deloitte in May.",
        "organisation",
        when="past",
        polarity=False,
        only="job",
    ),
    Row("leave quit", "dobj", "works_at", "I quit Deloitte.", "company", when="past", polarity=False),
    Row("teach", "dobj", "teaches", "I teach maths.", "subject"),
    Row("run own manage", "dobj", "owns", "I run a small bakery.", "business"),
    Row("work", "on", "working_on", "I'm working on a screenplay.", "thing"),
    Row("write", "dobj", "working_on", "I'm writing a screenplay.", "work", when="progress"),
    Row("teach", "at", "works_at", "I teach maths at a secondary school.", "organisation"),
    Row("study", "dobj", "studies", "I'm studying physics.", "subject"),
    Row("study", "at", "studies_at", "I'm studying physics at Durham.", "name"),
    Row("learn", "dobj", "learning", "I'm learning Italian.", "subject", when="progress", type="interest"),
    # taste
    Row("like love enjoy adore", "dobj", "likes", "I love jazz and old maps.", "taste", type="preference"),
    Row(
        "like love enjoy adore",
        "xcomp",
        "likes",
        "I really enjoy baking bread on Sundays.",
        "deed",
        type="preference",
    ),
    Row(
        "hate dislike detest loathe despise",
        "dobj",
        "dislikes",
        "I hate Mondays.",
        "taste",
        type="preference",
    ),
    Row(
        "hate dislike detest loathe despise", "xcomp", "dislikes", "I hate flying.", "deed", type="preference"
    ),
    Row("stand", "dobj xcomp", "dislikes", "I can't stand crowds.", "taste", type="preference", only="not"),
    Row("prefer", "dobj", "prefers", "I prefer window seats.", "taste", type="preference"),
    Row("prefer", "xcomp", "prefers", "I prefer working alone.", "deed", type="preference"),
    Row("be", "of", "likes", "I'm a fan of crowds.", "taste", type="preference", only="fan lover"),
    Row("be", "into", "likes", "I'm into astronomy.", "taste", type="preference"),
    Row(
        "be",
        "on about",
        "likes",
        "I'm keen on astronomy.",
        "taste",
        type="preference",
        only="keen mad crazy passionate",
    ),
    Row(
        "be",
        "in",
        "interested_in",
        "I'm interested in local history.",
        "taste",
        type="interest",
        only="interested",
    ),
    Row("be", "of", "afraid_of", "I'm afraid of heights.", "taste", only="afraid scared terrified"),
    Row("collect", "dobj", "collects", "I collect stamps.", "taste", type="interest"),
    Row("play", "dobj", "plays", "I play the guitar.", "game", type="interest"),
    Row("go", "gerund", "hobby", "I go climbing every Tuesday.", type="interest"),
    Row("do", "dobj", "hobby", "I've been doing yoga for three years.", "pastime", type="interest"),
    # body
    Row(
        "be",
        "to",
        "allergic_to",
        "I'm allergic to cats, dogs and pollen.",
        "taste",
        type="health",
        only="allergic",
    ),
    Row("eat", "dobj", "eats", "I don't eat meat any more.", "food", type="preference", when="habit"),
    Row("drink", "dobj", "drinks", "I never drink coffee.", "food", type="preference", when="habit"),
    Row("have eat", "dobj", "eats", "I can't have dairy.", "food", type="preference", only="can"),
    Row("switch", "to", "drinks", "I'm switching to tea.", "drink", type="preference", when="any"),
    Row(
        "give stop quit",
        "dobj",
        "drinks",
        "I gave up coffee.",
        "drink",
        type="preference",
        when="past",
        polarity=False,
    ),
    Row(
        "go",
        "off",
        "likes",
        "I've gone off coffee.",
        "taste",
        type="preference",
        when="past",
        polarity=False,
    ),
    Row("have get suffer", "dobj from", "has_condition", "I have diabetes.", "ailment", type="health"),
    Row(
        "sprain break fracture tear twist",
        "broken",
        "has_condition",
        "I sprained my left ankle yesterday.",
        "limb",
        when="past",
        type="health",
    ),
    Row(
        "diagnose",
        "with",
        "has_condition",
        "I was diagnosed with asthma.",
        "thing",
        when="any",
        type="health",
    ),
    # people and animals
    Row("marry", "to", "married_to", "I'm married to Anna.", "person", when="any", type="relation"),
    Row("marry", "dobj", "married_to", "I married Anna in May.", "person", when="past", type="relation"),
    Row(
        "have get adopt", "dobj", "pet", "I've got a cat called Biscuit.", "pet", when="any", type="relation"
    ),
    Row("have", "dobj", "child", "I have two kids.", "children", type="relation"),
    Row("have", "dobj", "sibling", "I have two sisters.", "siblings", type="relation"),
    Row("meet", "dobj", "met", "I met Tom and Lucy at a party.", "person", when="past", type="episode"),
    Row("expect", "dobj", "expecting", "We're expecting our first child in July.", "child", when="progress"),
    Row("speak", "dobj", "speaks", "I speak English, Igbo and a bit of Yoruba.", "language", type="skill"),
    Row("turn", "dobj attr", "age_is", "I'm turning 40 next month.", "age", when="any"),
    # things
    Row("drive", "dobj", "drives", "I drive a Fiesta.", "thing", when="habit"),
    Row("own", "dobj", "owns", "I own two bikes.", "thing"),
    Row(
        "buy purchase", "dobj", "bought", "I bought a house last year.", "thing", when="past", type="episode"
    ),
    Row("sell", "dobj", "owns", "We sold the Fiesta.", "thing", when="past", polarity=False),
    Row("stop quit give", "xcomp", "does", "I quit smoking.", "deed", when="past", polarity=False),
    Row("use", "dobj", "uses", "I've been using QuickBooks for my bookkeeping.", "thing", type="preference"),
    Row("cost", "dobj", "costs", "The ticket cost 45 euros.", "money", when="any"),
    Row("pay earn make", "dobj", "earns", "I earn 3,000 a month.", "sum", when="habit", only="earn make"),
    Row("need", "dobj", "needs", "The accountant needs read-only access.", "thing"),
    Row("want", "dobj", "wants", "I want email notifications.", "thing", type="preference"),
    Row("take", "dobj", "takes", "I take metformin with breakfast.", "drug", when="habit", type="health"),
    Row("be", "on", "takes", "Mum's on warfarin.", "drug", type="health"),
    # going places, plans
    Row(
        "go travel fly drive",
        "to",
        "went_to",
        "I went to Seville in March.",
        "somewhere",
        when="past",
        type="episode",
    ),
    Row("be", "to", "went_to", "I've been to Cuba twice.", "somewhere", when="past", type="episode"),
    Row(
        "go travel fly drive head",
        "to",
        "going_to",
        "I'm going to Rome in April.",
        "name",
        when="ahead",
        type="goal",
    ),
    Row("be", "in", "going_to", "I'll be in Berlin next week.", "name", when="ahead", type="goal"),
    Row(
        "be", "to for", "going_to", "I'm off to Lisbon tomorrow!", "name", when="any", type="goal", only="off"
    ),
    Row(
        "book",
        "to",
        "going_to",
        "I've booked a flight to Oslo for June.",
        "name",
        when="past",
        type="goal",
        only="flight trip ticket train holiday",
    ),
    Row("visit", "dobj", "visited", "I visited the Prado.", "somewhere", when="past", type="episode"),
    Row("attend", "dobj", "attended", "I attended a conference.", "thing", when="past", type="episode"),
    Row("join", "dobj", "joined", "I joined a book club in January.", "thing", when="past", type="episode"),
    Row(
        "sign up",
        "for",
        "signed_up_for",
        "I signed up for the half marathon.",
        "thing",
        when="past",
        type="episode",
    ),
    Row(
        "cancel drop scrap ditch abandon",
        "dobj",
        "signed_up_for",
        "I've cancelled the pottery course.",
        "course",
        when="any",
        polarity=False,
    ),
    Row(
        "pull back drop",
        "out_of of",
        "signed_up_for",
        "I've pulled out of the beekeeping course.",
        "thing",
        when="past",
        polarity=False,
    ),
    Row("win", "dobj", "won", "I won my first video game tournament.", "thing", when="past", type="episode"),
    Row("pass", "dobj", "passed", "I passed my exam!", "thing", when="past", type="episode"),
    Row(
        "launch open publish host",
        "dobj",
        "launched",
        "I just launched an ad campaign.",
        "thing",
        when="past",
        type="episode",
        only="launch",
    ),
    Row(
        "start begin end open close launch ship expire",
        "on at",
        "is_on",
        "The freeze starts on the 19th.",
        "day",
        when="any",
    ),
    # who does what, what was decided
    Row("go stick", "with", "decided_on", "We're going with NATS.", "thing", when="any", type="decision"),
    Row(
        "decide settle agree",
        "on",
        "decided_on",
        "We settled on the blue one.",
        "thing",
        when="past",
        type="decision",
    ),
    Row("pick choose", "dobj", "decided_on", "We chose Postgres.", "thing", when="past", type="decision"),
    Row("switch migrate", "to", "decided_on", "We switched to NATS.", "thing", when="any", type="decision"),
)

JOBS: Final = listed("job position role work post internship placement")
EXAMPLES: Final = tuple((row.example, row.rel) for row in ROWS)
