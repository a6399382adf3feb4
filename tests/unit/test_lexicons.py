"""The shipped lexicons: same cues everywhere, safe patterns, and cues that fire on real prompts."""

from __future__ import annotations

import time
from functools import cache
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
import regex
import yaml

from palace.learn.cues import load_cues
from palace.learn.requests import Listener
from palace.recall.lexicon import (
    DEFAULT_LANGUAGES,
    Lexicon,
    first_match,
    load_lexicon,
    load_lexicons,
    matchable,
    matches,
)
from palace.settings.model import DetectorSettings
from palace.text import fold
from palace.types.query import AnswerType

PROMPTS = Path(__file__).parent / "lexicon_prompts"
RECALL_CUES = frozenset(
    "past_we past_i ask_i possessive_my possessive_our decision remember last_time again wrote_down"
    " status preference identity meta about_me procedure wh_did told".split()
)
OTHER_CUES = frozenset(
    "task task_inside output_form world fact_words what_is_the what_is_a in_general hypothetical"
    " howto_general chat".split()
)
# Cues that a language has no counterpart for.
ABSENT_CUES: dict[str, frozenset[str]] = {"ru": frozenset({"what_is_the"})}

FIRE_RATE = 0.95
HOSTILE_CHARS = 25_000
SHORT_CHARS = 200
# Processor time, so that a busy machine changes nothing; the slowest linear pattern takes 0.15 s.
LINEAR_S = 0.6
TRIGGERS = {
    "en": "did we what was again my note is have",
    "de": "wir haben was ich war noch mal wenn ein ist",
    "fr": "on a c'est qui tu m'avais si un est",
    "es": "que hemos si como mi la esta",
    "pt": "que a gente se como qual foi o",
    "zh": "我们我的谁是什么",
    "ja": "私たちはのうち何をそれ",
    "ru": "мы я как что уже ты есть",
    "it": "che abbiamo ho come se quanto era il",
    "nl": "hebben we wat ik was hoe als is een",
    "ko": "우리 내가 뭐 어떻게 했 지 왜 면 는",
    "pl": "co mamy jak jest czy nie sie moje",
    "sv": "vad vi jag var hur om en har",
    "tr": "ne bir kac bana nasil mi dik var",
}


@cache
def _raw(language: str) -> dict[str, Any]:
    text = (resources.files("palace.recall") / "lexicons" / f"{language}.yaml").read_text("utf-8")
    first, second = yaml.safe_load_all(text)
    return {**first, **second}


@cache
def _prompts(language: str, side: str) -> tuple[tuple[str, str], ...]:
    data = yaml.safe_load((PROMPTS / f"{language}.yaml").read_text("utf-8"))
    assert data["language"] == language
    return tuple((cue, prompt) for cue, prompts in data[side].items() for prompt in prompts)


def _compiled(lexicon: Lexicon) -> dict[str, regex.Pattern[str]]:
    sources = {
        **lexicon.cues,
        **{f"question_types.{kind}": p for kind, p in lexicon.question_types.items()},
        **{f"labels.{kind}": p for kind, p in lexicon.labels.items()},
        "follow_up": lexicon.follow_up,
    }
    return {name: regex.compile(source) for name, source in sources.items()}


def _written(language: str) -> list[str]:
    raw = _raw(language)
    groups = [*raw["cues"].values(), *raw["question_types"].values(), *raw["labels"].values()]
    groups.append(raw["follow_up"])
    return [pattern for group in groups for pattern in group]


def _fired(lexicon: Lexicon, prompt: str) -> set[str]:
    text = matchable(prompt)
    return {cue for cue, p in lexicon.cues.items() if matches(p, text, timeout_ms=1000)}


def _hostile(language: str) -> list[str]:
    triggers = TRIGGERS[language]
    first = triggers.split()[0] if " " in triggers else triggers[:2]
    repeated = [
        "a",
        " ",
        "?",
        "x'",
        f"{triggers} ",
        f"{first} ",
        *(f"{word} " for word in triggers.split()[1:4]),
    ]
    one_word = first + " " + ("ы" if language == "ru" else "a") * HOSTILE_CHARS
    return [(piece * HOSTILE_CHARS)[:HOSTILE_CHARS] for piece in repeated] + [one_word]


