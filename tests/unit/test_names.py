from __future__ import annotations

import os
import sys
import unicodedata
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace.errors import UnsafeNameError
from palace.store.names import (
    MAX_COMPONENT_BYTES,
    MAX_COMPONENT_CHARS,
    fold_case,
    resolve_inside,
    room_parts,
    safe_component,
    session_file_name,
    without_suffix,
)


@pytest.mark.parametrize(
    ("given_name", "slug"),
    [
        ("deploy", "deploy"),
        ("My Notes", "My-Notes"),
        ("  spaced  ", "spaced"),
        ("ﬁne", "fine"),
        ("日本語 メモ", "日本語-メモ"),
        ("हिन्दी", "हिन्दी"),
        ("ab: c? <d>", "ab-c-d"),
        ("v1.2_x", "v1.2_x"),
        ("name.", "name"),
    ],
)
def test_a_name_becomes_a_slug(given_name, slug):
    assert safe_component(given_name, what="room") == slug


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("", "empty"),
        ("   ", "empty"),
        (".", "parent"),
        ("..", "parent"),
        ("‥", "parent"),
        (" .. ", "parent"),
        ("/etc", "absolute"),
        ("a/b", "separator"),
        ("a／b", "separator"),
        ("a\\b", "backslash"),
        ("C:", "drive"),
        ("c:x", "drive"),
        ("a\0b", "control"),
        ("a\nb", "control"),
        ("a\x7fb", "control"),
        ("a\u202eb", "invisible"),
        ("a\u200bb", "invisible"),
        ("\ufeffa", "invisible"),
        ("a\ud800", "no file name"),
        ("a\u2028b", "no file name"),
        ("CON", "device"),
        ("nul.txt", "device"),
        ("Com1", "device"),
        ("LPT¹", "device"),
        ("ＣＯＮ", "device"),
        (".hidden", "dot"),
        (".palace", "dot"),
        ("!!!", "no letters"),
    ],
)
def test_an_unsafe_name_is_refused_with_the_reason(bad, reason):
    with pytest.raises(UnsafeNameError, match=reason):
        safe_component(bad, what="room")


def test_long_names_are_cut_and_stay_apart():
    first, second = "é" * 300 + "a", "é" * 300 + "b"
    slugs = {safe_component(name, what="drawer") for name in (first, second)}
    assert len(slugs) == 2
    for slug in slugs:
        assert len(slug) <= MAX_COMPONENT_CHARS
        assert len(slug.encode()) <= MAX_COMPONENT_BYTES
    wide = safe_component("語" * 79 + "x" * 50, what="drawer")
    assert len(wide.encode()) <= MAX_COMPONENT_BYTES


def test_rooms_nest_and_keep_the_palaces_own_names():
    assert room_parts("a b/c") == ["a b", "c"]
    assert without_suffix("notes.md") == "notes"
    for bad in ("/a", "a//b", "a/../b", "../a", "a/", "timeline", "Playbooks/x", "/".join("a" * 9)):
        with pytest.raises(UnsafeNameError):
            room_parts(bad)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=300))
def test_a_slug_is_safe_whatever_the_name(name):
    try:
        slug = safe_component(name, what="room")
    except UnsafeNameError:
        return
    assert slug == safe_component(slug, what="room")
    assert len(slug) <= MAX_COMPONENT_CHARS
    assert len(slug.encode()) <= MAX_COMPONENT_BYTES
    assert not set(slug) & set('/\\:\0<>|?*"')
    assert slug[0] not in ".-"


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(min_size=1, max_size=60), unique=True, min_size=2, max_size=6))
def test_every_session_has_a_file_of_its_own(ids):
    stems = [session_file_name(session_id) for session_id in ids]
    assert len({fold_case(stem) for stem in stems}) == len(ids)
    for stem in stems:
        assert safe_component(stem, what="session") == stem
        assert len(stem.encode()) <= MAX_COMPONENT_BYTES


def test_session_files_are_readable_and_never_shared():
    assert session_file_name("sess-01") == "sess-01"
    shouted, hashed = session_file_name("Sess-01"), session_file_name("../../etc/passwd")
    assert shouted.startswith("sess-01-")
    assert "/" not in hashed
    # A plain id that looks like a hashed one may not take that one's file.
    assert session_file_name(shouted) != shouted
    assert session_file_name(unicodedata.normalize("NFD", "é")) != session_file_name("é")
    assert session_file_name("con").startswith("con-")
    for bad in ("", "x" * 513):
        with pytest.raises(UnsafeNameError) as raised:
            session_file_name(bad)
        assert raised.value.hint == "any text of 1 to 512 characters names a session"


@pytest.mark.parametrize(
    "secret",
    ["ghp_" + "a1B2c3D4e5" * 4, "npm_" + "a1b2c3d4e5f6" * 3, "user:token=" + "a1b2c3d4e5f6" * 3],
)
def test_a_session_named_by_a_secret_does_not_name_its_file(secret):
    stem = session_file_name(secret)
    assert secret[-12:].lower() not in stem
    assert stem.startswith("session-")
    assert stem == session_file_name(secret) != session_file_name(f"{secret}9")


@pytest.mark.parametrize("bad", ["", "/etc/passwd", "../x", "a/../../x", "a\0b", "a\\b", "C:/x"])
def test_no_path_leaves_the_root(tmp_path, bad):
    with pytest.raises(UnsafeNameError):
        resolve_inside(tmp_path, bad)


@pytest.mark.skipif(sys.platform == "win32", reason="symlinks need rights there")
def test_symlinks_are_followed_before_the_path_is_judged(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "root-2"
    root.mkdir()
    outside.mkdir()
    (root / "out").symlink_to(outside)
    (root / "in").symlink_to(root / "real")
    (tmp_path / "alias").symlink_to(root)
    with pytest.raises(UnsafeNameError, match="out of the palace"):
        resolve_inside(root, "out/x.md")
    assert resolve_inside(root, "in/x.md") == root / "real" / "x.md"
    assert resolve_inside(tmp_path / "alias", "a.md") == root / "a.md"
    assert resolve_inside(root, "a.md").is_absolute()


@pytest.mark.skipif(sys.platform == "win32", reason="symlinks need rights there")
def test_a_path_is_real_wherever_links_stand_in_it(tmp_path):
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    for link, target in (
        ("l", "a"),
        ("loop", "loop"),
        ("gone", "no/x"),
        ("a/up", ".."),
        ("s", "."),
    ):
        (root / link).symlink_to(target)
    for parts in product(["a", "l", "loop", "gone", "up", "s", ".", "", "new"], repeat=4):
        path = "/".join(parts).strip("/") or "."
        assert str(resolve_inside(root, path)) == os.path.realpath(root / path), path
