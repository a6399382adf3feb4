"""Any server that speaks the chat completions protocol, as the port `Generator`.

In: an address, a model's name, perhaps a token. Out: the model's text, or a `ModelError` that says
what to do; the token stands in no error, no log and no representation.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from palace.deadline import done_within
from palace.errors import ModelError, install_hint
from palace.types.session import Message

if TYPE_CHECKING:
    from types import ModuleType

MAX_REPLY_BYTES = 1_048_576
_ANSWERS = "check generator.base_url: it must speak the chat completions protocol"


class ChatCompletions:
    """A model behind `POST <base_url>/chat/completions`.

    Args:
        base_url: Address of the API, e.g. `http://127.0.0.1:8000/v1`.
        model: The model's name, as the server knows it.
        api_key: Sent as a bearer token, if given.
        timeout_s: Longest wait for a whole reply, in seconds, > 0.

    Source: OpenAI API reference, "Create chat completion"; the same request is understood by vLLM,
    llama.cpp, Ollama and LM Studio.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.model = model
        self.timeout_s = timeout_s
        self._api_key = api_key

    def __repr__(self) -> str:
        return f"ChatCompletions({self.base_url!r}, {self.model!r})"

    def generate(self, messages: Sequence[Message], *, max_tokens: int) -> str:
        """Return the model's reply, not empty.

        Raises:
            ModelError: If there is none in time, or the reply is not of the protocol.
        """
        library = _httpx()
        request = {
            "model": self.model,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": False,
        }
        try:
            post = partial(self._post, library, request)
            status, body = done_within(self.timeout_s, post, name="palace-model")
        except (library.TimeoutException, TimeoutError):
            raise self._too_late() from None
        except (library.HTTPError, library.InvalidURL, OSError, ValueError) as error:
            raise ModelError(
                f"the model at {self.base_url} cannot be reached ({type(error).__name__})",
                hint="start it, or check generator.base_url",
                retryable=True,
            ) from None
        if status != 200:
            raise self._refused(status)
        return _text_of(body)

    def _post(self, library: ModuleType, request: Mapping[str, Any]) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        deadline = time.monotonic() + self.timeout_s
        with (
            library.Client(
                timeout=self.timeout_s, follow_redirects=False, trust_env=False
            ) as client,
            client.stream(
                "POST", f"{self.base_url}/chat/completions", json=request, headers=headers
            ) as reply,
        ):
            body = bytearray()
            for piece in reply.iter_bytes():
                body += piece
                # A server that trickles obeys every time-out of a single read.
                if time.monotonic() > deadline:
                    raise self._too_late()
                if len(body) > MAX_REPLY_BYTES:
                    raise ModelError(
                        f"the model's reply is larger than {MAX_REPLY_BYTES} bytes", hint=_ANSWERS
                    )
            return reply.status_code, bytes(body)

    def _too_late(self) -> ModelError:
        return ModelError(
            f"the model at {self.base_url} did not answer within {self.timeout_s:g} s",
            hint="try again, or raise generator.timeout_s",
            retryable=True,
        )

    def _refused(self, status: int) -> ModelError:
        if status in (401, 403):
            hint = "check the token, PALACE_GENERATOR__API_KEY"
        elif status == 404:
            hint = "check generator.base_url and generator.model"
        else:
            hint = "try again later" if status == 429 or status >= 500 else _ANSWERS
        return ModelError(
            f"the model at {self.base_url} answered with status {status}",
            hint=hint,
            retryable=status == 429 or status >= 500,
        )


def _text_of(body: bytes) -> str:
    try:
        text = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, RecursionError, LookupError, TypeError):
        raise ModelError("the model's reply is no chat completion", hint=_ANSWERS) from None
    if not isinstance(text, str) or not text.strip():
        raise ModelError("the model's reply has no text", hint="try another model", retryable=True)
    return text


def _httpx() -> ModuleType:
    try:
        import httpx
    except ImportError as error:
        raise ModelError(
            "the package for HTTP is not installed", hint=install_hint("model")
        ) from error
    return httpx
