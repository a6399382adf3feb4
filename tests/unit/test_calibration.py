"""The bar from two populations: chosen, bounded, or refused with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from palace.recall.calibration import (
    Calibration,
    KindCalibration,
    calibrated_kind,
    calibration,
    fewest_questions,
    lowest_bar,
    upper_bound,
)
from palace.recall.held_out import Asked, Kind


def asked(right: float, wrong: float, number: int, kind: Kind = "statement") -> list[Asked]:
    return [Asked(kind, right, wrong)] * number


def judged(found: list[Asked], kind: Kind = "statement", **changed: Any) -> KindCalibration:
    given: dict[str, Any] = {
        "memories": len(found),
        "parts": 4,
        "bar_now": 0.4,
        "shipped": (0.4, 0.05),
        "rate": 0.05,
    }
    return calibrated_kind(kind, found, **{**given, **changed})


def both(statements: list[Asked], turns: list[Asked], **changed: Any) -> Calibration:
    kinds = (
        judged(statements, **changed),
        judged(turns, "turn", shipped=(0.2, 0.05), bar_now=0.2, **changed),
    )
    return calibration(kinds, {"statement": statements, "turn": turns}, rate=0.05)


def test_the_bound_is_wilsons() -> None:
    assert upper_bound(0, 0) == 1.0
    # (p + z²/2n + z√(p(1-p)/n + z²/4n²)) / (1 + z²/n) with z = 1.645, by hand
    assert upper_bound(5, 100) == pytest.approx(0.0995, abs=5e-4)
    assert upper_bound(10, 10) == 1.0


def test_how_many_questions_show_a_rate() -> None:
    assert fewest_questions(0.05) == 52
    assert upper_bound(0, 52) <= 0.05 < upper_bound(0, 51)


def test_the_bar_stands_just_above_what_may_not_pass() -> None:
    wrong = [0.9, 0.5, *[0.1] * 98]
    assert lowest_bar(wrong, 0.05) == 0.501  # one of a hundred may pass, two may not be shown
    assert lowest_bar([0.1] * 10, 0.05) is None
    assert lowest_bar([1.0] * 100, 0.05) == 1.0


def test_populations_apart_give_a_bar() -> None:
    told = judged(asked(0.9, 0.6, 60))
    assert (told.bar, told.kept, told.false_hits, told.reason) == (0.601, 1.0, 0.0, "")
    assert told.at_most == pytest.approx(upper_bound(0, 60))
    assert (told.kept_now, told.false_hits_now) == (1.0, 1.0)
    assert told.unclear_at == 0.05


def test_no_bar_goes_below_the_shipped_one() -> None:
    assert judged(asked(0.9, 0.1, 60)).bar == 0.4


def test_what_is_unclear_reaches_down_to_what_is_true() -> None:
    assert judged([*asked(0.9, 0.1, 50), *asked(0.0205, 0.1, 10)]).unclear_at == 0.02


def test_not_everything_is_unclear() -> None:
    assert judged([*asked(0.9, 0.1, 50), *asked(0.0004, 0.1, 10)]).unclear_at == 0.001


def test_overlapping_populations_are_refused() -> None:
    told = judged([*asked(0.5, 0.6, 40), *asked(0.9, 0.6, 30)])
    assert told.bar is None
    assert "overlap: the bar 0.601" in told.reason
    assert "keeps only 43%" in told.reason
    whole = both([*asked(0.5, 0.6, 40), *asked(0.9, 0.6, 30)], [])
    assert (whole.sufficient_at, whole.unclear_at, whole.reason) == (None, None, told.reason)


@pytest.mark.parametrize(("number", "parts"), [(51, 4), (60, 1)])
def test_too_few_are_refused(number: int, parts: int) -> None:
    told = judged(asked(0.9, 0.1, number), parts=parts)
    assert told.too_few
    assert told.reason.startswith("too few statements: ")
    assert both(asked(0.9, 0.1, number), [], parts=parts).reason == told.reason


def test_an_empty_palace_is_refused() -> None:
    assert both([], []).reason == "the palace holds no memories"


def test_the_stricter_bar_serves_both() -> None:
    turns = asked(0.9, 0.7, 60, "turn")
    assert both(asked(0.9, 0.6, 60), turns).sufficient_at == 0.701


def test_what_was_not_measured_is_not_loosened() -> None:
    turns = asked(0.9, 0.1, 60, "turn")
    assert both([], turns).sufficient_at == 0.2
    assert both(asked(0.9, 0.1, 3), turns).sufficient_at == 0.4


def test_one_bar_that_cannot_serve_both_is_refused() -> None:
    done = both(asked(0.95, 0.9, 60), asked(0.6, 0.1, 60, "turn"))
    assert done.sufficient_at is None
    assert "0.901 keeps only 0% of the turns" in done.reason
