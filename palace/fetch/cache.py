"""Replies of a forge kept for a while: a bounded memory, and a folder if one is given.

In: replies under keys that hide what they were made of. Out: the same replies, or nothing.
The cache is derived state: a file that cannot be read or written is a miss, never an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CachedReply:
    """One reply of a server.

    Attributes:
        body: The decoded body: UTF-8 JSON.
        etag: The server's version mark, or "".
        at: When the server last confirmed it, UTC.
    """

    body: bytes
    etag: str
    at: datetime


def reply_key(url: str, *, accept: str, token: str) -> str:
    """Return the key of a request; replies for one token are never found with another.

    The token only salts the hash, so neither keys nor file names can be turned back into it.
    """
    salt = hashlib.sha256(token.encode()).digest()
    return hashlib.blake2b(f"{accept}\n{url}".encode(), key=salt, digest_size=20).hexdigest()


class ReplyCache:
    """Replies in memory, least recently used out first, and in a folder if there is one.

    Args:
        folder: Where replies survive the process; None keeps them in memory only.
        max_entries: Replies kept in memory, and four times as many in the folder.
        max_bytes: Bytes of bodies kept in memory.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        *,
        max_entries: int = 64,
        max_bytes: int = 8 * 1024 * 1024,
    ) -> None:
        self._folder = None if folder is None else Path(folder)
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._replies: OrderedDict[str, CachedReply] = OrderedDict()
        self._size_bytes = 0
        self._lock = threading.Lock()

    def get(self, key: str) -> CachedReply | None:
        """Return the reply under this key, however old."""
        with self._lock:
            reply = self._replies.get(key)
            if reply is not None:
                self._replies.move_to_end(key)
                return reply
        reply = self._load(key)
        if reply is not None:
            self._keep(key, reply)
        return reply

    def put(self, key: str, reply: CachedReply) -> None:
        """Keep a reply under this key, in place of an older one."""
        self._keep(key, reply)
        if self._folder is not None:
            with contextlib.suppress(OSError):
                self._save(self._folder, key, reply)

    def _keep(self, key: str, reply: CachedReply) -> None:
        with self._lock:
            old = self._replies.pop(key, None)
            self._size_bytes += len(reply.body) - (len(old.body) if old else 0)
            self._replies[key] = reply
            while self._replies and (
                len(self._replies) > self._max_entries or self._size_bytes > self._max_bytes
            ):
                _, gone = self._replies.popitem(last=False)
                self._size_bytes -= len(gone.body)

    def _load(self, key: str) -> CachedReply | None:
        if self._folder is None:
            return None
        try:
            path = self._folder / f"{key}.json"
            if path.stat().st_size > 2 * self._max_bytes:
                return None
            record = json.loads(path.read_bytes())
            body, etag = record["body"].encode(), str(record["etag"])
            at = datetime.fromisoformat(record["at"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return None if at.tzinfo is None else CachedReply(body, etag, at)

    def _save(self, folder: Path, key: str, reply: CachedReply) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        record = {
            "body": reply.body.decode("utf-8", errors="replace"),
            "etag": reply.etag,
            "at": reply.at.isoformat(),
        }
        handle, name = tempfile.mkstemp(dir=folder, suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(record, file)
            Path(name).replace(folder / f"{key}.json")
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
        self._prune(folder)

    def _prune(self, folder: Path) -> None:
        files = list(folder.glob("*.json"))
        surplus = len(files) - 4 * self._max_entries
        if surplus > 0:
            for path in sorted(files, key=lambda file: file.stat().st_mtime)[:surplus]:
                path.unlink(missing_ok=True)
