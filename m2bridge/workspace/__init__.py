"""The room workspace."""
