"""Frozen values that travel through the program, by what they are about."""
