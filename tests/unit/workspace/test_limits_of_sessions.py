"""Limits of ``Macaulay2()``: by ``Limits``, or by keywords of their names."""

import inspect

import pytest

from m2bridge import InvalidCaseError, Limits, Macaulay2


def test_limits_by_keywords() -> None:
    assert Macaulay2(timeout=5, memory="1G").limits == Limits(5, 2**30)
    assert Macaulay2(timeout=5).limits == Limits(5)
    assert Macaulay2().limits == Limits()
    assert list(inspect.signature(Macaulay2).parameters)[:2] == ["program", "limits"]


def test_limits_are_given_once() -> None:
    with pytest.raises(InvalidCaseError, match="'limits' excludes timeout and memory"):
        Macaulay2(limits=Limits(), timeout=5)
    with pytest.raises(InvalidCaseError, match="'memory' must be bytes"):
        Macaulay2(memory="much")
