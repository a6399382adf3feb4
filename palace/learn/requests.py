"""What a prompt tells the memory: to keep something, or that something was wrong.

In: a prompt. Out: the statements to keep with the rest of the prompt, or the new and the old value
of a correction. Machine output, quoted text, pasted documents and questions tell nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import regex

from palace.recall.lexicon import Lexicon, first_match, matchable, matches
from palace.recall.shape import code_share, machine_reason
from palace.text import fold, tokens
from palace.text.full_stops import ends_sentence

# Longer prompts are documents, and a request in one of them is somebody else's.
MAX_PROMPT_CHARS = 1500
MAX_BEFORE_CHARS = 400
MAX_CORRECTION_CHARS = 300
_MAX_STATEMENTS = 20
_QUOTES = "\"'“”„«»‘’‚‹›「」『』>`"
_OPENING = '"“„«「『`>'
_CLOSING = "\"'”’»)]"
_SENTENCE_END = regex.compile(r"[.!?][\"'”’»)\]]{0,2}\K\s+|[。！？]\K\s*|\n+")
_QUESTION = regex.compile(r"[?？]\s*$")
_ITEM = regex.compile(r"\A[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+")


_VERB_LAST = frozenset({"ja", "ko", "tr"})


@dataclass(frozen=True, slots=True)
class Keep:
    """A request to keep something.

    Attributes:
        statements: What to keep, in the person's words.
        rest: What else the prompt says, "" if nothing.
    """

    statements: tuple[str, ...]
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A correction, as a person says it in a conversation.

    Attributes:
        new: The right value, in their words.
        old: The wrong one; "" if they did not repeat it.
        small: Folded words of the language that are no value.
        verb_last: Whether what a value is told of may stand before it, as where the verb is last.
    """

    new: str
    old: str = ""
    small: Collection[str] = field(default=(), compare=False, repr=False)
    verb_last: bool = field(default=False, compare=False, repr=False)


