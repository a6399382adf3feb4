"""Decide whether a prompt asks for something remembered: shape, cues, phrasing and familiarity.

In: a turn, its query and the palace's vocabulary. Out: a `RecallSignal` with a score and its cues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain
from typing import Literal

import regex

from palace.ports import Vocabulary
from palace.recall.apart import Apart, sentences_apart, sentences_in
from palace.recall.blocks import strip_own_markers
from palace.recall.courtesies import any_of, is_courtesy, only_thanks
from palace.recall.familiarity import familiarity
from palace.recall.given_names import is_given_name
from palace.recall.insisting import only_goes_on
from palace.recall.instructions import only_instructs
from palace.recall.language import is_unread
from palace.recall.lexicon import Lexicon, first_match, matchable, matches, undecorated, without
from palace.recall.logistic import LogisticModel, probability_of
from palace.recall.phrasing import phrases, said_here, subjects, words_of
from palace.recall.shape import QUESTION_MARKS, code_share, machine_reason
from palace.text import fold, tokens, words
from palace.text.full_stops import ends_sentence
from palace.text.given_words import works_on_given_words
from palace.text.labels import unlabelled
from palace.types.query import Query, RecallKind, RecallSignal
from palace.types.session import ASKING, Turn

PERSONAL_CUES = tuple(
    "past_we past_i ask_i we_present i_present possessive_my possessive_our".split()
)
# What only a memory can answer, as what says "I" or "we" is, whatever document stands beside it.
_OWN_CUES = "about_me ask_memory remember told again meta known_name".split()
# Who says one of these does more than to go on with what was said: "my last one", "and Ann?".
_SAYS_MORE = (
    *(cue for cue in PERSONAL_CUES if cue != "i_present"),
    *"about_me ask_memory remember told meta identity any_name given_name".split(),
)
_GOES_ON = "goes_on"
# Which kind a cue speaks for, most telling first.
KIND_OF_CUE: Mapping[str, RecallKind] = {
    "about_me": "fact",
    "meta": "meta",
    "identity": "identity",
    "documented": "procedure",
    "procedure": "procedure",
    "preference": "preference",
    "status": "status",
    "ask_memory": "history",
    "remember": "history",
    "last_time": "history",
    "decision": "fact",
}
_BANDS = ("other", "unsure", "recall")
_LONG_PROMPT_WORDS = 60
# Who tells a situation asks about it. So many words of content beside a question say nothing yet;
# each one more takes this off its log-odds.
_SAID_BESIDE, _LESS_FOR_EACH = 2, 1.0
# Messages among which a question that leans on another is followed back.
_LOOKED_BACK = 6
# Who asks for the time or the date of this moment says at most so much.
_FEW_OF_NOW = 3
# What stands for a name in the pattern of a statement, and how far in front names are looked for.
_NAME, _HEAD_CHARS = "@", 60
# A pattern looks so far for what asks.
_MOST_STATED_CHARS = 400
_STOP = regex.compile(r"[.…](?=\s)|[!。](?=[^!。])|\n")


@lru_cache(maxsize=4)
def _words_of(model: LogisticModel) -> frozenset[str]:
    """Return the words a model looks at; where none are kept, they are found among its weights."""
    return model.words or words_of(model.weights)


class CueDetector:
    """The detector: a small fitted model over cues, phrasing and familiarity.

    Args:
        lexicons: Languages to know.
        vocabulary: The palace's words.
        analyse: Makes the query of a turn: a prompt may hold a question with a query of its own.
        model: Fitted weights with the bars `recall`, `leaning` and `other`.
        own_cues: A person's own literal phrases, with the kind they speak for.
        recall_at: Score from which a prompt is recall; None takes the fitted bar.
        other_below: Score below which it is not; None takes the fitted bar.
        timeout_ms: Bound on each pattern, in milliseconds.
        names_artifact: Whether a prompt names an artifact that could be fetched.
        noted: Index tokens that the session of a turn has noted: they are familiar too.
    """

    def __init__(
        self,
        lexicons: Sequence[Lexicon],
        vocabulary: Vocabulary,
        *,
        analyse: Callable[[Turn], Query],
        model: LogisticModel,
        own_cues: Sequence[tuple[str, RecallKind]] = (),
        recall_at: float | None = None,
        other_below: float | None = None,
        timeout_ms: float = 50.0,
        names_artifact: Callable[[Turn], bool] = lambda _: False,
        noted: Callable[[Turn], frozenset[str]] = lambda _: frozenset(),
    ) -> None:
        self._noted = noted
        self._names_artifact = names_artifact
        self._lexicons = {lexicon.language: lexicon for lexicon in lexicons}
        self._first = lexicons[0]
        self._vocabulary = vocabulary
        self._analyse = analyse
        self._model = model
        self._words = _words_of(model)
        # As prompts are read, so that a phrase with typographic quotes is met too.
        self._own_cues = [(matchable(phrase), kind) for phrase, kind in own_cues]
        self._recall_at = model.bars["recall"] if recall_at is None else recall_at
        self._other_below = model.bars["other"] if other_below is None else other_below
        self._leaning_at = model.bars["leaning"]
        self._timeout_ms = timeout_ms

    def detect(self, turn: Turn, query: Query) -> RecallSignal:
        """Return the signal of a turn; never raises on any text."""
        reason = machine_reason(turn.prompt)
        if reason:
            return RecallSignal("none", 0.0, (f"machine:{reason}",))
        if works_on_given_words(turn.prompt):
            return RecallSignal("none", 0.0, ("given_words",))
        text = matchable(turn.prompt)
        features = self.features(turn, query, text=text)
        whole = self._signal(turn, query, text, features)

        @cache  # which looks at what was asked before that: once for each is enough
        def before() -> RecallSignal | None:
            return self._before(turn)

        if whole.band != "other" and self._only_goes_on(turn, query, text, features, before):
            # An ordinary task goes on; of a question the evidence may still say otherwise.
            whole = _gone_on(whole, asks=bool(features.get("question")))
        if whole.band != "other" and (cue := self._asks_for_none(turn, query, text, features)):
            return _none(whole, cue)
        if whole.band == "recall":
            return whole
        signals = (whole, *self._asked_apart(turn))
        sure = max(signals, key=lambda signal: (_BANDS.index(signal.band), signal.score))
        best = replace(sure, own=sure.own or whole.own)
        if _may_lean_on_recall(best, query, features) and _is_or_leans_to_recall(before()):
            # Nothing in "in which solvent?" tells, but what it goes on with does.
            cues = ("leans_on_recall", *best.cues)
            best = replace(best, band="unsure", leaning=True, cues=cues)
            if _asks_on(query, features) and _is_recall(before()):
                best = replace(best, band="recall")
        return best

    def _asks_for_none(
        self, turn: Turn, query: Query, text: str, features: Mapping[str, float]
    ) -> str:
        """Return what tells that a prompt asks for no memory, however it sounds, or ""."""
        if query.of_a_kind and not self._own_cue(text):
            return "of_a_kind"
        lexicon = self._lexicons.get(query.language, self._first)
        # Behind "the call is on Friday" who asks "what time is it?" means the call.
        is_first = not turn.history and len(query.terms) <= _FEW_OF_NOW and not self._own_cue(text)
        if is_first and lexicon.requested("of_now", turn.prompt, timeout_ms=self._timeout_ms):
            return "of_now"
        alone = not (turn.history or features.get("question"))
        if alone and only_instructs(turn.prompt, (lexicon,), timeout_ms=self._timeout_ms):
            return "only_instructs"
        return ""

    def _only_goes_on(
        self,
        turn: Turn,
        query: Query,
        text: str,
        features: Mapping[str, float],
        before: Callable[[], RecallSignal | None],
    ) -> bool:
        """Whether a prompt only goes on with what asked for no memory: "when?", "another one"."""
        if not turn.history:
            return False
        takes_over = query.carried or not query.terms
        is_bare = takes_over and features["few_terms"] and not features["others_known"]
        if not (is_bare or only_goes_on(turn.prompt)) or any(map(features.get, _SAYS_MORE)):
            return False
        asked = before()
        return (
            asked is not None
            and (_GOES_ON in asked.cues or asked.score < self._other_below)
            and not self._own_cue(text)
        )

    def _before(self, turn: Turn) -> RecallSignal | None:
        """Return the signal of what was asked before this turn, if anything was but thanks."""
        asked = [
            n
            for n, message in enumerate(turn.history)
            if message.role in ASKING and not is_courtesy(message.content)
        ]
        if not asked:
            return None
        said = strip_own_markers(turn.history[asked[-1]].content)
        before = turn.history[: asked[-1]][-_LOOKED_BACK:]  # which may lean itself
        earlier = replace(turn, prompt=said, history=before)
        return self.detect(earlier, self._analyse(earlier))

    def _asked_apart(self, turn: Turn) -> Iterator[RecallSignal]:
        """Yield the signals of questions that nothing else in their prompt has to do with."""

        @cache
        def query_of(sentence: str) -> Query:
            return self._analyse(replace(turn, prompt=sentence))

        # "When he lived, he paid." begins as a question does: where marks are set, they tell.
        marked = any(mark in turn.prompt for mark in QUESTION_MARKS)
        for apart in sentences_apart(turn.prompt):
            query = query_of(apart.sentence)
            if not (query.of_a_kind or self._belongs(query, apart)):
                part, text = replace(turn, prompt=apart.sentence), matchable(apart.sentence)
                features = self.features(part, query, text=text)
                asks = not marked or apart.sentence.endswith(QUESTION_MARKS)
                if (asks and features.get("question")) or features.get("ask_memory"):
                    # How many words of content the other sentences say.
                    others = (o for o in (*apart.before, *apart.after) if not only_thanks(o))
                    said = sum(len(query_of(other).terms) for other in others)
                    less = _LESS_FOR_EACH * max(0, said - _SAID_BESIDE)
                    yield self._signal(part, query, text, features, apart=True, less=less)

    def _belongs(self, query: Query, apart: Apart) -> bool:
        """Whether other sentences tell of what is asked about, or first what to do with it."""
        about = {*query.terms, *chain.from_iterable(query.names)}
        task = self._lexicons.get(query.language, self._first).cues["task"]
        return any(
            not about.isdisjoint(tokens(other)) for other in (*apart.before, *apart.after)
        ) or any(
            matches(task, matchable(earlier), timeout_ms=self._timeout_ms)
            for earlier in apart.before
        )

    def _signal(
        self,
        turn: Turn,
        query: Query,
        text: str,
        features: Mapping[str, float],
        *,
        apart: bool = False,
        less: float = 0.0,
    ) -> RecallSignal:
        """Weigh what was seen of a prompt, or of a sentence apart, with `less` off its log-odds."""
        own = self._own_cue(text)
        said = phrases(text, self._words)
        if features.get("loaded"):
            said |= said_here(said)
        about = subjects(text, self._model.known, english=query.english, slips=query.slips)
        score = probability_of(self._model.log_odds({**features, **said, **about}) - less)
        kind, runner_up = _kinds(features, query)
        if own:
            spoken = (f"own:{own[0]}", *self._spoken(features))
            return RecallSignal(
                own[1], max(score, 0.99), spoken, kind, "recall", several=query.has_several_answers
            )
        band = self._band(score)
        sounds_so = band != "other" or features.get("ask_memory")
        if sounds_so and not features.get("question") and self._states(query, text):
            # Whom and what it tells of may be known: so it sounds like recall.
            band = "other"
        elif _asks_memory_itself(features, denied=score < self._other_below / 2):
            score, band = max(score, 0.99), "recall"
        elif band == "recall" and _tells_what_it_asks(turn.prompt, query, features):
            band = "unsure"
        spoken = ("asked_apart", *self._spoken(features)) if apart else self._spoken(features)
        if band == "other" and self._asks_for_artifact(turn, query, text, features):
            band, spoken = "unsure", ("names_artifact", *spoken)
        if band == "other" and (cue := _evidence_decides(features, query)):
            band, spoken = "unsure", (cue, *spoken)
        if band == "other" and is_unread(text, self._lexicons.values()):
            # Where no cue can be read, that there is none says nothing: the evidence decides.
            band, spoken = "unsure", ("unread_script", *spoken)
        if band == "other":
            kind, runner_up = "none", kind
        known = query.known_one or bool(query.of_day) or _asks_of_ours(features)
        leaning = band == "unsure" and (known or score >= self._leaning_at)
        is_own = self._is_own(turn, query, text, features)
        return RecallSignal(
            kind, score, spoken, runner_up, band, leaning, is_own, query.has_several_answers
        )

    def _own_cue(self, text: str) -> tuple[str, RecallKind] | None:
        return next(((phrase, kind) for phrase, kind in self._own_cues if phrase in text), None)

    def _asks_for_artifact(
        self, turn: Turn, query: Query, text: str, features: Mapping[str, float]
    ) -> bool:
        """Whether a prompt names an issue or a file that can be fetched, to be told what it says.

        Who has something done with it wants the model's own work; "show me" is no such task.
        """
        if not self._names_artifact(turn):
            return False
        if not _is_task(features):
            return True
        rest = without(_to_be_told(), text, timeout_ms=self._timeout_ms).strip()
        if rest == text or features["very_long"] or features["code"]:
            return False
        cues = self._lexicons.get(query.language, self._first).cues
        tasks = (cues[cue] for cue in ("task", "task_inside") if cue in cues)
        return not any(matches(task, rest, timeout_ms=self._timeout_ms) for task in tasks)

    def _is_own(self, turn: Turn, query: Query, text: str, features: Mapping[str, float]) -> bool:
        """Whether only a memory can answer. Who says "tell me" says nothing of himself yet.

        Who the agent is, its program may have told it: no document can.
        """
        if not (turn.beside or turn.instructions) or any(map(features.get, _OWN_CUES)):
            return True
        if features.get("identity") and not turn.instructions:
            return True
        rest = without(_to_be_told(), text, timeout_ms=self._timeout_ms)
        lexicon = self._lexicons.get(query.language, self._first)
        who = first_match(lexicon.cues.get("identity", "(?!)"), rest, timeout_ms=self._timeout_ms)
        if who and not lexicon.folded("address").isdisjoint(_said(who[0])):
            rest = rest.replace(who[0], " ")  # "what can you do for me" asks about the agent
        return not lexicon.folded("first_person").isdisjoint(_said(rest)) or any(
            features.get(cue) and matches(lexicon.cues[cue], rest, timeout_ms=self._timeout_ms)
            for cue in PERSONAL_CUES
        )

    def _band(self, score: float) -> Literal["recall", "unsure", "other"]:
        if score >= self._recall_at:
            return "recall"
        return "unsure" if score >= self._other_below else "other"

    def _spoken(self, features: Mapping[str, float]) -> tuple[str, ...]:
        return tuple(self._model.contributions(features))[:8]

    def features(self, turn: Turn, query: Query, *, text: str | None = None) -> dict[str, float]:
        """Return cues (0 or 1), familiarity and shape, each in [0, 1]."""
        text = matchable(turn.prompt) if text is None else text
        lexicon = self._lexicons.get(query.language, self._first)
        cues = {
            name: float(matches(pattern, text, timeout_ms=self._timeout_ms))
            for name, pattern in lexicon.cues.items()
            if name != "statement"  # see `_states`
        }
        if cues.get("identity") and self._asks_more(text, query, lexicon):
            cues["identity"] = 0.0
        # What is known about somebody is asked of the memory itself, too.
        cues["meta"] = max(cues.get("meta", 0.0), cues.get("about_me", 0.0))
        found = {
            **cues,
            **familiarity(query, cues, self._vocabulary, noted=self._noted(turn)),
            **_shape(turn, query, text),
            "follow_up": float(bool(query.carried)),
        }
        return {**found, **_crossed(found)}

    def _states(self, query: Query, text: str) -> bool:
        """Whether a prompt only tells something ("Imogen loved it!") or wants to be told later."""
        lexicon = self._lexicons.get(query.language, self._first)
        pattern = lexicon.cues.get("statement")
        if pattern is None or len(text) > _MOST_STATED_CHARS or _goes_on(text):
            return False
        names = {*chain.from_iterable(query.names)}
        for word in reversed(words(text[:_HEAD_CHARS])):
            if word.token in names or is_given_name(word, lexicon):
                text = f"{text[: word.start]}{_NAME}{text[word.end :]}"
        return matches(pattern, text, timeout_ms=self._timeout_ms)

    def _asks_more(self, text: str, query: Query, lexicon: Lexicon) -> bool:
        """Whether a prompt says more than "who are you": "what are you paying for rent" does.

        Whom it greets or calls by name is none of what it asks for. In scripts without blanks the
        rest of a word would be cut from it: there it says no more.
        """
        rest = without(lexicon.cues["identity"], text, timeout_ms=self._timeout_ms)
        content = {*query.terms, *query.slips}
        return any(
            word.shape != "dense"
            and not content.isdisjoint((word.token, *word.parts))
            and fold(word.surface) not in lexicon.soft
            for word in words(rest)
        )


def _goes_on(text: str) -> bool:
    """Whether a text has a second sentence, which may ask without a question word."""
    stops = (stop.start() for stop in _STOP.finditer(text))
    return any(text[place] != "." or ends_sentence(text, place) for place in stops)


def _gone_on(signal: RecallSignal, *, asks: bool) -> RecallSignal:
    """Return the signal of a prompt that goes on with what asked for no memory."""
    if not asks:
        return _none(signal, _GOES_ON)
    cues = (_GOES_ON, *signal.cues)
    leaning = signal.leaning or signal.band == "recall"
    return replace(signal, band="unsure", leaning=leaning, cues=cues)


def _none(signal: RecallSignal, cue: str) -> RecallSignal:
    """Return the signal of a prompt that asks for nothing, whatever the model says of it."""
    cues = (cue, *signal.cues)
    return replace(
        signal, kind="none", runner_up=signal.kind, band="other", leaning=False, cues=cues
    )


def _is_recall(before: RecallSignal | None) -> bool:
    """Whether what was asked before asks for something remembered."""
    return before is not None and before.band == "recall" and _GOES_ON not in before.cues


def _is_or_leans_to_recall(before: RecallSignal | None) -> bool:
    """Whether it does, or leans to it."""
    return _is_recall(before) or (
        before is not None and before.leaning and _GOES_ON not in before.cues
    )


def _may_lean_on_recall(signal: RecallSignal, query: Query, features: Mapping[str, float]) -> bool:
    """Whether a question that is no recall by itself leans on what was asked before."""
    if not (query.carried and features.get("question")) or query.answer_type == "yes_no":
        return False
    if query.of_a_kind:
        return False
    return signal.band == "unsure" or bool(features["short"] and features["few_terms"])


def _asks_on(query: Query, features: Mapping[str, float]) -> bool:
    """Whether a prompt asks the last question of another, or a bare "when?" of it: "and Ines?"."""
    if query.names:
        return bool(features["known_name"])
    return not query.terms and query.answer_type not in ("thing", "reason", "yes_no")


@cache
def _to_be_told() -> str:
    return rf"(?:^|(?<=[,.;:!?…¿¡]))\s*(?:{any_of('to_be_told')})"


def _asks_memory_itself(features: Mapping[str, float], *, denied: bool) -> bool:
    """Whether a prompt is recall, unsure as the model is: "who are you", "what did you use".

    So is "do you remember", and "remind me" if the model does not deny it: "I forgot to salt the
    dough" asks for nothing.
    """
    asked = features.get("identity") or features.get("meta")
    asked = asked or (features.get("ask_memory") and not (denied and features["personal"]))
    return bool(asked) and not _is_task(features)


def _said(text: str) -> list[str]:
    """Return the words of a text, folded, and both of "peux-tu"."""
    return [part for word in words(text) for part in fold(word.surface).split("-")]


def _evidence_decides(features: Mapping[str, float], query: Query) -> str:
    """Return the cue of a prompt that only the evidence tells from one about the world, or ""."""
    if features.get("documented"):
        return "documented"  # whether it is written down how a thing is done, a playbook tells
    if query.gathers:
        return f"gathers:{query.gathers.sort}"  # there may be nothing of the sort
    # Memories tell of whom it asks: whether they tell who that is, they show.
    return "known_one" if query.known_one else ""


def _asks_of_ours(features: Mapping[str, float]) -> bool:
    """Whether a prompt asks about what is "ours", and memories tell of something it names."""
    seen = all(map(features.get, ("possessive_our", "question", "known_terms")))
    return seen and not features.get("hypothetical")


def _tells_what_it_asks(prompt: str, query: Query, features: Mapping[str, float]) -> bool:
    """Whether a prompt first tells of what it asks: "Ruth fell. Why did Ruth cry?" may be a story.

    So may be a pasted line that says every word of the question below it.
    """
    if features["personal"] or features["known_name"]:
        return False
    *told, asked = sentences_in(prompt) or [""]
    if not told or any(said.endswith(QUESTION_MARKS) for said in told):
        return False
    if not asked.endswith(QUESTION_MARKS):
        return False
    in_question = set(tokens(unlabelled(asked)))
    of_both = in_question.intersection(tokens(" ".join(told)))
    content = in_question.intersection(query.terms)
    names = any(of_both.issuperset(name) for name in query.names)
    return names or (len(content) > 1 and content <= of_both)


def _is_task(features: Mapping[str, float]) -> bool:
    tasked = features.get("task") or features.get("task_inside") or features.get("output_form")
    return bool(tasked or features["very_long"] or features["code"])


def _shape(turn: Turn, query: Query, text: str) -> dict[str, float]:
    count = len(undecorated(turn.prompt).split())
    return {
        "long": min(count, _LONG_PROMPT_WORDS) / _LONG_PROMPT_WORDS,
        "very_long": float(count > _LONG_PROMPT_WORDS),
        "short": float(count <= 3),
        "lines": float("\n" in turn.prompt.strip()),
        "code": code_share(turn.prompt),
        "colon_payload": float(": " in text and ('"' in text or count > 25)),
        "few_terms": float(len(query.terms) <= 1),
        "typed_question": float(query.answer_type not in ("thing", "yes_no")),
    }


def _crossed(found: Mapping[str, float]) -> dict[str, float]:
    """Return the few combinations that mean more than their parts."""
    personal = max(found.get(name, 0.0) for name in PERSONAL_CUES)
    question = found.get("question", 0.0)
    task = max(found.get("task", 0.0), found.get("task_inside", 0.0))
    return {
        "personal": personal,
        "personal_question": personal * question * (1.0 - task),
        "personal_past": max(found.get("past_we", 0.0), found.get("past_i", 0.0)) * question,
        "personal_task": personal * task,
        "personal_long": personal * found["long"],
        "impersonal_question": question * (1.0 - personal),
        "impersonal_fact": found.get("fact_words", 0.0) * (1.0 - personal),
        "impersonal_name": found["name_told"] * (1.0 - personal),
    }


def _kinds(features: Mapping[str, float], query: Query) -> tuple[RecallKind, RecallKind]:
    spoken = [kind for cue, kind in KIND_OF_CUE.items() if features.get(cue)]
    ordered = list(dict.fromkeys([*spoken, "fact"]))
    if query.answer_type == "date" and ordered[0] == "status":
        ordered = list(dict.fromkeys(["fact", *ordered]))
    first = ordered[0]
    second = ordered[1] if len(ordered) > 1 else "none"
    return first, second
