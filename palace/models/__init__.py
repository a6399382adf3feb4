"""Everything that may call a model; all of it optional, and imported when it is used."""
