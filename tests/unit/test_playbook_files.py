from __future__ import annotations

import pytest

from palace.errors import MemoryNotFoundError, UnsafeNameError
from palace.store.playbook_files import PlaybookFiles

ROLLBACK = """---
triggers: [roll back, undo deploy]
prerequisites: shell access
warnings:
  - never on a Friday
owner: someone
---
# Roll back a deploy

Some words first.

1. Stop the queue,
   then wait.
2. Run it:
   ```sh
   make rollback
   ```

## Afterwards
- look at the log
3) Tell everybody.
"""


def _folder(root, **files):
    folder = root / "playbooks"
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.md").write_bytes(text if isinstance(text, bytes) else text.encode())
    return PlaybookFiles(root)


def test_a_playbook_in_a_folder_is_named(tmp_path):
    store = _folder(tmp_path, rollback=ROLLBACK)
    (tmp_path / "playbooks" / "old").mkdir()
    (tmp_path / "playbooks" / "old" / "deploy.md").write_text("# Deploy\n1. Go.\n")
    assert [book.name for book in store.all()] == ["rollback"]
    (fault,) = store.faults()
    assert fault.path == "playbooks/old/deploy.md"
    assert "not read" in fault.message


def test_a_playbook_is_read_whole(tmp_path):
    store = _folder(tmp_path, rollback=ROLLBACK)
    playbook = store.get("Rollback")
    assert playbook.title == "Roll back a deploy"
    assert playbook.triggers == ("roll back", "undo deploy")
    assert playbook.prerequisites == ("shell access",)
    assert playbook.warnings == ("never on a Friday",)
    assert playbook.steps == (
        "Stop the queue, then wait.",
        "Run it:\n```sh\nmake rollback\n```",
        "Tell everybody.",
    )
    assert playbook.body == ROLLBACK.partition("someone\n---\n")[2]
    assert (playbook.name, playbook.path, playbook.line) == ("rollback", "playbooks/rollback.md", 8)
    assert playbook.updated is not None
    assert store.faults() == []
    assert store.all() == [playbook]


def test_a_caution_with_a_colon_is_a_sentence(tmp_path):
    front = "warnings:\n  - Careful: never at noon\n  - Nobody:\n  - plain\nprerequisites: {Key: 7}"
    playbook = _folder(tmp_path, odd=f"---\n{front}\n---\n1. Do it.\n").get("odd")
    assert playbook.warnings == ("Careful: never at noon", "Nobody:", "plain")
    assert playbook.prerequisites == ("Key: 7",)


def test_broken_front_matter_is_a_fault_and_the_body_still_serves(tmp_path):
    store = _folder(tmp_path, bad="---\ntriggers: [a\n---\n1. Do it.\n", raw=b"1. \xff\n", none="")
    playbook = store.get("bad")
    assert playbook.steps == ("Do it.",)
    assert playbook.triggers == ()
    assert playbook.title == "bad"
    assert {fault.path for fault in store.faults()} == {"playbooks/bad.md", "playbooks/raw.md"}


def test_what_git_could_not_merge_is_named_and_handed_on_as_it_is_written(tmp_path):
    steps = "1. Stop.\n<<<<<<< HEAD\n2. `make a`\n=======\n2. `make b`\n>>>>>>> phone\n"
    front = (
        "---\n<<<<<<< HEAD\nowner: Ada\n=======\nowner: Bo\n>>>>>>> phone\nwarnings: [hot]\n---\n"
    )
    store = _folder(tmp_path, queue=front + steps)
    playbook = store.get("queue")
    assert (playbook.body, playbook.warnings) == (steps, ("hot",))
    assert steps.strip() in store.read("playbooks/queue.md").memories[0].text
    assert [fault.line for fault in store.faults()] == [2, 10]


def test_names_are_checked_and_missing_ones_said(tmp_path):
    store = PlaybookFiles(tmp_path)
    assert store.all() == []
    with pytest.raises(MemoryNotFoundError):
        store.get("none")
    for bad in ("../x", "a/b", "", ".x"):
        with pytest.raises(UnsafeNameError):
            store.get(bad)


@pytest.mark.parametrize("name", ["con", "restart.md", "x:restart", "re\u200bstart"])
def test_a_file_whose_name_no_new_playbook_may_have_is_indexed(tmp_path, name):
    files = _folder(tmp_path, **{name: "# Restart\n1. Go.\n", "restart": "# Another\n1. Stop.\n"})
    (stamp,) = [stamp for stamp in files.scan() if stamp.path == f"playbooks/{name}.md"]
    document = files.read(stamp.path)
    assert document.title == "Restart"
    assert document.memories[0].path == stamp.path


def test_what_stands_beside_the_steps_is_handed_on_as_it_is_written(tmp_path):
    body = (
        "<!-- ours -->\nNever at noon.\n\n1. Stop the queue.\n2. Restart it.\n\n"
        "## Way back\n\n1. Start the old one.\n"
    )
    _folder(tmp_path, restart=f"---\nwarnings: slow\n---\n# Restart\n\n{body}")
    (memory,) = PlaybookFiles(tmp_path).read("playbooks/restart.md").memories
    assert memory.text == f"Restart\nWarnings: slow\n{body.strip()}"


def test_steps_alone_are_handed_on_in_their_order(tmp_path):
    _folder(tmp_path, restart="# Restart\n\n1. Stop.\n1. Start.\n   - slowly\n<!-- ours -->\n")
    (memory,) = PlaybookFiles(tmp_path).read("playbooks/restart.md").memories
    assert memory.text == "Restart\n1. Stop.\n2. Start.\n- slowly"
