"""The answer check: what a model says is held against what the memory says.

In: an answer, whole or as it streams. Out: what may be released of it, sentence by sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import regex

from palace.arguments import check_choice
from palace.enforce.answer_words import read_words
from palace.enforce.choices import enumerated
from palace.enforce.citations import CITATION
from palace.enforce.dates import find_weekdays
from palace.enforce.grounds import Grounds
from palace.enforce.judging import Judged, is_label, judge
from palace.enforce.prompt import DECLINE_TOKEN, shown_text
from palace.enforce.quantities import as_seen
from palace.enforce.replies import quote_evidence
from palace.enforce.sentences import SentenceCutter, open_fence
from palace.recall.related import translated
from palace.secrets import redact
from palace.text import tokens
from palace.text.echoes import is_statement
from palace.types.verdict import FALLBACK_TEXT, Evidence

Mode = Literal["off", "flag", "replace"]
MODES: tuple[Mode, ...] = get_args(Mode)

# Who writes Markdown may escape its underscores.
_DECLINE = regex.compile(DECLINE_TOKEN.replace("_", r"\\?_"), regex.IGNORECASE)
_DECLINED = regex.compile(rf"[\W_]*{_DECLINE.pattern}", regex.IGNORECASE)
_MARGIN = regex.compile(r"\A\s*(?:[-*+•>]\s+|#{1,6}\s+|\d{1,3}[.)]\s+)*")
# What of a sentence that was replaced may stand behind its end: its citation, alone or on its line.
_LEFT_BEHIND = regex.compile(
    rf"\A(?:(?:[\s,]*[(*_]*(?:{CITATION.pattern})[)*_.,;]*)+\s*\Z"
    rf"|(?:[ \t,]*[(*_]*(?:{CITATION.pattern})[)*_,;]*)+(?=\s)|[.,;)*_]+\Z)"
)
_MIDNIGHT = regex.compile(r"\A(\d{4}-\d\d-\d\d)[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:?\d\d)?\Z")
_ROW = regex.compile(r"\s*\|[^\n]*(?P<rule>\n[ \t|:-]*-[ \t|:-]*)?\s*\Z")
_FLAG = "Not found in memory: "
_MOST_NAMED = 12
_HELD_CHARS = 600


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer after the check.

    Attributes:
        text: What may be released under the mode.
        supported: Whether everything the model said was supported; always True unchecked.
        unsupported: What was not, as the model wrote it: a number, a name, or a whole sentence.
        citations: Citation number -> evidence id, for the citations of what is released that
            point somewhere.
        declined: Whether the model declined; `text` is then the fallback.
    """

    text: str
    supported: bool = True
    unsupported: tuple[str, ...] = ()
    citations: Mapping[int, str] = field(default_factory=dict)
    declined: bool = False


