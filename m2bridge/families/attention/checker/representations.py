"""The checker of closures for all sizes: representations from the weights of the ideal of a core.

Rests on: the minimal generators of a closure are the ones of its core, with the same multiplicities
for all sizes, and minors where X, H or Y has one dimension more (docs/representations.md,
proposition-more-rows).
Proved in: docs/representations.md and docs/completeness.md (proposition-core, theorem-bound).
Computed here: the Hilbert function of each core up to the degree that decides, the numbers of its
generators in all weights up to the bound, and of the minors in their degree; the
representations with these weights, by tableaux.
On trust: these propositions, which a certificate lists, and what ideal_parts.py and schur.py trust.

The maker has the same multiplicities from ranks of covariants; here there are weight spaces only.

Notation. d, d', α, l_i, v_k and c_{k,i,p,q} are as in case.py; H(n), h(n), s, "up to sections"
and weights as in equations.py; S_λ is a Schur functor, as in schur.py.

* X, H, Y are the spaces of the l_i, of the v_k and of the variables, of dimensions d, d' and d for
  a case. The coordinates are a basis of X ⊗ H ⊗ S_2 Y. A representation S_λX ⊗ S_μH ⊗ S_νY is
  written {"degree", "X": λ, "H": μ, "Y": ν, "multiplicity"}; a partition has more rows, or parts,
  than a space has dimensions exactly if its S_λ is zero there.
* A core (m; e, f) has m variables, e forms l_i, which are free (α = e), and f forms v_k. The core
  of a case has e = α, f = min(d, d') and m = min(d, e + f).
* The bound is s + 1: the core has no minimal generators of higher degree.
* Minors are minors of the coordinates, written as a matrix with rows by the index i (as an element
  of X ⊗ (H ⊗ S_2 Y)), by k, or by a variable (Y ⊗ (X ⊗ H ⊗ Y)).
* A Content is what a certificate should have, as it is found here: the answer, the evidence, and
  the lemmas that are taken on trust, which WORDS has by their keys. A Difference would say where
  what is stored differs.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.families.attention.checker.ideal_parts import Products
from m2bridge.families.attention.checker.schur import by_degree, representations
from m2bridge.families.attention.checker.statements import WORDS

CORE_FORM_COUNTS = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 2), (2, 3), (3, 2))
"""The pairs (e, f) of the cores that one certificate is about: e forms l_i and f forms v_k."""

Core = tuple[int, int, int]  # m, e, f

LARGE_CORES: tuple[Core, ...] = ((3, 3, 3), (4, 2, 2))
"""Cores that take longer, up to minutes: each has certificates of its own."""

MAX_CORE_MONOMIALS = 10_000_000
"""The core (4; 2, 2) has 8.1 million monomials of degree 6, its bound, and no other has as many."""

Representation = dict[str, Any]  # "degree", the partitions "X", "H", "Y", and "multiplicity"


def _cores() -> list[Core]:
    """The cores (m; e, f) of a certificate, max(e, f) ≤ m ≤ e + f up to the limits: every core of a
    case is of this form, and each of this form is the core of the case with d = m.
    """
    cores: list[Core] = []
    for e, f in CORE_FORM_COUNTS:
        most_variables = 3  # all cores of a certificate together take seconds
        if e == 1 or f == 1:
            most_variables = 4
        cores.extend((m, e, f) for m in range(max(e, f), min(e + f, most_variables) + 1))
    return cores


CORES = _cores()


def closures(certificate: Certificate, cores: Sequence[Core] = CORES) -> Content | Difference:
    """The content of a certificate on closures for all sizes with one of these cores."""
    answer = {"closures": [closure(m, e, f) for m, e, f in cores]}
    lemmas = [WORDS.lemmas[lemma] for lemma in WORDS.closure["for-all-sizes"]]
    return Content(answer, evidence={}, trusted=tuple(lemmas))


QUESTIONS: dict[str, Callable[[Certificate], Content | Difference]] = {
    "closures": closures,
    **{f"closures-{m}-{e}-{f}": partial(closures, cores=[(m, e, f)]) for m, e, f in LARGE_CORES},
}


@cache
def closure(m: int, e: int, f: int) -> dict[str, Any]:
    """All that a certificate says of the closures with the core (m; e, f): H(0), …, H(s) with H(s)
    = h(s) prove the bound s + 1 (docs/completeness.md#theorem-bound).
    """
    of_core = core(m, e, f)
    return {
        "core": {"variables": m, "columns": e, "rows": f},
        "bound": len(of_core.values),  # s + 1
        "hilbert_function": of_core.values,
        "sections_from": of_core.start,
        "representations": sorted([*of_core.generators, *minors(m, e, f)], key=by_degree),
    }


class CoreFacts(NamedTuple):
    """H(0), …, H(s), the degree ``start`` from which on H = h, and the minimal generators."""

    values: list[int]
    start: int
    generators: list[Representation]


def core(m: int, e: int, f: int) -> CoreFacts:
    """The facts about the core (m; e, f), which for e > f is (m; f, e), with X and H exchanged."""
    if e <= f:
        return core_itself(m, e, f)
    facts = core_itself(m, f, e)
    exchanged = [kind | {"X": kind["H"], "H": kind["X"]} for kind in facts.generators]
    return facts._replace(generators=exchanged)


@cache
def core_itself(m: int, e: int, f: int) -> CoreFacts:
    """The facts about the core (m; e, f), computed with e forms l_i and f forms v_k as they are."""
    ideal = products(v_forms=f, l_forms=e, variables=m, alpha=e)
    values, start = ideal.up_to_sections()
    bound = len(values)  # s + 1
    kinds = []
    for n in range(2, bound + 1):
        numbers_by_weight = ideal.generator_numbers(n)
        kinds.extend(representations(n, numbers_by_weight))
    return CoreFacts(values, start, kinds)


def products(*, v_forms: int, l_forms: int, variables: int, alpha: int) -> Products:
    """The ideal of the products of so many forms v_k and l_i; the l_i span at most α dimensions."""
    return Products(
        rows=v_forms,
        columns=l_forms,
        variables=variables,
        alpha=alpha,
        most_monomials=MAX_CORE_MONOMIALS,
    )


def minors(m: int, e: int, f: int) -> list[Representation]:
    """The minimal generators with more parts than the core (m; e, f) has forms or variables, which
    occur in larger closures with this core.

    There the matrices of coordinates by i, by k and by variables have ranks at most e, f and e + f.
    All such generators come from minors of one size more, in the degree that is their size
    (docs/representations.md#proposition-more-rows).
    """
    kinds: list[Representation] = []
    for size, ideal in ideals_with_minors(m, e, f):
        numbers_by_weight = ideal.generator_numbers(size)
        kinds.extend(
            kind
            for kind in representations(size, numbers_by_weight)
            if len(kind["X"]) > e or len(kind["H"]) > f or len(kind["Y"]) > m
        )
    return kinds


def ideals_with_minors(m: int, e: int, f: int) -> list[tuple[int, Products]]:
    """The sizes of minors that are zero on closures with the core (m; e, f), but not in the core,
    each with the ideal of the smallest products that have them.
    """
    sizes_and_ideals = []
    # a closure with this core has more than e forms l_i only if e < m
    if e < m:
        one_l_more = products(v_forms=f, l_forms=e + 1, variables=m, alpha=e)
        sizes_and_ideals.append((e + 1, one_l_more))
    # it has more than f forms v_k only if f = min(d, d') is d; then m = d, too, as f ≤ m ≤ d; and
    # f = m says already that d = m, because if d > m, then m = e + f > f
    if f == m:
        one_v_more = products(v_forms=f + 1, l_forms=e, variables=m, alpha=e)
        sizes_and_ideals.append((f + 1, one_v_more))
    # it has more than m variables only if m = e + f
    if m == e + f:
        one_variable_more = products(v_forms=f, l_forms=e, variables=m + 1, alpha=e)
        sizes_and_ideals.append((m + 1, one_variable_more))
    return sizes_and_ideals
