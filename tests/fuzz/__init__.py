"""Random inputs, seeded: a short run with the tests, a long one by ``python -m tests.fuzz``."""