def test_every_shipped_language_is_a_default_and_has_prompts() -> None:
    folder = resources.files("palace.recall") / "lexicons"
    shipped = {p.name.removesuffix(".yaml") for p in folder.iterdir() if p.name.endswith(".yaml")}
    assert shipped == set(DEFAULT_LANGUAGES)
    assert DetectorSettings().languages == DEFAULT_LANGUAGES
    assert {p.stem for p in PROMPTS.glob("*.yaml")} == shipped


def test_lexicons_load_in_the_order_asked() -> None:
    assert [x.language for x in load_lexicons(DEFAULT_LANGUAGES)] == list(DEFAULT_LANGUAGES)


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_cue_names_are_those_of_english(language: str) -> None:
    english = set(load_lexicon("en").cues)
    assert english >= RECALL_CUES | OTHER_CUES
    assert set(load_lexicon(language).cues) == english - ABSENT_CUES.get(language, frozenset())


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_question_types_keep_their_precedence(language: str) -> None:
    kinds = list(load_lexicon(language).question_types)
    of_all = ["clock", "duration", "date", "money", "number", "person", "place", "reason", "yes_no"]
    assert [kind for kind in get_args(AnswerType) if kind in kinds] == kinds
    assert [kind for kind in kinds if kind in of_all] == of_all


