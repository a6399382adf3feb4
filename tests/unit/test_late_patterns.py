"""Patterns that wait for their first use are what they are compiled to be."""

from __future__ import annotations

import copy
import re

import pytest
import regex

from palace.text.late_patterns import LatePattern, late, late_standard


def test_a_late_pattern_does_what_it_does_compiled():
    pattern = late(r"(?P<word>\p{L}+)", regex.IGNORECASE)
    assert [found["word"] for found in pattern.finditer("an öre")] == ["an", "öre"]
    assert (pattern.sub("x", "an öre"), pattern.search("1")) == ("x x", None)
    assert pattern.pattern == r"(?P<word>\p{L}+)"
    assert pattern.flags & regex.IGNORECASE
    assert late_standard("a+", re.IGNORECASE).fullmatch("aA")


def test_nothing_is_compiled_before_it_is_used():
    pattern = late("(")
    with pytest.raises(regex.error):
        pattern.search("")


def test_it_is_compiled_once():
    compiled = []

    def compile() -> re.Pattern[str]:
        compiled.append(re.compile("a"))
        return compiled[-1]

    pattern = LatePattern(compile)
    assert (pattern.match("a") and pattern.search("ba") and pattern.match("b")) is None
    assert len(compiled) == 1


def test_what_no_pattern_has_is_missed_as_ever():
    pattern = late("a")
    with pytest.raises(AttributeError):
        pattern.find("a")
    assert copy.copy(pattern).search("ba")
