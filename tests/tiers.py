"""Fast tests and slow ones: which run, and how many examples of a law.

Slow tests are left out unless ``-m`` says otherwise: ``-m slow`` runs them, ``-m ""`` runs all. A
law, which Hypothesis tries with random values, is in both tiers: with ten examples among the fast
tests, with all its examples among the slow ones.
"""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

FAST = "not slow"
"""The expression after ``-m`` that leaves out slow tests, as the one of ``pyproject.toml``."""

TEN = "ten examples"
"""The profile of Hypothesis for the fast tests."""


def examples(number: int) -> int:
    """Return how many examples a law that wants so many gets, at most ten among fast tests."""
    return min(number, 10) if settings.get_current_profile_name() == TEN else number


def slow(*values: Any) -> Any:
    """Return the values of the parameters of a test, which is slow with them."""
    return pytest.param(*values, marks=pytest.mark.slow)


def few(values: Iterable[Any], number: int, *, rows: bool = False) -> list[Any]:
    """Return values for a parameter of a test: at most so many are fast, the others slow.

    The fast ones are spread over all of them. With ``rows`` each one is a tuple of the values of
    several parameters.
    """
    listed = [value if rows else (value,) for value in values]
    step = -(-len(listed) // number)
    return [
        pytest.param(*row) if place % step == 0 else slow(*row) for place, row in enumerate(listed)
    ]
