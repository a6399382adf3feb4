"""The channel of meaning: complete, failing, mismatched, in the background."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from palace.errors import EmbedderMismatchError, EmbedderUnavailableError
from palace.models.openai_embedder import OpenAIEmbedder
from palace.ports import Scope, Vector
from palace.store.index_sqlite import SqliteIndex
from palace.store.vector_channel import Embedded, VectorChannel
from palace.store.vector_file import VectorFile
from palace.testing import HashedEmbedder
from tests.doubles import indexed, memory, paged
from tests.e2e.fake_embeddings import FakeEmbeddings, says

TEXTS = ("blue kettle", "blue lamp", "grey rug", "green bag", "red hat")


@pytest.fixture
def index() -> Iterator[SqliteIndex]:
    index = indexed(*(memory(text, n) for n, text in enumerate(TEXTS)))
    yield index
    index.close()


Opened = Callable[..., VectorChannel]


@pytest.fixture
def opened(index: SqliteIndex, tmp_path: Path) -> Iterator[Opened]:
    channels: list[VectorChannel] = []

    def _open(embedder: HashedEmbedder, **keywords: object) -> VectorChannel:
        file = VectorFile(tmp_path / ".palace")
        channels.append(VectorChannel(index, file, lambda: embedder, **keywords))  # type: ignore[arg-type]
        return channels[-1]

    yield _open
    for channel in channels:
        channel.close()


def nearest(channel: VectorChannel, text: str) -> list[int]:
    vector = channel.ask(text)
    if vector is None:
        return []
    return [k for k, _ in channel.nearest(vector, layer="L1", scope=Scope(), limit=9)]


def test_what_was_just_written_is_embedded_before_the_answer(opened: Opened) -> None:
    embedder = HashedEmbedder()
    channel = opened(embedder)
    assert len(nearest(channel, "kettle")) == 5
    assert channel.state.status == "ready"
    assert (channel.state.embedded, channel.state.total) == (5, 5)
    before = len(embedder.embedded)
    nearest(channel, "kettle")
    assert len(embedder.embedded) == before  # the question is remembered too


def test_what_a_cosine_is_worth_is_told_by_sentences_that_are_embedded_once(
    opened: Opened,
) -> None:
    embedder = HashedEmbedder()
    channel = opened(embedder, unrelated=("a blue ferry", "blue and green", "the dentist"))
    asked = channel.ask("kettle")
    assert asked is not None
    told = channel.background(asked)
    question, *others = (
        np.frombuffer(v, "<f4")
        for v in embedder.embed(
            ["kettle", "a blue ferry", "blue and green", "the dentist"], kind="query"
        )
    )
    assert told is not None
    assert told.mean == pytest.approx(np.mean([question @ other for other in others]))
    among = [a @ b for a, b in combinations(others, 2)]
    assert told.deviation == pytest.approx(np.std(among))
    before = len(embedder.embedded)
    assert channel.background(asked) == told
    assert len(embedder.embedded) == before


def test_a_model_to_which_all_is_alike_has_a_deviation_to_divide_by(opened: Opened) -> None:
    channel = opened(HashedEmbedder(), unrelated=("the same", "the same"))
    asked = channel.ask("kettle")
    assert asked is not None
    told = channel.background(asked)
    assert told is not None
    assert told.deviation > 0


def test_without_sentences_or_a_server_nobody_can_tell_what_a_cosine_is_worth(
    opened: Opened,
) -> None:
    asked = HashedEmbedder().embed(["kettle"], kind="query")[0]
    assert opened(HashedEmbedder()).background(asked) is None
    with FakeEmbeddings() as server:
        server.script = [says(b"", status=400)]
        embedder = OpenAIEmbedder(model="small", base_url=server.url, dimensions=8)
        channel = opened(embedder, is_local=False, unrelated=("a ferry",))
        assert channel.background(asked) is None
        assert channel.state.status == "unavailable"
        embedder.close()


def test_much_is_left_to_the_background(opened: Opened) -> None:
    channel = opened(HashedEmbedder(), batch_size=2)
    assert nearest(channel, "kettle") == []
    assert channel.state.status == "partial"
    assert "0 of 5" in channel.state.reason
    channel.start()
    deadline = time.monotonic() + 20
    while channel.state.status != "ready":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(nearest(channel, "kettle")) == 5


def test_a_remote_embedder_is_not_waited_for(opened: Opened) -> None:
    embedder = HashedEmbedder()
    assert nearest(opened(embedder, is_local=False), "kettle") == []
    assert embedder.embedded == ["kettle"]


@pytest.mark.parametrize("run", [VectorChannel.catch_up, VectorChannel.rebuild])
def test_a_run_waits_for_a_server_that_says_when_to_come_back(
    opened: Opened, run: Callable[[VectorChannel], Embedded]
) -> None:
    waits: list[float] = []
    with FakeEmbeddings() as server:
        server.script = [says(b"", status=429, headers={"Retry-After": "7"})] * 3
        embedder = OpenAIEmbedder(model="small", base_url=server.url, sleep=waits.append)
        assert run(opened(embedder, is_local=False)).embedded == 5
        embedder.close()
    assert waits == [7.0] * 3


def test_closing_waits_for_no_server(opened: Opened) -> None:
    asked = threading.Event()
    with FakeEmbeddings() as server:
        server.script = [lambda *_: (asked.set(), server.stopping.wait(50))]
        embedder = OpenAIEmbedder(model="small", base_url=server.url, dimensions=8)
        channel = opened(embedder, is_local=False)
        channel.start()
        assert asked.wait(20)
        begun = time.monotonic()
        channel.close()
        assert time.monotonic() - begun < 1.5
        assert channel._thread is not None
        assert not channel._thread.is_alive()


def test_closing_waits_for_no_other_process_that_embeds(opened: Opened, tmp_path: Path) -> None:
    embedder = HashedEmbedder()
    channel = opened(embedder)
    channel.look()
    with FileLock(tmp_path / ".palace" / "embedding.lock"):
        channel.start()
        time.sleep(0.3)
        begun = time.monotonic()
        channel.close()
        assert time.monotonic() - begun < 1.5
    assert channel._thread is not None
    channel._thread.join(20)
    assert len(embedder.embedded) == 1  # by the look alone


def test_progress_of_another_process_is_told(opened: Opened, tmp_path: Path) -> None:
    mine, other = opened(HashedEmbedder()), opened(HashedEmbedder())
    lock = FileLock(tmp_path / ".palace" / "embedding.lock")
    told: list[tuple[int, int]] = []

    def progress(embedded: int, total: int) -> None:
        told.append((embedded, total))
        lock.release()

    other.look()
    lock.acquire()
    assert mine.catch_up(progress=progress).added == 5
    assert told[0] == (0, 5)
    assert told[-1] == (5, 5)


def test_a_run_does_not_end_while_somebody_else_is_at_the_graph(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = opened(HashedEmbedder())
    made: list[bool] = []
    monkeypatch.setattr(channel._vectors, "extend_graph", lambda **_: made.append(True))
    channel.look()
    with FileLock(tmp_path / ".palace" / "graph.lock"):
        run = threading.Thread(target=channel.catch_up)
        run.start()
        run.join(0.6)
        assert run.is_alive()
    run.join(20)
    assert made == [True]


def test_an_embedder_that_fails_is_left_in_peace_whatever_is_written(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = threading.Semaphore(0)

    def fail(*_: object, **__: object) -> list[Vector]:
        tried.release()
        raise EmbedderUnavailableError("it is down", hint="")

    embedder = HashedEmbedder()
    monkeypatch.setattr(embedder, "embed", fail)
    channel = opened(embedder)
    channel.start()
    assert tried.acquire(timeout=20)
    deadline = time.monotonic() + 20
    while channel.state.status != "unavailable":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    for _ in range(5):
        channel.wake()
        assert not tried.acquire(timeout=0.05)


def test_background_wakes_for_new_memories(opened: Opened, index: SqliteIndex) -> None:
    channel = opened(HashedEmbedder(), is_local=False)
    channel.start()
    index.apply([paged(memory("green kettle"), path="rooms/a/c.md")])
    channel.wake()
    deadline = time.monotonic() + 20
    while len(nearest(channel, "kettle")) < 6:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_words_answer_while_the_embedder_is_down(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = HashedEmbedder()
    channel = opened(embedder)
    channel.catch_up()
    embedder.broken = True
    assert channel.ask("kettle") is None
    assert (channel.state.status, channel.state.reason) == ("unavailable", "the embedder is down")
    embedder.broken = False
    assert channel.ask("kettle") is None  # it is left in peace for a while
    monkeypatch.setattr("palace.store.vector_channel._COOL_DOWN_S", 0.0)
    embedder.broken = True
    channel._silent_until = 0.0
    assert channel.ask("kettle") is None
    embedder.broken = False
    assert channel.ask("kettle") is not None
    assert channel.state.status == "ready"


def test_a_question_tells_its_own_failure_and_nobody_elses(opened: Opened) -> None:
    class AnswersOnly(HashedEmbedder):
        """Takes one kind of text, the other one fails."""

        taken = "passage"

        def embed(self, texts, *, kind):
            self.broken = kind != self.taken
            return super().embed(texts, kind=kind)

    def elsewhere(call: Callable[[], object]) -> None:
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()

    embedder = AnswersOnly()
    channel = opened(embedder, is_local=False)
    assert channel.ask("kettle") is None
    elsewhere(channel.catch_up)
    assert (channel.state.status, channel.state.reason) == ("unavailable", "the embedder is down")
    embedder.taken = "query"
    assert channel.ask("lamp") is not None
    elsewhere(lambda: channel.ask("rug"))
    assert channel.state.status == "ready"
    embedder.taken = "passage"
    elsewhere(lambda: channel.ask("bag"))
    assert channel.state.status == "ready"
    assert channel.ask("hat") is None
    assert channel.state.status == "unavailable"


def test_what_the_background_embedded_is_told_too(opened: Opened) -> None:
    channel = opened(HashedEmbedder(), batch_size=2)
    channel.start()
    deadline = time.monotonic() + 20
    while channel.state.status != "ready":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert channel.catch_up().added == 5
    assert channel.catch_up().added == 0
    assert channel.rebuild().added == 5


def test_an_interrupted_run_goes_on(opened: Opened) -> None:
    class Failing(HashedEmbedder):
        def embed(self, texts, *, kind):
            self.broken = len(self.embedded) >= 4
            return super().embed(texts, kind=kind)

    with pytest.raises(EmbedderUnavailableError):
        opened(Failing(), batch_size=2).catch_up()
    embedder = HashedEmbedder()
    seen: list[tuple[int, int]] = []
    done = opened(embedder, batch_size=2).catch_up(progress=lambda d, t: seen.append((d, t)))
    assert (done.added, done.embedded, done.total) == (1, 5, 5)
    assert embedder.embedded == ["red hat"]
    assert seen[-1] == (5, 5)


def test_another_model_is_refused_until_a_rebuild(opened: Opened) -> None:
    opened(HashedEmbedder("first")).catch_up()
    channel = opened(HashedEmbedder("second"))
    assert channel.ask("kettle") is None
    assert channel.state.status == "mismatch"
    assert "first" in channel.state.reason
    with pytest.raises(EmbedderMismatchError, match="palace embed --rebuild"):
        channel.catch_up()
    done = channel.rebuild()
    assert (done.identity.name, done.added, done.embedded) == ("second", 5, 5)
    assert len(nearest(channel, "kettle")) == 5


def test_a_question_is_embedded_again_after_a_rebuild(opened: Opened) -> None:
    embedder = HashedEmbedder()
    channel = opened(embedder)
    for _ in range(2):
        assert len(nearest(channel, "kettle")) == 5
    assert embedder.embedded.count("kettle") == 1
    channel.rebuild()  # another model may stand behind the same name
    assert len(nearest(channel, "kettle")) == 5
    assert embedder.embedded.count("kettle") == 2


def test_nothing_is_loaded_before_it_is_needed(index: SqliteIndex, tmp_path: Path) -> None:
    def load() -> HashedEmbedder:
        raise AssertionError

    channel = VectorChannel(index, VectorFile(tmp_path / ".palace"), load)
    assert channel.state.status == "partial"
    channel.close()
    assert not (tmp_path / ".palace").exists()


def test_a_palace_without_numpy_answers_with_words(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("palace.store.vectors.find_spec", lambda _: None)
    channel = opened(HashedEmbedder())
    assert channel.ask("kettle") is None
    assert (channel.state.status, channel.state.reason) == (
        "unavailable",
        "the package numpy is not installed",
    )


def test_a_folder_that_cannot_be_used_costs_only_meaning(
    index: SqliteIndex, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    channel = VectorChannel(index, VectorFile(tmp_path / "file" / ".palace"), HashedEmbedder)
    assert channel.ask("kettle") is None
    assert channel.state.status == "unavailable"
    channel.close()


def test_a_lock_that_cannot_be_made_costs_only_meaning(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / ".palace" / "embedding.lock").mkdir(parents=True)
    channel = opened(HashedEmbedder())
    assert channel.ask("kettle") is None
    assert channel.state.status == "unavailable"


def test_a_disk_without_locks_costs_only_meaning(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise NotImplementedError("no flock here")

    channel = opened(HashedEmbedder())
    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    assert channel.ask("kettle") is None
    assert "no file locks" in channel.state.reason


class Tiring(HashedEmbedder):
    """Embeds four passages and is down from then on."""

    def embed(self, texts, *, kind):
        self.broken = kind == "passage" and len(self.embedded) >= 4
        return super().embed(texts, kind=kind)


@pytest.mark.parametrize("model", ["first", "second"])
def test_a_rebuild_that_fails_leaves_the_vectors_that_were_there(
    opened: Opened, tmp_path: Path, model: str
) -> None:
    old = opened(HashedEmbedder("first"))
    old.catch_up()
    before = nearest(old, "kettle")
    with pytest.raises(EmbedderUnavailableError):
        opened(Tiring(model), batch_size=2).rebuild()
    assert nearest(old, "kettle") == before
    assert old.state.status == "ready"
    later = HashedEmbedder(model)
    done = opened(later, batch_size=2).rebuild()
    assert (done.identity.name, done.added, done.embedded) == (model, 1, 5)
    assert later.embedded == ["red hat"]  # it went on where it had stopped
    assert len(nearest(opened(later), "kettle")) == 5
    assert len(list(tmp_path.rglob("*.f32"))) == 1


def test_what_another_model_left_of_its_rebuild_is_not_used(opened: Opened) -> None:
    with pytest.raises(EmbedderUnavailableError):
        opened(Tiring("second"), batch_size=2).rebuild()
    third = HashedEmbedder("third")
    assert opened(third).rebuild().added == 5
    assert len(third.embedded) == 5


def test_a_rebuild_that_is_told_to_stop_leaves_what_was_there(opened: Opened) -> None:
    embedder = HashedEmbedder()
    old = opened(embedder)
    old.catch_up()
    channel = opened(HashedEmbedder(), batch_size=2)
    channel.rebuild(progress=lambda *_: channel._stopped.set())
    assert len(nearest(old, "kettle")) == 5
    assert embedder.embedded == [*TEXTS, "kettle"]


def test_what_is_erased_while_it_is_embedded_gets_no_vector(
    opened: Opened, index: SqliteIndex, tmp_path: Path
) -> None:
    class Meanwhile(HashedEmbedder):
        def embed(self, texts, *, kind):
            made = super().embed(texts, kind=kind)
            index.apply((), removed=[memory("any").path])
            file.scrub(index.passage_digests())
            return made

    with closing(VectorFile(tmp_path / ".palace")) as file:
        opened(Meanwhile()).catch_up()
        assert file.rows() == []
