"""What the command line offers to import is what can be imported."""

from __future__ import annotations

from typing import get_args

from palace.learn.formats import FORMATS
from palace.serve.commands_write import ImportFormat


def test_the_command_line_knows_every_format_in_the_same_order() -> None:
    assert get_args(ImportFormat) == FORMATS
