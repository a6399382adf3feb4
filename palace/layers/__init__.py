"""The layers of the walk: each gathers evidence for one question and reports."""
