"""Where memory rests: Markdown, the derived index, the scratchpad and the journal."""
