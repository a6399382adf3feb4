from datetime import datetime, timezone

from palace.fetch.cache import CachedReply, ReplyCache

NOW = datetime(2026, 3, 14, 9, 30, tzinfo=timezone.utc)


def reply(body: bytes) -> CachedReply:
    return CachedReply(body, '"tag"', NOW)


def test_memory_forgets_what_was_used_longest_ago() -> None:
    cache = ReplyCache(max_entries=2)
    cache.put("a", reply(b"1"))
    cache.put("b", reply(b"2"))
    assert cache.get("a") == reply(b"1")
    cache.put("c", reply(b"3"))
    assert cache.get("b") is None
    assert cache.get("a") == reply(b"1")


def test_memory_is_bounded_in_bytes() -> None:
    cache = ReplyCache(max_bytes=100)
    for key in "abcd":
        cache.put(key, reply(b"x" * 40))
    assert [key for key in "abcd" if cache.get(key)] == ["c", "d"]
    cache.put("c", reply(b"y" * 90))
    assert [key for key in "abcd" if cache.get(key)] == ["c"]
    cache.put("huge", reply(b"z" * 101))
    assert [key for key in ("c", "huge") if cache.get(key)] == []
