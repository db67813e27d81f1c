"""The room pictures."""
