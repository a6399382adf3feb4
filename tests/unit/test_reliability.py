"""Reliability: bins and the calibration error, by hand."""

from __future__ import annotations

import pytest

from benchmarks.reliability import reliability


def test_bins_hold_confidence_and_share() -> None:
    told = reliability([(0.12, True), (0.18, False), (0.95, True), (1.0, True)])
    assert told["n"] == 4
    assert [(b["from"], b["to"], b["n"]) for b in told["bins"]] == [(0.1, 0.2, 2), (0.9, 1.0, 2)]
    assert [b["right"] for b in told["bins"]] == [0.5, 1.0]
    assert told["bins"][0]["confidence"] == pytest.approx(0.15)
    assert told["ece"] == pytest.approx((2 * 0.35 + 2 * 0.025) / 4)


def test_nothing_has_no_error() -> None:
    assert reliability([]) == {"n": 0, "ece": 0.0, "bins": []}