@pytest.mark.parametrize(
    ("language", "prompt", "kind"),
    [
        ("de", "Bis wie viel Uhr hat die Werkstatt auf?", "clock"),
        ("de", "Seit wann wohnt Nina in Köln?", "date"),
        ("de", "Wie lange hält der Reifen?", "duration"),
        ("de", "Wie oft gießen wir den Farn?", "number"),
        ("de", "Mit wem war ich im Konzert?", "person"),
        ("de", "Woher stammt der Teppich?", "place"),
        ("de", "Warum haben wir den Anbieter gewechselt?", "reason"),
        ("de", "Haben wir noch Kaffee?", "yes_no"),
        ("de", "Welche Farbe hat der Zaun?", "thing"),
        ("fr", "À quelle heure ferme l'atelier ?", "clock"),
        ("fr", "C'est quand la réunion des parents ?", "date"),
        ("fr", "Combien de temps dure la garantie ?", "duration"),
        ("fr", "Combien de chaises on a commandées ?", "count"),
        ("fr", "Avec qui suis-je allé au concert ?", "person"),
        ("fr", "Où est rangé le passeport ?", "place"),
        ("fr", "Pourquoi avons-nous changé de banque ?", "reason"),
        ("fr", "Est-ce qu'il reste du café ?", "yes_no"),
        ("fr", "Que fait-on quand le serveur tombe ?", "thing"),
        ("es", "¿A qué hora cierra el taller?", "clock"),
        ("es", "¿Cuándo era la reunión de padres?", "date"),
        ("es", "¿Cuánto tiempo dura la garantía?", "duration"),
        ("es", "¿Cuántas sillas pedimos?", "count"),
        ("es", "¿Con quién fui al concierto?", "person"),
        ("es", "¿Dónde guardé el pasaporte?", "place"),
        ("es", "¿Por qué cambiamos de banco?", "reason"),
        ("es", "¿Hay café todavía?", "yes_no"),
        ("es", "¿Qué hacemos cuando se cae el servidor?", "thing"),
        ("pt", "A que horas fecha a oficina?", "clock"),
        ("pt", "Quando era a reunião de pais?", "date"),
        ("pt", "Quanto tempo dura a garantia?", "duration"),
        ("pt", "Quantas cadeiras pedimos?", "count"),
        ("pt", "Com quem fui ao show?", "person"),
        ("pt", "Onde guardei o passaporte?", "place"),
        ("pt", "Por que trocamos de banco?", "reason"),
        ("pt", "Já chegou o café?", "yes_no"),
        ("pt", "O que fazemos quando o servidor cai?", "thing"),
        ("zh", "修理店开到几点？", "clock"),
        ("zh", "“家长会”是哪天？", "date"),
        ("zh", "保修期有多久？", "duration"),
        ("zh", "我们订了几把椅子，一共多少钱？", "money"),
        ("zh", "我跟谁去的音乐会？", "person"),
        ("zh", "护照我收在哪里了？", "place"),
        ("zh", "我们为什么换了银行？", "reason"),
        ("zh", "家里还有咖啡吗？", "yes_no"),
        ("zh", "围栏是什么颜色？", "thing"),
        ("ja", "工房は何時に閉まりますか？", "clock"),
        ("ja", "「保護者会」はいつでしたか？", "date"),
        ("ja", "保証はどのくらいの期間ですか？", "duration"),
        ("ja", "椅子は何脚、いくらで頼んだ？", "money"),
        ("ja", "コンサートには誰と行ったっけ？", "person"),
        ("ja", "パスポートはどこにしまった？", "place"),
        ("ja", "銀行を変えたのはなぜ？", "reason"),
        ("ja", "コーヒーはまだありますか？", "yes_no"),
        ("ja", "柵の色は何色？", "thing"),
        ("ru", "Во сколько закрывается мастерская?", "clock"),
        ("ru", "Когда было родительское собрание?", "date"),
        ("ru", "Сколько времени действует гарантия?", "duration"),
        ("ru", "Сколько стульев мы заказали?", "number"),
        ("ru", "С кем я ходил на концерт?", "person"),
        ("ru", "Где лежит паспорт?", "place"),
        ("ru", "Почему мы сменили банк?", "reason"),
        ("ru", "Есть ли ещё кофе?", "yes_no"),
        ("ru", "Что мы делаем, когда сервер падает?", "thing"),
        ("it", "A che ora chiude l'officina?", "clock"),
        ("it", "Quand'era la riunione dei genitori?", "date"),
        ("it", "Quanto dura la garanzia?", "duration"),
        ("it", "Quanto costa la palestra?", "money"),
        ("it", "Quante sedie abbiamo ordinato?", "count"),
        ("it", "Con chi sono andato al concerto?", "person"),
        ("it", "Dove ho messo il passaporto?", "place"),
        ("it", "Come mai abbiamo cambiato banca?", "reason"),
        ("it", "C'è ancora caffè?", "yes_no"),
        ("it", "Cosa facciamo quando cade il server?", "thing"),
        ("nl", "Tot hoe laat is de werkplaats open?", "clock"),
        ("nl", "Wanneer was de ouderavond?", "date"),
        ("nl", "Hoe lang is de garantie geldig?", "duration"),
        ("nl", "Wat kost de sportschool?", "money"),
        ("nl", "Hoeveel stoelen hebben we besteld?", "number"),
        ("nl", "Met wie was ik naar het concert?", "person"),
        ("nl", "Waar ligt het paspoort?", "place"),
        ("nl", "Waarom zijn we van bank veranderd?", "reason"),
        ("nl", "Hebben we nog koffie?", "yes_no"),
        ("nl", "Wat doen we als de server uitvalt?", "thing"),
        ("ko", "정비소 몇 시까지 해?", "clock"),
        ("ko", "학부모 모임이 언제였지?", "date"),
        ("ko", "보증 기간이 얼마나 걸려?", "duration"),
        ("ko", "헬스장 회비는 얼마야?", "money"),
        ("ko", "의자 몇 개 주문했지?", "count"),
        ("ko", "콘서트에 누구랑 갔었지?", "person"),
        ("ko", "여권 어디에 뒀지?", "place"),
        ("ko", "우리 은행 왜 바꿨지?", "reason"),
        ("ko", "커피 아직 있어?", "yes_no"),
        ("ko", "울타리 색깔이 뭐야?", "thing"),
        ("pl", "Do której jest otwarty warsztat?", "clock"),
        ("pl", "Kiedy było zebranie rodziców?", "date"),
        ("pl", "Jak długo ważna jest gwarancja?", "duration"),
        ("pl", "Ile płacimy za siłownię?", "money"),
        ("pl", "Ile krzeseł zamówiliśmy?", "number"),
        ("pl", "Z kim byłem na koncercie?", "person"),
        ("pl", "Gdzie leży paszport?", "place"),
        ("pl", "Dlaczego zmieniliśmy bank?", "reason"),
        ("pl", "Czy mamy jeszcze kawę?", "yes_no"),
        ("pl", "Co robimy, gdy padnie serwer?", "thing"),
        ("sv", "Hur dags stänger verkstaden?", "clock"),
        ("sv", "När var föräldramötet?", "date"),
        ("sv", "Hur länge gäller garantin?", "duration"),
        ("sv", "Vad kostar gymmet?", "money"),
        ("sv", "Hur många stolar beställde vi?", "count"),
        ("sv", "Vem var jag på konserten med?", "person"),
        ("sv", "Var ligger passet?", "place"),
        ("sv", "Varför bytte vi bank?", "reason"),
        ("sv", "Har vi kaffe kvar?", "yes_no"),
        ("sv", "Vad gör vi när servern går ner?", "thing"),
        ("tr", "Atölye kaça kadar açık, saat kaçta kapanıyor?", "clock"),
        ("tr", "Veli toplantısı ne zamandı?", "date"),
        ("tr", "Garanti ne kadar sürüyor?", "duration"),
        ("tr", "Spor salonuna ne kadar ödüyoruz?", "money"),
        ("tr", "Kaç sandalye sipariş ettik?", "number"),
        ("tr", "Konsere kiminle gitmiştim?", "person"),
        ("tr", "Pasaport nerede?", "place"),
        ("tr", "Bankayı neden değiştirdik?", "reason"),
        ("tr", "Kahve kaldı mı?", "yes_no"),
        ("tr", "Sunucu çökünce ne yapıyoruz?", "thing"),
    ],
)
def test_question_types_are_told_apart(language: str, prompt: str, kind: str) -> None:
    types = load_lexicon(language).question_types
    text = matchable(prompt)
    found = (name for name, p in types.items() if matches(p, text, timeout_ms=1000))
    assert next(found, "thing") == kind


