"""What statements look like in each language: preferences, facts, corrections, decisions.

In: the languages to know and a sentence. Out: which patterns speak. Longer texts are time-limited.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

import regex
import yaml

from palace.recall.lexicon import first_match
from palace.text import fold

MATCH_TIMEOUT_MS = 50.0
MAX_SENTENCE_CHARS = 400
_NAMED = regex.compile(r"(?<!\(\?P)<(\w+)>")
_ASKS = regex.compile(r"\?[^\p{L}\p{N}]*\Z")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "´": "'"})


@dataclass(frozen=True, slots=True)
class Cues:
    """One language.

    Attributes:
        lead_in: What may stand before a statement without changing it, as a pattern.
        patterns: Cue name -> one alternation, matched against a folded sentence.
        holds: What `palace.learn.held` goes by: a word list's name -> its pattern, a kind of
            statement -> its patterns. Only of writing without blanks, and Korean.
    """

    language: str
    lead_in: str
    patterns: dict[str, str] = field(default_factory=dict)
    holds: dict[str, str | list[str]] = field(default_factory=dict)

    def says(self, cue: str, sentence: str) -> bool:
        """Whether a cue occurs in a sentence made `plain`; one that takes too long does not."""
        return self.find(cue, sentence) is not None

    def find(self, cue: str, sentence: str) -> regex.Match[str] | None:
        """Return where a cue occurs in a plain sentence."""
        return first_match(self.patterns[cue], sentence, timeout_ms=MATCH_TIMEOUT_MS)

    def without_lead_in(self, sentence: str) -> str:
        """Return a sentence, plain or not, without what only leads to its statement."""
        found = first_match(f"^{self.lead_in}", plain(sentence), timeout_ms=MATCH_TIMEOUT_MS)
        return sentence[place_in(sentence, found.end()) :].lstrip(" ,:") if found else sentence


def plain(sentence: str) -> str:
    """Return a sentence as cues are matched: one line, folded, straight quotes."""
    return " ".join(fold(sentence.translate(_QUOTES)).split())


def filled(pattern: str, words: Mapping[str, str]) -> str:
    """Return a pattern with what each `<name>` in it stands for, in that likewise."""
    while (whole := _NAMED.sub(lambda match: words[match[1]], pattern)) != pattern:
        pattern = whole
    return pattern


def asks(said: str) -> bool:
    """Whether a plain sentence is a question, whatever signs follow: "… tea? :)"."""
    return _ASKS.search(said) is not None


def place_in(sentence: str, at: int) -> int:
    """Return where in a sentence begins what stands at a place of its plain form.

    Folding keeps the length of all but a few letters, such as "ß".
    """
    if len(plain(sentence)) == len(sentence):
        return at
    # A letter behind it keeps a blank at its end.
    starts = (n for n in range(len(sentence)) if len(plain(f"{sentence[:n]}x")) > at)
    return next(starts, len(sentence))


def available() -> tuple[str, ...]:
    """Return the languages that statements are known in, sorted."""
    folder = resources.files("palace.learn") / "lexicons"
    return tuple(sorted(p.name.removesuffix(".yaml") for p in folder.iterdir()))


def load_cues(languages: Iterable[str]) -> tuple[Cues, ...]:
    """Return the cues of those languages that have some, in the order asked."""
    known = available()
    return tuple(_load(language) for language in languages if language in known)


def holding(language: str) -> dict[str, str | list[str]]:
    """Return how a language says which place or person one thing holds at a time."""
    return _load(language).holds


@lru_cache(maxsize=16)
def _load(language: str) -> Cues:
    text = (resources.files("palace.learn") / "lexicons" / f"{language}.yaml").read_text("utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    data: dict[str, Any] = yaml.load(text, Loader=loader)  # noqa: S506 - one of the two safe loaders
    language, lead_in = str(data.pop("language")), str(data.pop("lead_in"))
    holds = data.pop("holds", {})
    patterns = {
        name: "|".join(f"(?:{one})" for one in cue) if isinstance(cue, list) else str(cue)
        for name, cue in data.items()
    }
    return Cues(language, lead_in, patterns, holds)
