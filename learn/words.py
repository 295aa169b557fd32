"""Words that the reader tells apart, as data: auxiliaries, adverbs, hedges, kin, trades, ailments."""

import re
from typing import Final

from braid.text.calendar import MONTHS, WEEKDAYS
from braid.text.words import listed

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
    "nan": "relative", "nana": "relative", "granny": "relative",
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
HEDGES: Final = listed(
    "maybe perhaps probably possibly apparently allegedly supposedly seemingly likely presumably"
)
"""Words beside a verb that soften what it says."""
FEMALE: Final = listed(
    "wife girlfriend sister mum mom mother daughter aunt niece grandma grandmother gran nan nana granny "
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
    " physio dietician osteopath chiropractor decorator roofer tiler childminder nanny lodger tenant neighbour neighbor"
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
