"""Text that reads and compresses like people's notes: made from a seed, the same on every machine.

Sentences of common and rarer English words with names, figures and dates in them. zlib leaves about half of a
2 KB text, as of real prose; repeating bytes would make every cost look smaller than it is.
"""

from collections.abc import Sequence
from itertools import accumulate
from random import Random


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_COMMON = _words(
    """
    the of and to a in that it is was for on are as with his they at be this from have or by one had not
    but what all were when we there can an your which their said if do will each about how up out them
    then she many some so these would other into has more her two like him see time could no make than
    first been its who now people my made over did down only way find use may water long little very
    after words called just where most know
    """
)

_RARER = _words(
    """
    ability account acquire adjust advance afternoon agenda agreement airport allocate ambition analyst
    annual appendix approach archive argument assembly assess assume attempt audience autumn average
    backlog balance bargain barrel baseline basement benefit betray binding blanket border bottle
    boundary breakfast bridge budget builder bulletin bureau calendar campaign candidate capacity
    carrier category cautious cement census ceremony channel chapter charter chemist circuit citizen
    climate cluster coastal collapse column comfort command compile complaint compound concede concept
    concrete conduct confirm congress consent contour contract convert copper corridor council courage
    courier coverage craft credit crisis criterion cultivate currency customs cycle damage deadline
    debate decade decline dedicate deficit delegate deliver density deposit deputy derive desert detail
    device diagram dialogue digest dilemma diploma discount dispute distant district diverse doctrine
    domain donate drainage drought durable dwelling dynamic eager earnest economy edition efficient
    elastic elderly elevate emerge emission emphasis empire enable endorse engine enlarge enquiry
    entrance envelope episode equator erosion essay estate estimate ethics evidence evolve examine
    excess exchange exclude exempt exhaust exhibit expand expense expert explore export extract fabric
    facility factor failure famine fatigue feature federal fertile fiction finance fixture flavour
    flexible flourish fluid focus forecast foreign formula fortune fraction fragile freight frontier
    funding furnace gallery garment gateway generate genuine glacier glimpse gradual grant gravity
    grocery guardian guidance habitat halt handle harbour hardware harvest hazard heritage hesitate
    highway horizon hostile household humble hypothesis identity ignite illusion immune impact import
    impulse incentive incident index industry inflation inform inherit initial inject innovate inspect
    install instinct insure integral intense interval invest invoice island issue jacket journal journey
    junction justice keen kitchen knowledge label labour landmark language lateral launch lawyer leader
    ledger legacy leisure liberty library licence literal livestock logic lottery lumber machine magnet
    maintain manual margin marine market massive mature measure mechanic medium member mention merchant
    method midnight migrate mineral minister minority mixture mobile moderate module monitor monopoly
    mortgage motive mountain museum mutual narrow native neglect network neutral nominal notable notion
    nuclear nursery object obtain occupy offence officer opening operate opinion oppose option orchard
    organ origin outcome outline output overlook owner oxygen package painter panel parallel parcel
    partner passage patience pattern payment peasant penalty pension percent perform permit phase
    physical pioneer planner platform pledge plot policy portion portrait possess postpone poverty
    practice precise predict premium prepare preserve pressure prevail primary principle priority
    private procedure process profile profit prohibit project promise prospect protein province provoke
    publish purchase pursue qualify quantity quarter quota railway random rational reaction realm
    rebuild receipt recipe recover recruit reduce reform refuge region regulate reject release reliable
    remedy remote render renewal repair replace request rescue reserve residue resist resource restore
    retail retire reveal revenue reverse review revise reward rhythm rigid rival robust rotate route
    rural salary sample satellite scatter schedule scheme scholar scope season sector secure segment
    senior session settle shelter shipment shortage shuttle signal silver sketch slender software solar
    source spare specify spectrum sphere spiral spread stable stadium standard station statute steady
    storage strategy stream stretch structure struggle subject submit subtle suburb succeed suggest
    summary summit supply surface surplus survey suspend sustain symbol system tackle talent target
    tariff teacher temple tenant tension terminal terrain textile theory thermal thread threat timber
    tissue tonnage topic tourist tractor trader transfer transit treaty tribute trigger tunnel turbine
    twelve typical uniform union universe update upgrade urban urgent utility vacant valley valve
    variable vehicle vendor venture verdict version vessel veteran victim village virtue visible vision
    volume voyage warehouse warrant weather welfare western width willing window winter witness workshop
    yield zone
    """
)

_NAMES = _words(
    """
    Amara Bertrand Chidi Daria Edvard Farah Gwen Hanno Ilse Jorge Katya Lionel Mbali Nadia Osman Petra
    Quentin Rosa Soren Tamsin Ulrich Vera Wanjiru Xenia Yusuf Zofia Aberdeen Bergen Cadiz Dakar Esbjerg
    Fukuoka Ghent Haifa
    """
)

_WORDS = (*_COMMON, *_RARER)
# Zipf: the n-th most common word comes 1/n as often as the first; a flatter tail, because subjects differ.
_WEIGHTS = tuple(accumulate(1 / (rank + 8) for rank in range(len(_WORDS))))


def prose(seed: str, size: int) -> str:
    """`size` bytes of ASCII text, with line breaks; another seed is another text on another subject."""
    random = Random(seed)  # seeded by the string itself, the same in every process
    subject = random.sample(_RARER, 40)
    parts: list[str] = []
    length = 0
    while length < size:
        paragraph = " ".join(_sentence(random, subject) for _ in range(random.randint(2, 6))) + "\n\n"
        parts.append(paragraph)
        length += len(paragraph)
    return "".join(parts)[: size - 1] + "\n"


def sentence(seed: str) -> str:
    random = Random(seed)
    return _sentence(random, random.sample(_RARER, 40))


def _sentence(random: Random, subject: Sequence[str]) -> str:
    words = random.choices(_WORDS, cum_weights=_WEIGHTS, k=random.randint(6, 22))
    for place in range(len(words)):
        chance = random.random()
        if chance < 0.16:
            words[place] = random.choice(subject)
        elif chance < 0.20:
            words[place] = random.choice(_NAMES)
        elif chance < 0.23:
            words[place] = _figure(random)
        elif chance < 0.31:
            words[place] += random.choice((",", ",", "s", "ing", "ed", " -", ";"))
    return words[0][:1].upper() + " ".join(words)[1:] + random.choice("....?")


def _figure(random: Random) -> str:
    match random.randint(0, 3):
        case 0:
            return f"{random.randint(1, 28)} {random.choice(('March', 'July', 'October'))} {random.randint(1990, 2026)}"
        case 1:
            return f"{random.randint(2, 98)}.{random.randint(0, 9)} %"
        case 2:
            return f"{random.randint(1_000, 99_999):,}"
    return str(random.randint(2, 400))
