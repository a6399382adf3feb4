"""Measurements: fits, recall quality, honesty and speed, on data given by path."""
