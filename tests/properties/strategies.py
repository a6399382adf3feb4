"""What the property tests draw from: hostile text, Markdown-like files, names, turns."""

from __future__ import annotations

from datetime import datetime, timezone

from hypothesis import strategies as st

from palace.types.session import ConversationTurn

PIECES = (
    "- ", "* ", "+ ", "1. ", "7) ", "  ", "    ", "\t", "# ", "## ", "#tag ", "> ", "| a | b |", "|---|",
    "```", "````", "~~~", "`", "```sh", "---", "***", "===", "- - -", "...", "--", "-", "<!--", "-->",
    "<!-- note -->", "<!-- memory", "<!-- memory id=m-1 kind=fact -->", "<!-- memory id=m-1 -->",
    "\\<!-- memory x -->", "\\", "[ ] ", "[x] ", "[[a/b]]", "[[", "]]", "[[x|y]]",
    "[2026-05-07 14:30] ", "[2026-99-07 14:30] ", "Alice: ", "user: ", "**b**: ", ": ", ":", "title: x",
    "• ", "☐ ", "key:: value", "-----", "2026-05-04", "4 May 2026", "4. Mai 2026", "word", "a b", "é", "語", "\u200b", "\u2028", "\x0b", "\x85", "\u00a0", "\ufeff", "\x00", '"', "=", "'",
)  # fmt: skip
LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n\n\n")

arbitrary_text = st.text(max_size=200)

markdown_text = st.lists(
    st.one_of(st.sampled_from(PIECES), st.sampled_from(LINE_ENDS), st.text(max_size=6)), max_size=40
).map("".join)

any_text = st.one_of(arbitrary_text, markdown_text)

file_bytes = st.one_of(
    st.binary(max_size=200),
    markdown_text.map(lambda text: text.encode("utf-8", "replace")),
    st.lists(
        st.one_of(st.binary(max_size=4), markdown_text.map(lambda t: t.encode("utf-8", "replace")))
    ).map(b"".join),
)

labels = st.one_of(
    st.sampled_from(
        ["", "user", "Alice", "Deployed V2", "a b", "alice", "李", "A B C D E", "#", "x #"]
    ),
    st.text(max_size=50),
)

moments = st.datetimes(
    min_value=datetime(2020, 1, 1), max_value=datetime(2020, 1, 3), timezones=st.just(timezone.utc)
)

turns = st.builds(
    ConversationTurn,
    session=labels,
    speaker=labels,
    text=any_text,
    at=moments,
    provenance=st.sampled_from(["", "chat", "a -- b"]),
)

field_text = st.one_of(st.text(min_size=1, max_size=30), markdown_text.filter(bool))
