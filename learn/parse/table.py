"""Which verb, with what behind it, states which relation: rows of data, each with an example that a test reads.

A clause is held against the rows of its verb in their order; the first that fits is taken. What no row knows is said
in the speaker's own words: `did`, `does`, `is`, `has`, `plans_to` (`learn/parse/own_words.py`).
"""

from sys import intern
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
    sort: str
    when: str
    """now: present, perfect or able. past: past or perfect. ahead: planned, or in progress with a time to come. any."""
    type: str
    polarity: bool
    only: str
    """Which noun the object must be governed by, or which adjective must stand before: `allergic`, `fan`, `job`."""


_TABLE: Final = """
# where
live reside | in near at on outside | lives_in | place | now | fact | | I live in Leeds.
base locate | in near at | lives_in | place | now | fact | | We're based in Leeds.
settle | in | lives_in | name | past | fact | | We settled in Hull.
move relocate | to into | moved_to | place | past | episode | | I moved to Glasgow.
move relocate | to | moving_to | place | ahead | goal | | I'm moving to Ghent on the first.
move | from | moved_from | name | past | episode | | I moved from Sweden.
grow up | in | grew_up_in | place | past | fact | | I grew up in Naples.
bear | in | born_in | name | any | fact | | I was born in Split.
bear | on | born_on | date | any | fact | | I was born on 2 May 1990.
come | from | comes_from | name | now | fact | | I come from Iceland.
be | from | comes_from | name | now | fact | | I'm from Iceland.
# work
work | as | works_as | trade | now | fact | | Rui works as a vet.
work | at for | works_at | organisation | now | fact | | Rui works at Airbus.
start begin | as | works_as | trade | past | fact | | I just started as a junior architect.
start begin get land take accept | at with | works_at | organisation | past | fact | job | I got a job at the library!
leave quit resign | at from | not works_at | organisation | past | fact | job | I left my job at Deloitte in May.
leave quit | dobj | not works_at | company | past | fact | | I quit Deloitte.
teach | dobj | teaches | subject | now | fact | | I teach maths.
run own manage | dobj | owns | business | now | fact | | I run a small bakery.
work | on | working_on | thing | now | fact | | I'm working on a screenplay.
write | dobj | working_on | work | progress | fact | | I'm writing a screenplay.
teach | at | works_at | organisation | now | fact | | I teach maths at a secondary school.
study | dobj | studies | subject | now | fact | | I'm studying physics.
study | at | studies_at | name | now | fact | | I'm studying physics at Durham.
learn | dobj | learning | subject | progress | interest | | I'm learning Italian.
# taste
like love enjoy adore | dobj | likes | taste | now | preference | | I love jazz and old maps.
like love enjoy adore | xcomp | likes | deed | now | preference | | I really enjoy baking bread on Sundays.
hate dislike detest loathe despise | dobj | dislikes | taste | now | preference | | I hate Mondays.
hate dislike detest loathe despise | xcomp | dislikes | deed | now | preference | | I hate flying.
stand | dobj xcomp | dislikes | taste | now | preference | not | I can't stand crowds.
prefer | dobj | prefers | taste | now | preference | | I prefer window seats.
prefer | xcomp | prefers | deed | now | preference | | I prefer working alone.
be | of | likes | taste | now | preference | fan lover | I'm a fan of crowds.
be | into | likes | taste | now | preference | | I'm into astronomy.
be | on about | likes | taste | now | preference | keen mad crazy passionate | I'm keen on astronomy.
be | in | interested_in | taste | now | interest | interested | I'm interested in local history.
be | of | afraid_of | taste | now | fact | afraid scared terrified | I'm afraid of heights.
collect | dobj | collects | taste | now | interest | | I collect stamps.
play | dobj | plays | game | now | interest | | I play the guitar.
go | gerund | hobby | | now | interest | | I go climbing every Tuesday.
do | dobj | hobby | pastime | now | interest | | I've been doing yoga for three years.
# body
be | to | allergic_to | taste | now | health | allergic | I'm allergic to cats, dogs and pollen.
eat | dobj | eats | food | habit | preference | | I don't eat meat any more.
drink | dobj | drinks | food | habit | preference | | I never drink coffee.
have eat | dobj | eats | food | now | preference | can | I can't have dairy.
switch | to | drinks | drink | any | preference | | I'm switching to tea.
give stop quit | dobj | not drinks | drink | past | preference | | I gave up coffee.
go | off | not likes | taste | past | preference | | I've gone off coffee.
have get suffer | dobj from | has_condition | ailment | now | health | | I have diabetes.
sprain break fracture tear twist | broken | has_condition | limb | past | health | | I sprained my left ankle yesterday.
diagnose | with | has_condition | thing | any | health | | I was diagnosed with asthma.
# people and animals
marry | to | married_to | person | any | relation | | I'm married to Anna.
marry | dobj | married_to | person | past | relation | | I married Anna in May.
have get adopt | dobj | pet | pet | any | relation | | I've got a cat called Biscuit.
have | dobj | child | children | now | relation | | I have two kids.
have | dobj | sibling | siblings | now | relation | | I have two sisters.
meet | dobj | met | person | past | episode | | I met Tom and Lucy at a party.
expect | dobj | expecting | child | progress | fact | | We're expecting our first child in July.
speak | dobj | speaks | language | now | skill | | I speak English, Igbo and a bit of Yoruba.
turn | dobj attr | age_is | age | any | fact | | I'm turning 40 next month.
# things
drive | dobj | drives | thing | habit | fact | | I drive a Fiesta.
own | dobj | owns | thing | now | fact | | I own two bikes.
buy purchase | dobj | bought | thing | past | episode | | I bought a house last year.
sell | dobj | not owns | thing | past | fact | | We sold the Fiesta.
stop quit give | xcomp | not does | deed | past | fact | | I quit smoking.
use | dobj | uses | thing | now | preference | | I've been using QuickBooks for my bookkeeping.
cost | dobj | costs | money | any | fact | | The ticket cost 45 euros.
pay earn make | dobj | earns | sum | habit | fact | earn make | I earn 3,000 a month.
need | dobj | needs | thing | now | fact | | The accountant needs read-only access.
want | dobj | wants | thing | now | preference | | I want email notifications.
take | dobj | takes | drug | habit | health | | I take metformin with breakfast.
be | on | takes | drug | now | health | | Mum's on warfarin.
# going places, plans
go travel fly drive | to | went_to | somewhere | past | episode | | I went to Seville in March.
be | to | went_to | somewhere | past | episode | | I've been to Cuba twice.
go travel fly drive head | to | going_to | name | ahead | goal | | I'm going to Rome in April.
be | in | going_to | name | ahead | goal | | I'll be in Berlin next week.
be | to for | going_to | name | any | goal | off | I'm off to Lisbon tomorrow!
book | to | going_to | name | past | goal | flight trip ticket train holiday | I've booked a flight to Oslo for June.
visit | dobj | visited | somewhere | past | episode | | I visited the Prado.
attend | dobj | attended | thing | past | episode | | I attended a conference.
join | dobj | joined | thing | past | episode | | I joined a book club in January.
sign up | for | signed_up_for | thing | past | episode | | I signed up for the half marathon.
pull back drop | out_of of | not signed_up_for | thing | past | fact | | I've pulled out of the beekeeping course.
win | dobj | won | thing | past | episode | | I won my first video game tournament.
pass | dobj | passed | thing | past | episode | | I passed my exam!
launch open publish host | dobj | launched | thing | past | episode | launch | I just launched an ad campaign.
start begin end open close launch ship expire | on at | is_on | day | any | fact | | The freeze starts on the 19th.
# who does what, what was decided
go stick | with | decided_on | choice | any | decision | | We're going with NATS.
decide settle agree | on | decided_on | thing | past | decision | | We settled on the blue tiles.
pick choose | dobj | decided_on | thing | past | decision | | We chose Postgres.
switch migrate | to | decided_on | thing | any | decision | | We switched to NATS.
"""
"""Verbs, slot, relation, sort, when, type, only, example. `not`: what is stated is that it isn't so."""


def _row(line: str) -> Row:
    # Interned, so that a claim of the default type is written without it, as msgspec tells by the object.
    verbs, slot, rel, sort, when, type, only, example = (intern(cell.strip()) for cell in line.split("|"))
    denied = rel.startswith("not ")
    return Row(verbs, slot, rel.removeprefix("not "), example, sort, when, type, not denied, only)


ROWS: Final = tuple(_row(line) for line in _TABLE.splitlines() if line and not line.startswith("#"))

JOBS: Final = listed("job position role work post internship placement")
EXAMPLES: Final = tuple((row.example, row.rel) for row in ROWS)
