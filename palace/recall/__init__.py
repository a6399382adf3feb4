"""From a question to hits: detection, search, scoring and sufficiency."""
