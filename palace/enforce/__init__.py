"""The walk itself, and what it hands to a model."""
