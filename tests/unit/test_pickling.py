"""Results can be pickled and copied, with SymPy's polynomials and python-flint's numbers in them."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import flint
import pytest
import sympy

from m2bridge import ideal
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.workspace.values import Factorization, GroebnerBasis, Matrix, Module, QuotientRing, RingElement

LEX, U, V = sympy.ring("u,v", sympy.ZZ, "lex")
RING = PolynomialRing(QQ, ("x", "y"))
X, Y = RING.sympy_ring.gens
ODD = PolynomialRing(CoefficientField(32003), ("x",))
ROW = Matrix(Module(RING, ((0,),)), Module(RING, ((1,), (1,))), ((X, Y),), (0,))

RESULTS = [
    RING.sympy_ring,
    LEX,
    X**2 - Y / 3,
    RING.sympy_ring.zero,
    U * V - 7,
    ODD.sympy_ring.gens[0] - 5,
    flint.nmod(3, 7),
    ideal("x^2 - y^3"),
    ideal("x^2 + 1", field=CoefficientField(7)),
    Factorization(((X - Y, 1), (X + Y, 2))),
    GroebnerBasis(ROW),
    QuotientRing(RING, (X * Y,)),
    RingElement(QuotientRing(RING, (X * Y,)), (((1, 0), 1),)),
]


@pytest.mark.parametrize("again", [lambda v: pickle.loads(pickle.dumps(v)), copy.deepcopy, copy.copy])
@pytest.mark.parametrize("value", RESULTS, ids=str)
def test_results_are_the_same_afterwards(value: Any, again: Callable[[Any], Any]) -> None:
    found = again(value)
    assert found == value
    assert type(found) is type(value)
    assert str(found) == str(value)


def test_polynomials_can_be_computed_with_afterwards() -> None:
    for x in (X, U, ODD.sympy_ring.gens[0]):
        assert pickle.loads(pickle.dumps(x)) + x == 2 * x
