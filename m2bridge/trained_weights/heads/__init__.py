"""One head at a time: its exact ranks, its type, and how near it is to lower ranks."""
