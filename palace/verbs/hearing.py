"""The verbs that listen: what a prompt tells the memory to keep or to put right.

In: turns. Out: what was written, told in a sentence; or a question where it is not plain.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import islice

from palace.arguments import check_given, check_texts
from palace.errors import (
    PalaceError,
    StoreError,
    StoreUnavailableError,
    TextRefusedError,
    WriteConflictError,
)
from palace.learn.last_word import righted
from palace.learn.requests import Listener
from palace.recall.addressee import agent_name, behind_agent
from palace.types.changes import Unclear, WriteResult
from palace.types.memory import PLAYBOOKS, TIMELINE, Memory
from palace.types.session import Turn
from palace.types.verdict import Heard, PromptWrite
from palace.verbs.keeping import KeepingVerbs

# A correction is about what was just said, not about an answer of long ago.
_RECENT = 3


class HearingVerbs(KeepingVerbs):
    """What is written because a person said so in a conversation."""

    def correct_last(
        self, text: str, session_id: str, *, project: str | None = None
    ) -> WriteResult | Unclear:
        """Put right the memory that the last answer of a session used.

        Args:
            text: What the person said, such as "no, it is 5433, not 5432".
            session_id: The session.
            project: The project the answer was asked for in, if any.

        Returns:
            As `correct`; `Unclear` with a question where it is not plain what is meant: nothing
            was written then.

        Raises:
            ConfigError: If the text or the session is no text, or the project neither that nor
                None.
            TextRefusedError: If the right words are unfit.
        """
        check_texts(text=text, session=session_id)
        check_given(project=project)
        said = self._listener.contradiction_in(text)
        used = self._last_used(session_id, project)
        if said is None:
            asked = 'Say what is right and what is wrong, as in "no, it is 5433, not 5432".'
            return Unclear(asked, tuple(used))
        if not used:
            return Unclear("No memory was used in this session lately: which one is wrong?")
        found = righted(said, used)
        if isinstance(found, Unclear):
            return found
        return self._corrected(*found)

    def heard(self, turn: Turn) -> Heard | None:
        """Do what a prompt tells the memory, as far as the settings allow; None if nothing.

        Args:
            turn: What was said, and in which session.

        Returns:
            What was written and what else the prompt asks. Text that may not be stored, and a
            store that cannot be written, are told in the result.
        """
        if turn.trust != "user":
            return None
        said = behind_agent(turn.prompt, agent_name(self._parts.identity()))
        turn = turn if said == turn.prompt else replace(turn, prompt=said)
        try:
            corrected = self._heard_correction(turn)
        except PalaceError as error:
            return Heard((_failed(error),))
        if corrected is not None:
            return Heard((corrected,))
        if not self.settings.write.remember_in_prompt:
            return None
        keep = self._listener.request_to_keep(turn.prompt)
        if keep is None:
            return None
        return Heard(tuple(self._kept(s) for s in keep.statements), keep.rest)

    @cached_property
    def _listener(self) -> Listener:
        return Listener(self._parts.lexicons, timeout_ms=self._parts.timeout_ms)

    def _heard_correction(self, turn: Turn) -> PromptWrite | None:
        if not (self.settings.write.correct_in_prompt and turn.session_id):
            return None
        said = self._listener.contradiction_in(turn.prompt)
        used = self._last_used(turn.session_id, turn.project) if said is not None else []
        if said is None or not used:
            return None
        found = righted(said, used)
        if isinstance(found, Unclear):
            # People contradict many things; only a plain hit is about the memory.
            return None
        new = self._corrected(*found).memory
        text = f"Corrected. I will remember: {new.text} (it was: {found[0].text})"
        return PromptWrite("corrected", text, new.id, new.source)

    def _corrected(self, memory: Memory, right: str) -> WriteResult:
        return self.correct(memory.id, right, source="user", reason="said in a conversation")

    def _last_used(self, session_id: str, project: str | None) -> list[Memory]:
        """Return the active memories that the last answer of a session in a project rested on.

        What a session said stays as it was said, and a playbook is a file of its own.
        """
        try:
            records = list(islice(self._parts.previous_verdicts(session_id, project), _RECENT))
        except StoreError:
            return []
        record = next((r for r in records if r.get("injected")), {})
        found = (self.index.get(str(identifier)) for identifier in record.get("injected", ()))
        rooms = (m for m in found if m is not None and m.room not in (TIMELINE, PLAYBOOKS))
        return [m for m in rooms if m.status == "active" and not m.is_value]

    def _kept(self, statement: str) -> PromptWrite:
        try:
            result = self.remember(statement, provenance="prompt")
            if result.status == "conflict" and result.stronger == "new":
                result = self.remember(statement, provenance="prompt", on_conflict="supersede")
        except PalaceError as error:
            return _failed(error)
        memory = result.memory
        told = {
            "stored": f"I will remember: {memory.text}",
            "duplicate": f"I remember that already: {memory.text}",
            "conflict": f'I have something else stored: "{memory.text}" ({memory.source}). Nothing'
            " was written: correct it if it is wrong.",
        }
        return PromptWrite(result.status, told[result.status], memory.id, memory.source)


def _failed(error: PalaceError) -> PromptWrite:
    if isinstance(error, TextRefusedError):
        return PromptWrite("refused", f"I did not keep that: {error}")
    for_now = isinstance(error, (StoreUnavailableError, WriteConflictError))
    return PromptWrite("unavailable" if for_now else "refused", f"I could not keep that: {error}")
