"""Words that the reader tells apart, as data: auxiliaries, adverbs, hedges, kin, trades, ailments."""

import re
from typing import Final

from braid.text.calendar import MONTHS, WEEKDAYS


def listed(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


def _pairs(lines: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines.strip().splitlines():
        lemma, *forms = line.split()
        found |= dict.fromkeys((lemma, *forms), lemma)
    return found


ADVERBS: Final = listed(
    "also really just still now currently actually always usually often recently finally absolutely totally"
    " definitely honestly truly even already mostly mainly sometimes normally generally simply both all only"
    " certainly obviously sadly luckily thankfully officially originally particularly especially"
    " quite so very completely literally basically seriously genuinely newly happily proudly secretly"
    " lately generally long once then soon ever personally regularly occasionally"
)
HEDGES: Final = listed(
    "maybe perhaps probably possibly apparently allegedly supposedly seemingly likely presumably"
)
HEDGE_PHRASES: Final = (
    "i think", "i guess", "i believe", "i suppose", "i reckon", "i assume", "i heard", "i hear", "i'd say",
    "as far as i know", "if i remember", "it seems", "it looks like", "sort of", "kind of", "not sure", "i feel like",
)  # fmt: skip
MODALS: Final = listed("would could should might may must ought 'd")
CAN: Final = listed("can cannot can't")

KIN: Final = {
    "wife": "partner_is", "husband": "partner_is", "partner": "partner_is", "girlfriend": "partner_is",
    "boyfriend": "partner_is", "fiancé": "engaged_to", "fiancée": "engaged_to", "fiance": "engaged_to",
    "fiancee": "engaged_to", "spouse": "partner_is", "better half": "partner_is",
    "brother": "sibling", "sister": "sibling", "twin": "sibling", "twin sister": "sibling", "twin brother": "sibling",
    "mum": "parent", "mom": "parent", "mother": "parent", "dad": "parent", "father": "parent",
    "parents": "parent", "son": "child", "daughter": "child", "kid": "child", "baby": "child", "child": "child",
    "stepson": "child", "stepdaughter": "child",
    "cousin": "relative", "aunt": "relative", "uncle": "relative", "niece": "relative", "nephew": "relative",
    "grandma": "relative", "grandmother": "relative", "grandpa": "relative", "grandfather": "relative",
    "granddad": "relative", "gran": "relative", "grandson": "relative", "granddaughter": "relative",
    "sister-in-law": "relative", "brother-in-law": "relative", "mother-in-law": "relative",
    "father-in-law": "relative",
    "friend": "friend", "best friend": "friend", "mate": "friend", "buddy": "friend", "pal": "friend",
    "boss": "boss_is", "manager": "boss_is", "supervisor": "boss_is",
    "colleague": "colleague", "coworker": "colleague", "co-worker": "colleague", "workmate": "colleague",
    "teammate": "colleague", "assistant": "colleague",
    "roommate": "flatmate", "flatmate": "flatmate", "housemate": "flatmate",
    "neighbour": "neighbour", "neighbor": "neighbour", "landlord": "landlord_is", "landlady": "landlord_is",
    "doctor": "doctor_is", "dentist": "dentist_is", "therapist": "therapist_is", "coach": "coach_is",
    "teacher": "teacher_is", "bookkeeper": "bookkeeper_is", "accountant": "accountant_is",
    "kids": "", "children": "", "sons": "", "daughters": "", "brothers": "", "sisters": "", "grandparents": "",
    "grandkids": "", "friends": "", "in-laws": "", "family": "", "cousins": "", "colleagues": "", "twins": "",
    "lawyer": "lawyer_is", "ex": "", "ex-wife": "", "ex-husband": "",
}  # fmt: skip
FEMALE: Final = listed(
    "wife girlfriend sister mum mom mother daughter aunt niece grandma grandmother gran "
    "granddaughter landlady"
    " fiancée fiancee sister-in-law mother-in-law ex-wife"
)
MALE: Final = listed(
    "husband boyfriend brother dad father son uncle nephew grandpa grandfather granddad grandson "
    "landlord fiancé"
    " brother-in-law father-in-law ex-husband"
)
PETS: Final = listed(
    "dog cat puppy kitten parrot hamster rabbit bunny tortoise turtle horse pony budgie canary "
    "goldfish guinea-pig"
    " gecko lizard snake ferret rat mouse labrador poodle beagle terrier collie spaniel "
    "dachshund retriever husky"
    " shepherd pup kitty goat chicken duck pug corgi"
)
MANY_PETS: Final = listed(
    "dogs cats puppies kittens parrots hamsters rabbits bunnies turtles tortoises horses hens chickens snakes"
    " pups fish bees goats ducks rats lizards guinea-pigs"
)
TRADES: Final = listed(
    "nurse vet teacher engineer developer programmer designer architect chef cook baker barista "
    "waiter waitress"
    " doctor surgeon paramedic dentist pharmacist midwife therapist psychologist psychiatrist "
    "counselor counsellor"
    " lawyer solicitor barrister judge accountant bookkeeper auditor analyst consultant manager "
    "director carpenter"
    " plumber electrician builder mechanic welder roofer painter gardener farmer fisherman "
    "driver courier pilot"
    " steward stewardess sailor soldier firefighter policeman policewoman detective guard "
    "librarian journalist"
    " editor writer author novelist poet translator interpreter photographer filmmaker director "
    "producer musician"
    " singer drummer guitarist pianist violinist composer conductor actor actress dancer "
    "choreographer sculptor"
    " illustrator animator scientist physicist chemist biologist mathematician statistician "
    "economist historian"
    " researcher professor lecturer tutor student undergraduate postgraduate intern apprentice "
    "trainee cleaner"
    " caretaker janitor cashier clerk receptionist secretary assistant salesman saleswoman salesperson broker"
    " banker trader agent realtor hairdresser barber tailor seamstress florist butcher jeweller "
    "potter blacksmith"
    " geologist astronomer meteorologist archaeologist anthropologist sociologist linguist veterinarian"
    " physiotherapist radiographer optician nutritionist dietitian coach trainer instructor referee lifeguard"
    " recruiter marketer copywriter planner surveyor inspector technician operator foreman machinist miner"
    " tester scrum-master freelancer entrepreneur contractor landscaper beekeeper brewer winemaker sommelier"
    " bartender bouncer dj streamer youtuber blogger podcaster gamer headteacher principal dean "
    "postman postwoman"
    " mayor councillor politician diplomat priest vicar pastor rabbi imam monk nun undertaker locksmith"
    " stonemason glazier upholsterer tattooist beautician masseuse masseur caregiver carer nanny childminder"
    " screenwriter playwright producer officer sergeant captain executive administrator "
    "coordinator supervisor"
    " specialist strategist advisor adviser representative founder owner bricklayer joiner plasterer"
)
AILMENTS: Final = listed(
    "asthma diabetes epilepsy migraines reflux arthritis eczema psoriasis anemia anaemia "
    "hypertension insomnia"
    " depression adhd autism dyslexia celiac coeliac endometriosis lupus glaucoma gout hay-fever hayfever"
    " ibs tinnitus sciatica parkinson's alzheimer's cancer covid pneumonia bronchitis shingles "
    "scoliosis ptsd ocd"
    " flu tendonitis gastritis hypothyroidism pcos"
)
LIMBS: Final = listed(
    "wrist ankle arm leg knee foot toe finger thumb shoulder elbow hip nose rib ribs collarbone "
    "hand back neck jaw"
)
DIETS: Final = listed(
    "vegetarian vegan pescatarian pescetarian gluten-free halal kosher keto teetotal lactose-intolerant"
)
STATUSES: Final = listed(
    "single married engaged divorced widowed separated retired unemployed self-employed pregnant"
)
NOT_NAMES: Final = frozenset(
    {month.title() for month in MONTHS}
    | {day.title() for day in WEEKDAYS}
    | listed(
        "I I'm I've I'd I'll It This That These Those There Here What When Where Who Why How Which The A "
        "An And But Or So If Then Yes No Not Oh Ok Okay Well Hi Hey Hello Thanks Thank Please Sorry Sure "
        "Wow Yeah Nope Yep Great Good Nice Cool Awesome Christmas Easter Halloween Thanksgiving Today "
        "Tomorrow Yesterday My Your His Her Our Their He She They We You Everyone Everybody Someone "
        "Somebody Nobody Anyone People Mom Mum Dad Mother Father Grandma Grandpa God English French "
        "German Spanish Italian Dutch Portuguese Chinese Japanese Just Also Still Even Now Maybe Perhaps "
        "Actually Honestly Really All Both Each Some Any Every Many Most Nothing Something Everything "
        "Love Life Work Home Time Since After Before With For From About At In On To Of By As Is Are Was "
        "Were Do Did Does Have Has Had Can Could Would Should Will May Might Must Let Lots Absolutely "
        "Definitely Totally Coffee Tea Being Having Going Been Glad Happy Finally Never Always Sometimes "
        "Recently Lately PS TV OK FYI BTW IMO LOL Plus Though Although Because Until While During Once "
        "Too Very Such Another One Two Three Four Five"
    )
)
TITLES: Final = ("Dr", "Mrs", "Mr", "Ms", "Miss", "Prof", "St")
_WORD: Final = (
    rf"(?!(?:{'|'.join(map(re.escape, sorted(NOT_NAMES, key=len, reverse=True)))}|{'|'.join(TITLES)})(?![\w']))"
    r"[A-ZÀ-Þ][a-zà-ÿ][\w-]*(?![\w-])"
)
NAME: Final = rf"(?-i:(?:(?:{'|'.join(TITLES)})\.? )?{_WORD}(?: {_WORD}){{0,2}}(?! (?!I\b)[A-ZÀ-Þ]))"
"""A person's name: a title, with or without a full stop, and up to three words. A title alone is none, and where a
capital follows that isn't of it, nobody knows where the name ends."""
LANGUAGES: Final = listed(
    "english french german spanish italian dutch portuguese chinese mandarin cantonese japanese "
    "korean russian polish"
    " czech slovak hungarian romanian bulgarian greek turkish arabic hebrew hindi urdu bengali "
    "tamil punjabi farsi"
    " persian swedish norwegian danish finnish icelandic irish welsh gaelic catalan basque ukrainian croatian"
    " serbian slovenian estonian latvian lithuanian swahili yoruba igbo amharic thai vietnamese tagalog malay"
    " indonesian latin esperanto"
)
PEOPLES: Final = LANGUAGES | listed(
    "american british canadian mexican brazilian argentinian argentine chilean colombian peruvian venezuelan cuban "
    "scottish belgian austrian swiss luxembourgish israeli palestinian lebanese syrian iraqi iranian saudi egyptian "
    "moroccan algerian tunisian nigerian ghanaian kenyan ethiopian ugandan tanzanian somali sudanese indian pakistani "
    "bangladeshi nepali filipino singaporean taiwanese australian bosnian kosovan albanian macedonian georgian "
    "armenian kazakh uzbek afghan jamaican haitian dominican european african asian"
)
"""What somebody may be called by where they are from; more names end as such words do: Susan, Ravi, Eric."""
VERBS: Final = _pairs(
    """
    live lives lived living
    move moves moved moving
    relocate relocates relocated relocating
    settle settled settling
    work works worked working
    start starts started starting
    begin begins began begun beginning
    quit quits quitting
    leave leaves left leaving
    resign resigns resigned resigning
    retire retires retired retiring
    join joins joined joining
    love loves loved loving
    adore adores adored
    like likes liked
    enjoy enjoys enjoyed enjoying
    hate hates hated
    dislike dislikes disliked
    detest detests
    loathe loathes
    despise despises
    prefer prefers preferred
    stand
    eat eats ate eaten eating
    drink drinks drank drunk drinking
    stop stops stopped stopping
    avoid avoids avoided avoiding
    switch switches switched switching
    have has had having
    get gets got gotten getting
    own owns owned owning
    buy buys bought buying
    sell sells sold selling
    adopt adopts adopted adopting
    drive drives drove driven driving
    ride rides rode ridden riding
    speak speaks spoke spoken speaking
    learn learns learned learnt learning
    study studies studied studying
    graduate graduates graduated graduating
    play plays played playing
    volunteer volunteers volunteered volunteering
    go goes went gone going
    visit visits visited visiting
    attend attends attended attending
    travel travels traveled travelled traveling travelling
    fly flies flew flown flying
    win wins won winning
    pass passes passed passing
    finish finishes finished finishing
    complete completes completed completing
    run runs ran running
    sign signs signed signing
    apply applies applied applying
    take takes took taken taking
    plan plans planned planning
    want wants wanted wanting
    hope hopes hoped hoping
    marry marries married marrying
    propose proposes proposed
    break breaks broke broken breaking
    sprain sprained
    fracture fractured
    turn turns turned turning
    grow grows grew grown growing
    be born
    bear bore
    say says said saying
    tell tells told telling
    think thinks thought thinking
    claim claims claimed
    reckon reckons
    believe believes believed
    mention mentions mentioned
    hear hears heard
    find finds found finding
    name names named naming
    call calls called calling
    keep keeps kept keeping
    cost costs
    pay pays paid paying
    earn earns earned earning
    meet meets met meeting
    use uses used using
    smoke smokes smoked smoking
    need needs needed
    decide decides decided deciding
    expect expecting
    diagnose diagnosed
    accept accepted
    promote promoted
    lose loses lost losing
    receive receives received receiving
    paint paints painted painting
    collect collects collected collecting
    teach teaches taught teaching
    land landed landing
    book books booked booking
    suffer suffers suffered suffering
    watch watches watched watching
    read reads reading
    make makes made making
    launch launched launching
    open opened opening
    host hosted hosting
    publish published publishing
    see saw seen seeing
    do does did done doing
    give gives gave given giving
    come comes came coming
    expect expects
    stay stays stayed staying
    """
)
PARTICIPLES: Final = listed(
    "been lived moved worked started begun quit left resigned retired joined loved adored liked "
    "enjoyed hated had got"
    " gotten owned bought sold adopted driven ridden spoken learned learnt studied graduated "
    "played volunteered gone"
    " visited attended travelled traveled flown won passed finished completed run signed applied "
    "taken planned wanted"
    " married broken turned grown born said told thought claimed believed heard found named "
    "called kept paid earned met"
    " used smoked needed decided accepted lost received painted collected taught booked suffered "
    "watched read eaten"
    " drunk stopped switched relocated settled made launched opened hosted published seen done "
    "avoided given landed"
)