class Listener:
    """Hears what prompts tell the memory.

    Args:
        lexicons: The languages to understand.
        timeout_ms: Bound on each pattern, in milliseconds.
    """

    def __init__(self, lexicons: Sequence[Lexicon], *, timeout_ms: float) -> None:
        self._lexicons = tuple(lexicons)
        self._timeout_ms = timeout_ms

        def each_of(kind: str) -> list[tuple[Lexicon, str]]:
            return [(x, p) for x in self._lexicons for p in x.requests.get(kind, ())]

        def any_of(kind: str) -> str:
            return "|".join(p for _, p in each_of(kind)) or "(?!)"

        begins = r"(?:\A|(?<=[.!?。！？]\s*)|(?<=\n))"
        # Compiled when a prompt first may hold one.
        self._keep_whole = [(x, rf"\A\s*(?:{p})\s*\Z") for x, p in each_of("keep_whole")]
        self._keep = rf"{begins}\s*(?P<cue>{any_of('keep')})\s*[:：]\s*"
        self._keep_that = rf"\A\s*(?P<cue>{any_of('keep_that')})\s*"
        self._correct = [(x, rf"\A(?:{p})\s*[.!。！]*\Z") for x, p in each_of("correct")]

    def request_to_keep(self, prompt: str) -> Keep | None:
        """Return what a prompt asks to be remembered, or None.

        "Remember this: …" counts at the beginning of any sentence; "remember that …" only where
        the prompt begins with it, because in the middle it instructs whoever answers.
        """
        if len(prompt) > MAX_PROMPT_CHARS:
            return None
        keep = self._kept_whole(prompt) or self._kept_after_a_cue(prompt)
        if keep is None or "```" in prompt or machine_reason(prompt) or code_share(prompt):
            return None
        return keep

    def contradiction_in(self, prompt: str) -> Contradiction | None:
        """Return the correction that a prompt is ("no, it is 5433, not 5432"), or None."""
        text = prompt.strip()
        if not text or len(text) > MAX_CORRECTION_CHARS or "\n" in text or _QUESTION.search(text):
            return None
        for lexicon, pattern in self._correct:
            match = self._search(pattern, text) if lexicon.may_be_in(text) else None
            if match is None or machine_reason(text):
                continue
            named = match.groupdict()
            new, old = _value(named["new"]), _value(named.get("old") or "")
            verb_last = lexicon.language in _VERB_LAST
            said = Contradiction(new, old, lexicon.function_words, verb_last)
            if not _is_clause(said):
                return said
        return None

    def _search(self, pattern: str, text: str) -> regex.Match[str] | None:
        return first_match(pattern, text, timeout_ms=self._timeout_ms, flags=regex.IGNORECASE)

    def _kept_whole(self, prompt: str) -> Keep | None:
        for lexicon, pattern in self._keep_whole:
            match = self._search(pattern, prompt) if lexicon.may_be_in(prompt) else None
            told = match["statement"].strip() if match else ""
            if told and _is_statement(told) and not self._instructs(told, lexicon):
                return Keep((told,))
        return None

    def _kept_after_a_cue(self, prompt: str) -> Keep | None:
        if _is_one_question(prompt):
            return None
        has_colon = ":" in prompt or "：" in prompt
        match = self._search(self._keep, prompt) if has_colon else None
        direct = None if match else self._search(self._keep_that, prompt)
        match = match or direct
        if match is None or not self._may_ask(prompt[: match.start("cue")]):
            return None
        statements, rest = self._split(prompt[match.end() :], one=direct is not None)
        told = [s for s in statements if _is_statement(s)]
        if not told or (direct and self._is_to_the_model(told[0], cue=direct["cue"])):
            return None
        before = prompt[: match.start("cue")].strip()
        return Keep(tuple(told[:_MAX_STATEMENTS]), "\n".join(p for p in (before, rest) if p))

    def _is_to_the_model(self, statement: str, *, cue: str) -> bool:
        """Whether it instructs who answers ("remember that you are a pirate") and tells nothing.

        It is read in the language of its cue: French "je" is no Dutch "je".
        """
        return any(
            self._instructs(statement, x)
            for x in self._lexicons
            if self._search(rf"\A(?:{'|'.join(x.requests.get('keep_that', ['(?!)']))})\Z", cue)
        )

    def _instructs(self, statement: str, lexicon: Lexicon) -> bool:
        begins = lexicon.requests.get("to_the_model", ())
        return any(self._search(rf"\A(?:{pattern})", statement) for pattern in begins)

    def _may_ask(self, before: str) -> bool:
        """Whether what stands before a request leaves it the person's own."""
        text = before.strip()
        if not text:
            return True
        if len(text) > MAX_BEFORE_CHARS or text[-1] in ":：" or any(q in text for q in _OPENING):
            return False
        return not self._is_task(text)

    def _is_task(self, text: str) -> bool:
        said = matchable(text)
        return any(
            matches(x.cues["task"], said, timeout_ms=self._timeout_ms) for x in self._lexicons
        )

    def _split(self, text: str, *, one: bool) -> tuple[list[str], str]:
        """Return the statements that follow a cue, and what follows them."""
        paragraph, _, after = text.partition("\n\n")
        lines = [line for line in paragraph.split("\n") if line.strip()]
        if lines and all(_ITEM.match(line) for line in lines):
            return [_ITEM.sub("", line, count=1).strip() for line in lines], after.strip()
        first, *more = lines or [""]
        sentences = _sentences(first)
        kept = sentences[:1]
        for sentence in () if one else sentences[1:]:
            if _QUESTION.search(sentence) or self._is_task(sentence):
                break
            kept.append(sentence)
        rest = [" ".join(sentences[len(kept) :]), *more, after]
        return [" ".join(kept).strip()], "\n".join(p for p in rest if p.strip()).strip()


def _sentences(text: str) -> list[str]:
    found, start = [], 0
    for end in _SENTENCE_END.finditer(text):
        said = text[start : end.start()].rstrip(_CLOSING)
        if not said.endswith(".") or ends_sentence(text, start + len(said) - 1):
            found.append(text[start : end.start()])
            start = end.end()
    return [s for s in (*found, text[start:]) if s.strip()]


def _is_one_question(prompt: str) -> bool:
    """Whether a prompt is a question in one sentence: whatever it begins with, it states nothing.

    Most prompts are, and what finds the cues of all languages need not be compiled for them.
    """
    text = prompt.strip()
    return _QUESTION.search(text) is not None and _SENTENCE_END.search(text) is None


def _is_statement(text: str) -> bool:
    text = text.strip()
    quoted = bool(text) and text[0] in _QUOTES and text[0] not in "'’"
    return len(tokens(text)) >= 2 and not quoted and not _QUESTION.search(text)


def _is_clause(said: Contradiction) -> bool:
    """Whether what was said is no value but a sentence ("Ann does it", "it is") beside one."""
    if not (said.new and said.old):
        return False
    new, old = (fold(value).split()[-1] for value in (said.new, said.old))
    return new in said.small and old not in said.small


def _value(text: str) -> str:
    return text.strip().strip(_QUOTES + ".,;!。，、").strip()
