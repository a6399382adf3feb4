"""How memory grows and stays right: every write goes through here."""
