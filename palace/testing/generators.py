"""A language model that says what a test wrote for it.

In: replies, or failures. Out: the same through the port `Generator`, and what was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from palace.errors import ModelError
from palace.types.session import Message


class ScriptedGenerator:
    """A generator with a script; it fails when the script is over.

    Args:
        script: What it replies, in order; an error is raised instead.

    Attributes:
        asked: What it was asked so far.
    """

    def __init__(self, script: Iterable[str | ModelError] = ()) -> None:
        self._script = list(script)
        self.asked: list[tuple[Message, ...]] = []

    def generate(self, messages: Sequence[Message], *, max_tokens: int) -> str:  # noqa: ARG002 - the port's
        """Return the next reply of the script.

        Raises:
            ModelError: If it is the script's turn to fail, or the script is over.
        """
        self.asked.append(tuple(messages))
        if not self._script:
            raise ModelError("the script is over", hint="write more of it")
        said = self._script.pop(0)
        if isinstance(said, ModelError):
            raise said
        return said
