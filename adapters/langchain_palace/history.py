"""`PalaceChatMessageHistory`: a session's messages, kept in the palace's journal.

In: messages of one session. Out: the same messages, after a restart too. They are a record, not
memories: no question is ever answered from them, so memory does not feed on its own echo.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any
from uuid import uuid4

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict

from langchain_palace.compress import compress_history
from palace import ConfigError, Mempalace, require_palace

_SAID = "message"
_CLEARED = "messages_cleared"


class PalaceChatMessageHistory(BaseChatMessageHistory):
    """The messages of a session; for `RunnableWithMessageHistory` and the like.

    Secrets are removed before anything is written. The journal is append-only and keeps what
    `journal.retention_days` says: `clear` hides what was said, retention removes it.

    Args:
        palace: The open palace.
        session_id: The session, as a config names it: an id of another type counts as its text.
        project: Its project, if any; what `compressed` condenses is visible to that project alone.

    Raises:
        ConfigError: If the session has no name, or the palace is not open.
    """

    def __init__(
        self, palace: Mempalace, session_id: object, *, project: str | None = None
    ) -> None:
        self.session_id = "" if session_id is None else str(session_id)
        if not self.session_id.strip():
            raise ConfigError("the session has no name", hint="give a session_id")
        self.palace = require_palace(palace)
        self.project = project

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The messages, oldest first."""
        said: list[Any] = []
        # A journal holds every session and verdict: only what names this one has to be parsed.
        name = json.dumps(self.session_id)[1:-1]
        named = [name] if self.session_id.isascii() else None
        for record in self.palace.journal.records(holding=named):
            if record.get("session") != self.session_id:
                continue
            if record["type"] == _CLEARED:
                break
            if record["type"] == _SAID:
                said.append(record["message"])
        return messages_from_dict(said[::-1])

    def compressed(self) -> list[BaseMessage]:
        """Condense what is due, and return what to send instead of all messages."""
        return compress_history(self.palace, self.messages, self.session_id, project=self.project)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages, in order."""
        for message in messages:
            self._append(_SAID, message=_clean(message_to_dict(message), self.palace.privacy.shown))

    def clear(self) -> None:
        """Begin anew: what was said before is not returned again."""
        self._append(_CLEARED)

    def _append(self, type: str, **more: Any) -> None:
        self.palace.journal.append(
            {
                "id": f"h-{uuid4().hex}",
                "type": type,
                "at": datetime.now(timezone.utc).isoformat(),
                "session": self.session_id,
                **more,
            }
        )


def _clean(value: Any, shown: Callable[[str], str]) -> Any:
    """Return JSON without secrets, and without anything JSON cannot say."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, Mapping):
        return {str(key): _clean(item, shown) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item, shown) for item in value]
    return value if isinstance(value, (int, float, bool)) or value is None else str(value)
