"""Gröbner bases and Hilbert series, and what is read off them."""

from __future__ import annotations

from math import comb

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.ring import Ideal, total_degree
from m2bridge.engine import Engine
from m2bridge.ideals.program import ask, tidy
from m2bridge.values import GroebnerBasis, HilbertPolynomial, Matrix, Module


def groebner_basis(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> GroebnerBasis:
    """The reduced Gröbner basis."""
    found = ask("ideal_groebner_basis", {"givenIdeal": ideal}, engine, timeout).ideal("groebner_basis")
    elements = tidy(Ideal(ideal.ring, tuple(g.monic() for g in found.generators))).generators
    source = Module(ideal.ring, tuple((total_degree(element),) for element in elements))
    return GroebnerBasis(Matrix(Module(ideal.ring, ((0,),)), source, (elements,), (0,)))


def hilbert_polynomial(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> HilbertPolynomial:
    """The Hilbert polynomial.

    With h(T) = Σ a_k (1 − T)^k, the series h(T) / (1 − T)^d is Σ a_k / (1 − T)^(d − k), where 1 / (1 − T)^(n + 1) is
    the series of n-dimensional projective space.
    """
    series = hilbert_series(ideal, engine, timeout)
    coefficients = [
        (series.dimension - 1 - k, (-1) ** k * sum(h * comb(i, k) for i, h in enumerate(series.numerator)))
        for k in range(max(series.dimension, 0))
    ]
    return HilbertPolynomial(tuple((n, c) for n, c in reversed(coefficients) if c))


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
