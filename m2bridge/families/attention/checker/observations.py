"""All that is said about a case with t ≥ 2 and its orbits, from scratch; the same for all such t and all a ≥ d.

The degree is counted by a linear section that is solved completely. With A(T) = Σ A_pi T^(p+di) and V(T) = Σ V_kq T^(q+dk) the
sum of the c_{k,i,p,q} with p + q + d(i + k) = e is the coefficient of T^e in A(T) V(T). So for F of degree (d² − 1) + (dd' − 1)
with simple roots and F(0) = 1, that these sums are F_e times c_{0,0,0,0} is a linear section of the right codimension; it says
that A(T) V(T) is a multiple of F. Its points are the ways to distribute the roots. They are reduced: A(T) and V(T) have no
common root, so (A', V') with A'V + AV' = 0 is a multiple of (A, −V). For α = 1 the source is that of A = k qᵀ, with
k(T) = Σ k_p T^p, q(T) = Σ q_i T^i, V(T) as before and p + q + i + dk = e: three factors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations, product
from math import comb, prod
from typing import Any

import flint

from m2bridge.certificate.difference import Difference, difference
from m2bridge.checker.algebra import ring
from m2bridge.errors import ContradictionError, TooExpensiveError
from m2bridge.families.attention.checker import orbits as at
from m2bridge.families.attention.checker.case import Case, Orbit, function, orbits

MOST_POINTS = 1500
"""Sections with more points are not solved."""
MOST_STEPS = 10**9
"""Orbits times squares of the number of weights."""


@lru_cache(maxsize=256)
def observe(d: int, d_out: int, alpha: int) -> tuple[dict[str, Any], dict[Orbit, list[at.Pair]]]:
    """The evidence about a case with t ≥ 2, and for each orbit the points (A, V) of its fibre."""
    case = Case(d, d_out, alpha, 2)
    fibres = {orbit: at.fibre(orbit, case) for orbit in orbits(case)}
    bounds = {orbit: at.tangent_bound(orbit, points, case) for orbit, (_, points) in fibres.items()}
    generic = max(fibres, key=lambda orbit: at.dimension(orbit, case))
    (length, points), dimension = fibres[generic], at.dimension(generic, case)
    if bounds[generic] != dimension:
        raise ContradictionError(f"the dense orbit of {case} has dimension {dimension}, but another tangent space")
    evidence = {
        "dimension": dimension,
        "degree": _degree(case, length) if is_counted(case) else None,
        "base_locus_empty": base_locus_is_empty(),
        "products_determine_functions": products_determine_functions(),
        "boundary_family": d > 1 and boundary_family(),
        "generic_fibre": {"length": length, "points": len(points)},
        "orbits": [_facts(orbit, case, *fibres[orbit], bounds, dimension, length == 1) for orbit in fibres],
    }
    return evidence, {orbit: points for orbit, (_, points) in fibres.items()}


def _facts(
    orbit: Orbit, case: Case, length: int, points: Any, bounds: Mapping[Orbit, int], dimension: int, birational: bool
) -> dict[str, Any]:
    """About one orbit. Where the generic fibre is one reduced point, fibres decide smoothness (a lemma)."""
    (r, s, m), smooth = orbit, at.source_is_smooth(orbit, case)
    above = [(R, S, M) for R, S, M in bounds if r <= R and s <= S and r + s - m <= R + S - M]  # closures contain it
    witness = max(above, key=lambda o: (bounds[o], o == orbit, o))
    many = True if bounds[witness] > dimension else None
    singular = many if not birational else True if length > 1 else False if smooth else many
    critical, reduced = at.is_critical(orbit, case), length == len(points)
    if critical == reduced or (singular is False and many):
        raise ContradictionError(f"at orbit {orbit} of {case} fibre, differential and tangent vectors disagree")
    return {
        **{"orbit": list(orbit), "dimension": at.dimension(orbit, case), "source_smooth": smooth},
        **{"fibre_length": length, "fibre_points": len(points), "boundary": not reduced, "critical": critical},
        **{"singular": singular, "tangent_lower_bound": bounds[witness], "tangent_witness": list(witness)},
    }


def unpaid(evidence: Mapping[str, Any], case: Case) -> Difference | None:
    """Whether evidence lacks facts about all the orbits that it asks to be computed; TooExpensiveError for too many."""
    stored = evidence.get("orbits")
    listed: list[Any] = stored if isinstance(stored, list) else []
    pairs = case.alpha * min(case.d, case.d_out)  # each pair (r, s) has an orbit
    if len(listed) < pairs:
        return Difference("evidence.orbits", f"{len(listed)} orbits", f"at least {pairs} orbits")
    if (steps := len(listed) * (case.d * (case.d + case.d_out)) ** 2) > MOST_STEPS:
        raise TooExpensiveError("case", f"fibres and ranks at {len(listed)} orbits take {steps:.0e} steps")
    facts = observe(1, 1, 1)[0]["orbits"][0].keys()
    wrong = (i for i, given in enumerate(listed) if not (isinstance(given, dict) and given.keys() == facts))
    if (i := next(wrong, None)) is not None:
        return Difference(f"evidence.orbits[{i}]", f"{listed[i]!r:.80}", "facts about an orbit")
    return difference(len(listed), len(orbits(case)), "number of orbits")


def is_counted(case: Case) -> bool:
    """Whether the section is solved: for α = 1 or d, where it has at most :data:`MOST_POINTS` points."""
    degrees = _degrees(case)
    ways = prod(comb(sum(degrees[j:]), n) for j, n in enumerate(degrees))
    return case.alpha in (1, case.d) and ways <= MOST_POINTS


def _degrees(case: Case) -> tuple[int, ...]:
    return (*((case.d - 1, case.d - 1) if case.alpha == 1 else (case.d**2 - 1,)), case.d * case.d_out - 1)


def _degree(case: Case, generic_length: int) -> int:
    """The number of points of the section, divided by the length of the generic fibre."""
    roots = range(1, sum(_degrees(case)) + 1)
    whole, points = _polynomial(roots), set(_factors(roots, _degrees(case)))
    if any(_sums(point, case) != whole for point in points) or len(points) % generic_length:
        raise ContradictionError(f"a linear section for {case} has {len(points)} points, or other equations")
    return len(points) // generic_length


def _polynomial(roots: Sequence[int]) -> tuple[int, ...]:
    """The coefficients of Π (1 − a T), which has the roots 1/a."""
    return tuple(map(int, prod((flint.fmpz_poly([1, -a]) for a in roots), start=flint.fmpz_poly([1])).coeffs()))


def _factors(roots: Sequence[int], degrees: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All ways to distribute roots to factors of these degrees."""
    if not degrees:
        yield ()
    for chosen in combinations(roots, degrees[0]) if degrees else ():
        for rest in _factors([a for a in roots if a not in chosen], degrees[1:]):
            yield _polynomial(chosen), *rest


