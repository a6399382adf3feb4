"""The files in `config/` that people copy: equal to the models, loadable, short enough."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from palace.settings import Settings, default_yaml, load_settings, settings_table
from palace.settings.file import read_yaml
from palace.settings.keys import is_secret, leaves, variable

CONFIG = Path(__file__).parents[2] / "config"


def test_the_annotated_file_is_what_the_models_say():
    assert (CONFIG / "mempalace.yaml").read_text("utf-8") == default_yaml()


def test_the_annotated_file_sets_every_key_but_the_secrets_to_its_default(tmp_path):
    loaded = load_settings(config=CONFIG / "mempalace.yaml", env={}, cwd=tmp_path)
    assert loaded.settings == Settings()
    missing = {key for key, origin in loaded.origins.items() if origin.kind == "default"}
    assert missing == {
        "artifacts.gitea.token",
        "artifacts.github.token",
        "embeddings.openai.api_key",
        "generator.api_key",
    }


def test_every_key_is_explained_by_a_comment_line_above_it():
    previous = ""
    for line in default_yaml().splitlines():
        if re.match(r" *\w+:", line):
            assert previous.strip().startswith("# "), line
        previous = line


def test_the_annotated_file_keeps_to_the_width():
    assert max(map(len, default_yaml().splitlines())) <= 96


def test_secrets_are_named_with_their_variables_only():
    text = default_yaml()
    assert "PALACE_ARTIFACTS__GITEA__TOKEN or GITEA_TOKEN" in text
    assert not re.search(r"^ *token:", text, re.MULTILINE)


def test_the_file_is_read_by_our_reader_with_a_line_for_each_key():
    source = read_yaml(CONFIG / "mempalace.yaml")
    written = (CONFIG / "mempalace.yaml").read_text("utf-8").splitlines()
    for path, info in leaves():
        if not is_secret(info):
            assert written[source.line(path) - 1].strip().startswith(f"{path[-1]}:")


@pytest.mark.parametrize(("path", "info"), list(leaves()), ids=lambda value: str(value)[:60])
def test_every_key_has_a_description_with_its_bounds(path, info):
    description = info.description
    assert description
    assert description.endswith(".")
    for constraint in info.metadata:
        for name in ("ge", "gt", "le", "max_length"):
            bound = getattr(constraint, name, None)
            if bound is not None:
                shown = str(int(bound)) if float(bound).is_integer() else str(bound)
                assert re.search(rf"(?<!\d){shown}(?!\d)", description), (path, name)


@pytest.mark.parametrize(
    ("suffix", "unit"),
    [
        ("_s", "seconds"),
        ("_ms", "milliseconds"),
        ("_days", "days"),
        ("_chars", "characters"),
        ("_tokens", "tokens"),
        ("_bytes", "bytes"),
    ],
)
def test_every_unit_in_a_name_is_said_in_its_description(suffix, unit):
    named = [info.description for path, info in leaves() if str(path[-1]).endswith(suffix)]
    assert named
    assert all(f"in {unit}" in description for description in named)


def test_the_table_has_one_row_of_three_cells_for_every_key():
    rows = settings_table().splitlines()
    assert rows[:2] == ["| key | default | meaning |", "|---|---|---|"]
    assert len(rows) - 2 == len(list(leaves()))
    assert all(len(re.split(r"(?<!\\)\|", row)) == 5 for row in rows)
    assert "| `search.top_k` | `10` |" in settings_table()
    assert '| `root` | `"~/.mempalace"` |' in settings_table()


def test_variables_are_one_to_one_with_keys():
    names = [variable(path) for path, _ in leaves()]
    assert len(names) == len(set(names))
    assert "PALACE_ARTIFACTS__LOGS__TAIL_LINES" in names


def test_the_example_identity_fits():
    text = (CONFIG / "identity.txt").read_text("utf-8")
    assert 0 < len(text) < 1000
    assert text.endswith("\n")
