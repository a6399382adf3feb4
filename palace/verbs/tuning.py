"""The verb that fits the bars of sufficiency to this palace.

In: the rate of false hits that may be. Out: the bars that keep it here, or why there are none.
"""

from __future__ import annotations

import random
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from palace.arguments import check_counts, check_share
from palace.errors import ConfigError, EmbedderUnavailableError
from palace.ports import Candidate, Progress
from palace.recall.language import language_of
from palace.recall.query import Analyst
from palace.text import words
from palace.types.memory import TIMELINE
from palace.verbs.opened import OpenedPalace

if TYPE_CHECKING:
    from palace.recall.calibration import Calibration, KindCalibration
    from palace.recall.cloze import Cloze
    from palace.recall.held_out import Asked, Kind
    from palace.store.vector_channel import Embedded

SEED = 20261001
_KINDS: tuple[Kind, ...] = ("statement", "turn")


class TuningVerbs(OpenedPalace):
    """How meaning is kept complete, and the bars honest."""

    def embed(self, *, rebuild: bool = False, progress: Progress | None = None) -> Embedded:
        """Embed every memory that has no vector yet, and return when all have one.

        What is made is kept batch by batch: an interrupted run goes on where it stopped. It need
        not be called; an open palace embeds in the background.

        Args:
            rebuild: Make all vectors anew; needed after a change of the model. Those that there
                are go when the last new one is there, and stay if one cannot be made.
            progress: Called with (memories embedded, memories there are).

        Raises:
            ConfigError: If no embedder is configured.
            EmbedderMismatchError: If the stored vectors come from another model.
            EmbedderUnavailableError: If the embedder fails.
            StoreUnavailableError: If the vectors cannot be written.
        """
        if self.vectors is None:
            raise ConfigError(
                "no embedder is configured",
                hint="set embeddings.provider in the settings file, or for this one time"
                " PALACE_EMBEDDINGS__PROVIDER=wordllama",
            )
        self.refresh()
        if rebuild:
            # The server may have another model under the name that these came from.
            with closing(self._parts.bought_vectors) as bought:
                bought.clear()
            return self.vectors.rebuild(progress=progress)
        return self.vectors.catch_up(progress=progress)

    def calibrate(
        self,
        *,
        false_hit_rate: float = 0.05,
        sample: int = 300,
        seed: int = SEED,
        apply: bool = False,
        progress: Progress | None = None,
    ) -> Calibration:
        """Fit the bars of sufficiency to this palace, from questions made out of its memories.

        Each question leaves one fact of a memory out and asks for it twice: of the whole palace,
        and with the memory's room (of a conversation, its page) hidden, where the answer is not
        there. The bar is the lowest that keeps the rate of false hits with 95 % confidence. It is
        refused, with the reason, where there is too little to ask or where such a bar would keep
        less than half of the true memories. Where an embedder is configured, what has no vector
        yet is embedded first, and bars are only fitted with meaning at work.

        Args:
            false_hit_rate: Most false hits, in (0, 0.5].
            sample: Most questions for each kind of memory, at least as many as the rate takes
                (52 at 5 %); bounds the time.
            seed: The same seed and palace give the same bars.
            apply: Write the bars into the settings file; a refusal writes nothing.
            progress: Called with (questions asked, questions to ask).

        Raises:
            ConfigError: If an argument is out of bounds, or the settings file cannot be edited.
            EmbedderMismatchError: If the stored vectors come from another model.
            EmbedderUnavailableError: If the embedder fails.
            StoreUnavailableError: If the palace cannot be read or the file cannot be written.
        """
        from palace.recall.calibration import calibration, fewest_questions

        check_counts(sample=sample)
        check_share("false_hit_rate", false_hit_rate)
        if not 0 < false_hit_rate <= 0.5:
            raise ConfigError(
                "a rate of false hits is above 0 and at most 0.5", hint="0.05 is usual"
            )
        needed = fewest_questions(false_hit_rate)
        if sample < needed:
            raise ConfigError(
                f"a rate of {false_hit_rate:g} takes {needed} questions, and sample is {sample}",
                hint=f"give a sample of at least {needed}, or a higher rate",
            )
        self.refresh()
        if self.vectors is not None:
            self.vectors.catch_up()
        parts = self._calibrated_parts()
        asked = self._asked(parts, sample=sample, seed=seed, progress=progress)
        kinds = [self._kind(kind, parts, asked[kind], false_hit_rate) for kind in _KINDS]
        done = calibration(kinds, asked, rate=false_hit_rate)
        if apply and done.sufficient_at is not None and done.unclear_at is not None:
            file = self._write_bars(done.sufficient_at, done.unclear_at)
            return replace(done, file=file)
        return done

    def _calibrated_parts(self) -> list[list[Candidate]]:
        """Return what can be hidden: rooms, and pages of the timeline."""
        rooms = [self.index.candidates_in(r) for r in self.index.rooms() if r != TIMELINE]
        pages: dict[str, list[Candidate]] = {}
        for candidate in self.index.candidates_in(TIMELINE):
            pages.setdefault(candidate.path, []).append(candidate)
        return [part for part in (*rooms, *pages.values()) if part]

    def _asked(
        self,
        parts: Sequence[Sequence[Candidate]],
        *,
        sample: int,
        seed: int,
        progress: Progress | None,
    ) -> dict[Kind, list[Asked]]:
        from palace.recall.held_out import ask_twice, searcher_without

        lexicons, analyst = self._parts.lexicons, self._parts.analyst
        chosen = list(self._questions(parts, sample=sample, rng=random.Random(seed)))  # noqa: S311 - a sample, no secret
        asked: dict[Kind, list[Asked]] = {kind: [] for kind in _KINDS}
        hidden, without = -1, self._parts.searcher
        for number, (part, candidate, question) in enumerate(chosen, 1):
            if part != hidden:
                hidden, without = part, searcher_without(self._parts.searcher, parts[part])
                blind = Analyst(lexicons, without.index, timeout_ms=self._parts.timeout_ms)
            done = ask_twice(
                question,
                candidate,
                whole=self._parts.searcher,
                without=without,
                analysts=(analyst, blind),
                sufficiency=self._parts.sufficiency,
            )
            self._require_meaning()
            asked[done.kind].append(done)
            if progress is not None:
                progress(number, len(chosen))
        return asked

    def _require_meaning(self) -> None:
        """Refuse bars of which some questions were answered by words alone."""
        state = self.vectors.state if self.vectors is not None else None
        if state is not None and state.status in ("unavailable", "mismatch"):
            raise EmbedderUnavailableError(
                f"meaning failed while the bars were fitted: {state.reason}",
                hint="see `palace doctor`, and calibrate again; nothing was written",
            )

    def _questions(
        self, parts: Sequence[Sequence[Candidate]], *, sample: int, rng: random.Random
    ) -> Iterator[tuple[int, Candidate, Cloze]]:
        """Yield (part, candidate, question), at most `sample` of each kind, part by part.

        A kind that stands in one part alone is not asked: with that hidden, nothing is left.
        """
        from palace.recall.cloze import cloze_question
        from palace.recall.held_out import kind_of

        everything = [(number, c) for number, part in enumerate(parts) for c in part]
        rng.shuffle(everything)
        standing = {(number, kind_of(c)) for number, c in everything}
        left = {k: sample if sum(k == kind for _, kind in standing) > 1 else 0 for k in _KINDS}
        made = []
        for part, candidate in everything:
            kind = kind_of(candidate)
            memories = self.index.load([candidate.key]) if left[kind] else {}
            for memory in memories.values():
                lexicon = language_of(memory.text, words(memory.text), self._parts.analyst.lexicons)
                question = cloze_question(memory, lexicon, self.index, rng=rng)
                if question is not None:
                    left[kind] -= 1
                    made.append((part, candidate, question))
        yield from sorted(made, key=lambda item: item[0])

    def _kind(
        self,
        kind: Kind,
        parts: Sequence[Sequence[Candidate]],
        asked: Sequence[Asked],
        rate: float,
    ) -> KindCalibration:
        from palace.recall.calibration import calibrated_kind
        from palace.recall.held_out import kind_of

        counts = [sum(kind_of(c) == kind for c in part) for part in parts]
        return calibrated_kind(
            kind,
            asked,
            memories=sum(counts),
            parts=sum(count > 0 for count in counts),
            bar_now=self._parts.sufficiency.bars_of(kind)[0],
            shipped=self._parts.sufficiency.fitted_bars(kind),
            rate=rate,
        )

    def _write_bars(self, sufficient_at: float, unclear_at: float) -> Path:
        from palace.settings.edit import with_section
        from palace.store.files import atomic_write, read_bytes

        for key in ("sufficient_at", "unclear_at"):
            origin = self.loaded.origins[f"sufficiency.{key}"]
            if origin.kind == "env":
                raise ConfigError(
                    f"{origin.name} is set, so what a file says of {key} has no effect",
                    hint=f"unset {origin.name} first",
                )
        file = (self.loaded.file or self.root / "config" / "mempalace.yaml").resolve()
        old = read_bytes(file) if file.exists() else None
        text = with_section(
            (old or b"").decode("utf-8-sig"),
            "sufficiency",
            {"unclear_at": unclear_at, "sufficient_at": sufficient_at},
            name=str(file),
        )
        mark = BOM_UTF8 if (old or b"").startswith(BOM_UTF8) else b""
        atomic_write(file, mark + text.encode(), replaces=old)
        return file
