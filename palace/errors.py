"""The one tree of errors; expected outcomes are values and never appear here.

PalaceError
 ├─ ConfigError                 settings, arguments: the person can fix it
 ├─ StoreError                  memory at rest
 │   ├─ MemoryNotFoundError
 │   ├─ DrawerParseError
 │   ├─ UnsafeNameError         a name that would leave the palace
 │   ├─ WriteConflictError      retryable
 │   ├─ TextRefusedError        text that is no memory: empty, raw tool output, too long
 │   │   ├─ SecretRefusedError        a secret at the write boundary; never echoed
 │   │   └─ PersonalDataRefusedError  personal data there, where the settings block it
 │   ├─ SchemaTooNewError       an export of a newer version
 │   ├─ EmbedderMismatchError
 │   ├─ IdentityTooLongError
 │   └─ StoreUnavailableError   disk, lock or permission
 ├─ FetchError                  artifacts outside the palace
 │   ├─ FetchDeniedError        not configured, not allowed
 │   ├─ FetchNotFoundError
 │   └─ FetchTimeoutError       retryable
 ├─ ModelError                  a model or embedder behind a port
 │   └─ EmbedderUnavailableError  retryable: words answer meanwhile
 └─ EnforcementError
     ├─ RecallMiss              also a LookupError, for structured-output callers
     └─ UngroundedAnswerError
"""

from __future__ import annotations


def install_hint(extra: str) -> str:
    """Return how the packages of an extra are installed, from an index or from a checkout."""
    return (
        f"python -m pip install 'mempalace-enforcer[{extra}]';"
        f" in a checkout: python -m pip install '.[{extra}]'"
    )


class PalaceError(Exception):
    """Root of every error this package raises.

    Args:
        message: What happened, in one clause, without secrets. It stands behind "error: " and
            before the hint in brackets, so it has neither a capital nor a full stop.
        hint: What the person can do about it, likewise.
        retryable: Whether the same call may succeed later without a change.
    """

    def __init__(self, message: str, *, hint: str = "", retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retryable = retryable

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class ConfigError(PalaceError):
    """Settings or arguments are wrong."""


class StoreError(PalaceError):
    """Memory at rest could not be read or written."""


class MemoryNotFoundError(StoreError):
    """No memory, room, drawer or session has this name."""


class DrawerParseError(StoreError):
    """A Markdown file of the palace cannot be understood."""


class UnsafeNameError(StoreError):
    """A room, drawer, playbook or session name would leave the palace or confuse a file system."""


class WriteConflictError(StoreError):
    """Somebody else changed the file again and again while we tried to write it."""

    def __init__(self, message: str, *, hint: str = "", retryable: bool = True) -> None:
        super().__init__(message, hint=hint, retryable=retryable)


class TextRefusedError(StoreError):
    """The text is not fit to be a memory; nothing was written."""


class SecretRefusedError(TextRefusedError):
    """The text holds a secret; names its kind and position, never its value."""


class PersonalDataRefusedError(TextRefusedError):
    """The text holds personal data and the settings block it; names kind and position only."""


class SchemaTooNewError(StoreError):
    """An export was written by a newer version of this program, in a form not known here."""


class EmbedderMismatchError(StoreError):
    """Stored vectors come from another embedder."""


class IdentityTooLongError(StoreError):
    """The identity would exceed its character limit."""


class StoreUnavailableError(StoreError):
    """The file system or the database refused: disk full, lock, permission."""

    def __init__(self, message: str, *, hint: str = "", retryable: bool = True) -> None:
        super().__init__(message, hint=hint, retryable=retryable)


class FetchError(PalaceError):
    """An artifact could not be fetched."""


class FetchDeniedError(FetchError):
    """The artifact is outside what the settings allow."""


class FetchNotFoundError(FetchError):
    """The artifact does not exist where it was looked for."""


class FetchTimeoutError(FetchError):
    """The artifact did not arrive in time."""

    def __init__(self, message: str, *, hint: str = "", retryable: bool = True) -> None:
        super().__init__(message, hint=hint, retryable=retryable)


class ModelError(PalaceError):
    """A model or an embedder behind a port failed."""


class EmbedderUnavailableError(ModelError):
    """The embedder is not installed, does not answer, or answers nonsense."""

    def __init__(self, message: str, *, hint: str = "", retryable: bool = True) -> None:
        super().__init__(message, hint=hint, retryable=retryable)


def not_installed(package: str, extra: str) -> EmbedderUnavailableError:
    """Return the error for a package that an embedder needs and that is missing."""
    return EmbedderUnavailableError(
        f"the package {package} is not installed", hint=install_hint(extra), retryable=False
    )


class EnforcementError(PalaceError):
    """The enforcer stopped a reply."""


class RecallMiss(EnforcementError, LookupError):  # noqa: N818 - a miss is no fault; the name is public
    """A typed caller asked for a memory and there is none."""


class UngroundedAnswerError(EnforcementError):
    """An answer claims what its evidence does not hold."""
