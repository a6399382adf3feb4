"""The recall detector's model: which cues, phrasings and familiar words speak for recall.

In: labelled prompts on an empty palace and on loaded ones, among the questions of those. Out: a
fitted model, and what it does on folds it was not fitted on: by text, and by source.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.datasets import Case
from benchmarks.linear_models import Fitted, fit_logistic
from palace import Mempalace, Turn
from palace.enforce.specifics import is_german
from palace.recall.lexicon import matchable, word_tokens
from palace.recall.phrasing import (
    ABOUT,
    mentions,
    of_one_length,
    phrases,
    said_here,
    subjects,
    words_and_stops,
)
from palace.recall.shape import machine_reason
from palace.text import name_tokens
from palace.text import tokens as index_tokens

SEED = 20261001
PROMPTS_PER_PALACE = 300
RECALL_PER_PALACE = 120
PROMPT_FOLDS, PARTS = 5, 10
DETECTOR_L2 = 3.0
# Of so many words a quarter weigh next to nothing, and each takes its time to load.
LEAST_WEIGHT = 0.04
# How a prompt is put is seen in small words, which many use.
WORD_PROMPTS, WORD_SOURCES, PHRASE_PROMPTS = 12, 3, 10
# What a prompt is about is seen in words that two sources use at least.
SUBJECT_PROMPTS, SUBJECT_SOURCES = 4, 2
# A public source is many people's, an author one of many, and all palaces of notes are one family.
# At these weights the sources outweigh neither what people ask nor what they ask their notes.
WEIGHT_OF_MANY, WEIGHT_OF_AUTHOR, WEIGHT_OF_NOTES, SMALLEST_FAMILY = 4000, 120, 3900, 120
# So many prompts are seen in a frame too: it says nothing of what is asked.
FRAMED_SHARE = 0.8
# What stands behind the name of a family that is asked of several palaces in one.
MERGED = ": merged"
FRAMES = (
    "You are a helpful assistant.\n\n{}",
    "You are a helpful assistant. Answer the user's question.\n\n{}",
    "Answer the question.\n\n{}",
    "Please answer the following question.\n{}",
    "Question: {}",
    "Question: {}\nAnswer:",
    "User: {}",
    "{}\n",
    "{}?!",
    "{} ...",
)
FRAMES_OF_LANGUAGE = {
    "en": (
        "Hi! {}",
        "Hello, {}",
        "Hey, {}",
        "Hi there. {}",
        "Good morning! {}",
        "Quick question: {}",
        "{} Thanks!",
        "{} Thank you.",
        "{} Thx",
        "{} Cheers.",
        "Another question. {}",
        "ok so {}",
        "{} Please answer in one sentence.",
        "{} Keep it short.",
        "Answer briefly: {}",
        "One more thing: {}",
        "{} Be concise.",
        "Please tell me: {}",
        "Sorry to bother you. {}",
    ),
    "de": ("Hallo! {}", "Guten Morgen, {}", "{} Danke!", "{} Bitte kurz.", "Kurze Frage: {}"),
    "fr": ("Bonjour, {}", "Salut ! {}", "{} Merci !", "{} En bref.", "Petite question : {}"),
    "es": ("Hola, {}", "¡Buenos días! {}", "{} ¡Gracias!", "{} En breve.", "Una pregunta: {}"),
    "pt": ("Olá! {}", "Bom dia, {}", "{} Obrigado!", "{} Em resumo.", "Uma pergunta: {}"),
    "it": ("Ciao! {}", "Buongiorno, {}", "{} Grazie!", "{} In breve.", "Una domanda: {}"),
    "nl": ("Hoi, {}", "Goedemorgen! {}", "{} Bedankt!", "{} Kort graag.", "Korte vraag: {}"),
    "ru": ("Привет! {}", "Добрый день, {}", "{} Спасибо!", "{} Коротко.", "Вопрос: {}"),
    "zh": ("你好,{}", "早上好!{}", "{}谢谢!", "{}简单说。", "问一下:{}"),
    "ja": ("こんにちは。{}", "おはよう、{}", "{}ありがとう。", "{}手短に。", "質問:{}"),
    "ko": ("안녕! {}", "좋은 아침, {}", "{} 고마워!", "{} 짧게.", "질문: {}"),
    "pl": ("Cześć! {}", "Dzień dobry, {}", "{} Dzięki!", "{} Krótko proszę.", "Pytanie: {}"),
    "sv": ("Hej! {}", "God morgon, {}", "{} Tack!", "{} Kort tack.", "En fråga: {}"),
    "tr": ("Merhaba! {}", "Günaydın, {}", "{} Teşekkürler!", "{} Kısaca.", "Bir soru: {}"),
}


@dataclass(frozen=True)
class Example:
    """One labelled prompt; `fold` and `source` are what it may be held out with."""

    fold: str
    source: str
    family: str
    prompt: str
    features: dict[str, float]
    label: float
    english: tuple[str, ...] = ()
    slips: Mapping[str, str] = field(default_factory=dict)
    weight: float = 1.0


def detector_examples(
    empty: Mempalace,
    loaded: Sequence[tuple[Mempalace, Mapping[str, Sequence[str]]]],
    notes: Sequence[tuple[Mempalace, Mapping[str, Sequence[Case]]]],
    prompts: Sequence[tuple[str, int, str]],
) -> list[Example]:
    """Return prompts on an empty palace, and mixed with their own questions on loaded ones.

    A palace holds one conversation or what one person keeps, or those of several together; its
    questions are given by the name that they are held out with.
    """
    rng = random.Random(SEED)
    found: list[Example] = []

    def add(palace: Mempalace, turn: Turn, label: int, family: str, held: tuple[str, str]) -> None:
        if not machine_reason(turn.prompt):
            query = palace.analyse(turn)
            features = palace._parts.detector.features(turn, query)
            said = query.english, query.slips
            found.append(Example(*held, family, turn.prompt, features, float(label), *said))

    def add_framed(
        palace: Mempalace, turn: Turn, label: int, family: str, held: tuple[str, str]
    ) -> None:
        prompt = framed_prompt(turn.prompt, palace.analyse(turn).language, rng)
        if rng.random() < FRAMED_SHARE:
            add(palace, replace(turn, prompt=prompt), label, family, held)

    def mixed_in(palace: Mempalace, kind: str) -> None:
        """Ask for what this palace has never heard of: that is no less a question for it."""
        for label, count in ((0, PROMPTS_PER_PALACE), (1, RECALL_PER_PALACE)):
            those = [p for p in prompts if p[1] == label]
            for text, _, source in rng.sample(those, count):
                add(palace, Turn(text), label, f"{source} / loaded{kind}", _held(text, source))

    for text, label, source in prompts:
        add(empty, Turn(text), label, f"{source} / empty palace", _held(text, source))
        add_framed(empty, Turn(text), label, f"{source} / framed", _held(text, source))
    for palace, asked in loaded:
        kind = MERGED if len(asked) > 1 else ""
        for name, questions in asked.items():
            for question in rng.sample(list(questions), min(len(questions), PROMPTS_PER_PALACE)):
                add(
                    palace,
                    Turn(question),
                    1,
                    f"conversation questions / loaded{kind}",
                    (name, name),
                )
        mixed_in(palace, kind)
    for palace, kept in notes:
        merged = len(kept) > 1
        for name, case in ((name, case) for name, cases in kept.items() for case in cases):
            label, own = int(case.expect != "pass"), (name, name)
            if merged:
                add(palace, case.turn, label, f"notes, merged: {case.family}", own)
                continue
            add(palace, case.turn, label, f"notes: {case.family}", own)
            add_framed(palace, case.turn, label, f"notes, framed: {case.family}", own)
            if not label or _is_personal(case.turn.prompt):
                add(empty, case.turn, label, "notes / empty palace", own)
        mixed_in(palace, MERGED if merged else "")
    return _with_phrases(_balanced(found))


def framed_prompt(prompt: str, language: str, rng: random.Random) -> str:
    """Return a prompt as another might put it: greeted, thanked for, framed by a program.

    What is asked stays the same, and so does whether it is recall.
    """
    frame = rng.choice((*FRAMES, *FRAMES_OF_LANGUAGE.get(language, ())))
    return frame.format(prompt if rng.random() < 0.8 else prompt.lower())


def fit(examples: Sequence[Example], *, start: Fitted | None = None) -> Fitted:
    """Fit the detector's model, if given from weights that are near.

    Of its many words those that weigh next to nothing are left out, and it is fitted again: what a
    prompt is about has one length, so each word that goes makes the others more.
    """
    whole = _fit(examples, start)
    weighed = zip(whole.names, whole.weights, strict=False)
    known = {name for name, weight in weighed if ":" not in name or abs(weight) >= LEAST_WEIGHT}
    return _fit([replace(e, features=_as_known(e.features, known)) for e in examples], whole)


def _fit(examples: Sequence[Example], start: Fitted | None) -> Fitted:
    return fit_logistic(
        [e.features for e in examples],
        [e.label for e in examples],
        weights=[e.weight for e in examples],
        l2=DETECTOR_L2,
        start=start,
    )


def _as_known(features: Mapping[str, float], known: Container[str]) -> dict[str, float]:
    """Return the features that a model knows, as it is told them."""
    kept = {name: value for name, value in features.items() if name in known}
    return kept | of_one_length([name for name in kept if name.startswith(ABOUT)])


def report_detector(examples: Sequence[Example], fitted: Fitted, bars: Sequence[float]) -> None:
    """Print, per family, the share detected by models that have not seen the fold."""
    by: tuple[tuple[str, Callable[[Example], str]], ...] = (
        ("text or palace", lambda e: _in_tenths(e.fold)),
        ("source", lambda e: _in_tenths(e.source)),
    )
    for name, held_out_with in by:
        scored: list[tuple[Example, float]] = []
        for fold in sorted({held_out_with(e) for e in examples}):
            model = fit([e for e in examples if held_out_with(e) != fold], start=fitted)
            held_out = [e for e in examples if held_out_with(e) == fold]
            known = frozenset(model.names)
            scored.extend((e, model.probability(_as_known(e.features, known))) for e in held_out)
        print(f"\ndetector, held out by {name}; share at or above the bar")
        print(f"{'family':44}{'label':>6}{'n':>6}" + "".join(f"{bar:>8.2f}" for bar in bars))
        for family, label in sorted({(e.family, e.label) for e in examples}):
            mine = [p for e, p in scored if (e.family, e.label) == (family, label)]
            shares = "".join(f"{sum(p >= bar for p in mine) / len(mine):>8.3f}" for bar in bars)
            print(f"{family:44}{label:>6.0f}{len(mine):>6}{shares}")


def _with_phrases(examples: Sequence[Example]) -> list[Example]:
    """Add how each prompt is put, and what it is about, in words that several sources use."""
    sources = {e.prompt: e.source for e in examples}
    words = _used_by_many(
        ((set(words_and_stops(matchable(prompt))), source) for prompt, source in sources.items()),
        prompts=WORD_PROMPTS,
        sources=WORD_SOURCES,
    )
    known = _used_by_many(
        ((mentions(matchable(prompt)), source) for prompt, source in sources.items()),
        prompts=SUBJECT_PROMPTS,
        sources=SUBJECT_SOURCES,
    )
    # Which names are the person's own is for the palace to say, not for this data.
    named = _names(sources)
    known = {n for n in known if named.isdisjoint(n.removeprefix(ABOUT).split(" "))}
    said = {prompt: phrases(matchable(prompt), words) for prompt in sources}
    kept = Counter(phrase for found in said.values() for phrase in found)
    put = {
        prompt: {p: v for p, v in found.items() if kept[p] >= PHRASE_PROMPTS}
        for prompt, found in said.items()
    }

    def told(e: Example) -> dict[str, float]:
        said = put[e.prompt] | (said_here(put[e.prompt]) if e.features["loaded"] else {})
        about = subjects(matchable(e.prompt), known, english=e.english, slips=e.slips)
        return {**e.features, **said, **about}

    return [replace(e, features=told(e)) for e in examples]


def _names(prompts: Iterable[str]) -> set[str]:
    """Return the index tokens of words that mostly stand as names do, nouns of German apart."""
    counts: Counter[str] = Counter()
    as_names: Counter[str] = Counter()
    for prompt in prompts:
        if not is_german(prompt):
            counts.update(set(index_tokens(prompt)))
            as_names.update(set(name_tokens(prompt)))
    names = {token for token, count in as_names.items() if 2 * count >= counts[token]}
    return names - word_tokens("stopwords")


def _used_by_many(
    prompts_said: Iterable[tuple[Iterable[str], str]], *, prompts: int, sources: int
) -> set[str]:
    """Return what so many prompts of so many sources say."""
    counts: Counter[str] = Counter()
    used_by: defaultdict[str, set[str]] = defaultdict(set)
    for said, source in prompts_said:
        for name in said:
            counts[name] += 1
            used_by[name].add(source)
    return {n for n, count in counts.items() if count >= prompts and len(used_by[n]) >= sources}


def _held(text: str, source: str) -> tuple[str, str]:
    """Return what a prompt is held out with: other texts, and other prompts of its source."""
    number = int(hashlib.sha256(text.encode()).hexdigest(), 16) % PROMPT_FOLDS
    return f"prompts {number}", source.partition(",")[0]


def _in_tenths(name: str) -> str:
    """Return what is held out at once: palaces and authors in ten parts each, all else alone."""
    for kind in ("palace_", "author "):
        if name.startswith(kind):
            return f"{kind}{int(hashlib.sha256(name.encode()).hexdigest(), 16) % PARTS}"
    return name


def _is_personal(prompt: str) -> bool:
    return bool({"our", "my", "we", "i", "us", "me", "did"} & set(prompt.lower().split()))


def _balanced(examples: Sequence[Example]) -> list[Example]:
    """Weight families so that none drowns the others."""
    sizes = Counter((e.family.split(":")[0], e.label) for e in examples)

    def weight(e: Example) -> float:
        many = WEIGHT_OF_NOTES if e.family.startswith("notes") else WEIGHT_OF_MANY
        whole = WEIGHT_OF_AUTHOR if e.family.startswith("author ") else many
        return whole / max(sizes[e.family.split(":")[0], e.label], SMALLEST_FAMILY)

    return [replace(e, weight=weight(e)) for e in examples]
