"""The ideal of a closure up to a degree: Hilbert function, minimal generators; and in all degrees.

Rests on: H(n) is the number h(n) of sections of O(n) for large n (docs/completeness.md,
proposition-sections), and where H(s) = h(s) for one s that is large enough, for all n ≥ s, with no
generator of degree above s + 1 (theorem-bound); all sizes come from cores (proposition-core).
Proved in: docs/completeness.md; docs/checkers.md (Equations up to a degree).
Computed here: ranks over QQ of images of monomials, and of multiples of relations, weight by
weight.
On trust: these theorems, which a certificate lists, and those of schur.py.

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
  has nothing to do with the weights A and V.) w_j is that of the coordinate x_j, the one with
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
from typing import Any

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
    """The content for the degree up to which a certificate says something, and perhaps beyond.

    That degree, ``max_degree``, is the only thing beside the case that is taken from the
    certificate. The content has

    * H and the numbers of minimal generators up to this degree;
    * the dimension and the degree of the closure, which are those of h, as H and h agree for large
      n, and h by its coefficients;
    * only where the certificate has a series: a Hilbert series, and whether the generators up to
      this degree are all.

    A difference for a certificate without a degree, for one token, or with a series that is not
    proved; TooExpensiveError for a case or a degree that is too large.
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
    for n, by_weight in numbers_of_generators.items():
        # all permutations of a weight have as many
        counts = [permutation_count(weight) * count for weight, count in by_weight.items()]
        generators[str(n)] = sum(counts)
    # e_0, …, e_{D−1}: D is the dimension of the closure, and e_0 its degree
    coefficients = hilbert_coefficients(case)
    dimension = len(coefficients)
    answer: dict[str, Any] = {
        "dimension": dimension,
        "degree": coefficients[0],
        "max_degree": last,
        "hilbert_function": values,
        "generators_up_to_degree": generators,
        "hilbert_coefficients": coefficients,
        "hilbert_series": None,
        "all_generators": False,
    }
    scope = "up-to-a-degree"
    if isinstance(certificate.answer.get("hilbert_series"), dict):
        scope = "for-all-degrees"
        # from degree ``start`` on H = h is proved
        start, answer["all_generators"] = all_degrees(case, last)
        if start > last + 1:  # the values of H are computed up to ``last`` only
            return Difference("answer.hilbert_series", "a series", "no proof of one")
        # For all n > last H(n) = h(n), a polynomial of degree dimension − 1. So the series is
        # determined by H(0), …, H(last) and as many values of h after these as the dimension.
        beyond = range(last + 1, last + 1 + dimension)
        values_beyond = [sections_of_case(case, n) for n in beyond]
        answer["hilbert_series"] = series([*values, *values_beyond], dimension)
    kinds = []
    for n, by_weight in numbers_of_generators.items():
        kinds.extend(representations(n, by_weight))
    answer["representations"] = sorted(kinds, key=by_degree)
    lemmas = [WORDS.lemmas[lemma] for lemma in WORDS.closure[scope]]
    return Content(answer, evidence={}, trusted=tuple(lemmas))


@lru_cache(maxsize=64)
def low_degrees(case: Case, last: int) -> tuple[list[int], dict[int, dict[Weight, int]]]:
    """H(0), …, H(last); and the numbers of minimal generators, by degree and decreasing weight.

    Degrees and weights without a generator are left out.
    """
    ideal = Products(rows=case.d_out, columns=case.d, variables=case.d, alpha=case.alpha)
    values = [ideal.hilbert_function(n) for n in range(last + 1)]
    numbers_of_generators = {}
    for n in range(1, last + 1):
        by_weight = ideal.generator_numbers(n)
        if by_weight:
            numbers_of_generators[n] = by_weight
    return values, numbers_of_generators


@lru_cache(maxsize=64)
def all_degrees(case: Case, last: int) -> tuple[int, bool]:
    """A degree from which on H = h, and whether all generators have degree ≤ ``last``.

    True is proved, and False may also mean that this is not known.

    Both are found from the core (m; e, f), e = α, f = min(d, d'), m = min(d, e + f): the case with
    m variables, e free forms l_i and f forms v_k.

    * Where H = h holds for the core it does for the case (docs/completeness.md, corollary-series).
    * If the core has no generators of degree above ``last``, then neither has the case but for
      minors of its coordinates: of size e + 1 if e < d, of size d + 1 if f < d', of size e + f + 1
      if m < d (proposition-core). So ``last`` has to be at least these sizes.
    * The core has no generators of degree above B = s + 1 (theorem-bound), and none of degree n if
      there are none in the balanced weight of this degree, where all indices of a kind occur
      equally often, or nearly: all representations of the degree contain it.
    """
    e = case.alpha
    f = min(case.d, case.d_out)
    m = min(case.d, e + f)
    core = Products(rows=f, columns=e, variables=m, alpha=e)
    values, start = core.up_to_sections()
    bound = len(values)  # B = s + 1, as the values are H(0), …, H(s)
    sizes_of_minors = []
    if e < case.d:
        sizes_of_minors.append(e + 1)
    if f < case.d_out:
        sizes_of_minors.append(case.d + 1)  # here f = d
    if m < case.d:
        sizes_of_minors.append(e + f + 1)
    if any(size > last for size in sizes_of_minors):
        return start, False
    for n in range(last + 1, bound + 1):
        if core.count_generators(core.balanced_weight(n)) > 0:
            return start, False
    return start, True