class AnswerCheck:
    """Holds answers against evidence.

    Numbers, dates, names, paths, addresses, code and quotes of an answer must stand in the
    evidence, the question or the identity; every sentence must be covered by their words; no
    sentence may deny what the evidence affirms; and one word that stands nowhere is no answer by
    itself. Modes:

    - `off`: released as it is; only the decline token is still obeyed.
    - `flag`: released, and one line at the end names what is unsupported.
    - `replace`: a sentence that is unsupported is never released. In its place stands the memory
      it is nearest to, verbatim and with its source, once for each memory.

    Args:
        evidence: In the order it was shown to the model.
        question: The person's words.
        identity: Text of L0.
        fallback_text: The reply when the model declines.
        mode: What happens with what is unsupported.
        also: Further texts whose words may be used, such as results of tools in this turn.
        strict: Whether a sentence may add next to no words of its own; see `Grounds`.

    Raises:
        ConfigError: If the mode is none of these.
    """

    def __init__(
        self,
        evidence: Sequence[Evidence],
        question: str = "",
        *,
        identity: str = "",
        fallback_text: str = FALLBACK_TEXT,
        mode: Mode = "replace",
        also: Sequence[str] = (),
        strict: bool = False,
    ) -> None:
        check_choice("mode", mode, MODES)  # a misspelt one would check less than was asked for
        self.evidence = tuple(evidence)
        self.mode: Mode = mode
        self.fallback_text = fallback_text
        self._grounds = Grounds(
            self.evidence,
            tuple(as_seen(shown_text(item)) for item in self.evidence),
            as_seen(question),
            tuple(map(as_seen, (identity, *also))),
            strict,
        )

    def check(self, answer: str) -> CheckedAnswer:
        """Return what may be released of a whole answer; the same as its gate releases."""
        gate = self.gate()
        gate.feed(answer)
        gate.close()
        return gate.result

    def shown_wrongly(self, values: Iterable[str]) -> CheckedAnswer | None:
        """Return the check of what a tool would show to the person, if that may not be shown.

        Args:
            values: The arguments that the model gave the tool; a few words state nothing.
        """
        stated = list(filter(is_statement, values))
        if not stated or self.mode != "replace":
            return None
        checked = self.check("\n".join(stated))
        return None if checked.supported and not checked.declined else checked

    def gate(self) -> SentenceGate:
        """Return a gate for one streaming answer."""
        return SentenceGate(self)

    def judge(self, sentence: str, before: str = "") -> Judged:
        """Judge one sentence of an answer, after those that hold."""
        return judge(as_seen(sentence), self._grounds, before)

    def without_labels(self, values: Iterable[str], schema: object) -> list[str]:
        """Return the values of a structured answer that state something.

        A value only sorts the answer if its schema enumerates it and the evidence says none of the
        others it could have been. Beside unclear evidence every value states something. Of a moment
        at midnight the day is left: so a schema that wants a moment (`datetime`) has a day written.

        Args:
            values: As text.
            schema: What the answer has to fit, or what holds that; see `enumerated`.
        """
        values = list(values)
        offered = [] if self._grounds.strict or not values else list(enumerated(schema))

        def only_sorts(value: str) -> bool:
            among = [choices for choices in offered if value in choices]
            others = {other for choices in among for other in choices if other != value}
            return bool(among) and not any(map(self._says, others))

        return [_MIDNIGHT.sub(r"\1", value) for value in values if not only_sorts(value)]

    def _says(self, value: str) -> bool:
        """Whether a piece of evidence holds all these words, or the English ones for them."""
        said = {word.token for word in read_words(value)}
        english = translated(said, self._grounds.everything.language)
        days = {number for number, _, _ in find_weekdays(value)}
        return bool(said) and any(
            all({token, *english.get(token, ())} & source.tokens for token in said)
            or (days and days <= source.weekdays)
            for source in self._grounds.remembered
        )

    def nearest(self, sentence: str, label: str = "") -> int | None:
        """Return the place of the evidence that shares most words with a sentence, if any.

        Args:
            sentence: Of an answer.
            label: The heading it stands under, which says what it is about: "Toaster", "By Ida".
        """
        if not self.evidence:
            return None
        about = set(tokens(label))
        said = about | set(tokens(sentence))
        known = [source.tokens for source in self._grounds.remembered]
        return max(
            range(len(known)), key=lambda n: (len(said & known[n]), len(about & known[n]), -n)
        )

    def quote(self, place: int) -> str:
        """Return a piece of evidence verbatim, without secrets, with its source."""
        item = self.evidence[place]
        return redact(quote_evidence((item,)))


