"""Polar degrees once more, by localization at the torus-fixed points of the whole
desingularization, and the loci.

A fixed point is a coordinate subspace W of dimension α, a line e_i ⊗ e_k with e_i in W, and a
coordinate line of V. There c_j(T) is a symmetric function of the tangent weights, and H is minus
the sum of the weights of both lines.
"""

from collections.abc import Iterator
from itertools import combinations, product
from math import comb, prod
from typing import Any

import flint

from m2bridge.certificates.schema import Certificate, Content, Difference
from m2bridge.checker.algebra import rank
from m2bridge.errors import ContradictionError, TooExpensiveError
from m2bridge.families.attention.checker import case as cases
from m2bridge.families.attention.checker.case import Case, Orbit
from m2bridge.families.attention.checker.statements import WORDS

MOST_STEPS = 10**8


def polar(certificate: Certificate) -> Content | Difference:
    """The polar degrees of a case, and the loci that they rest on; TooExpensiveError for too many
    fixed points.
    """
    case = Case(**certificate.case)
    case = Case(case.d, case.d_out, case.alpha, min(case.t, 2))  # the same functions
    if case.t == 1 or case.alpha == case.d_out == 1 or case.d == 1:
        return Difference("case", str(certificate.case), "a case to which the theorem applies")
    n = case.alpha * (2 * case.d - case.alpha) + case.d * case.d_out - 2
    steps = comb(min(case.d, 99), case.alpha) * case.alpha * case.d**2 * case.d_out * n**2
    steps += (
        case.alpha
        * min(case.d, case.d_out)
        * case.coordinate_count
        * case.d
        * (case.d + case.d_out)
    )
    if case.d > 99 or steps > MOST_STEPS:
        raise TooExpensiveError("case", f"localization takes {steps:.0e} steps")
    degrees = polar_degrees(case, n)
    defect = next(i for i, value in enumerate(degrees) if value)
    loci = [locus(orbit, case, n) for orbit in cases.orbits(case)]
    generic = max(cases.orbits(case), key=lambda orbit: cases.orbit_dimension(orbit, case))
    points = len(cases.fibre(generic, case)[1])
    if points != 1 or any(one["kernel_at_most"] >= (one["codimension"] or 1) for one in loci):
        raise ContradictionError(f"the theorem does not apply to {case}")
    answer = {
        "polar_degrees": degrees[::-1],
        "generic_ed_degree": sum(degrees),
        "dual_degree": degrees[defect],
    }
    answer |= {"dual_dimension": case.coordinate_count - 2 - defect}
    evidence = {"loci": loci, "generic_fibre_points": points}
    return Content(
        answer, evidence, tuple(WORDS.lemmas[lemma] for lemma in WORDS.closure["polar-observed"])
    )


def polar_degrees(case: Case, n: int) -> list[int]:
    """δ_0, …, δ_n: δ_i = Σ_j (−1)^j C(n + 1 − j, i + 1) ∫ c_j(T) H^{n−j}."""
    integrals = [flint.fmpq(0)] * (n + 1)
    for hyperplane, tangents in fixed_points(case):
        chern = prod(
            (flint.fmpz_poly([1, weight]) for weight in tangents), start=flint.fmpz_poly([1])
        )
        euler = prod(tangents)
        integrals = [
            x + flint.fmpq(chern[j] * hyperplane ** (n - j), euler) for j, x in enumerate(integrals)
        ]
    if any(x.q != 1 for x in integrals):
        raise ContradictionError(f"localization for {case} gives fractions")
    values = [int(x.p) for x in integrals]
    return [
        sum((-1) ** j * comb(n + 1 - j, i + 1) * values[j] for j in range(n - i + 1))
        for i in range(n + 1)
    ]


def fixed_points(case: Case) -> Iterator[tuple[int, list[int]]]:
    """H and the weights of the tangent space; e_i ⊗ e_k has weight d i² + k + 1, the lines of V
    have squares.
    """
    d, lines = case.d, [j**2 for j in range(case.d * case.d_out)]
    for chosen in combinations(range(d), case.alpha):
        moves = [d * (b**2 - a**2) for a in chosen for b in range(d) if b not in chosen]
        weights = [d * i**2 + k + 1 for i in chosen for k in range(d)]
        for w, v in product(weights, lines):
            yield (
                -w - v,
                [*moves, *(x - w for x in weights if x != w), *(x - v for x in lines if x != v)],
            )


def locus(orbit: Orbit, case: Case, n: int) -> dict[str, Any]:
    """The codimension of the points over an orbit, and a bound for the kernel of the differential
    there.
    """
    subspaces = (case.alpha - orbit[0]) * (case.d - case.alpha)
    source = (n + 2 if orbit[0] == case.alpha else case.d**2 + case.d * case.d_out) - 1
    images = cases.differential(cases.representative(orbit), orbit, case)
    codimension = n + 1 - cases.orbit_dimension(orbit, case) - subspaces
    kernel = source - rank(images) + subspaces
    return {"orbit": list(orbit), "codimension": codimension, "kernel_at_most": kernel}
