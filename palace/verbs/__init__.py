"""The verbs of a palace, by what they are for; `Mempalace` has them all."""
