"""The polar degrees of a case by the theorem, once more, and the loci that it rests on."""

from math import comb
from typing import Any

from m2bridge.certificates.schema import Certificate, Content, Difference
from m2bridge.checker.algebra import rank
from m2bridge.errors import ContradictionError, TooExpensiveError
from m2bridge.families.attention.checker import case as cases
from m2bridge.families.attention.checker.case import Case, Orbit
from m2bridge.families.attention.checker.integrals import polar_degrees
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
