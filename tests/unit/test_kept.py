"""What is kept between calls is forgotten in time."""

from __future__ import annotations

from palace.kept import Kept


def test_the_oldest_go_where_there_is_too_much():
    kept: Kept[int, str] = Kept(3)
    for number in range(5):
        kept.put(number, str(number))
    kept.put(2, "two")
    kept.put(5, "5")
    assert [kept.get(n) for n in range(6)] == [None, None, "two", None, "4", "5"]
    assert kept.pop(4) == "4"
    assert kept.pop(4) is None
    assert len(kept) == 2


def test_what_is_too_old_is_gone(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    kept: Kept[str, str] = Kept(kept_s=10)
    kept.put("a", "x")
    now[0] = 105
    kept.put("b", "y")
    now[0] = 112
    assert (kept.get("a"), kept.get("b"), len(kept)) == (None, "y", 2)
    kept.put("c", "z")
    assert len(kept) == 2
