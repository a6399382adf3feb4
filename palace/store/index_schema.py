"""The tables of the derived index, and the number of their schema.

An index of another number is thrown away and made anew from the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

SCHEMA_VERSION = 31

# Our tokens hold letters, digits and these; nothing may be split again inside the engine.
_TOKENIZER = "ascii tokenchars '!#$%&''()*+,-./:;<=>?@[\\]^_`{|}~'"

# A long list that meets others is read from the beginning of a page: of small ones less is read.
_POSTINGS_PAGE_BYTES = 500
# Every write leaves a segment, and a list is looked up in all of them: four make one, not sixteen.
_POSTINGS_SEGMENTS = 4

Mark = Literal["key", "links", "triggers", "superseded_by", "status", "open"]
"""What marks a memory that is looked for without words: one of its fields, or an open task."""
# A quote inside the words of a memory is escaped, so only a field itself looks so.
MARKED: Mapping[Mark, str] = {
    **{field: f"instr(data, '\"{field}\":') > 0" for field in get_args(Mark)},
    "open": "instr(data, '[ ] ') + instr(data, '\"text\":\"TODO') > 0",
}
_INDEXES = "\n".join(
    f"CREATE INDEX memories_with_{field} ON memories (key) WHERE {condition};"
    for field, condition in MARKED.items()
)

SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('epoch', lower(hex(randomblob(8))));
CREATE TABLE files (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, changed_ns INTEGER NOT NULL, indexed_ns INTEGER NOT NULL,
    written_ns INTEGER NOT NULL, digest TEXT NOT NULL, tags TEXT NOT NULL, room TEXT NOT NULL,
    layer TEXT NOT NULL, active INTEGER NOT NULL, copy_of TEXT NOT NULL
);
CREATE INDEX files_copied ON files (copy_of) WHERE copy_of <> '';
CREATE TABLE partitions (
    number INTEGER PRIMARY KEY, scope TEXT NOT NULL, layer TEXT NOT NULL,
    memories INTEGER NOT NULL, tokens INTEGER NOT NULL, UNIQUE (scope, layer)
);
CREATE TABLE memories (
    key INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, position INTEGER NOT NULL,
    line INTEGER NOT NULL, partition INTEGER, id TEXT NOT NULL, session TEXT NOT NULL,
    valid_from TEXT NOT NULL, valid_to TEXT NOT NULL, body TEXT NOT NULL, context TEXT NOT NULL,
    names TEXT NOT NULL, asks TEXT NOT NULL, data TEXT NOT NULL, passage BLOB NOT NULL,
    kind TEXT NOT NULL, trust TEXT NOT NULL, confidence REAL NOT NULL, importance REAL NOT NULL,
    dated TEXT NOT NULL
);
CREATE INDEX memories_by_id ON memories (id);
CREATE INDEX memories_by_place ON memories (file, position);
{_INDEXES}
CREATE INDEX memories_by_day ON memories (kind, dated) WHERE dated <> '';
CREATE TABLE terms (
    partition INTEGER NOT NULL, term TEXT NOT NULL, body INTEGER NOT NULL, place INTEGER NOT NULL,
    names INTEGER NOT NULL, PRIMARY KEY (partition, term)
) WITHOUT ROWID;
CREATE TABLE uses (
    id TEXT PRIMARY KEY, uses INTEGER NOT NULL, said_again INTEGER NOT NULL,
    helpful INTEGER NOT NULL, unhelpful INTEGER NOT NULL, last TEXT NOT NULL
) WITHOUT ROWID;
CREATE VIRTUAL TABLE postings USING fts5(
    words, content='', detail=none, columnsize=0, tokenize="{_TOKENIZER}"
);
INSERT INTO postings (postings, rank) VALUES ('pgsz', {_POSTINGS_PAGE_BYTES});
INSERT INTO postings (postings, rank) VALUES ('crisismerge', {_POSTINGS_SEGMENTS});
"""
STATEMENTS = tuple(filter(None, map(str.strip, SCHEMA.split(";\n"))))
CREATED = frozenset(statement for statement in STATEMENTS if statement.startswith("CREATE"))
"""What SQLite tells of a whole index, word for word."""
