"""The room results."""
