"""Presets: what they bring, that they invent nothing, and that nothing of a person is touched."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
import yaml

from palace.errors import ConfigError, StoreUnavailableError, UnsafeNameError
from palace.learn.hygiene import control_character_reason
from palace.presets import load_preset, preset_names, seed
from palace.recall.lexicon import matchable
from palace.secrets import find_secrets
from palace.settings.model import Settings
from palace.store.playbook_files import PlaybookFiles
from palace.store.rooms import RoomStore
from palace.types.query import RecallKind

WORKING = ("issue_analysis", "health_check", "code_review")
PROMISED = {
    "issue_analysis": {
        "issues": "triage root-causes duplicates",
        "project": "architecture conventions",
    },
    "health_check": {"systems": "services baselines contacts", "incidents": "log known-problems"},
    "code_review": {"review": "conventions decisions pitfalls", "people": "reviewers"},
}
PROMISED_CUES = {
    "issue_analysis": "have we seen this before",
    "health_check": "what is normal for",
    "code_review": "our convention for",
}


def test_every_preset_of_the_settings_is_there_and_a_sample():
    in_settings = set(get_args(Settings.model_fields["preset"].annotation)) - {"none"}
    assert set(preset_names()) == in_settings | {"sample"}


@pytest.mark.parametrize("name", ["", "none", "../presets", "__pycache__", "unknown"])
def test_an_unknown_preset_is_an_error_that_names_the_known(name):
    with pytest.raises(ConfigError) as caught:
        load_preset(name)
    assert "code_review" in caught.value.hint


@pytest.mark.parametrize("name", WORKING)
class TestWorkingPresets:
    def test_bring_the_promised_drawers_without_any_memory(self, name, tmp_path: Path):
        seed(load_preset(name), tmp_path)
        store = RoomStore(tmp_path)
        rooms = {room: sorted(store.drawers(room)) for room in store.rooms()}
        assert rooms == {room: sorted(d.split()) for room, d in PROMISED[name].items()}
        documents = [store.read(stamp.path) for stamp in store.scan()]
        assert [m.text for d in documents for m in d.memories] == []
        assert store.faults() == []
        assert all(d.title and d.title != d.path for d in documents)

    def test_bring_playbooks_that_can_be_followed(self, name, tmp_path: Path):
        seed(load_preset(name), tmp_path)
        files = PlaybookFiles(tmp_path)
        playbooks = files.all()
        assert len(playbooks) == 2
        assert files.faults() == []
        for playbook in playbooks:
            assert 5 <= len(playbook.steps) <= 12
            assert playbook.triggers
            assert playbook.prerequisites
            assert playbook.warnings

    def test_bring_literal_cues_as_people_say_them(self, name):
        cues = load_preset(name).cues
        phrases = [phrase for phrase, _ in cues]
        assert 15 <= len(phrases) <= 25
        assert len(set(phrases)) == len(phrases)
        assert PROMISED_CUES[name] in phrases
        assert {kind for _, kind in cues} <= set(get_args(RecallKind)) - {"none"}
        for phrase in phrases:
            # A cue alone makes a prompt recall, so one common word would be too little.
            assert phrase == matchable(phrase).strip()
            assert len(phrase.split()) >= 2

    def test_every_cue_of_the_file_is_read(self, name):
        source = Path(__file__).parents[2] / "palace" / "presets" / name / "cues.yaml"
        written = yaml.safe_load(source.read_text("utf-8"))
        assert len(load_preset(name).cues) == sum(map(len, written.values()))


@pytest.mark.parametrize("name", [*WORKING, "sample"])
class TestSeed:
    def test_adds_what_is_missing_and_nothing_twice(self, name, tmp_path: Path):
        preset = load_preset(name)
        added = seed(preset, tmp_path)
        assert set(preset.files) <= set(added)
        assert seed(preset, tmp_path) == []
        (tmp_path / "identity.txt").unlink()
        assert seed(preset, tmp_path) == ["identity.txt"]

    def test_never_touches_what_a_person_has(self, name, tmp_path: Path):
        preset = load_preset(name)
        for path in [*preset.files, "config/mempalace.yaml"]:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text("mine")
        assert seed(preset, tmp_path) == []
        assert all((tmp_path / path).read_text() == "mine" for path in preset.files)

    def test_content_is_clean(self, name, tmp_path: Path):
        for path in seed(load_preset(name), tmp_path):
            text = (tmp_path / path).read_text("utf-8")
            assert find_secrets(text) == ()
            assert text.endswith("\n")
            assert not control_character_reason(text)
        assert len((tmp_path / "identity.txt").read_text("utf-8")) <= 1000


@pytest.mark.parametrize("name", WORKING)
def test_the_settings_name_the_preset_where_there_are_none(name, tmp_path: Path):
    seed(load_preset(name), tmp_path)
    written = yaml.safe_load((tmp_path / "config/mempalace.yaml").read_text())
    assert Settings(**written).preset == name


def test_the_sample_needs_no_settings(tmp_path: Path):
    preset = load_preset("sample")
    seed(preset, tmp_path)
    assert preset.cues == ()
    assert not (tmp_path / "config").exists()


def test_the_sample_is_a_small_palace_without_faults(tmp_path: Path):
    seed(load_preset("sample"), tmp_path)
    store = RoomStore(tmp_path)
    memories = [m for s in store.scan() for m in store.read(s.path).memories]
    assert store.faults() == []
    assert store.rooms() == ["architecture", "deploy", "people", "preferences"]
    assert 20 <= len(memories) <= 40
    assert len({m.id for m in memories}) == len(memories)
    retired = [m for m in memories if m.status == "inactive"]
    assert all(any(m.id == old.superseded_by for m in memories) for old in retired)
    playbooks = PlaybookFiles(tmp_path).all()
    assert "Deploy to production" in [p.title for p in playbooks]
    assert all(p.steps for p in playbooks)


def test_a_writer_can_be_given(tmp_path: Path):
    written: dict[str, bytes] = {}
    added = seed(load_preset("sample"), tmp_path, written.__setitem__)
    assert sorted(written) == added
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_written_through_a_link_out_of_the_palace(tmp_path: Path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "palace").mkdir()
    (tmp_path / "palace/rooms").symlink_to(tmp_path / "outside")
    with pytest.raises(UnsafeNameError):
        seed(load_preset("sample"), tmp_path / "palace")
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_file_in_the_way_is_named(tmp_path: Path):
    (tmp_path / "rooms").write_text("I am a file")
    with pytest.raises(StoreUnavailableError, match="rooms"):
        seed(load_preset("sample"), tmp_path)
