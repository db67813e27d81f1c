"""One file per computation: from a case to a frozen result."""
