"""The checker of closures for all sizes: representations from the weights of the ideal of a small
case.

For each core the ideal is computed weight by weight, and in the degrees of minors where X, H or Y
has one dimension more (docs/representations.md). From the numbers of generators in all weights the
representations follow, by tableaux. The Hilbert function in the degree before the bound, and one
weight in each degree after the last one with generators, show that there are no others
(docs/completeness.md).
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from m2bridge.certificates.schema import Certificate, Content, Difference
from m2bridge.families.attention.checker.equations import Products, by_degree, representations
from m2bridge.families.attention.checker.statements import WORDS

SIZES = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 2), (2, 3), (3, 2))
CORES = [
    (m, e, f)
    for e, f in SIZES
    for m in range(max(e, f), min(e + f, 4) + 1)
    if m <= 3 or 1 in (e, f)
]
"""m, e and f of the cores without too many monomials of the degree of the bound, for all d with few
e and f.
"""


def closures(certificate: Certificate) -> Content | Difference:
    """Compute the content of the certificate anew."""
    answer = {"closures": [closure(*size) for size in CORES]}
    return Content(
        answer, {}, tuple(WORDS.lemmas[lemma] for lemma in WORDS.closure["for-all-sizes"])
    )


@cache
def closure(m: int, e: int, f: int) -> dict[str, Any]:
    """All that a certificate says of the closures with a core."""
    values, start, found = core(m, e, f)
    for n, products in minors(m, e, f):
        kinds = representations(n, products.generator_numbers(n))
        found += [kind for kind in kinds if has_more(kind, m, e, f)]
    return {
        "core": {"variables": m, "columns": e, "rows": f},
        "bound": len(values),
        "hilbert_function": values,
        "sections_from": start,
        "representations": sorted(found, key=by_degree),
    }


def core(m: int, e: int, f: int) -> tuple[list[int], int, list[dict[str, Any]]]:
    """The Hilbert function, where it begins to be that of sections, and the representations of
    generators.

    The products l_i v_k are those of f forms with e forms, too: X and H change places.
    """
    values, start, kinds = core_itself(m, min(e, f), max(e, f))
    return (
        values,
        start,
        [kind | {"X": kind["H"], "H": kind["X"]} if e > f else kind for kind in kinds],
    )


@cache
def core_itself(m: int, e: int, f: int) -> tuple[list[int], int, list[dict[str, Any]]]:
    """The same, computed."""
    products = Products(f, e, m, e)
    values, start = products.up_to_sections()
    degrees = range(2, len(values) + 1)
    return (
        values,
        start,
        [kind for n in degrees for kind in representations(n, products.generator_numbers(n))],
    )


def minors(m: int, e: int, f: int) -> Iterator[tuple[int, Products]]:
    """The degrees of the minors that leave no trace in the core, and the least products for which
    they are not zero.
    """
    if e < m:
        yield e + 1, Products(f, e + 1, m, e)
    if f == m:
        yield f + 1, Products(f + 1, e, m, e)
    if m == e + f:
        yield m + 1, Products(f, e, m + 1, e)


def has_more(kind: dict[str, Any], m: int, e: int, f: int) -> bool:
    """Whether some partition has more parts than there are in the core."""
    return any(len(kind[name]) > most for name, most in (("X", e), ("H", f), ("Y", m)))