class SentenceGate:
    """Releases an answer sentence by sentence, each once it is verified.

    What it releases over any chunking of an answer is, joined, what `AnswerCheck.check` returns
    for the whole. One word that stands nowhere waits for what is said beside it. A sentence without
    an end is decided on after `MAX_SENTENCE_CHARS` characters.

    Args:
        check: The check that the answer must pass.
    """

    def __init__(self, check: AnswerCheck) -> None:
        self._check = check
        self._cutter = SentenceCutter()
        self._head = ""  # unchecked text that may still become a decline
        self._released: list[str] = []
        self._unsupported: list[str] = []
        self._citations: dict[int, str] = {}
        self._quoted: set[int] = set()  # places of the evidence that stands for a sentence
        self._held = ""  # the end of what was said and holds
        self._lone: list[str] = []  # words that stand nowhere, each all that its sentence says
        self._waiting = ""  # the sentences of these, until more is said
        self._claimed = False  # whether more was said than such words
        self._begun = False  # whether anything was released
        self._declined = False
        self._ended = False  # by the decline token
        self._is_replaced = False  # whether another text stands for the last sentence
        self._code = ""  # the fence of the block of code that the next piece goes on with
        self._code_dropped = False  # whether the rest of that block is not released
        self._closed = False

    def feed(self, chunk: str) -> list[str]:
        """Take in a piece of the answer; return what may be released now, perhaps nothing.

        Raises:
            ValueError: If the gate was closed.
        """
        if self._closed:
            raise ValueError("the answer has ended; take a new gate for the next one")
        if self._check.mode == "off":
            return self._pass_on(chunk)
        return self._release(self._cutter.feed(chunk))

    def close(self) -> list[str]:
        """End the answer; return the rest that may be released. Then `result` tells of all."""
        if self._closed:
            return []
        self._closed = True
        if self._check.mode == "off":
            rest = self._record([] if self._begun or self._declined else [self._head])
        else:
            rest = self._release(self._cutter.close())
            rest += self._record([self._alone()])
        return [*rest, *self._record(self._last_words())]

    @property
    def result(self) -> CheckedAnswer:
        """The check of everything released so far; complete after `close`."""
        return CheckedAnswer(
            text="".join(self._released),
            supported=not self._unsupported,
            unsupported=tuple(dict.fromkeys(self._unsupported)),
            citations=dict(sorted(self._citations.items())),
            declined=self._declined,
        )

    def _record(self, pieces: list[str]) -> list[str]:
        kept = [piece for piece in pieces if piece]
        self._released.extend(kept)
        return kept

    # -- unchecked -------------------------------------------------------------------------------

    def _pass_on(self, chunk: str) -> list[str]:
        """Release text as it comes; only its beginning is held until it can be no decline."""
        if self._begun:
            return self._record([chunk])
        if self._declined:
            return []
        self._head += chunk
        if _DECLINED.match(self._head):
            self._declined = True
            return []
        start = regex.search(r"[^\W_]", self._head)
        said = self._head[start.start() :].upper().replace("\\", "") if start else ""
        if DECLINE_TOKEN.startswith(said):
            return []
        self._begun = True
        return self._record([self._head])

    # -- checked ---------------------------------------------------------------------------------

    def _release(self, sentences: Sequence[str]) -> list[str]:
        return self._record([self._piece(sentence) for sentence in sentences])

    def _piece(self, sentence: str) -> str:
        """Return what may be released for one sentence."""
        if not self._ended and _DECLINE.search(sentence):
            self._ended = True
            self._declined = not self._begun
        if self._ended:
            return ""
        fence, dropped = self._code, self._code_dropped
        self._code = open_fence(sentence, fence)
        self._code_dropped &= bool(self._code)
        if not sentence.strip():
            return sentence if self._begun and not dropped else ""
        if self._is_replaced and not fence:
            sentence = _LEFT_BEHIND.sub("", sentence, count=1)
            if not sentence:
                return ""
        # A long block comes in pieces, of which only the first shows that it is code.
        judged = self._check.judge(f"{fence}\n{sentence}" if fence else sentence, self._held)
        self._is_replaced = bool(judged.unsupported) and self._check.mode == "replace"
        if not self._is_replaced:
            self._citations.update((n, self._check.evidence[n - 1].id) for n in judged.citations)
        self._unsupported.extend(judged.unsupported)
        if not judged.unsupported:
            return "" if dropped else self._holds(sentence, judged)
        if self._check.mode == "flag":
            self._begun = self._claimed = True
            return self._taken_up() + sentence
        return self._replaced(sentence, fence=fence, dropped=dropped)

    def _replaced(self, sentence: str, *, fence: str, dropped: bool) -> str:
        """Return what stands for an unsupported piece, which may go on with a block of code.

        Half a block would turn what follows into code: its rest goes, and what is open is closed.
        """
        self._code_dropped = bool(self._code)
        if not fence:
            return self._instead(self._taken_up() + sentence)
        return "" if dropped else f"\n{fence}\n{self._instead(sentence.lstrip())}"

    def _holds(self, sentence: str, judged: Judged) -> str:
        """Release a sentence that holds; one word that stands nowhere waits for what follows."""
        self._claimed = self._claimed or judged.claims
        if not self._claimed and (judged.lone or self._waiting):
            self._waiting += sentence
            self._lone += [judged.lone] if judged.lone else []
            return ""
        self._begun = True
        released = self._taken_up() + sentence
        self._held = f"{self._held}{released}"[-_HELD_CHARS:]
        return released

    def _taken_up(self) -> str:
        waiting, self._waiting = self._waiting, ""
        return waiting

    def _alone(self) -> str:
        """Return what may be released of words that were all of the answer."""
        waiting = self._taken_up()
        if not waiting or self._declined:
            return ""
        self._unsupported.extend(self._lone)
        return waiting if self._check.mode == "flag" else self._instead(waiting)

    def _instead(self, sentence: str) -> str:
        """Return the nearest memory in place of a sentence, or nothing if it was quoted before."""
        place = self._check.nearest(sentence, self._label())
        quote = "" if place is None or place in self._quoted else self._check.quote(place)
        row = _ROW.match(sentence)
        if row and (quote or row["rule"]):  # without the rule below its head a table is none
            quote = f"| {' '.join(quote.split()).replace('|', chr(92) + '|')} |{row['rule'] or ''}"
        if place is None or not quote:
            return ""
        self._quoted.add(place)
        self._begun = self._claimed = True
        margin = _MARGIN.match(sentence)
        return f"{margin[0] if margin else ''}{quote}"

    def _label(self) -> str:
        """Return the last heading or label of a list that was released."""
        lines = [line for line in self._held.splitlines() if is_label(line)]
        return lines[-1] if lines else ""

    def _last_words(self) -> list[str]:
        if self._declined:
            return [self._check.fallback_text]
        if self._check.mode == "flag" and self._unsupported:
            named = list(dict.fromkeys(self._unsupported))[:_MOST_NAMED]
            return [f"\n\n{_FLAG}{'; '.join(' '.join(n.split()) for n in named)}."]
        if self._check.mode == "replace" and not "".join(self._released).strip():
            place = self._check.nearest("")
            return [self._check.fallback_text if place is None else self._check.quote(place)]
        return []
