"""The polar degrees of a case by the theorem, recomputed, and the loci that it relies on.

Rests on: if the parametrization is birational, and its differential on the desingularization has a
kernel that is zero or of smaller dimension than the codimension, over every orbit, then the polar
degrees are integrals (docs/polar-degrees.md, theorem-polar).
Proved in: docs/polar-degrees.md.
Computed here: the points of the general fibre; the codimension and a bound for the kernel over each
orbit, by a rank; the integrals, by localization (integrals.py).
On trust: the lemmas that a certificate lists.

Notation. Weights (A, V), a d × d matrix A of rank at most α and a d' × d matrix V, the map f from
weights to functions, and orbits of functions (r, s, m), with r = rk A, are as in case.py; Y, W and
the polar degrees δ_0, …, δ_n as in integrals.py. Y is the desingularization of the source,
the set of all (W, A, V) where W is a subspace of dimension α that contains the columns of A, and
the parametrization on it is f. N + 1 is the number of coordinates. Over an orbit there are the
(W, A, V) with (A, V) in it; the codimension is the one of all these points in Y, and the kernel
is the kernel of the differential of f on Y at one of them.

A Content is what a certificate should have, as it is found here: the answer, the evidence, and the
lemmas that are taken on trust, which WORDS has by their keys. A Difference says where what is
stored differs: a place, what stands there, what was found.
"""

from typing import Any

from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.checker.algebra import rank
from m2bridge.errors import ContradictionError, TooExpensiveError
from m2bridge.families.attention.checker import case as cases
from m2bridge.families.attention.checker.case import Case, Orbit
from m2bridge.families.attention.checker.evidence import differential, fibre
from m2bridge.families.attention.checker.integrals import (
    FIRST_REFUSED_D,
    localization_steps,
    polar_degrees,
)
from m2bridge.families.attention.checker.statements import WORDS

MAX_POLAR_STEPS = 10**8
"""The most steps of localization and of ranks: a minute."""


def polar(certificate: Certificate) -> Content | Difference:
    """The content of a certificate on polar degrees: the numbers, and the loci that they rest on.

    A difference for a case that the theorem is not about; ContradictionError if the general fibre
    or a kernel is not as the theorem supposes; TooExpensiveError for too many steps.
    """
    case = Case(**certificate.case).with_fewest_weights()
    if case.t == 1 or case.d == 1:  # theorem-polar supposes two tokens and d ≥ 2
        return Difference("case", str(certificate.case), "a case to which the theorem applies")
    # at each orbit the rank of a matrix, (coordinates) × (tangent vectors), is taken; each pair
    # (r, s) counts as one orbit
    rank_pairs = case.alpha * min(case.d, case.d_out)
    matrix_entries = case.coordinate_count * case.d * (case.d + case.d_out)
    steps = localization_steps(case) + rank_pairs * matrix_entries
    # from FIRST_REFUSED_D on the number of steps is not computed, and says nothing
    if case.d >= FIRST_REFUSED_D or steps > MAX_POLAR_STEPS:
        raise TooExpensiveError("case", f"localization takes {steps:.0e} steps")
    degrees = polar_degrees(case)
    if case.is_of_symmetric_matrices:
        # tangent spaces are a bundle on all of Y, so no kernel has to be bounded at any orbit
        loci = []
        supposed_points = 2  # of the general fibre: A = k qᵀ, V = vᵀ, and k and v exchanged
        lemmas = WORDS.closure["polar-symmetric"]
    else:
        loci = [facts_over_orbit(orbit, case) for orbit in cases.orbits(case)]
        supposed_points = 1  # the map is birational
        lemmas = WORDS.closure["polar-observed"]
    # the largest of finitely many orbits is dense, so its fibre is the general one
    dense = max(cases.orbits(case), key=lambda orbit: (cases.orbit_dimension(orbit, case), orbit))
    points = len(fibre(dense, case).points)
    # each kernel is zero, or of smaller dimension than the codimension
    kernels_are_small = all(
        over["kernel_at_most"] == 0 or over["kernel_at_most"] < over["codimension"] for over in loci
    )
    if points != supposed_points or not kernels_are_small:
        raise ContradictionError(f"the theorem does not apply to {case}")
    first_nonzero = next(i for i, value in enumerate(degrees) if value)
    N = case.coordinate_count - 1
    answer = {
        "polar_degrees": degrees[::-1],  # certificates begin with δ_n
        "generic_ed_degree": sum(degrees),
        # the first δ_i that is not zero is the degree of the dual variety
        "dual_degree": degrees[first_nonzero],
        "dual_dimension": N - 1 - first_nonzero,
    }
    evidence = {"loci": loci, "generic_fibre_points": points}
    return Content(answer, evidence, tuple(WORDS.lemmas[lemma] for lemma in lemmas))


def facts_over_orbit(orbit: Orbit, case: Case) -> dict[str, Any]:
    """The codimension of the points of Y over an orbit, and a bound for the kernel there.

    * Over A of rank r the W are a Grassmannian of dimension (α − r)(d − α), so the points of Y over
      the orbit have as many dimensions more than the orbit.
    * The kernel contains the tangent vectors of the Grassmannian. The others move (A, V) in the
      tangent space of the source, on which the differential is f(A', V) + f(A, V').
    * In projective spaces (A, 0) and (0, V) are no directions. (A, −V) is in the kernel, and is
      subtracted. The image of (A, 0) is f(A, V) ≠ 0, which adds one to dimension and rank.
    """
    r, _, _ = orbit
    grassmannian_dimension = (case.alpha - r) * (case.d - case.alpha)
    # below rank α, A moves along all matrices of rank one, which span all matrices
    tangent_dimension = case.d**2 + case.d * case.d_out
    if r == case.alpha:
        tangent_dimension = case.source_dimension  # there the source is smooth
    images = differential(cases.representative(orbit), orbit, case)
    kernel_dimension = tangent_dimension - 1 - rank(images)  # without (A, −V)
    projective_orbit_dimension = cases.orbit_dimension(orbit, case) - 1
    dimension_over_orbit = projective_orbit_dimension + grassmannian_dimension
    return {
        "orbit": list(orbit),
        "codimension": case.projective_dimension - dimension_over_orbit,
        "kernel_at_most": kernel_dimension + grassmannian_dimension,
    }
