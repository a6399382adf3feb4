"""What models that run on this computer share; nothing is downloaded unless it may be.

In: a folder or the name of a model on the Hugging Face hub. Out: a folder with its files, what
tells one model from another, and the errors of models that cannot be used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from palace.errors import EmbedderUnavailableError, PalaceError, not_installed
from palace.models.fingerprint import fingerprint
from palace.ports import EmbedderIdentity

_MAX_FILES = 500
_SUFFIXES = frozenset({".safetensors", ".bin", ".json", ".txt", ".model", ".onnx"})


class LocalModel:
    """A model by folder or by name, loaded when it is first needed.

    A subclass loads `_loaded`, a cached property, from `_folder`.

    Args:
        model: A folder, or a name such as `owner/model`.
        download: Whether a model that is not on this computer may be fetched.
    """

    _extra: ClassVar[str]
    """The extra that brings the library; identities begin with it."""

    def __init__(self, model: str, *, download: bool = False) -> None:
        self.model = model
        self._download = download

    def close(self) -> None:
        """Let go of the model; it is loaded again when it is needed."""
        self.__dict__.pop("_loaded", None)

    @cached_property
    def _folder(self) -> Path:
        """The folder of the model; `EmbedderUnavailableError` if it is not there."""
        folder = Path(self.model).expanduser()
        if folder.is_dir():
            return folder
        try:
            from huggingface_hub import snapshot_download
            from huggingface_hub.errors import HfHubHTTPError, HFValidationError
        except ImportError as error:
            raise not_installed("huggingface-hub", self._extra) from error
        try:
            return Path(snapshot_download(self.model, local_files_only=not self._download))
        except (HFValidationError, HfHubHTTPError, OSError, ValueError) as error:
            what = "is not on this computer"
            hint = "allow the download with embeddings.download: true"
            if self._download:
                what, hint = "cannot be downloaded", "check its name and the network"
            raise EmbedderUnavailableError(
                f"the model {self.model!r} {what}",
                hint=f"name a folder in embeddings.model, or {hint}",
                retryable=False,
            ) from error

    def _identity(self, dimension: int) -> EmbedderIdentity:
        """The model with a fingerprint of its files, the same wherever its folder stands."""
        given = Path(self.model).expanduser()
        name = given.resolve().name if given.is_dir() else self.model
        try:
            found = sorted(self._folder.rglob("*"))
            files = [p for p in found if p.suffix in _SUFFIXES and p.is_file()]
            revision = fingerprint(files[:_MAX_FILES])
        except OSError as error:
            raise unusable(str(self._folder), error) from error
        return EmbedderIdentity(f"{self._extra}/{name}", revision, dimension)


def unusable(model: str, error: Exception) -> EmbedderUnavailableError:
    """Return the error for a model that its library cannot use."""
    return EmbedderUnavailableError(
        f"the model {model!r} cannot be used: {error}",
        hint="check embeddings.model: the folder must hold a whole model of this kind",
        retryable=False,
    )


@contextmanager
def used(model: str) -> Iterator[None]:
    """Turn whatever the library of a model raises into the error for one that cannot be used."""
    try:
        yield
    except PalaceError:
        raise
    except Exception as error:  # `tokenizers` and `safetensors` raise bare ones
        raise unusable(model, error) from error
