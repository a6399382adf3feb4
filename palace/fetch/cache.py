"""Replies of a forge kept for a while, in bounded memory.

In: replies by their address. Out: the same replies, or nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime


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


class ReplyCache:
    """Replies to one client, least recently used out first.

    Args:
        max_entries: Replies kept.
        max_bytes: Bytes of bodies kept.
    """

    def __init__(self, *, max_entries: int = 64, max_bytes: int = 8 * 1024 * 1024) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._replies: OrderedDict[str, CachedReply] = OrderedDict()
        self._size_bytes = 0
        self._lock = threading.Lock()

    def get(self, url: str) -> CachedReply | None:
        """Return the reply from this address, however old."""
        with self._lock:
            reply = self._replies.get(url)
            if reply is not None:
                self._replies.move_to_end(url)
            return reply

    def put(self, url: str, reply: CachedReply) -> None:
        """Keep a reply from this address, in place of an older one."""
        with self._lock:
            old = self._replies.pop(url, None)
            self._size_bytes += len(reply.body) - (len(old.body) if old else 0)
            self._replies[url] = reply
            while self._replies and (
                len(self._replies) > self._max_entries or self._size_bytes > self._max_bytes
            ):
                _, gone = self._replies.popitem(last=False)
                self._size_bytes -= len(gone.body)