@pytest.mark.parametrize(
    ("language", "leaning", "standing"),
    [
        ("de", "Und wann war das mit ihm?", "Wann ist der Zahnarzttermin?"),
        ("fr", "Et celui de Paul ?", "Quand passe le facteur ?"),
        ("es", "¿Y cuánto costó eso?", "¿Cuándo llega el técnico?"),
        ("pt", "E quanto custou isso?", "Quando chega o técnico?"),
        ("zh", "那价格呢？", "我的护照什么时候到期？"),
        ("ja", "それはいつでしたか？", "パスポートの期限はいつ？"),
        ("ru", "А сколько он стоил?", "Когда придёт мастер?"),
        ("it", "E quello di Paolo?", "Quando arriva il tecnico?"),
        ("nl", "En hoeveel kostte die?", "Wanneer komt de monteur?"),
        ("ko", "그건 얼마였지?", "기사님 언제 오셔?"),
        ("pl", "A ile to kosztowało?", "Kiedy przychodzi serwisant?"),
        ("sv", "Och hur mycket kostade den?", "När kommer montören?"),
        ("tr", "Peki o ne kadardı?", "Tamirci ne zaman geliyor?"),
    ],
)
def test_follow_ups_lean_on_the_turn_before(language: str, leaning: str, standing: str) -> None:
    follow_up = load_lexicon(language).follow_up
    assert matches(follow_up, matchable(leaning), timeout_ms=1000)
    assert not matches(follow_up, matchable(standing), timeout_ms=1000)


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_stopwords_are_folded_and_not_empty(language: str) -> None:
    stopwords = load_lexicon(language).stopwords
    assert len(stopwords) > 100
    assert "" not in stopwords
    assert {fold(word) for word in stopwords} == stopwords


def test_only_german_nouns_have_capitals() -> None:
    marking = {x.language: x.capitals_mark_names for x in load_lexicons(DEFAULT_LANGUAGES)}
    assert [language for language, marks in marking.items() if not marks] == ["de"]


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_patterns_that_only_match_keep_no_groups(language: str) -> None:
    assert not any(pattern.groups for pattern in _compiled(load_lexicon(language)).values())


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_patterns_are_written_folded(language: str) -> None:
    # An accent or a capital in a pattern can never match the folded prompt.
    for pattern in _written(language):
        literal = regex.sub(r"\\.", "", pattern)
        assert fold(literal) == literal, pattern


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_every_pattern_compiles_alone_and_never_matches_nothing(language: str) -> None:
    for pattern in _written(language):
        assert regex.compile(pattern).search("") is None, pattern


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_patterns_are_linear_on_hostile_text(language: str) -> None:
    patterns = _compiled(load_lexicon(language))
    slow = []
    for text in _hostile(language):
        for name, pattern in patterns.items():
            try:
                pattern.search(text, timeout=LINEAR_S)
            except TimeoutError:
                slow.append((name, text[:20]))
    assert not slow


