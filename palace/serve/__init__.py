"""Doors: they translate between the outside and the facade and hold no logic."""
