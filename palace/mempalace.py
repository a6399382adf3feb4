"""The facade: a verb for everything a door can do.

In: a root folder and settings. Out: `Mempalace`; its verbs are in `palace.verbs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import Any, Literal, NoReturn

from palace.arguments import check_texts, path_in
from palace.errors import ConfigError
from palace.layout import LaidOut, lay_out
from palace.ports import ConflictJudge, Embedder, Fetcher, Generator
from palace.presets import load_preset, seed
from palace.types.changes import WriteResult
from palace.types.checks import Check
from palace.types.memory import Memory
from palace.verbs.answering import AnsweringVerbs
from palace.verbs.auditing import AuditingVerbs
from palace.verbs.hearing import HearingVerbs
from palace.verbs.looking_back import LookingBackVerbs
from palace.verbs.session_end import SessionEndVerbs
from palace.verbs.transferring import TransferringVerbs
from palace.verbs.tuning import TuningVerbs
from palace.verbs.weighing import WeighingVerbs

PresetName = Literal["issue_analysis", "health_check", "code_review"]


class PalaceRoom:
    """One room: a folder of drawers.

    Args:
        palace: The palace it belongs to.
        name: Room name, with `/` for nested rooms.
    """

    def __init__(self, palace: Mempalace, name: str) -> None:
        self.palace = palace
        self.name = name

    def __repr__(self) -> str:
        return f"PalaceRoom({self.name!r})"

    @property
    def drawers(self) -> tuple[str, ...]:
        """Names of the drawers, sorted."""
        return tuple(self.palace.store.drawers(self.name))

    def memories(self, drawer: str | None = None) -> list[Memory]:
        """Return active memories of the room, or of one drawer, in file order."""
        return self.palace.memories(room=self.name, drawer=drawer)

    def remember(self, text: str, *, drawer: str = "notes", **fields: Any) -> WriteResult:  # noqa: ANN401 - passed on to `Mempalace.remember`
        """Remember in this room; see `Mempalace.remember`."""
        return self.palace.remember(text, room=self.name, drawer=drawer, **fields)


class Mempalace(
    HearingVerbs,
    SessionEndVerbs,
    LookingBackVerbs,
    TransferringVerbs,
    AnsweringVerbs,
    TuningVerbs,
    AuditingVerbs,
    WeighingVerbs,
):
    """A palace: one directory, the whole memory of one agent or user.

    Open it with `Mempalace.open(root)`; use it as a context manager or call `close()`. What it is
    made of is told by `OpenedPalace`. Whatever is called: what is no text, or empty, where text is
    wanted is refused with `ConfigError`; a disk, a lock or a database that refuses raises
    `StoreUnavailableError`.
    """

    @classmethod
    def open(
        cls,
        root: str | Path | None = None,
        *,
        config: str | Path | None = None,
        judge: ConflictJudge | None = None,
        fetchers: Sequence[Fetcher] | None = None,
        embedder: Embedder | None = None,
        generator: Generator | None = None,
        create: bool = True,
    ) -> Mempalace:
        """Open a palace; the folder is made if it does not exist.

        Args:
            root: The palace's folder; else `PALACE_ROOT`, `root:` in the settings, `~/.mempalace`.
            config: The settings file; else it is searched for as `docs/configuration.md` says.
            judge: Asked at a write whether statements contradict each other, e.g. a model of the
                host; without one the rules decide.
            fetchers: Used instead of the configured fetchers, e.g. in tests.
            embedder: Used instead of the configured embedder: one of your own.
            generator: Used instead of the configured language model: any model behind the port.
            create: False refuses a folder that does not exist: who only reads wants no new palace.

        Raises:
            ConfigError: If the settings are wrong, a file stands where the folder should be, or
                there is no palace and none may be made.
            StoreUnavailableError: If the folder cannot be used.
        """
        from palace.settings import load_settings

        loaded = load_settings(
            config=path_in("config", config) if config is not None else None,
            root=path_in("root", root) if root is not None else None,
        )
        _require_folder(loaded.root, create=create)
        name = loaded.settings.preset
        preset = load_preset(name) if name != "none" else None
        return cls(
            loaded,
            preset=preset,
            judge=judge,
            fetchers=fetchers,
            embedder=embedder,
            generator=generator,
        )

    @classmethod
    def _with_preset(cls, name: PresetName, root: str | Path | None) -> Mempalace:
        palace = cls.open(root)
        preset = load_preset(name)
        seed(preset, palace.root)
        palace.preset = preset
        palace.refresh(force=True)
        return palace

    @classmethod
    def for_issue_analysis(cls, root: str | Path | None = None) -> Mempalace:
        """Open a palace with rooms, playbooks and cues for analysing issues.

        Rooms `issues` (triage, root-causes, duplicates) and `project` (architecture, conventions);
        playbooks for triage and reproduction; cues such as "have we seen this before". Files that
        exist already are left as they are.
        """
        return cls._with_preset("issue_analysis", root)

    @classmethod
    def for_health_check(cls, root: str | Path | None = None) -> Mempalace:
        """Open a palace with rooms, playbooks and cues for watching systems.

        Rooms `systems` (services, baselines, contacts) and `incidents` (log, known-problems);
        playbooks for a health check and an incident; cues such as "what is normal for".
        """
        return cls._with_preset("health_check", root)

    @classmethod
    def for_code_review(cls, root: str | Path | None = None) -> Mempalace:
        """Open a palace with rooms, playbooks and cues for reviewing code.

        Rooms `review` (conventions, decisions, pitfalls) and `people` (reviewers); playbooks for a
        review and for a risky change; cues such as "our convention for".
        """
        return cls._with_preset("code_review", root)

    def lay_out(self, *, preset: PresetName | None = None, sample: bool = False) -> LaidOut:
        """Make what a new palace needs and does not have; nothing is ever overwritten.

        Args:
            preset: Ready-made rooms and playbooks; a new settings file switches its cues on too.
            sample: Whether to add memories to try the palace with.
        """
        return lay_out(self, preset=preset, sample=sample)

    def __repr__(self) -> str:
        return f"Mempalace({str(self.root)!r})"

    def __enter__(self) -> Mempalace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __copy__(self) -> Mempalace:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Mempalace:
        # What is open stays one: hosts copy their settings, and with them what is in there.
        return self

    def __reduce__(self) -> NoReturn:
        raise ConfigError(
            "an open palace cannot be pickled",
            hint="open it where it is used: Mempalace.open(path)",
        )

    def rooms(self) -> tuple[PalaceRoom, ...]:
        """Return all rooms, sorted by name; the timeline is not a room."""
        return tuple(PalaceRoom(self, name) for name in self.store.rooms())

    def room(self, name: str) -> PalaceRoom:
        """Return a room by name, making it if it does not exist.

        Raises:
            UnsafeNameError: If the name would leave the palace.
            ConfigError: If it is no text.
            SecretRefusedError: If it holds a secret.
        """
        check_texts(name=name)
        self._parts.writer.check_names(name)
        return PalaceRoom(self, self.store.create_room(name))

    def doctor(self) -> list[Check]:
        """Test what the palace can do: write, read, find and recover a probe; report faults."""
        from palace.doctor import run_checks

        return run_checks(self)


def _require_folder(root: Path, *, create: bool) -> None:
    if root.is_dir():
        return
    if root.exists():
        raise ConfigError(f"{root} is no folder", hint="name the palace's folder")
    if not create:
        raise ConfigError(
            f"there is no palace at {root}", hint=f"`palace init {quote(str(root))}` makes one"
        )
