"""Polar degrees by counting points in slices: linear algebra modulo a prime, and no theorem about
their values.

For d = 2 weights are points of a product Y of projective spaces, of (A, V), or of (k, q, V) with A
= k qᵀ for α = 1. A coordinate of a function is a multilinear form on Y. δ_i is the number of points
of Y on i general hyperplanes at which one of the hyperplanes of a general linear space L of
dimension i + 1 is tangent: where the derivatives along Y of the i + 2 forms that span L are
dependent. So it is the length of the cokernel of the matrix of these derivatives over the section,
which is its dimension in a large multidegree (docs/polar-degrees.md#proposition-slices).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations_with_replacement, product
from random import Random
from typing import Any

import flint

from m2bridge.families.attention.checker.case import Case

PRIME = 2**31 - 1
Monomial = tuple[tuple[int, ...], ...]  # for each factor of Y its variables, in increasing order
# a multilinear form: one variable of each factor, and the coefficient
Form = dict[tuple[int, ...], int]

DEGREES: dict[tuple[int, int], tuple[int, ...]] = {
    (1, 2): (2, 2),
    (2, 1): (4, 4, 2),
    (2, 2): (2, 4),
}
"""For d = 2, by (d', α): a multidegree from which on the dimension is the length."""


def counted_polar_degrees(case: Case) -> list[int | None] | None:
    """δ_n, …, δ_0; ``None`` where nothing is counted."""
    if case.d != 2 or (case.d_out, case.alpha) not in DEGREES:
        return None
    return list(counted(case.d_out, case.alpha, DEGREES[case.d_out, case.alpha]))


@cache
def counted(d_out: int, alpha: int, degree: tuple[int, ...]) -> tuple[int, ...]:
    """All of them, for d = 2, in this multidegree."""
    sizes = (2, 2, 2 * d_out) if alpha == 1 else (4, 2 * d_out)
    n = sum(sizes) - len(sizes)
    return tuple(_number_of_points(sizes, alpha, i, degree) for i in range(n, -1, -1))


def _number_of_points(
    sizes: Sequence[int], alpha: int, hyperplanes: int, degree: tuple[int, ...]
) -> int:
    """The dimension of the cokernel in a multidegree, for so many hyperplanes."""
    n = sum(sizes) - len(sizes)
    random = Random(hyperplanes)
    equations = [_general_form(sizes, alpha, random) for _ in range(hyperplanes)]
    tangent = [_general_form(sizes, alpha, random) for _ in range(hyperplanes + 2)]
    place = {monomial: j for j, monomial in enumerate(_monomials(sizes, degree))}
    modulo = _modulo_equations(sizes, degree, equations, place)
    functions = int(modulo.ncols())
    if hyperplanes == n or functions == 0:
        # finitely many points, at each of which n + 2 vectors of n + 1 entries are dependent
        return functions
    # Column (j, f) of the relations: the function f as coefficient of the j-th of the forms that
    # span L.
    blocks = [(_derivatives(form, sizes, degree, place) * modulo).entries() for form in tangent]
    count = len(blocks[0]) // functions
    entries = []
    for row in range(count):
        for block in blocks:
            entries += [int(x) for x in block[row * functions : (row + 1) * functions]]
    relations = flint.nmod_mat(count, len(tangent) * functions, entries, PRIME)
    return len(tangent) * functions - int(relations.rank())


def _general_form(sizes: Sequence[int], alpha: int, random: Random) -> Form:
    """A random combination of the coordinates c_{k,i,p,q} = A_pi V_kq + A_qi V_kp, p < q, and A_pi
    V_kp.
    """
    form: Form = {}
    for k, i, (p, q) in product(
        range(sizes[-1] // 2), range(2), combinations_with_replacement(range(2), 2)
    ):
        coefficient = random.randrange(1, PRIME)
        for row, column in {(p, q), (q, p)}:
            of_A = (row, i) if alpha == 1 else (2 * row + i,)
            form[*of_A, 2 * k + column] = coefficient
    return form


def _monomials(sizes: Sequence[int], degree: Sequence[int]) -> list[Monomial]:
    """The monomials of a multidegree."""
    return list(
        product(
            *(
                combinations_with_replacement(range(s), e)
                for s, e in zip(sizes, degree, strict=True)
            )
        )
    )


def _times(monomial: Monomial, variables: Sequence[int | None]) -> Monomial:
    """The product with one variable of each factor, or none of it."""
    pairs = zip(monomial, variables, strict=True)
    return tuple(part if new is None else tuple(sorted((*part, new))) for part, new in pairs)


def _modulo_equations(
    sizes: Sequence[int],
    degree: Sequence[int],
    equations: Sequence[Form],
    place: Mapping[Monomial, int],
) -> Any:
    """The matrix of the projection to functions of a multidegree on the section: a row for each
    monomial.
    """
    smaller = _monomials(sizes, [e - 1 for e in degree])
    multiples = flint.nmod_mat(max(1, len(equations) * len(smaller)), len(place), PRIME)
    for row, (form, monomial) in enumerate(product(equations, smaller)):
        for variables, coefficient in form.items():
            multiples[row, place[_times(monomial, variables)]] = coefficient
    reduced, rank = multiples.rref()
    leading: list[int] = []
    for row in range(rank):
        column = leading[-1] + 1 if leading else 0
        while int(reduced[row, column]) == 0:
            column += 1
        leading.append(column)
    others = [column for column in range(len(place)) if column not in set(leading)]
    modulo = flint.nmod_mat(len(place), len(others), PRIME)
    for position, column in enumerate(others):
        modulo[column, position] = 1
        for row, first in enumerate(leading):
            modulo[first, position] = -int(reduced[row, column])
    return modulo


def _derivatives(
    form: Form, sizes: Sequence[int], degree: Sequence[int], place: Mapping[Monomial, int]
) -> Any:
    """The multiples in a multidegree of the derivatives of a form, which lack one variable: a row
    for each.
    """
    rows: list[dict[int, int]] = []
    for factor, size in enumerate(sizes):
        rest = _monomials(sizes, [e - (other != factor) for other, e in enumerate(degree)])
        for variable in range(size):
            terms = [(list(at), c) for at, c in form.items() if at[factor] == variable]
            for monomial in rest:
                row: dict[int, int] = {}
                for at, coefficient in terms:
                    variables = [None if other == factor else x for other, x in enumerate(at)]
                    row[place[_times(monomial, variables)]] = coefficient
                rows.append(row)
    matrix = flint.nmod_mat(len(rows), len(place), PRIME)
    for number, row in enumerate(rows):
        for column, coefficient in row.items():
            matrix[number, column] = coefficient
    return matrix