def _sums(point: Sequence[Sequence[int]], case: Case) -> tuple[int, ...]:
    """The sums of coordinates of the weights with these factors, for e = 0, 1, …"""
    (*first, last), d, step = point, case.d, 1 if case.alpha == 1 else case.d
    A = {(n % d, n // d): x for n, x in enumerate(first[0])}
    if len(first) == 2:
        A = {(p, i): x * y for p, x in enumerate(first[0]) for i, y in enumerate(first[1])}
    sums = [0] * (sum(_degrees(case)) + 1)
    for (k, i, p, q), value in function(A, {divmod(n, d): x for n, x in enumerate(last)}).items():
        sums[p + q + step * i + d * k] += value
    return tuple(sums)


@cache
def base_locus_is_empty() -> bool:
    """Whether φ(A, V) = 0 implies A = 0 or V = 0: x = l_p v_q satisfies x² − c_pq x + c_pp c_qq = 0."""
    lp, lq, vp, vq = ring(4).gens()
    return bool(((lp * vq) ** 2 - (lp * vq + lq * vp) * (lp * vq) + (lp * vp) * (lq * vq)).is_zero())


@cache
def boundary_family() -> bool:
    """Whether the functions of l_1 = y_1 + iεy_2 and v_1 = y_1 − iεy_2 are boundary points that tend to (1, 1, 1).

    The coordinates of l_1 v_1 = y_1² + ε²y_2² are real and tend to those of the representative. V_12 of all weights of this
    function is a root of t² + ε², so they are not real for ε ≠ 0.
    """
    i, e = ring(2).gens()
    return bool((i * e) + (-i * e) == 0 and (i * e) * (-i * e) - e**2 == -(i**2 + 1) * e**2)


@cache
def products_determine_functions() -> bool:
    """Whether coefficients of an output token are sums of the coefficients of products l_i·v, and these among them.

    (xᵀAx)(v·x) + (yᵀAx)(v·y) has at x_i y_p y_q the coefficient of y_p y_q in l_i·v, and at three entries of x the sum of
    those for all places of i. Outputs have rows v of their own, each summand has one other token y, and forms with
    other sets of three indices no monomials in common: three indices decide all d.
    """
    alone, products, sums = Counter[Any](), Counter[Any](), Counter[Any]()
    for p, i, q in product(range(3), repeat=3):  # A_pi v_q
        alone[tuple(sorted((p, i, q))), (p, i, q)] += 1
        products[i, (min(p, q), max(p, q)), (p, i, q)] += 1
    for (i, pair, entry), c in products.items():
        sums[tuple(sorted((i, *pair))), entry] += c
    return sums == alone
