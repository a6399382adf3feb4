from datetime import datetime, timezone
from pathlib import Path

from palace.fetch.cache import CachedReply, ReplyCache, reply_key

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


def test_folder_is_bounded(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path, max_entries=2)
    for number in range(30):
        cache.put(f"k{number}", reply(b"{}"))
    assert len(list(tmp_path.iterdir())) == 8
    assert ReplyCache(tmp_path).get("k29") == reply(b"{}")


def test_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "cache"
    ReplyCache(folder).put("k", reply(b"{}"))
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "k.json").stat().st_mode & 0o077 == 0


def test_keys_tell_requests_apart_and_hide_the_token() -> None:
    keys = {
        reply_key("http://x/1", accept="a", token="t"),
        reply_key("http://x/2", accept="a", token="t"),
        reply_key("http://x/1", accept="b", token="t"),
        reply_key("http://x/1", accept="a", token="u"),
        reply_key("http://x/1", accept="a", token=""),
    }
    assert len(keys) == 5
    assert reply_key("http://x/1", accept="a", token="t") in keys
    assert all(key.isalnum() for key in keys)
