"""Settings: where they are found, what wins, and what every mistake is told."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from palace.errors import ConfigError
from palace.settings import (
    FILE_KEY,
    Origin,
    Settings,
    default_yaml,
    explain,
    load_settings,
)
from palace.settings.file import MAX_DEPTH, MAX_FILE_BYTES, parse_yaml, read_yaml
from palace.settings.keys import as_yaml, leaves, variable
from palace.settings.model import GiteaSettings, SearchSettings
from palace.settings.values import Cue

SECRET = "hunter2hunter2hunter2"


@pytest.fixture
def place(tmp_path):
    """An empty folder to stand in."""
    here = tmp_path / "here"
    here.mkdir()
    return here


@pytest.fixture
def write(place):
    """Write `mempalace.yaml` into the folder that is stood in."""

    def _write(text, path=None):
        file = path or place / "mempalace.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            file.write_bytes(text)
        else:
            file.write_text(text, encoding="utf-8")
        return file

    return _write


def refused(place, env=None, **keywords):
    with pytest.raises(ConfigError) as caught:
        load_settings(env=env or {}, cwd=place, **keywords)
    return caught.value


def error_of(**keywords):
    """The error of loading, None if there is none."""
    try:
        load_settings(**keywords)
    except ConfigError as error:
        return error
    return None


# Where settings are found


def test_without_a_file_all_is_default(place, own_home):
    loaded = load_settings(env={}, cwd=place)
    assert loaded.settings == Settings()
    assert loaded.file is None
    assert loaded.root == own_home / ".mempalace"
    assert set(loaded.origins.values()) == {Origin("default")}


def test_the_first_file_of_four_places_is_used_and_the_others_are_named(place, write, tmp_path):
    root = tmp_path / "root"
    in_root = write("search: {top_k: 4}", root / "config" / "mempalace.yaml")
    assert load_settings(env={}, cwd=place, root=root).settings.search.top_k == 4

    in_here = write("search: {top_k: 3}")
    loaded = load_settings(env={}, cwd=place, root=root)
    assert (loaded.settings.search.top_k, loaded.file) == (3, in_here)
    assert loaded.ignored == (in_root,)

    by_variable = write("search: {top_k: 2}", tmp_path / "variable.yaml")
    env = {"PALACE_CONFIG": str(by_variable)}
    loaded = load_settings(env=env, cwd=place, root=root)
    assert (loaded.settings.search.top_k, loaded.file) == (2, by_variable)
    assert loaded.origins[FILE_KEY] == Origin("env", "PALACE_CONFIG")

    by_argument = write("search: {top_k: 1}", tmp_path / "argument.yaml")
    loaded = load_settings(env=env, cwd=place, root=root, config=by_argument)
    assert (loaded.settings.search.top_k, loaded.file) == (1, by_argument)
    assert loaded.origins[FILE_KEY] == Origin("argument")
    assert loaded.ignored == (by_variable, in_here, in_root)


def test_the_own_file_of_a_palace_that_a_file_names_is_told_as_not_read(
    place, write, tmp_path, own_home
):
    own = write("search: {top_k: 4}", tmp_path / "own" / "config" / "mempalace.yaml")
    usual = own_home / ".mempalace" / "config" / "mempalace.yaml"
    write(f"root: {tmp_path / 'own'}", usual)
    loaded = load_settings(env={}, cwd=place)
    assert (loaded.file, loaded.root, loaded.ignored) == (usual, tmp_path / "own", (own,))
    named = write(f"root: {tmp_path / 'own'}", tmp_path / "named.yaml")
    assert load_settings(env={}, cwd=place, config=named).ignored == (own,)


@pytest.mark.parametrize("there", ["a folder", "a broken link"])
def test_a_settings_file_that_is_none_is_not_passed_over(place, there):
    name = place / "mempalace.yaml"
    if there == "a folder":
        name.mkdir()
    else:
        name.symlink_to(place / "nowhere.yaml")
    with pytest.raises(ConfigError, match=r"mempalace.yaml (is not a file|does not exist)"):
        load_settings(env={}, cwd=place)


def test_only_one_file_is_read(place, write, tmp_path):
    root = tmp_path / "root"
    write("not: [valid", root / "config" / "mempalace.yaml")
    write("search: {top_k: 3}")
    assert load_settings(env={}, cwd=place, root=root).settings.search.candidates == 40


def test_the_file_in_the_root_named_by_a_variable_is_found(place, write, tmp_path):
    write("search: {top_k: 4}", tmp_path / "root" / "config" / "mempalace.yaml")
    loaded = load_settings(env={"PALACE_ROOT": str(tmp_path / "root")}, cwd=place)
    assert loaded.settings.search.top_k == 4


def test_a_named_file_that_does_not_exist_is_refused_even_beside_another(place, write):
    write("search: {top_k: 3}")
    error = refused(place, config=Path("gone.yaml"))
    assert error.message == f"{place / 'gone.yaml'} does not exist"
    error = refused(place, {"PALACE_CONFIG": "gone.yaml"})
    assert error.message == f"{place / 'gone.yaml'} does not exist"
    assert "PALACE_CONFIG" in error.hint


def test_the_process_environment_and_folder_are_used_where_none_is_given(place, write, monkeypatch):
    write("search: {top_k: 3}")
    monkeypatch.chdir(place)
    monkeypatch.setenv("PALACE_SEARCH__CANDIDATES", "30")
    search = load_settings().settings.search
    assert (search.top_k, search.candidates) == (3, 30)


# The root


def test_the_root_is_argument_then_variable_then_file_then_default(place, write, tmp_path):
    write("root: ./palace")
    assert load_settings(env={}, cwd=place).root == place / "palace"
    env = {"PALACE_ROOT": "elsewhere"}
    loaded = load_settings(env=env, cwd=place)
    assert loaded.root == place / "elsewhere"
    assert loaded.origins["root"] == Origin("env", "PALACE_ROOT")
    loaded = load_settings(env=env, cwd=place, root=tmp_path / "given")
    assert loaded.root == tmp_path / "given"
    assert loaded.settings.root == str(tmp_path / "given")
    assert loaded.origins["root"] == Origin("argument")


def test_the_home_folder_is_expanded(place, own_home):
    assert load_settings(env={"PALACE_ROOT": "~/p"}, cwd=place).root == own_home / "p"


def test_an_unknown_home_folder_is_refused_where_it_is_named(place, write):
    file = write("search: {}\nroot: ~nobody-of-this-name/p")
    assert refused(place).message.startswith(f"{file}:2: `root`: the home folder")
    error = refused(place, {"PALACE_ROOT": "~nobody-of-this-name/p"})
    assert error.message.startswith("environment variable PALACE_ROOT: `root`: the home folder")


def test_relative_paths_of_a_file_start_at_its_folder(place, write, tmp_path, own_home):
    file = write(
        "scratchpad: {dir: pad}\nartifacts: {files: {roots: [src, /abs, ~/x]}}",
        tmp_path / "other" / "settings.yaml",
    )
    env = {"PALACE_ARTIFACTS__LOGS__PATHS": "[a.log]"}
    settings = load_settings(env=env, cwd=place, config=file).settings
    assert settings.scratchpad.dir == str(tmp_path / "other" / "pad")
    assert settings.artifacts.files.roots == (
        str(tmp_path / "other" / "src"),
        "/abs",
        str(own_home / "x"),
    )
    assert settings.artifacts.logs.paths == (str(place / "a.log"),)


# The environment


def test_a_variable_wins_over_the_file_and_an_argument_is_not_needed(place, write):
    file = write("scratchpad:\n  ttl_s: 30\n  max_entries: 7\n")
    loaded = load_settings(env={"PALACE_SCRATCHPAD__TTL_S": "60"}, cwd=place)
    assert loaded.settings.scratchpad.ttl_s == 60.0
    assert loaded.settings.scratchpad.max_entries == 7
    assert loaded.origins["scratchpad.ttl_s"] == Origin("env", "PALACE_SCRATCHPAD__TTL_S")
    assert loaded.origins["scratchpad.max_entries"] == Origin("file", str(file), 3)
    assert loaded.origins["scratchpad.dir"] == Origin("default")


@pytest.mark.parametrize(
    ("name", "text", "path", "value"),
    [
        ("PALACE_ARTIFACTS__LOGS__TAIL_LINES", "5", "artifacts.logs.tail_lines", 5),
        ("PALACE_JOURNAL__ENABLED", "false", "journal.enabled", False),
        ("PALACE_JOURNAL__PROMPTS", "off", "journal.prompts", "off"),
        ("PALACE_JOURNAL__RETENTION_DAYS", "null", "journal.retention_days", None),
        ("PALACE_DETECTOR__LANGUAGES", "[sv, de]", "detector.languages", ("sv", "de")),
        ("PALACE_DETECTOR__RECALL_AT", "1", "detector.recall_at", 1.0),
        ("PALACE_ENFORCE__FALLBACK_TEXT", "no: idea [", "enforce.fallback_text", "no: idea ["),
        ("PALACE_ENFORCE__FALLBACK_TEXT", "404", "enforce.fallback_text", "404"),
        ("PALACE_SCRATCHPAD__DIR", "null", "scratchpad.dir", None),
        ("PALACE_ENFORCE__ANSWER_KINDS", "\n- fact\n- status", "enforce.answer_kinds", ("fact", "status")),
        (
            "PALACE_DETECTOR__CUES",
            "[{pattern: the usual spot, kind: fact}]",
            "detector.cues",
            (Cue(pattern="the usual spot", kind="fact"),),
        ),
    ],
)  # fmt: skip
def test_variables_are_read_as_yaml_and_text_as_it_is(place, name, text, path, value):
    settings = load_settings(env={name: text}, cwd=place).settings
    for part in path.split("."):
        settings = getattr(settings, part)
    assert settings == value


def test_an_empty_variable_counts_as_not_set(place):
    env = {"PALACE_SEARCH__TOP_K": "", "PALACE_CONFIG": " ", "GITEA_TOKEN": "", "PALACE_NO": ""}
    loaded = load_settings(env=env, cwd=place)
    assert loaded.settings == Settings()
    assert loaded.file is None


def test_reserved_and_foreign_variables_are_no_settings(place):
    env = {"PALACE_SESSION": "s1", "PALACE_PROJECT": "p", "PATH": "/bin", "palace_root": "x"}
    assert load_settings(env=env, cwd=place).settings == Settings()


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("PALACE_SCRATCHPAD__TTL", "PALACE_SCRATCHPAD__TTL_S"),
        ("PALACE_SCRATCHPAD_TTL_S", "PALACE_SCRATCHPAD__TTL_S"),
        ("PALACE_search__top_k", "PALACE_SEARCH__TOP_K"),
        ("PALACE_ROOTS", "PALACE_ROOT"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_nearest_name(place, name, nearest):
    error = refused(place, {name: "1"})
    assert error.message == f"environment variable {name} is no setting"
    assert error.hint == f"did you mean {nearest}?"


def test_a_name_near_to_nothing_still_gets_a_hint(place):
    assert refused(place, {"PALACE_": "1"}).hint.startswith("did you mean PALACE_")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("PALACE_SEARCH__TOP_K", "many", "`search.top_k` must be a valid integer"),
        ("PALACE_SEARCH__TOP_K", "2.5", "`search.top_k` must be a valid integer"),
        ("PALACE_SEARCH__TOP_K", "0", "`search.top_k` must be greater than or equal to 1"),
        ("PALACE_LAYERS", "L0", "`layers` must be a list"),
        ("PALACE_SEARCH__CANDIDATES", "3", "`search.top_k` must not be above candidates"),
    ],
)
def test_a_wrong_variable_is_named(place, name, text, message):
    error = refused(place, {name: text})
    assert error.message == f"environment variable {name}: {message}"


def test_broken_yaml_in_a_variable_is_named(place):
    error = refused(place, {"PALACE_LAYERS": "[L0"})
    assert error.message.startswith("environment variable PALACE_LAYERS:1: not valid YAML: ")


# Secrets


@pytest.mark.parametrize("host", ["gitea", "github"])
def test_a_token_comes_from_its_own_variable_before_the_usual_one(place, host):
    usual = {f"{host.upper()}_TOKEN": SECRET + "\n"}
    loaded = load_settings(env=usual, cwd=place)
    assert getattr(loaded.settings.artifacts, host).token == SecretStr(SECRET)
    assert loaded.origins[f"artifacts.{host}.token"] == Origin("env", f"{host.upper()}_TOKEN")
    own = f"PALACE_ARTIFACTS__{host.upper()}__TOKEN"
    loaded = load_settings(env={**usual, own: "own"}, cwd=place)
    assert getattr(loaded.settings.artifacts, host).token == SecretStr("own")
    assert loaded.origins[f"artifacts.{host}.token"] == Origin("env", own)


def test_the_usual_variables_of_embeddings_stand_below_the_file(place, write):
    usual = {
        "EMBEDDING_API_KEY": SECRET,
        "EMBEDDING_BASE_URL": "http://127.0.0.1:9/v1/",
        "EMBEDDING_MODEL_NAME": "small",
    }
    loaded = load_settings(env=usual, cwd=place)
    openai = loaded.settings.embeddings.openai
    assert (openai.base_url, openai.model) == ("http://127.0.0.1:9/v1", "small")
    assert openai.api_key == SecretStr(SECRET)
    assert loaded.origins["embeddings.openai.model"] == Origin("env", "EMBEDDING_MODEL_NAME")
    assert loaded.settings.embeddings.in_force == "openai"
    write("embeddings: {openai: {model: large}}\n")
    loaded = load_settings(env=usual, cwd=place)
    assert loaded.settings.embeddings.openai.model == "large"
    own = {**usual, "PALACE_EMBEDDINGS__OPENAI__MODEL": "own"}
    assert load_settings(env=own, cwd=place).settings.embeddings.openai.model == "own"
    write(default_yaml())  # what `palace init` writes
    loaded = load_settings(env=usual, cwd=place)
    assert loaded.settings.embeddings.in_force == "openai"
    assert loaded.origins["embeddings.openai.model"] == Origin("env", "EMBEDDING_MODEL_NAME")
    assert loaded.origins["embeddings.openai.dimensions"].kind == "file"


@pytest.mark.parametrize(
    ("env", "provider"),
    [
        ({}, "off"),
        ({"EMBEDDING_API_KEY": SECRET}, "off"),
        ({"EMBEDDING_MODEL_NAME": "small"}, "off"),
        ({"EMBEDDING_MODEL_NAME": "small", "EMBEDDING_API_KEY": SECRET}, "openai"),
        ({"EMBEDDING_MODEL_NAME": "small", "EMBEDDING_BASE_URL": "http://h/v1"}, "openai"),
        ({"PALACE_EMBEDDINGS__PROVIDER": "wordllama", "EMBEDDING_API_KEY": SECRET}, "wordllama"),
    ],
)
def test_the_embedder_in_force(place, env, provider):
    assert load_settings(env=env, cwd=place).settings.embeddings.in_force == provider


@pytest.mark.parametrize(
    ("provider", "key"),
    [("model2vec", "model"), ("sentence-transformers", "model"), ("openai", "openai.model")],
)
def test_an_embedder_needs_its_model(place, provider, key):
    error = refused(place, {"PALACE_EMBEDDINGS__PROVIDER": provider})
    assert f"embeddings.{key}" in error.message
    assert f"must be set for {provider}" in error.message
    assert "null" in error.hint


@pytest.mark.parametrize("host", ["gitea", "github"])
def test_a_token_in_a_file_is_refused_without_repeating_it(place, write, host):
    file = write(f"artifacts:\n  {host}:\n    repositories: []\n    token: {SECRET}\n")
    error = refused(place)
    assert error.message == (
        f"{file}:4: `artifacts.{host}.token` is a secret and must not stand in a file"
    )
    assert f"PALACE_ARTIFACTS__{host.upper()}__TOKEN or {host.upper()}_TOKEN" in error.hint
    assert SECRET not in str(error)


def test_a_token_is_shown_nowhere(place):
    loaded = load_settings(env={"GITEA_TOKEN": SECRET}, cwd=place)
    rows = {row.key: row for row in explain(loaded)}
    assert rows["artifacts.gitea.token"].value == "***"
    assert rows["artifacts.github.token"].value == "null"
    assert SECRET not in repr(loaded) + repr(rows) + loaded.settings.model_dump_json()


@pytest.mark.parametrize(
    ("text", "env"),
    [
        ("", {"GITEA_TOKEN": f"two {SECRET}"}),
        (f"artifacts: {{gitea: {{base_url: 'https://me:{SECRET}@host.example'}}}}", {}),
        (f"artifacts: {{gitea: {{base_url: ['{SECRET}']}}}}", {}),
        (f"artifacts: {{gitea: {{base_url: '{SECRET}}}}}", {}),
        (f"search: {{top_k: {SECRET}}}", {}),
    ],
)
def test_no_message_and_no_chained_error_repeats_a_value(place, write, text, env):
    write(text)
    error = refused(place, env)
    assert SECRET not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


# Mistakes in the file


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("\nsearh:\n  top_k: 3\n", 2, "`searh` is not a known key", "did you mean `search`?"),
        ("search:\n  # how many\n  topk: 3\n", 3,
         "`search.topk` is not a known key", "did you mean `top_k`?"),
        ("artifacts:\n  logs:\n    tail_line: 3\n", 3,
         "`artifacts.logs.tail_line` is not a known key", "did you mean `tail_lines`?"),
        ("tail_lines: 3\n", 1,
         "`tail_lines` is not a known key", "did you mean `artifacts.logs.tail_lines`?"),
        ("context: {xyzzy: 3}\n", 1,
         "`context.xyzzy` is not a known key", "valid keys in context: inject, budget_tokens"),
        ("5: x\n", 1, "`5` is not a known key", "valid keys here: root,"),
        ("search:\n  candidates: 50\n  top_k: ten\n", 3,
         "`search.top_k` must be a valid integer", "expected a whole number"),
        ('search:\n  top_k: "3"\n', 2,
         "`search.top_k` must be a valid integer", "expected a whole number"),
        ("search:\n  top_k: true\n", 2,
         "`search.top_k` must be a valid integer", "expected a whole number"),
        ("journal:\n  enabled: yes\n", 2,
         "`journal.enabled` must be a valid boolean", "expected true or false"),
        ("write:\n  default_room: 5\n", 2,
         "`write.default_room` must be a valid string", "expected text"),
        ("search:\n  top_k: 201\n", 2,
         "`search.top_k` must be less than or equal to 200", "1 to 200"),
        ("scratchpad:\n  ttl_s: 0\n", 2, "`scratchpad.ttl_s` must be greater than 0", "above 0"),
        ("scratchpad:\n  ttl_s: .nan\n", 2,
         "`scratchpad.ttl_s` must be a valid number", "in seconds"),
        ("scratchpad:\n  ttl_s: 1e999\n", 2,
         "`scratchpad.ttl_s` must be a finite number", "in seconds"),
        ("enforce:\n  on_miss: genrate\n", 2,
         "`enforce.on_miss` must be 'fallback' or 'generate'",
         "did you mean `generate`? expected one of fallback, generate"),
        ("search: 5\n", 1,
         "`search` must be a section", "with keys below it: top_k, candidates, fusion"),
        ("search: [top_k]\n", 1, "`search` must be a section", "top_k"),
        ("layers:\n- L0\n- L1\n- L7\n", 4,
         "`layers[2]` must be 'L0', 'L1', 'L2', 'L3', 'L4' or 'L5'", "each one of L0, L1"),
        ("layers: [L1, L0]\n", 1, "`layers` must begin with L0", "L0 first"),
        ("layers: []\n", 1, "`layers` must begin with L0", "L0 first"),
        ("layers: [L0, L1, L1]\n", 1, "`layers` must not name anything twice", "a list"),
        ("enforce: {on_miss: fallback}\nlayers: [L0, L1, L5]\n", 2,
         "`layers` must not name L5 unless enforce.on_miss is generate", "a list"),
        ("enforce: {on_miss: generate}\nlayers: [L0, L5, L1]\n", 2,
         "`layers` must name L5 last", "a list"),
        ("layers:\n", 1, "`layers` must be a list", "a list in brackets, each"),
        ("detector:\n  cues:\n  - {pattern: ab, kind: fact}\n  - pattern: cd\n    knd: fact\n", 5,
         "`detector.cues[1].knd` is not a known key", "did you mean `kind`?"),
        ("detector:\n  cues:\n    - pattern: ab\n", 3,
         "`detector.cues[0].kind` is missing", "{pattern: text, kind: a kind of recall}"),
        ("detector:\n  cues:\n    - ab\n", 3,
         "`detector.cues[0]` must be a mapping of keys", "{pattern: text"),
        ("detector:\n  languages: [en, xx]\n", 2,
         "`detector.languages[1]` must be 'en', 'de', 'fr', 'es', 'pt', 'zh', 'ja', 'ru', 'it', 'nl',"
         " 'ko', 'pl', 'sv' or 'tr'", "each one of en, de,"),
        ("detector:\n  recall_at: 0.4\n  other_below: 0.6\n", 3,
         "`detector.other_below` must not be above recall_at", "0 to 1"),
        ("sufficiency:\n  unclear_at: 0.9\n  sufficient_at: 0.6\n", 2,
         "`sufficiency.unclear_at` must not be above sufficient_at", "0 to 1"),
        ("search:\n  candidates: 20\n  top_k: 30\n", 3,
         "`search.top_k` must not be above candidates", "1 to 200"),
        ("artifacts:\n  gitea:\n    repositories: [owner/name]\n", 2,
         "`artifacts.gitea.base_url` must be set where repositories are", "Address of the server"),
        ("artifacts:\n  github:\n    repositories:\n    - owner\n", 4,
         "`artifacts.github.repositories[0]` does not have the right form", "owner/name"),
        ("write: {default_room: ../up}\n", 1,
         "`write.default_room` does not have the right form", "a folder name"),
        ("write:\n  default_room: Timeline\n", 2,
         "`write.default_room` must not be a name that is kept for something else",
         "a folder name"),
        ("write: {default_room: con}\n", 1,
         "`write.default_room` must not be a name that is kept for something else",
         "a folder name"),
        ('scratchpad: {dir: "a\\0b"}\n', 1,
         "`scratchpad.dir` does not have the right form", "a path"),
        ("search:\n  top_k: 3\nindex:\n  refresh_s: 1\nsearch:\n  top_k: 4\n", 5,
         "`search` is set twice, first in line 1", "keep one"),
        ("search:\n  top_k: 3\n  top_k: 3\n", 3,
         "`search.top_k` is set twice, first in line 2", "keep one"),
        ("detector:\n  cues:\n  - pattern: ab\n    pattern: cd\n", 4,
         "`detector.cues[0].pattern` is set twice, first in line 3", "keep one"),
        ("? [a, b]\n: c\n", 1, "a key must be a word, not a list or a mapping", "plain"),
        ("- search\n", 1, "settings must be a mapping of keys, such as `search:`", "annotated"),
        ("search\n", 1, "settings must be a mapping of keys, such as `search:`", "annotated"),
    ],
)  # fmt: skip
def test_a_mistake_names_file_line_and_key(place, write, text, line, message, hint):
    file = write(text)
    error = refused(place)
    assert error.message == f"{file}:{line}: {message}"
    assert hint in error.hint
    assert not error.retryable


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("search:\n  top_k: [1\n", 3, "not valid YAML: "),
        ("search:\n\ttop_k: 1\n", 2, "not valid YAML: found character '\\t'"),
        ("search: {}\na: 'b\n", 3, "not valid YAML: found unexpected end of stream"),
        ("a: 1\n---\nb: 2\n", 2, "not valid YAML: but found another document"),
        ("search: {}\nx: \x07\n", 2, "not valid YAML: a control character"),
        (b"search: {}\nx: \xff\n", 2, "not UTF-8"),
        ("x: &a 1\n", 1, "not valid YAML: anchors and aliases"),
        ("search: {}\nx: *a\n", 2, "not valid YAML: anchors and aliases"),
        ("search: {}\n<<: &a {}\n", 2, "not valid YAML: anchors and aliases"),
        ("x: !!python/name:os.system y\n", 1, "not valid YAML: tags (!)"),
        ("search: !!map {}\n", 1, "not valid YAML: tags (!)"),
        ("x: " + "[" * 5000, 1, f"not valid YAML: nested deeper than {MAX_DEPTH} levels"),
    ],
)
def test_what_is_not_plain_yaml_is_refused_with_its_line(place, write, text, line, message):
    file = write(text)
    error = refused(place)
    assert error.message.startswith(f"{file}:{line}: {message}")
    assert error.hint


def test_a_file_that_is_too_big_is_refused(place, write):
    line = b"# " + b"x" * 61 + b"\n"
    write(line * (MAX_FILE_BYTES // len(line)))
    assert load_settings(env={}, cwd=place).settings == Settings()
    file = write(line * (MAX_FILE_BYTES // len(line)) + b"#")
    assert refused(place).message == f"{file} is too big: more than {MAX_FILE_BYTES} bytes"


def test_an_unreadable_file_is_refused(place, write, monkeypatch):
    file = write("search: {}")

    def denied(self, *args, **keywords):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    error = refused(place)
    assert error.message == f"{file} cannot be read: Permission denied"
    assert "permissions" in error.hint


def test_a_folder_that_may_not_be_looked_into_is_refused(place, monkeypatch):
    def denied(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", denied)
    error = refused(place)
    assert error.message == (f"{place / 'mempalace.yaml'} cannot be looked at: Permission denied")


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("wing: shop\nrooms:\n  - name: backend\n    description: code\n", 1, "wing"),
        ("# a comment\nrooms:\n  - name: backend\nwing: shop\n", 4, "wing"),
        ("rooms:\n  - name: backend\n", 1, "rooms"),
        ("search: {top_k: 3}\nwing: shop\n", 2, "wing"),
    ],
)
def test_the_file_of_the_other_project_is_refused_by_name(place, write, text, line, key):
    file = write(text)
    error = refused(place)
    assert error.message == (
        f"{file}:{line}: `{key}`: this file belongs to the MemPalace project, another tool that "
        "uses the same file name"
    )
    assert "--config or PALACE_CONFIG" in error.hint
    assert "rename" in error.hint


def test_our_own_rooms_of_a_wake_up_are_not_mistaken(place, write):
    write("wakeup:\n  rooms: 2\n")
    assert load_settings(env={}, cwd=place).settings.wakeup.rooms == 2


# What is read


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "null\n", "search:\n", "\ufeff"])
def test_a_file_that_says_nothing_gives_the_defaults(place, write, text):
    write(text)
    loaded = load_settings(env={}, cwd=place)
    assert loaded.settings == Settings()
    assert loaded.file == place / "mempalace.yaml"


def test_words_are_words_as_in_yaml_1_2(place, write):
    write(
        "journal: {prompts: off}\ndetector: {cues: [{pattern: no, kind: fact}]}\nsearch: {top_k: 010}\n"
    )
    settings = load_settings(env={}, cwd=place).settings
    assert settings.journal.prompts == "off"
    assert settings.detector.cues == (Cue(pattern="no", kind="fact"),)
    assert settings.search.top_k == 10


def test_other_scripts_and_line_ends_are_read(place, write):
    write("enforce:\r\n  fallback_text: 记忆中没有\r\nsearch:\r\n  top_k: 3\r\n".encode())
    loaded = load_settings(env={}, cwd=place)
    assert loaded.settings.enforce.fallback_text == "记忆中没有"
    assert loaded.origins["search.top_k"].line == 4


def test_an_address_loses_its_last_slash(place, write):
    write("artifacts: {gitea: {base_url: 'http://localhost:3000/', repositories: [a/b]}}")
    assert load_settings(env={}, cwd=place).settings.artifacts.gitea == GiteaSettings(
        base_url="http://localhost:3000", repositories=("a/b",)
    )


@pytest.mark.parametrize(
    "address",
    ["ftp://h", "h.example", "http://", "http://u@h", "http://h/?q=1", "http://h/#f", "http://h:x", "http://a b"],
)  # fmt: skip
def test_a_wrong_address_is_refused(address):
    with pytest.raises(ValidationError, match="must be an http"):
        GiteaSettings(base_url=address)


def test_l5_is_allowed_where_the_policy_generates(place, write):
    write("layers: [L0, L1, L5]\nenforce: {on_miss: generate}\n")
    assert load_settings(env={}, cwd=place).settings.layers == ("L0", "L1", "L5")


def test_settings_are_frozen_all_the_way_down(place):
    settings = load_settings(env={}, cwd=place).settings
    with pytest.raises(ValidationError):
        settings.root = "x"
    with pytest.raises(ValidationError):
        settings.search.top_k = 3
    assert hash(settings) == hash(Settings())


def test_models_forbid_unknown_keys_and_take_plain_keywords():
    assert Settings(search=SearchSettings(top_k=3)) == Settings(search={"top_k": 3})
    with pytest.raises(ValidationError):
        SearchSettings(topk=3)


# Explaining


def test_explain_says_the_file_and_where_each_value_is_from(place, write, tmp_path):
    file = write("search:\n  top_k: 3\n")
    other = write("{}", tmp_path / "root" / "config" / "mempalace.yaml")
    env = {"PALACE_ENFORCE__MAX_EVIDENCE": "2"}
    rows = explain(load_settings(env=env, cwd=place, root=tmp_path / "root"))
    assert rows[0].key == FILE_KEY
    assert rows[0].value == str(file)
    assert str(other) in rows[0].description
    by_key = {row.key: row for row in rows}
    assert [str(by_key[key].origin) for key in ("search.top_k", "enforce.max_evidence", "root", "layers")] == [
        f"file {file}:2",
        "env PALACE_ENFORCE__MAX_EVIDENCE",
        "argument",
        "default",
    ]  # fmt: skip
    assert by_key["search.top_k"].value == "3"
    assert by_key["layers"].value == "[L0, L1, L2, L3, L4]"
    assert by_key["search.top_k"].description.startswith("Hits that a search returns")


def test_cues_are_explained_as_they_are_written(place, write):
    write("detector: {cues: [{pattern: the usual spot, kind: fact}]}")
    rows = {row.key: row.value for row in explain(load_settings(env={}, cwd=place))}
    assert rows["detector.cues"] == '[{pattern: "the usual spot", kind: fact}]'


def test_loaded_settings_can_be_pickled_and_copied(place):
    loaded = load_settings()
    assert pickle.loads(pickle.dumps(loaded)) == loaded
    assert copy.deepcopy(loaded) == loaded


def test_explain_has_every_key_once(place):
    rows = explain(load_settings(env={}, cwd=place))
    assert len({row.key for row in rows}) == len(rows) == len(list(leaves())) + 1
    assert rows[0].value == "none"


# Properties


@hypothesis_settings(deadline=None, max_examples=60)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(10**15), 10**15)
        | st.floats(-1e6, 1e6)
        | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3).map(tuple),
        max_leaves=6,
    )
)
def test_what_explain_shows_is_read_back_as_the_same_value(value):
    def as_lists(item):
        return [as_lists(part) for part in item] if isinstance(item, tuple) else item

    assert parse_yaml(as_yaml(value), name="shown").value == as_lists(value)


@hypothesis_settings(deadline=None, max_examples=60)
@given(st.text(max_size=200))
def test_any_text_as_a_file_is_read_or_refused(tmp_path_factory, text):
    file = tmp_path_factory.mktemp("any") / "mempalace.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    error = error_of(config=file, env={}, root=file.parent, cwd=file.parent)
    assert error is None or (error.message.startswith(str(file)) and error.hint)


@hypothesis_settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(list(leaves())), st.text(st.characters(exclude_characters="\0"), max_size=30)
)
def test_any_text_in_a_variable_is_taken_or_refused(tmp_path_factory, leaf, text):
    name = variable(leaf[0])
    folder = tmp_path_factory.getbasetemp()
    root = None if name == "PALACE_ROOT" else folder
    error = error_of(env={name: text}, cwd=folder, root=root)
    assert error is None or (name in error.message and error.hint)


def test_lines_of_unknown_paths_are_those_of_what_holds_them(place, write):
    source = read_yaml(write("a:\n  b:\n    - c\n"))
    assert source.line(("a", "b", 0)) == 3
    assert source.line(("a", "b", 7, "x")) == 2
    assert source.line(("nowhere",)) == 1