def _found(found: regex.Match[str] | None) -> tuple[Any, ...]:
    return () if found is None else (found.span(), found.groupdict())


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_in_plain_text_a_pattern_finds_the_same_however_it_is_compiled(language: str) -> None:
    lexicon = load_lexicon(language)
    asked = [(pattern.pattern, 0) for pattern in _compiled(lexicon).values()]
    asked += [(p, regex.IGNORECASE) for patterns in lexicon.requests.values() for p in patterns]
    for cues in load_cues([language]):
        asked += [(p, 0) for p in (f"^{cues.lead_in}", *cues.patterns.values())]
    written = [prompt for side in ("recall", "other") for _, prompt in _prompts(language, side)]
    written += [prompt for _, prompt in _prompts("en", "recall")]
    plain = [
        text.encode("ascii", "ignore").decode() for text in (*written, *map(matchable, written))
    ]
    said = [word for text in plain for word in text.split(" ")]
    draw = Random(7)
    mixed = [" ".join(draw.choices([*said, "'", "\n", "a-b", "4.1"], k=8)) for _ in range(200)]
    hostile = [text for text in _hostile(language) if text.isascii()]
    texts = [text[:SHORT_CHARS] for text in (*plain, *mixed, *hostile)]
    for pattern, flags in asked:
        compiled = regex.compile(pattern, flags)
        for text in texts:
            found = first_match(pattern, text, timeout_ms=1000, flags=flags)
            assert _found(found) == _found(compiled.search(text)), (pattern, text)


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_patterns_are_quick_on_short_hostile_text(language: str) -> None:
    # Short texts are searched without a clock.
    patterns = [pattern.pattern for pattern in _compiled(load_lexicon(language)).values()]
    started = time.process_time()
    for text in (text[:SHORT_CHARS] for text in _hostile(language)):
        for pattern in patterns:
            matches(pattern, text, timeout_ms=1000)
    assert time.process_time() - started < LINEAR_S


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_requests_in_short_hostile_text_are_looked_for_in_bounded_time(language: str) -> None:
    # Short texts are searched without a clock.
    lexicon = load_lexicon(language)
    listener = Listener([lexicon], timeout_ms=50.0)
    former = [regex.compile(p, regex.IGNORECASE) for p in lexicon.requests.get("former", ())]
    short = [text[:SHORT_CHARS] for text in _hostile(language)]
    started = time.process_time()
    for text in short:
        listener.request_to_keep(text)
        listener.contradiction_in(text)
        assert not any(pattern.search(text) for pattern in former)
    assert time.process_time() - started < LINEAR_S


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_a_very_long_prompt_is_matched_in_bounded_time(language: str) -> None:
    lexicon = load_lexicon(language)
    started = time.process_time()
    for text in _hostile(language):
        _fired(lexicon, text)
    assert time.process_time() - started < LINEAR_S


@pytest.mark.parametrize("side", ["recall", "other"])
@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_prompts_are_many_and_distinct(language: str, side: str) -> None:
    prompts = [prompt for _, prompt in _prompts(language, side)]
    assert len(prompts) >= 20
    assert len(set(prompts)) == len(prompts)
    assert {cue for cue, _ in _prompts(language, side)} <= (
        RECALL_CUES if side == "recall" else OTHER_CUES
    )


@pytest.mark.parametrize(("side", "cues"), [("recall", RECALL_CUES), ("other", OTHER_CUES)])
@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_prompts_fire_a_cue_of_their_side(language: str, side: str, cues: frozenset[str]) -> None:
    lexicon = load_lexicon(language)
    prompts = _prompts(language, side)
    misses = [prompt for _, prompt in prompts if not _fired(lexicon, prompt) & cues]
    print(f"{language} {side}: {len(misses)} of {len(prompts)} silent", *misses, sep="\n  ")  # noqa: T201
    assert len(misses) <= (1 - FIRE_RATE) * len(prompts), misses


@pytest.mark.parametrize("side", ["recall", "other"])
@pytest.mark.parametrize("language", DEFAULT_LANGUAGES)
def test_prompts_fire_the_cue_they_are_sorted_under(language: str, side: str) -> None:
    lexicon = load_lexicon(language)
    prompts = _prompts(language, side)
    misses = [(cue, prompt) for cue, prompt in prompts if cue not in _fired(lexicon, prompt)]
    print(f"{language} {side}: {len(misses)} of {len(prompts)} missed", *misses, sep="\n  ")  # noqa: T201
    assert len(misses) <= (1 - FIRE_RATE) * len(prompts), misses
