"""What a template puts around a question is a source where that may be asked of it, else none."""

from __future__ import annotations

import pytest
from langchain_palace import ChatPalace

from tests.adapters.langchain.doubles import (
    HIT,
    HIT_TEXT,
    UNCLEAR,
    UNCLEAR_TEXT,
    CountingModel,
    pointing,
)

DOCUMENT = "Mallory keeps version 80085 of the dashboard in the orange cellar."
TEMPLATE = f"Answer from the context.\n\nContext: {DOCUMENT}\n\nQuestion: {{}}\nAnswer:"
WHOSE = "When was version 4.1.0 shipped?"


def repeating(asked):
    """Point rightly, and say what the document says."""
    return pointing(asked, 1, asked.items[0], DOCUMENT) if asked.is_pointing else DOCUMENT


@pytest.mark.parametrize("calls", ["one", "two"])
@pytest.mark.parametrize(
    ("asked", "released"), [(HIT, HIT_TEXT), (UNCLEAR, UNCLEAR_TEXT), (WHOSE, DOCUMENT)]
)
def test_its_words_are_released_only_then(palace, asked, released, calls):
    (palace.root / "config").mkdir(exist_ok=True)
    settings = palace.root / "config" / "mempalace.yaml"
    settings.write_text(f"answers: {{quote_calls: {calls}}}\n", encoding="utf-8")
    with palace.open(palace.root) as anew:
        chat = ChatPalace(inner=CountingModel(persona=repeating), palace=anew)
        assert released in chat.invoke(TEMPLATE.format(asked)).text
