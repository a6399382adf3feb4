"""The answer check: what a model says is held against what the memory says.

In: an answer, whole or as it streams. Out: what may be released of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import regex

from palace.enforce.answer_words import content_tokens
from palace.enforce.prompt import DECLINE_TOKEN
from palace.enforce.replies import quote_evidence
from palace.secrets import redact
from palace.text import numbers, tokens
from palace.types import Evidence

Mode = Literal["off", "flag", "replace"]
_CITATION = regex.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer after the check.

    Attributes:
        text: What may be released under the mode.
        supported: Whether everything in the model's answer was supported.
        unsupported: What was not, as the model wrote it.
        citations: Citation number -> evidence id, for the numbers that exist.
        declined: Whether the model declined.
    """

    text: str
    supported: bool = True
    unsupported: tuple[str, ...] = ()
    citations: Mapping[int, str] = field(default_factory=dict)
    declined: bool = False


class AnswerCheck:
    """Holds answers against evidence."""

    def __init__(
        self,
        evidence: Sequence[Evidence],
        question: str = "",
        *,
        identity: str = "",
        fallback_text: str = "I don't have this in my memory palace.",
        mode: Mode = "replace",
        also: Sequence[str] = (),
    ) -> None:
        self.evidence = tuple(evidence)
        self.mode = mode
        self.fallback_text = fallback_text
        self._known = " ".join([*(redact(e.text) for e in evidence), question, identity, *also])

    def check(self, answer: str) -> CheckedAnswer:
        """Return what may be released of a whole answer."""
        gate = self.gate()
        gate.feed(answer)
        gate.close()
        return gate.result

    def gate(self) -> SentenceGate:
        """Return a gate for a streaming answer."""
        return SentenceGate(self)

    def judge(self, answer: str) -> CheckedAnswer:
        """Return what may be released of a whole answer."""
        if answer.strip().strip("*_`.\"' ") == DECLINE_TOKEN:
            return CheckedAnswer(self.fallback_text, declined=True)
        cited = {int(n): n for n in _CITATION.findall(answer)}
        ids = {n: self.evidence[n - 1].id for n in cited if 1 <= n <= len(self.evidence)}
        bare = _CITATION.sub("", answer)
        known = set(tokens(self._known))
        wrong = [n for n in numbers(bare) if n not in numbers(self._known)]
        content = content_tokens(bare)
        covered = sum(t in known for t in content)
        if self.mode == "off" or (not wrong and covered * 2 >= len(content)):
            return CheckedAnswer(answer, citations=ids)
        unsupported = tuple(wrong) or (bare.strip(),)
        text = quote_evidence(self.evidence[:1])
        if self.mode == "flag":
            text = f"{answer}\n\nNot in memory: {'; '.join(unsupported)}"
        return CheckedAnswer(text, supported=False, unsupported=unsupported, citations=ids)


class SentenceGate:
    """Releases an answer as it is verified."""

    def __init__(self, check: AnswerCheck) -> None:
        self._check = check
        self._buffer = ""
        self.result = CheckedAnswer("")

    def feed(self, chunk: str) -> list[str]:
        """Take in a piece of the answer; return what may be released now."""
        self._buffer += chunk
        return []

    def close(self) -> list[str]:
        """End the answer; return the rest that may be released."""
        self.result = self._check.judge(self._buffer)
        return [self.result.text] if self.result.text else []
