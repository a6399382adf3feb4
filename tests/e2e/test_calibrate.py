"""Calibration through the facade and the command: bars, refusals, what is written."""

from __future__ import annotations

import json

import pytest

from palace import ConfigError, Mempalace
from palace.errors import EmbedderMismatchError, EmbedderUnavailableError
from palace.serve.cli import run
from palace.testing import HashedEmbedder

THINGS = (
    "boiler ladder kettle anvil canoe lantern trumpet barrel saddle violin compass tent".split()
)
PLACES = "cellar attic garage shed hallway".split()


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    root = tmp_path_factory.mktemp("palace")
    for number, place in enumerate(PLACES):
        folder = root / "rooms" / place
        folder.mkdir(parents=True)
        lines = [
            f"- The {thing} of the {place} was repaired by Holt{number} for {n * 7 + number} euros."
            for n, thing in enumerate(THINGS)
        ]
        (folder / "notes.md").write_text(f"# {place}\n\n" + "\n".join(lines) + "\n", "utf-8")
    return root


def test_bars_are_the_same_again_and_written_once(filled):
    with Mempalace.open(filled) as palace:
        seen: list[tuple[int, int]] = []
        first = palace.calibrate(progress=lambda done, total: seen.append((done, total)))
        assert seen == [(n, 60) for n in range(1, 61)]
        assert palace.calibrate() == first
        statements, turns = first.kinds
        assert (statements.memories, statements.questions, turns.memories) == (60, 60, 0)
        assert statements.bar_shipped == statements.bar_now
        loose = palace.calibrate(false_hit_rate=0.5, apply=True)
        assert loose.sufficient_at is not None
        assert loose.file == (filled / "config" / "mempalace.yaml").resolve()
    with Mempalace.open(filled) as palace:
        assert palace.settings.sufficiency.sufficient_at == loose.sufficient_at
        assert palace.settings.sufficiency.unclear_at == loose.unclear_at
        again = palace.calibrate(false_hit_rate=0.5)
        assert (again.sufficient_at, again.unclear_at) == (loose.sufficient_at, loose.unclear_at)


def test_what_the_one_bar_moves_for_the_other_kind_is_said(filled, capsys):
    assert run(["--root", str(filled), "calibrate", "--rate", "0.5"]) == 0
    with Mempalace.open(filled) as palace:
        turns = palace.calibrate(false_hit_rate=0.5).kinds[1]
    told = f"this bar holds for turns too: alone they would have {turns.bar_shipped:.3f}\n"
    assert capsys.readouterr().out.endswith(told)


class FailingEmbedder(HashedEmbedder):
    """Fails from some question on."""

    questions = 10**9

    def embed(self, texts, *, kind):
        self.questions -= kind == "query"
        if self.questions < 0:
            raise EmbedderUnavailableError("the server went away", hint="start it")
        return super().embed(texts, kind=kind)


def test_bars_are_fitted_with_meaning_or_not_at_all(filled):
    embedder = FailingEmbedder()
    with Mempalace.open(filled, embedder=embedder) as palace:
        first = palace.calibrate(sample=60)
        assert palace.vectors is not None
        assert palace.vectors.state.embedded == 60
        assert palace.calibrate(sample=60) == first
    with Mempalace.open(filled, embedder=embedder) as palace:
        embedder.questions = 10
        with pytest.raises(EmbedderUnavailableError, match=r"were fitted: the server went away"):
            palace.calibrate(sample=60)
    with (
        Mempalace.open(filled, embedder=HashedEmbedder("other")) as palace,
        pytest.raises(EmbedderMismatchError),
    ):
        palace.calibrate(sample=60)


def test_a_file_from_windows_stays_one(filled):
    config = filled / "config" / "mempalace.yaml"
    config.parent.mkdir(exist_ok=True)
    config.write_bytes(b"\xef\xbb\xbfsearch:\r\n  top_k: 7 # mine\r\n")
    with Mempalace.open(filled) as palace:
        palace.calibrate(false_hit_rate=0.5, apply=True)
    written = config.read_bytes()
    assert written.startswith(b"\xef\xbb\xbfsearch:\r\n  top_k: 7 # mine\r\n\r\nsufficiency:\r\n")
    assert written.count(b"\n") == written.count(b"\r\n")


def test_a_refusal_says_why_and_writes_nothing(tmp_path, capsys):
    with Mempalace.open(tmp_path) as palace:
        palace.remember("The kettle of the cellar is blue.", room="cellar")
    assert run(["--root", str(tmp_path), "calibrate", "--apply"]) == 1
    told = capsys.readouterr().out
    assert "refused  too few statements" in told
    assert "into two rooms or more" in told
    assert run(["--root", str(tmp_path), "calibrate", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["sufficient_at"] is None
    assert not (tmp_path / "config" / "mempalace.yaml").exists()


def test_what_stands_in_one_room_is_not_asked_about(tmp_path):
    (tmp_path / "rooms" / "house").mkdir(parents=True)
    lines = [f"- The {thing} was repaired for {n * 7} euros." for n, thing in enumerate(THINGS)]
    (tmp_path / "rooms" / "house" / "notes.md").write_text("\n".join(lines), "utf-8")
    asked: list[int] = []
    with Mempalace.open(tmp_path) as palace:
        done = palace.calibrate(false_hit_rate=0.3, progress=lambda done, _: asked.append(done))
    assert done.reason == "too few statements: they need at least 2 rooms"
    assert asked == []


def test_arguments_out_of_bounds_are_refused(tmp_path):
    with Mempalace.open(tmp_path) as palace:
        for wrong in (
            {"false_hit_rate": 0.0},
            {"false_hit_rate": 0.6},
            {"sample": 0},
            {"sample": 51},
            {"false_hit_rate": 0.005},
            {"false_hit_rate": "high"},
        ):
            with pytest.raises(ConfigError, match=r"a rate of|false_hit_rate|sample must be"):
                palace.calibrate(**wrong)


def test_a_rate_out_of_bounds_is_refused_by_the_name_it_was_given(capsys):
    assert run(["calibrate", "--rate", "2"]) == 2
    assert "--rate" in capsys.readouterr().err


def test_a_bar_of_the_environment_is_not_overruled_in_vain(filled, monkeypatch):
    monkeypatch.setenv("PALACE_SUFFICIENCY__SUFFICIENT_AT", "0.5")
    with (
        Mempalace.open(filled) as palace,
        pytest.raises(ConfigError, match="PALACE_SUFFICIENCY__SUFFICIENT_AT is set"),
    ):
        palace.calibrate(false_hit_rate=0.5, apply=True)
