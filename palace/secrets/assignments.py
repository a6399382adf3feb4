"""Assignments: `name = value`, where the name says secret or the value alone is random enough.

In: any text. Out: where such values stand. Prose about passwords, code that reads them from
somewhere, placeholders, hashes and identifiers are none; what decides is in `_is_secret_value`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import regex

from palace.secrets.findings import Finding
from palace.secrets.names import (
    family_in,
    family_of,
    is_random_by_nature,
    may_be_secret,
    may_name_secrets,
    plain_name,
)
from palace.secrets.patterns import compiled_later
from palace.secrets.values import (
    BASE64_MIN_CHARS,
    HASHED,
    IDENTIFIER,
    SENTENCE_WORDS,
    UNNAMED_MIN_BITS,
    UNNAMED_MIN_CHARS,
    WEAK_PASSWORDS,
    entropy_bits,
    is_code,
    is_mixed,
    is_placeholder,
    is_random,
    is_syntax,
    is_two_cased,
    is_words,
    names_itself,
)

_VALUE_CHARS = 512
_SIGN = re.compile("[=:：>]")  # of which one is in every sign that `_NAMED` knows
_NAMED = compiled_later(
    r"(?<![\w.-])(?P<lead>[<$@]?+-{0,2}+)(?P<name>[^\W\d][\w.-]*+)"
    r"(?:\\?[\"'`\])*]|\[\]){0,3}+[ \t]*+"
    r"(?P<sign>:=|=>|={1,3}|:[ \t]?(?:str|string|bytes|SecretStr)[ \t]?=(?!=)|[:：](?!:)|>)"
    r"(?:\*{0,2}+[ \t]*+)(?:@(?=[\"']))?+",
    regex.IGNORECASE,
)
_QUOTED = compiled_later(
    r"(?P<quote>\\?[\"'`])(?P<value>(?:(?!(?P=quote))(?:\\[^\n]|[^\\\n])){1,512}+)(?P<end>(?P=quote))?"
)
_BARE = compiled_later(r"(?P<value>[^\s\"'`<]{1,512}+)(?P<end>[\"'])?")
_SEPARATOR = compiled_later(r"[,;&](?=\s|\Z|[\w. -]{1,32}+=)")
_NESTED = compiled_later(r"[^\W\d][\w.-]{0,40}+=[^=]")
_REST = compiled_later(r"[^\s\"'`<]*+")
_UNNAMED = compiled_later(
    rf"[\"'`]?+(?P<value>[A-Za-z0-9+/_-]{{{BASE64_MIN_CHARS},{_VALUE_CHARS}}}+={{0,2}})(?![.:@])"
)


@dataclass(frozen=True, slots=True)
class _Value:
    """What stands after the sign of an assignment.

    Attributes:
        is_quoted: Whether it is a string in quotes.
        is_shell: Whether it is bare but literal: `NAME=value`, or part of a connection string.
        sign: The sign before it.
        following: What follows on the same line.
    """

    text: str
    start: int
    is_quoted: bool
    is_shell: bool
    sign: str
    following: str


def find_assigned(text: str) -> Iterator[Finding]:
    """Find the secret values of assignments, in order."""
    if not _may_assign(text):
        return
    position = 0
    for found in _NAMED.finditer(text):
        is_markup = found["sign"] == ">"
        is_path = found["sign"] == ":" and text[found.start() - 1 : found.start()] == ":"
        if found.start() < position or is_path or (is_markup and not found["lead"].startswith("<")):
            continue
        family = family_in(found["name"], text[max(0, found.start() - 12) : found.start()])
        finding = _judge_named(found, family, text) if family else _judge_unnamed(found, text)
        if finding:
            position = finding.end
            yield finding


def _may_assign(text: str) -> bool:
    """Whether it is worth looking: a sign, and a name of secrets or a value long enough."""
    if not _SIGN.search(text):
        return False
    return may_name_secrets(text) or max(map(len, text.split()), default=0) >= BASE64_MIN_CHARS


def _judge_named(found: regex.Match[str], family: str, text: str) -> Finding | None:
    value = _value_after(found, text)
    if value is None or not _is_secret_value(value, family):
        return None
    is_aws = family == "key" and "aws" in found["name"].lower()
    kind = "aws-secret-key" if is_aws else "api-key" if family == "key" else family
    return _finding(value, kind, text)


def _judge_unnamed(found: regex.Match[str], text: str) -> Finding | None:
    """A value under a name that does not speak of secrets: only randomness tells."""
    run = _UNNAMED.match(text, found.end())
    if run is None:
        return None
    name, sampled = plain_name(found["name"]), run["value"]
    if text[max(0, found.start() - 8) : found.start()].rstrip().lower().endswith("public"):
        name = f"public{name}"
    if may_be_secret(name):
        value = _value_after(found, text)
        if value is None or not is_random(value.text) or IDENTIFIER.fullmatch(value.text):
            return None
        return _finding(value, "high-entropy-value", text)
    if len(sampled) < UNNAMED_MIN_CHARS or is_random_by_nature(name) or is_syntax(sampled):
        return None
    is_mixed_run = is_two_cased(sampled) and sum(c.isdigit() for c in sampled) >= 3
    if not is_mixed_run or is_words(sampled) or entropy_bits(sampled) < UNNAMED_MIN_BITS:
        return None
    end = run.end("value")
    return Finding("high-entropy-value", run.start("value"), _run_end(text, end))


def _finding(value: _Value, kind: str, text: str) -> Finding:
    """The finding of a value, which goes on beyond its bound if it was cut there."""
    end = value.start + len(value.text)
    is_cut = len(value.text) >= _VALUE_CHARS
    return Finding(kind, value.start, _run_end(text, end) if is_cut else end)


def _run_end(text: str, position: int) -> int:
    rest = _REST.match(text, position)
    return rest.end() if rest else position


def _value_after(found: regex.Match[str], text: str) -> _Value | None:
    quoted = _QUOTED.match(text, found.end())
    match = quoted or _BARE.match(text, found.end())
    if match is None:
        return None
    value, end = match["value"], match.end()
    if not quoted:
        nested = _NESTED.match(value)
        if nested and family_of(nested[0][:-2]):
            return None  # `note: password=…`: the inner name is judged in its own turn
        value = _trimmed(value)
        end = end if value == match["value"] else match.start("value") + len(value)
    elif not match["end"]:
        # An opening quote without its partner: the value ends at the first space.
        value = value.split(None, 1)[0] if value.strip() else ""
        end = match.start("value") + len(value)
    line_end = text.find("\n", end, end + 200)
    return _Value(
        text=value,
        start=match.start("value"),
        is_quoted=quoted is not None or found["sign"] == ">",
        is_shell=_is_shell(found, text),
        sign=found["sign"],
        following=text[end : line_end if line_end >= 0 else end + 200],
    )


def _trimmed(value: str) -> str:
    """A bare value without what belongs to the list, the call or the sentence around it."""
    separator = _SEPARATOR.search(value)
    value = value[: separator.start()] if separator else value
    return value if "(" in value else value.rstrip(",;)}]>")


def _is_shell(found: regex.Match[str], text: str) -> bool:
    """Whether a bare value is literal: `NAME=value` begins a line, or `;Name=value` in a string."""
    if found["sign"] != "=" or text[found.end() - 1] != "=":
        return False
    before = text[max(0, found.start() - 1) : found.start()]
    return before == ";" or (found["name"].isupper() and before in ("", " ", "\n"))


def _is_secret_value(value: _Value, family: str) -> bool:
    """Decide whether the value of a name that speaks of secrets is one.

    A value that stands for another (placeholder, variable, call, path, type) is none. Quoted and
    shell values are literals, so plain words count; elsewhere digits or signs must make it
    unlike a word, and after a colon nothing that reads like a sentence may follow.
    """
    text = value.text.strip()
    if is_syntax(text) or is_placeholder(text) or HASHED.match(text):
        return False
    is_literal = value.is_quoted or value.is_shell
    if not is_literal and (is_code(text) or names_itself(text) or _is_sentence(value)):
        return False
    if family == "password":
        return _is_password(text, value, is_literal=is_literal)
    if family == "token" and IDENTIFIER.fullmatch(text):
        return False
    if is_words(text):
        is_secret_word = family == "secret" and value.is_quoted and text.isalpha()
        return is_secret_word and text.islower() and len(text) >= 8
    return len(text) >= 8 and " " not in text and (is_mixed(text) or is_random(text))


def _is_password(text: str, value: _Value, *, is_literal: bool) -> bool:
    if " " in text:
        words = text.split(" ")
        is_plain = all(word.isalpha() and word.islower() for word in words)
        return value.sign != ":" and 4 <= len(words) <= 8 and is_plain and _is_phrase(words)
    if text.isdigit():
        return len(text) >= (4 if is_literal else 6)
    if text.isalpha():
        is_label = text.istitle() or (text.isupper() and not value.is_shell)
        is_weak = text.lower() in WEAK_PASSWORDS
        return is_weak or (is_literal and len(text) >= 6 and not is_label and text.isascii())
    if is_literal:
        return len(text) >= 4 and any(not c.isalpha() for c in text) and not names_itself(text)
    return is_mixed(text) or (len(text) >= 20 and text.count("-") >= 3)


def _is_phrase(words: list[str]) -> bool:
    return not set(words) & SENTENCE_WORDS


def _is_sentence(value: _Value) -> bool:
    """Whether a bare value after a colon is the first word of prose."""
    if value.sign not in (":", "："):
        return False
    following = value.following
    if regex.match(r"[ \t]+[^\W\d_]{2,}", following) is None:
        return False
    text = value.text
    has_sign = any(c in "!@#$%^&*?~+=" for c in text)
    is_sure = has_sign or len(text) >= 16 or sum(c.isdigit() for c in text) >= 3
    return not (is_sure and is_mixed(text))
