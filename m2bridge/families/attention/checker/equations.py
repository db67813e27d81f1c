"""The ideal of a closure up to a degree: Hilbert function, minimal generators; and in all degrees.

Rests on: H(n) is the number h(n) of sections of O(n) for large n (docs/completeness.md,
proposition-sections), and where H(s) = h(s) for one s that is large enough, for all n ≥ s, with no
generator of degree above s + 1 (theorem-bound); all sizes come from cores (proposition-core).
Proved in: docs/completeness.md (also checker-equations).
Computed here: ranks over QQ of images of monomials, and of multiples of relations, weight by
weight.
On trust: these theorems, which a certificate lists, and the ones of schur.py.

Notation. As in case.py: d, d', α, the weights (A, V), l_i, v_k and the coordinates c_{k,i,p,q}.

* I is the ideal of all products l_i v_k: the polynomials in the c_{k,i,p,q} that vanish for all
  ``columns`` forms l_i that span at most α dimensions, and all ``rows`` forms v_k, in ``variables``
  variables. For a case these are d, d' and d.
* H(n) is the dimension of QQ[c]/I in degree n, and h(n) the number of sections of O(n)
  (``number_of_sections``). L and s are numbers of theorem-bound, given at ``up_to_sections``.
* X, H, Y are the spaces of the l_i, of the v_k and of the variables, with bases by the indices i, k
  and p or q: their dimensions are ``columns``, ``rows`` and ``variables``, and the coordinates are
  a basis of X ⊗ H ⊗ S_2 Y. S_n is a symmetric, Λ² an exterior power.
* A weight w = (H, X, Y) of a monomial says how often each index k, i, and p or q occurs in it. (It
  has nothing to do with the weights A and V.) w_j is the weight of the coordinate x_j, the one with
  number j. I is the sum of its parts I_w by weights; permutations of the indices of one kind carry
  parts to parts, so decreasing weights are enough.
* A core (m; e, f) is a case with m variables, e columns and f rows where the l_i are free (α = e).
* Monomials in the c whose images are a basis of (QQ[c]/I)_w are pivots, the others are free.
* A Difference says where a check fails: a place in the certificate, what is stored there, and what
  was found. Checks return None where they succeed. A Content is what a certificate should have, as
  it is found here: the answer, the evidence, and the lemmas that are taken on trust. WORDS has the
  sentences of certificates, of words.toml, by keys.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.ideal_parts import (
    MAX_CERTIFIED_COORDINATES,
    MAX_CERTIFIED_DEGREE,
    Products,
    permutation_count,
)
from m2bridge.families.attention.checker.schur import Weight, by_degree, representations
from m2bridge.families.attention.checker.sections import (
    hilbert_coefficients,
    sections_of_case,
    series,
)
from m2bridge.families.attention.checker.statements import WORDS


def up_to_a_degree(certificate: Certificate) -> Content | Difference:
    """The content about the equations up to the degree ``max_degree`` that a certificate names:
    with the case, and whether there is a Hilbert series, all that is taken from it.

    A difference without a degree, for one token, or with a series that is not proved;
    TooExpensiveError for a case or a degree that is too large.
    """
    case = Case(**certificate.case).with_fewest_weights()
    last = certificate.answer.get("max_degree")
    if type(last) is not int or last < 1:
        return Difference("answer.max_degree", f"{last!r:.80}", "a degree")
    if case.t == 1:
        return Difference("case", "one token", "several tokens")
    if case.coordinate_count > MAX_CERTIFIED_COORDINATES or last > MAX_CERTIFIED_DEGREE:
        raise TooExpensiveError(
            "number of coordinates", f"degree {last} in {case.coordinate_count} coordinates"
        )
    values, numbers_of_generators = low_degrees(case, last)
    generators = {}
    kinds = []  # the representations that minimal generators form
    for n, by_weight in numbers_of_generators.items():
        # all permutations of a weight have as many
        counts = [permutation_count(weight) * count for weight, count in by_weight.items()]
        generators[str(n)] = sum(counts)
        kinds.extend(representations(n, by_weight))
    # e_0, …, e_{D−1}: D is the dimension of the closure, and e_0 its degree, as H = h for large n
    coefficients = hilbert_coefficients(case)
    answer: dict[str, Any] = {
        "dimension": len(coefficients),
        "degree": coefficients[0],
        "max_degree": last,
        "hilbert_function": values,
        "generators_up_to_degree": generators,
        "hilbert_coefficients": coefficients,
        "hilbert_series": None,
        "all_generators": False,
        "representations": sorted(kinds, key=by_degree),
    }
    scope = "up-to-a-degree"
    if isinstance(certificate.answer.get("hilbert_series"), dict):
        scope = "for-all-degrees"
        proof = all_degrees(case, last)
        if proof.start > last + 1:  # the values of H are computed up to ``last`` only
            return Difference("answer.hilbert_series", "a series", "no proof of one")
        # H(n) = h(n) for all n > last, a polynomial of degree dimension − 1: as many further values
        # as the dimension determine the series
        beyond = range(len(values), len(values) + answer["dimension"])
        values_beyond = [sections_of_case(case, n) for n in beyond]
        answer["hilbert_series"] = series([*values, *values_beyond], answer["dimension"])
        answer["all_generators"] = proof.all_generators
    lemmas = [WORDS.lemmas[lemma] for lemma in WORDS.closure[scope]]
    return Content(answer, evidence={}, trusted=tuple(lemmas))


class LowDegrees(NamedTuple):
    """H(0), H(1), … up to a degree, and {degree: {decreasing weight: minimal generators}}."""

    values: list[int]
    numbers_of_generators: dict[int, dict[Weight, int]]


@lru_cache(maxsize=64)
def low_degrees(case: Case, last: int) -> LowDegrees:
    """H(n) for n = 0, …, ``last``, and the numbers of minimal generators in these degrees."""
    ideal = Products(rows=case.d_out, columns=case.d, variables=case.d, alpha=case.alpha)
    values = [ideal.hilbert_function(n) for n in range(last + 1)]
    numbers_of_generators = {}
    for n in range(1, last + 1):
        by_weight = ideal.generator_numbers(n)
        if by_weight:
            numbers_of_generators[n] = by_weight
    return LowDegrees(values, numbers_of_generators)


class AllDegrees(NamedTuple):
    """What is proved about all degrees: that H(n) = h(n) for n ≥ ``start``, and about generators,
    where False may also mean that it is not known.
    """

    start: int
    all_generators: bool


@lru_cache(maxsize=64)
def all_degrees(case: Case, last: int) -> AllDegrees:
    """A degree from which on H = h, and whether all generators have degree ≤ ``last``.

    Both are found from the core (m; e, f), e = α, f = min(d, d'), m = min(d, e + f). Where H = h
    holds for the core it does for the case (docs/completeness.md, corollary-series). If the core
    has no generators of degree above ``last``, then neither has the case but for minors of its
    coordinates. The core has none of degree above B = s + 1 (theorem-bound), and none of degree n
    if there are none in the balanced weight of this degree, which all representations of the degree
    contain.
    """
    e = case.alpha
    f = min(case.d, case.d_out)
    m = min(case.d, e + f)
    core = Products(rows=f, columns=e, variables=m, alpha=e)
    values, start = core.up_to_sections()
    bound = len(values)  # B = s + 1, as the values are H(0), …, H(s)
    if any(size > last for size in _sizes_of_minors(case)):
        return AllDegrees(start, all_generators=False)
    for n in range(last + 1, bound + 1):
        if core.count_generators(core.balanced_weight(n)) > 0:
            return AllDegrees(start, all_generators=False)
    return AllDegrees(start, all_generators=True)


def _sizes_of_minors(case: Case) -> list[int]:
    """The sizes of the minors of coordinates that are generators of a case, and not of its core
    (docs/completeness.md, proposition-core).
    """
    e = case.alpha
    f = min(case.d, case.d_out)
    sizes = []
    if e < case.d:
        sizes.append(e + 1)
    if f < case.d_out:
        sizes.append(case.d + 1)
    if e + f < case.d:
        sizes.append(e + f + 1)
    return sizes
