"""Values set in a settings file: what a person wrote stays."""

from __future__ import annotations

import pytest

from palace.errors import ConfigError
from palace.settings import default_yaml
from palace.settings.edit import with_section
from palace.settings.file import parse_yaml

BARS = {"unclear_at": 0.05, "sufficient_at": 0.425}


def edited(text: str) -> str:
    return with_section(text, "sufficiency", BARS, name="mempalace.yaml")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "sufficiency:\n  unclear_at: 0.05\n  sufficient_at: 0.425\n"),
        (
            "search:\n  top_k: 5  # mine\n",
            "search:\n  top_k: 5  # mine\n\n"
            "sufficiency:\n  unclear_at: 0.05\n  sufficient_at: 0.425\n",
        ),
        (
            "sufficiency:\n    # strict\n    sufficient_at: 0.9 # was 0.5\nlayers: [L0]\n",
            "sufficiency:\n    # strict\n    sufficient_at: 0.425 # was 0.5\n"
            "    unclear_at: 0.05\nlayers: [L0]\n",
        ),
        (
            "sufficiency:\nsearch:\n  top_k: 5",
            "sufficiency:\n  unclear_at: 0.05\n  sufficient_at: 0.425\nsearch:\n  top_k: 5",
        ),
        (
            "sufficiency:\n  sufficient_at:\n  unclear_at: ~",
            "sufficiency:\n  sufficient_at: 0.425\n  unclear_at: 0.05",
        ),
        (
            "sufficiency: {sufficient_at: null, unclear_at: 0.1}\n",
            "sufficiency: {sufficient_at: 0.425, unclear_at: 0.05}\n",
        ),
    ],
)
def test_only_the_values_change(before: str, after: str) -> None:
    assert edited(before) == after
    assert edited(after) == after
    if "\n" in before:
        assert edited(before.replace("\n", "\r\n")) == after.replace("\n", "\r\n")


def test_the_annotated_file_keeps_its_notes() -> None:
    before, after = default_yaml(), edited(default_yaml())
    changed = [a for a, b in zip(after.split("\n"), before.split("\n"), strict=True) if a != b]
    assert changed == ["  sufficient_at: 0.425", "  unclear_at: 0.05"]
    assert parse_yaml(after, name="x").value["sufficiency"] == BARS | {"on_topic_at": None}


@pytest.mark.parametrize(
    "text", ["sufficiency: {}\n", "sufficiency: {sufficient_at: 1}\n", "- a\n"]
)
def test_what_is_not_edited_is_said(text: str) -> None:
    with pytest.raises(ConfigError) as failed:
        edited(text)
    assert "sufficient_at: 0.425" in (failed.value.hint or "")


def test_broken_yaml_is_not_touched() -> None:
    with pytest.raises(ConfigError, match="not valid YAML"):
        edited("a: [\n")
