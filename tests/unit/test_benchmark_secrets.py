"""The outside check of the secrets filter, on small texts of our own."""

from __future__ import annotations

from pathlib import Path

from benchmarks.secrets import main

CASES = """
import pytest, responses
from testing.mocks import mock_file_object

@pytest.mark.parametrize("payload, should_flag", [
    ("password = '" + "Heron42!" + "'", True),
    ("password = get_password()", False),
    ("nothing at all", True),
])
def test_analyze(payload, should_flag):
    pass

class TestMore:
    @pytest.mark.parametrize(("line", "should_flag"), [("token: str", False)])
    def test_more(self, line, should_flag):
        pass

    @pytest.mark.parametrize("other", [1])
    def test_other(self, other):
        pass
"""


def test_ordinary_texts_are_counted_by_line_and_by_document(tmp_path: Path, capsys):
    (tmp_path / "a.md").write_text("One.\nTwo.\npassword: Heron42!\nFour.\n", "utf-8")
    (tmp_path / "b.txt").write_text("Plain words.\n", "utf-8")
    (tmp_path / "c.bin").write_bytes(b"\xff")
    (tmp_path / "d.jsonl").write_text('{"text": "One line."}\n{"text": 3}\n', "utf-8")
    main([str(tmp_path), str(tmp_path / "d.jsonl"), "--show"])
    out = capsys.readouterr().out
    assert "| 2 | 5 | 1 | 20.0000 % | 1 | 50.00 % |" in out
    assert "| d.jsonl | 1 | 1 | 0 | 0.0000 % | 0 | 0.00 % |" in out
    assert "a.md:3: password: 'Heron42!'" in out


def test_personal_data_can_be_counted_instead(tmp_path: Path, capsys):
    (tmp_path / "a.md").write_text("Write to ann@lakeside.io.\n", "utf-8")
    main([str(tmp_path), "--personal"])
    assert "| 1 | 1 | 1 | 100.0000 % | 1 |" in capsys.readouterr().out


def test_cases_of_detect_secrets_are_read_from_its_tests(tmp_path: Path, capsys):
    (tmp_path / "keyword_test.py").write_text(CASES, "utf-8")
    main(["--cases", str(tmp_path), "--show"])
    out = capsys.readouterr().out
    assert "| keyword | 2 | 1 |" in out
    assert "keyword: missed 'nothing at all'" in out
    assert "flagged" not in out.split("\n\n")[-1]
