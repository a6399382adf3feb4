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

from palace.errors import EmbedderUnavailableError, PalaceError, install_hint
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
        return model_folder(self.model, download=self._download, extra=self._extra)

    def _identity(self, dimension: int) -> EmbedderIdentity:
        """The model with a fingerprint of its files."""
        name = f"{self._extra}/{model_name(self.model)}"
        return EmbedderIdentity(name, model_revision(self._folder), dimension)


def model_folder(model: str, *, download: bool, extra: str) -> Path:
    """Return the folder of a model.

    Args:
        model: A folder, or a name such as `owner/model`.
        download: Whether a model that is not on this computer may be fetched.
        extra: The extra that brings the hub's library.

    Raises:
        EmbedderUnavailableError: If it is not there.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    except ImportError as error:
        raise not_installed("huggingface-hub", extra) from error
    try:
        return Path(snapshot_download(model, local_files_only=not download))
    except (HFValidationError, HfHubHTTPError, OSError, ValueError) as error:
        what, hint = "is not on this computer", "allow the download with embeddings.download: true"
        if download:
            what, hint = "cannot be downloaded", "check its name and the network"
        raise EmbedderUnavailableError(
            f"the model {model!r} {what}",
            hint=f"name a folder in embeddings.model, or {hint}",
            retryable=False,
        ) from error


def model_name(model: str) -> str:
    """Return a name for identities: the same wherever the folder stands."""
    folder = Path(model).expanduser()
    return folder.resolve().name if folder.is_dir() else model


def model_revision(folder: Path) -> str:
    """Return a fingerprint of the files that make a model what it is.

    Raises:
        EmbedderUnavailableError: If they cannot be read.
    """
    try:
        files = (p for p in sorted(folder.rglob("*")) if p.suffix in _SUFFIXES and p.is_file())
        return fingerprint(list(files)[:_MAX_FILES])
    except OSError as error:
        raise unusable(str(folder), error) from error


def not_installed(package: str, extra: str) -> EmbedderUnavailableError:
    """Return the error for a package that is missing."""
    return EmbedderUnavailableError(
        f"the package {package} is not installed",
        hint=install_hint(extra),
        retryable=False,
    )


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
