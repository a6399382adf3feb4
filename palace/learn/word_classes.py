"""Words by what they do in a statement: what joins, what negates, what changes, what excludes what.

In: nothing. Out: sets and maps of index stems, made once; English first, the commonest words of
German, French and Spanish beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from palace.text import fold, stem


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(fold(word)) for word in text.split())


def _folded(text: str) -> frozenset[str]:
    return frozenset(fold(word) for word in text.split())


def _classes(text: str) -> dict[str, str]:
    """Return stem -> the first stem of its line."""
    return {
        stem(fold(word)): stem(fold(line.split()[0]))
        for line in text.strip().splitlines()
        for word in line.split()
    }


PREPOSITIONS = _folded(
    "at in on by with from to for of under behind near inside outside until till before after"
    " between within over above below beside next into onto through during since as via than around"
    " about against without per opposite"
    " auf an im am bei mit von zu zum zur fur aus seit bis unter hinter neben uber vor nach"
    " en de sur dans chez avec pour sous con por para sin"
)
PLACES = _folded(
    "at in on under behind near inside outside above below beside next into onto opposite around to"
    " auf an im am bei unter hinter neben uber en sur dans chez sous"
)
ARTICLES = _folded("a an ein eine einen einem einer un une una")
OWNERS = {
    **dict.fromkeys(_folded("my our mein meine meinen unser unsere mon ma notre mi nuestra"), "we"),
    **dict.fromkeys(_folded("your dein deine euer ihr votre ton tu"), "you"),
    **dict.fromkeys(_folded("his her their its sein seine son sa su"), "they"),
}
FIRST_PERSON = _folded("i we ich wir je nous yo")
COPULAS = _folded("is are was were be been am s re m ist sind war waren est sont es son")
AUXILIARIES = COPULAS | _folded(
    "has have had do does did will would shall should must may might can could hat haben muss kann"
    " soll darf wird a ont ve ll d gets get got"
)
FUNCTION_WORDS = (
    PREPOSITIONS | ARTICLES | AUXILIARIES | FIRST_PERSON | frozenset(OWNERS)
    | _folded(
        "the this that these those there here it he she they them him you who which whose where"
        " indeed"
        " when me us and or but if because while also too just very really actually now"
        " currently already"
        " still please okay ok so turns out these days any more anymore else then up down off"
        " usually always normally again each every all both per instead longer being"
        " ahora maintenant desormais"
    " der die das den dem des und oder aber auch jetzt schon noch sich es er sie mehr sehr"
        " immer"
        " le la les el los las y et ou o que"
    )
)  # fmt: skip
# These take part in what is said although they look small.
MEANINGFUL = _folded("off out up down every each always")
# Two statements that hold the same words are two where only one of them has one of these.
TELLING = _folded(
    "before after from until till since above below over under inside outside between against"
    " vor nach von bis aus seit uber unter ohne zwischen"
    " he him his she her they them er me us or oder"
    " was were had did will would shall should may might can could war waren"
)
NEGATIONS = _folded(
    "not no never none without cannot nobody nothing nicht nie kein keine keinen keinem keiner pas"
    " jamais sin nunca jamas nao не никогда"
)
CHANGE_VERBS = _stems(
    "move switch change migrate relocate convert postpone replace upgrade update shift reschedule"
    " rise raise increase decrease reduce cut drop grow fall go bring rename swap turn become"
    " umziehen wechseln"
)
# Only of what is over already: "we sell bread" ends nothing.
LEAVING = _folded("quit sold dropped left cancelled stopped abandoned ditched replaced")
LEAVING_VERBS = _stems("quit sell drop leave cancel stop abandon ditch replace")
QUITTING = _stems("quit sell cancel stop abandon ditch")
NO_MORE = _folded("longer more anymore")
# Who no longer uses it does nothing with it any more, but may still know it.
HAVING = _stems("use have own need get")
REGARDING = _stems("know like love hate want see mention")
HOW_OFTEN = _stems("every each always")
SINCE_NOW = _folded(
    "now currently anymore longer instead actually nowadays new jetzt ahora maintenant desormais"
    " statt mehr changed moved switched replaced"
)
# With these, what differs afterwards excludes what was there: a thing is in one place at a time.
EXCLUSIVE_VERBS = _stems(
    "live reside work stay stand hang store keep park meet locate sit lie base host run build write"
    " deliver call name paint print face answer sell track lead head manage teach chair supply own"
    " belong drive start begin end open close shut take expire leave depart arrive cost pay weigh"
    " hold contain collect schedule place get use point listen report wohnen arbeiten heissen"
    " leiten leitet nutzen nutzt wohne wohnt wohnen arbeite arbeitet"
    " vivo vive vivimos viven trabajo trabaja trabajamos habite habitons habitent travaille"
    " travaillons"
)
ROLE_VERBS = _stems("lead head manage teach chair run host write deliver supply own leiten leitet")
# With these, two objects may both hold.
LIST_VERBS = _stems(
    "like love hate enjoy visit speak know have own buy read watch eat play support include contain"
    " depend fix repair join order ask pack bring sell want need see say tell add mention mogen"
)
OTHER_VERBS = _stems(
    "send require allow accept file rotate encrypt lock drip smoke prefer wear reach last"
    " produce receive connect return serve ship deploy test check seat wash complain come make find"
    " break service trinken liefern horen betragen"
)
VERBS = (EXCLUSIVE_VERBS | LIST_VERBS | OTHER_VERBS | CHANGE_VERBS | LEAVING_VERBS) - _stems(
    "place service order test check report own file lock end name head base host return play"
)
ATTRIBUTES = _stems(
    "name colour format language branch editor currency group level status owner leader lead boss"
    " captain treasurer landlord dentist doctor vet manager location password code address default"
    " favourite theme mode type size brand model title author partner wife husband accountant"
    " plumber cleaner guide coach trainer secretary president chair contact provider supplier"
    " insurance bank school employer job seat key period unit timezone shell database framework"
    " software car drummer bass singer genre tuning region blood lieblingsfarbe chef deadline"
    " venue space room policy method strategy tool stack"
)
# Of these a group has one at a time.
OFFICES = _stems("captain treasurer president secretary chair landlord boss leader")
# Beside a number they only say what sort of value it is: "lasts two weeks", "is two weeks long".
LASTING = _stems("last long stay keep")
MEASURING = LASTING | _stems("cost weigh measure set high tall wide deep")
# A statement may hold one of these more and say the same.
LIGHT = _stems("run hang stand lie sit locate place take get port name all new hold number time")
LABELS = _stems(
    "error ticket issue order bus track platform ward shelf day step chapter customer invoice line"
    " locker port room row case bug level page pier gate week season version team flight aisle zone"
    " lane apartment building bay exit"
)
# Both may hold where only one of two statements has one of these.
QUALIFIERS = _folded(
    "weekend weekends holidays except unless if when only sometimes occasionally otherwise wenn"
    " ausser"
)
DWELLING = _stems("live reside stay base wohnen")
FORMER = _folded("last next current only first final latest letzte nachste")

# One word stands for each line: a statement in other words is still the same statement.
SYNONYMS = _classes(
    """
    cost price fee charge
    database db
    production prod
    repository repo
    application app
    configuration config conf
    port listen
    close shut
    start begin
    meet meeting
    house home
    purchase buy
    maximum max
    minimum min
    colour color
    favourite favorite
    grey gray
    centre center
    litre liter
    metre meter
    name call
    percent %
    month monthly
    week weekly
    day daily
    year yearly yr annual
    hour hr
    minute min
    phone telephone
    check-up checkup
    doctor dr
    euro eur €
    dollar usd $
    pound £
    """
)
_SAME: dict[str, tuple[str, ...]] = {
    one: tuple(other for other, first in SYNONYMS.items() if first == SYNONYMS[one])
    for one in SYNONYMS
} | {
    stem("move"): tuple(_stems("live reside")),
    # Pairs of letters, as such writing stands in the index: to move, to live.
    **dict.fromkeys(("搬到", "搬家", "搬去"), ("住在",)),
    "引っ": ("住ん", "暮ら"),
    "이사": ("살아", "산다", "살고", "사신"),
}


def searched_for(terms: Iterable[str]) -> tuple[str, ...]:
    """Return index terms and the terms that a memory of the same thing may use instead."""
    found = {t: None for term in terms for t in (term, *_SAME.get(term, ()))}
    return tuple(found)


UNITS = {
    **dict.fromkeys(_stems("b kb mb gb tb kib mib gib byte kilobyte megabyte gigabyte"), "bytes"),
    **dict.fromkeys(_stems("g kg mg t kilo gram kilogram tonne ton pound lb"), "weight"),
    **dict.fromkeys(_stems("m km cm mm mile metre meter feet ft foot inch"), "length"),
    **dict.fromkeys(_stems("l ml litre liter"), "volume"),
    **dict.fromkeys(
        _stems("s ms sec second min minute h hr hour night day week month year yr"), "time"
    ),
    **dict.fromkeys(_stems("euro eur € dollar usd $ £ pound chf"), "money"),
    **dict.fromkeys(_stems("% percent"), "share"),
    **dict.fromkeys(_stems("° degree celsius"), "degrees"),
}  # fmt: skip
# What is short for the same unit; as words these letters are something else.
SAME_UNITS = _classes(
    "kg kilogram kilo|g gram|t tonne ton|pound lb gbp|km kilometre kilometer|metre meter m"
    "|cm centimetre centimeter|mm millimetre millimeter|foot feet ft|litre liter l|gb gigabyte"
    "|mb megabyte|hour hr h|minute min|s sec second|chf franc franken".replace("|", "\n")
)
UNITS = {**{unit: UNITS[same] for unit, same in SAME_UNITS.items()}, **UNITS}
CLOSED_CLASSES = _classes(
    """
    red blue green yellow white black grey purple orange pink brown navy rot blau grün gelb weiß
    north south east west
    english german french spanish italian portuguese danish dutch latin
    diesel petrol electric
    positive negative
    small medium large
    json xml yaml csv text
    major minor
    morning evening afternoon
    gold silver bronze
    """
)
ANTONYMS: dict[str, frozenset[str]] = {}
for _line in """
enabled disabled|enabled off|disabled on|open closed|open shut|broken repaired|broken works
broken fixed|hate love
like hate|like dislike|short long|optional mandatory|compulsory voluntary|optional required
cancelled confirmed|free taken|free cost|locked unlocked|negative positive|sold stock|left right
left-handed right-handed|on off|allowed forbidden|allowed prohibited|public private|true false
alive dead|empty full|active inactive|available unavailable|safe unsafe|safe dangerous
approved rejected|accepted rejected|always never|hot cold|early late|high low|big small
included excluded|valid invalid|legal illegal|online offline|paid unpaid|manual automatic
mandatory voluntary|occupied vacant|finished unfinished|cheap expensive|fast slow|easy hard
married divorced|single married|up down|started stopped|increase decrease|yes no|odd even
busy free|buy sell|win lose|raise lower|allow forbid|allow block|accept refuse|add remove
import export|encrypted plain|strict lenient|loud quiet|clean dirty|before after|above below
above under|inside outside|vor nach
""".replace("\n", "|").strip("|").split("|"):  # fmt: skip
    _one, _other = (stem(fold(word)) for word in _line.split())
    ANTONYMS[_one] = ANTONYMS.get(_one, frozenset()) | {_other}
    ANTONYMS[_other] = ANTONYMS.get(_other, frozenset()) | {_one}
_PREFIXES = ("un", "in", "im", "il", "dis", "non")
# What is left of "into" without its beginning is no word.
_SHORT = 3


@lru_cache(maxsize=8192)
def opposites_of(one: str) -> frozenset[str]:
    """Return the stems that a stem excludes, and that exclude it: `open` and `close`, `unlock`."""
    found = set(ANTONYMS.get(one, ()))
    for prefix in _PREFIXES:
        if len(one) > _SHORT:
            found.add(prefix + one)
        if one.startswith(prefix) and len(one) - len(prefix) > _SHORT:
            found.add(one.removeprefix(prefix))
    return frozenset(found)


WEEKDAYS = {
    fold(name): str(number)
    for number, names in enumerate(
        (
            "monday mon mondays montag montags lundi lunes lunedi maandag poniedziałek måndag"
            " pazartesi",
            "tuesday tue tues tuesdays dienstag dienstags mardi martes martedi dinsdag"
            " wtorek tisdag salı",
            "wednesday wed wednesdays mittwoch mittwochs mercredi miercoles mercoledi woensdag"
            " środa środę onsdag çarşamba",
            "thursday thu thur thurs thursdays donnerstag donnerstags jeudi jueves giovedi"
            " donderdag czwartek torsdag perşembe",
            "friday fri fridays freitag freitags vendredi viernes venerdi vrijdag piątek fredag"
            " cuma",
            "saturday sat saturdays samstag samstags samedi sabado sabato zaterdag sobota"
            " sobotę lördag cumartesi",
            "sunday sun sundays sonntag sonntags sonntagen dimanche domingo domenica zondag"
            " niedziela niedzielę söndag pazar",
        )
    )
    for name in names.split()
}
AMBIGUOUS_DAYS = frozenset({"sat", "sun", "mon", "wed"})
DEICTIC = _folded(
    "today yesterday tomorrow tonight last-year this-year last-week this-week last-month this-month"
    " last-night last-summer this-summer next-week next-month next-year next-summer heute gestern"
    " morgen"
)
NUMBER_WORDS = {
    word: number
    for number, words in enumerate(
        "zero null|one eins|two zwei|three drei|four vier|five funf|six sechs|seven sieben|eight"
        " acht"
        "|nine neun|ten zehn|eleven elf|twelve zwolf|thirteen|fourteen|fifteen|sixteen|seventeen"
        "|eighteen|nineteen|twenty zwanzig".split("|")
    )
    for word in words.split()
} | {
    word: number * 10
    for number, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)
}
ORDINALS = {
    word: number
    for number, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(),
        1,
    )
}
