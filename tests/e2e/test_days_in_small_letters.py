"""A day is found whether its month is written in small letters or with a capital."""

from __future__ import annotations

from pathlib import Path

import pytest

from palace import Mempalace, RetrievalEnforcer
from palace.types.verdict import Verdict

TOLD = "the plumber Tomas sealed the bathroom tap"
HEADED = f"""# Diary

## 2026-05-03

- {TOLD.capitalize()}.

## 2026-01-09

- Mira picked the oak shelf for the hall.

# Workshop

- Sanding paper of 80 grit.
"""
SPELLED = """# Diary

- {day} 2026: {told}.
- Bandsaw blade 3/4 inch 3tpi, kerf 9 hundredths.
- Mira picked the oak shelf for the hall.
"""
ASKED = (
    "what did we say on 3 May",
    "what did we say on the 3rd of May",
    "What did we say on May 3?",
    "Was haben wir am 3. Mai gemacht?",
    "Qu'est-ce qu'on a dit le 3 Mai ?",
    "¿qué dijimos el 3 de Mayo?",
)


@pytest.fixture
def drawer(tmp_path: Path) -> Path:
    file = tmp_path / "palace" / "rooms" / "home" / "diary.md"
    file.parent.mkdir(parents=True)
    return file


def decided(drawer: Path, text: str, prompt: str) -> Verdict:
    drawer.write_text(text, encoding="utf-8")
    with Mempalace.open(drawer.parents[2]) as palace:
        return RetrievalEnforcer(palace).decide(prompt)


def small(prompt: str) -> str:
    return prompt.replace("May", "may").replace("Mai", "mai")


@pytest.mark.parametrize("written", ["3 may", "3 May", "3. mai", "3 mai", "3 de mayo", "may 3,"])
@pytest.mark.parametrize("prompt", ASKED)
def test_a_day_that_is_spelled_is_found_in_either(drawer: Path, prompt: str, written: str) -> None:
    text = SPELLED.format(day=written, told=TOLD)
    for asked in (prompt, small(prompt)):
        verdict = decided(drawer, text, asked)
        assert verdict.action in {"ground", "confirm"}
        assert TOLD in verdict.evidence[0].text


@pytest.mark.parametrize("prompt", ASKED)
def test_a_note_that_is_headed_by_the_day_is_found_in_either(drawer: Path, prompt: str) -> None:
    for asked in (prompt, small(prompt)):
        verdict = decided(drawer, HEADED, asked)
        assert verdict.action in {"ground", "confirm"}
        assert TOLD.capitalize() in verdict.evidence[0].text


@pytest.mark.parametrize("prompt", ["what did we do on 9 jan", "what did we do on 9 Jan"])
def test_an_abbreviated_month_is_no_name(drawer: Path, prompt: str) -> None:
    verdict = decided(drawer, HEADED, prompt)
    assert "oak shelf" in verdict.evidence[0].text
