"""What prompts look like in each language: stop words, question types and cue patterns, from YAML.

In: the names of the languages to know. Out: compiled lexicons whose every match is time-limited.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, cast

import regex
import yaml

from palace.errors import ConfigError
from palace.text import fold, words
from palace.types import AnswerType

DEFAULT_LANGUAGES = ("en", "de", "fr", "es", "pt", "zh", "ja", "ru")
MATCHED_CHARS = 600
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "´": "'"})


@dataclass(frozen=True, slots=True)
class Lexicon:
    """One language.

    Attributes:
        stopwords: Folded words that carry no content.
        soft: Folded words that only say what sort of thing is asked for.
        cues: Cue name -> one alternation.
        question_types: Answer type -> one alternation, in order of precedence.
        follow_up: Patterns of a prompt that leans on the previous turn.
        capitals_mark_names: False where every noun has a capital (German).
        requests: What tells the memory something -> patterns over the prompt as it is written, in
            any case: `keep` (a colon follows), `keep_that` (the statement follows), `keep_whole`
            (the whole prompt, with a group `statement`), `correct` (groups `new` and `old`),
            `as_of` (groups `cut` and `when`, a date), `believed` (group `belief`) and
            `believed_at` (what stands before the date then).
    """

    language: str
    stopwords: frozenset[str]
    soft: frozenset[str]
    cues: Mapping[str, str]
    question_types: Mapping[AnswerType, str]
    follow_up: str
    capitals_mark_names: bool
    requests: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def matchable(prompt: str) -> str:
    """Return the part of a prompt that cues are matched against: folded, straight quotes, bounded.

    Of a long prompt the head and the tail count; what is asked stands in one of them.
    """
    if len(prompt) > 2 * MATCHED_CHARS:
        prompt = f"{prompt[:MATCHED_CHARS]}\n{prompt[-MATCHED_CHARS:]}"
    return fold(prompt.translate(_QUOTES))


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> regex.Pattern[str]:
    # Compiled when first needed: most people speak one or two of the languages.
    return regex.compile(pattern)


def matches(pattern: str, text: str, *, timeout_ms: float) -> bool:
    """Whether a pattern occurs in `text`; a pattern that takes too long does not."""
    try:
        return _compiled(pattern).search(text, timeout=timeout_ms / 1000) is not None
    except TimeoutError:
        return False


@lru_cache(maxsize=32)
def load_lexicon(language: str) -> Lexicon:
    """Return the shipped lexicon of a language code such as `en`.

    Raises:
        ConfigError: If no such lexicon is shipped.
    """
    folder = resources.files("palace.recall") / "lexicons"
    if not language.isalpha() or not (folder / f"{language}.yaml").is_file():
        known = ", ".join(sorted(p.name.removesuffix(".yaml") for p in folder.iterdir()))
        raise ConfigError(f"no lexicon for language {language!r}", hint=f"there are: {known}")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    data = yaml.load((folder / f"{language}.yaml").read_text("utf-8"), Loader=loader)  # noqa: S506 - one of the two safe loaders
    return _compile(data)


def load_lexicons(languages: Iterable[str]) -> tuple[Lexicon, ...]:
    """Return lexicons in the order asked."""
    return tuple(load_lexicon(language) for language in languages)


def _compile(data: Mapping[str, Any]) -> Lexicon:
    return Lexicon(
        language=data["language"],
        stopwords=_word_set(data["stopwords"]),
        soft=_word_set(data.get("soft", "")),
        cues={name: _alternation(patterns) for name, patterns in data["cues"].items()},
        question_types={
            cast(AnswerType, kind): _alternation([f"\\b(?:{p})" for p in patterns])
            for kind, patterns in data["question_types"].items()
        },
        follow_up=_alternation(data["follow_up"]),
        capitals_mark_names=bool(data.get("capitals_mark_names", True)),
        requests={kind: tuple(found) for kind, found in data.get("requests", {}).items()},
    )


def _word_set(text: str) -> frozenset[str]:
    """Return listed words both as people write them (folded) and as index tokens."""
    return frozenset(
        form for word in text.split() for form in (fold(word), *(w.token for w in words(word)))
    )


def _alternation(patterns: Sequence[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)
