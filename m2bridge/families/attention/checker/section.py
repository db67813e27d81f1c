"""The degree of the closure, by the points of a linear section that is solved completely.

With A(T) = Σ A_pi T^(p+di) and V(T) = Σ V_kq T^(q+dk) the sum of the coordinates c_{k,i,p,q} with p + q + d(i + k) = e is the
coefficient of T^e in A(T) V(T). So for F of degree M = (d² − 1) + (dd' − 1) with F(0) = 1 and simple roots, that all these sums
are F_e times c_{0,0,0,0} is a linear section of the right codimension, which says that A(T) V(T) is a multiple of F. Its
points are the ways to distribute the roots: d² − 1 to A(T), the others to V(T). They are reduced, since A(T) and V(T) have
no common root, so (A', V') with A'V + AV' = 0 is a multiple of (A, −V). For α = 1 the source is that of A = k qᵀ, with
k(T) = Σ k_p T^p, q(T) = Σ q_i T^i, V(T) as before and p + q + i + dk = e: three factors, of degrees d − 1, d − 1, dd' − 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import factorial, prod

import flint

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker.case import Case, function

MOST_POINTS = 1500


def is_counted(case: Case) -> bool:
    """Whether the section is solved: for α = 1 or d, where it has at most :data:`MOST_POINTS` points."""
    if 1 < case.alpha < case.d:
        return False
    degrees = _degrees(case)
    small = sum(degrees) - max(degrees) < MOST_POINTS.bit_length() - 1
    return small and factorial(sum(degrees)) <= MOST_POINTS * prod(map(factorial, degrees))


def degree(case: Case, generic_length: int) -> int | None:
    """Of the closure: the number of points of the section, divided by the length of the generic fibre."""
    if not is_counted(case):
        return None
    roots = tuple(range(1, sum(_degrees(case)) + 1))
    whole = [int(x) for x in _polynomial(roots).coeffs()]
    points = {tuple(tuple(map(int, f.coeffs())) for f in found) for found in _factors(roots, _degrees(case))}
    if not all(_sums(point, case) == whole for point in points) or len(points) % generic_length:
        raise ContradictionError(f"a linear section for {case} has {len(points)} points, or other equations")
    return len(points) // generic_length


def _degrees(case: Case) -> tuple[int, ...]:
    return (*((case.d - 1, case.d - 1) if case.alpha == 1 else (case.d**2 - 1,)), case.d * case.d_out - 1)


def _polynomial(roots: Sequence[int]) -> flint.fmpz_poly:
    """Π (1 − a T) over the a, the reciprocals of its roots."""
    return prod((flint.fmpz_poly([1, -a]) for a in roots), start=flint.fmpz_poly([1]))


def _factors(roots: Sequence[int], degrees: Sequence[int]) -> Iterator[list[flint.fmpz_poly]]:
    """All ways to distribute roots to factors of these degrees."""
    if len(degrees) == 1:
        yield [_polynomial(roots)]
        return
    for chosen in combinations(roots, degrees[0]):
        first = _polynomial(chosen)
        for rest in _factors([a for a in roots if a not in chosen], degrees[1:]):
            yield [first, *rest]


def _sums(point: Sequence[Sequence[int]], case: Case) -> list[int]:
    """The sums of coordinates of the weights with these factors, for e = 0, 1, …"""
    *first, last = point
    d, step = case.d, 1 if case.alpha == 1 else case.d
    if case.alpha == 1:
        A = {(p, i): x * y for p, x in enumerate(first[0]) for i, y in enumerate(first[1])}
    else:
        A = {(n % d, n // d): x for n, x in enumerate(first[0])}
    sums = [0] * (sum(_degrees(case)) + 1)
    for (k, i, p, q), value in function(A, {divmod(n, d): x for n, x in enumerate(last)}).items():
        sums[p + q + step * i + d * k] += value
    return sums
