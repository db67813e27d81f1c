"""Gröbner bases and Hilbert series, and what is read off them."""

from __future__ import annotations

from sympy import Expr
from sympy.polys.rings import PolyElement

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.ring import Ideal
from m2bridge.engine import Engine
from m2bridge.ideals.program import ask, tidy


def groebner_basis(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> tuple[PolyElement, ...]:
    """The reduced Gröbner basis."""
    answer = ask("ideal_groebner_basis", {"givenIdeal": ideal}, engine, timeout)
    return tidy(Ideal(ideal.ring, tuple(g.monic() for g in answer.ideal("groebner_basis").generators))).generators


def hilbert_polynomial(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> Expr:
    """The Hilbert polynomial."""
    return hilbert_series(ideal, engine, timeout).polynomial


def hilbert_series(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> HilbertSeries:
    """The Hilbert series of the quotient, or of its ring of leading forms where the ideal is not homogeneous."""
    answer = ask("ideal_invariants", {"givenIdeal": ideal}, engine, timeout, libraries=("wire", "invariants"))
    return HilbertSeries.from_numerator(answer.integer_pairs("hilbert_numerator"), len(ideal.ring.variables))


def dimension(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> int:
    """The Krull dimension of the quotient."""
    return hilbert_series(ideal, engine, timeout).dimension


def codimension(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> int:
    """The number of variables less the dimension."""
    return len(ideal.ring.variables) - dimension(ideal, engine, timeout)


def degree(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> int:
    """The degree."""
    return hilbert_series(ideal, engine, timeout).degree
