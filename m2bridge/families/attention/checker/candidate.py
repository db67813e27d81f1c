"""A candidate for the ideal of a closure: its ring, its generators, and the coordinates' images.

Rests on: a polynomial in the coordinates vanishes on the closure exactly if it is zero at the
coordinates of generic weights.
Proved in: case.py (``images``).
Computed here: polynomials from their texts, and the coordinates of generic and of random weights.
On trust: nothing.

Notation. As in case.py: d, d', α, t, weights (A, V), and coordinates c_{k,i,p,q}; for t = 1 the
coordinates are f_{k,p,q,r}, the coefficients of cubic forms. QQ[c] is the polynomial ring in the
coordinates (for t = 1 QQ[f]), I the ideal of the closure, and J the ideal that generators in a
certificate generate. A Difference says where a check fails: a place in the certificate, what is
stored there, and what was found.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from m2bridge.certificates.form import Difference
from m2bridge.checker import algebra
from m2bridge.checker.draws import unpredictable
from m2bridge.errors import CertificateError
from m2bridge.families.attention.checker import case as cases
from m2bridge.families.attention.checker.case import Case

Index = tuple[int, ...]  # (k, i, p, q), p ≤ q; for t = 1 (k, p, q, r), p ≤ q ≤ r


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An ideal J that is claimed to be the ideal I of the closure of a case.

    The ring is QQ[c], graded reverse lexicographic, with c_{1,1,1,1} as its last variable;
    ``images`` are the coordinates as functions of generic weights. Both lists are in the order of
    the variables.
    """

    case: Case
    ring: Any
    indices: list[Index]
    images: list[Any]
    generators: list[Any]

    @property
    def degrees(self) -> Counter[int]:
        """The number of generators of each degree."""
        return Counter(g.total_degree() for g in self.generators)

    def values_at_random_weights(self) -> list[int]:
        """The coordinates, modulo ``algebra.PRIME``, of the function of random integer weights."""
        random = unpredictable()
        number_of_weights = self.images[0].context().nvars()
        weights = [random.randrange(algebra.PRIME) for _ in range(number_of_weights)]
        return [int(image(*weights)) % algebra.PRIME for image in self.images]


def candidate_of(case: Case, texts: Any) -> Candidate | Difference:
    """The ideal J with generators of these texts, which are what a certificate has, or a
    difference.
    """
    try:
        polynomials = algebra.read(texts, names_of_coordinates(case))
    except CertificateError as reason:
        return Difference("form of the closure", str(reason), "text of polynomials")
    # In certificates c_{1,1,1,1} is the first variable. Here it is the last one: then leading
    # monomials say whether it is a zero divisor modulo J.
    ring = algebra.ring(case.coordinate_count)
    generators = []
    for terms in polynomials:
        if len({sum(exponents) for exponents in terms}) != 1:
            return Difference("homogeneous generators", "inhomogeneous ones", "homogeneous ones")
        generators.append(ring.from_dict({(*e[1:], e[0]): c for e, c in terms.items()}))
    images = _images(case)
    first_index, *other_indices = images  # the keys, in the order of certificates
    indices = [*other_indices, first_index]
    return Candidate(
        case=case,
        ring=ring,
        indices=indices,
        images=[images[index] for index in indices],
        generators=generators,
    )


@lru_cache(maxsize=1)
def _images(case: Case) -> dict[Index, Any]:
    """{index: coordinate as a polynomial in generic weights}, in the order of certificates."""
    return cases.images(case.d_out, case.d, case.d, case.alpha, case.t)


def names_of_coordinates(case: Case) -> list[str]:
    """The names of the coordinates in certificates, where indices begin with 1."""
    form = "c_{}_{}_{}_{}"
    if case.t == 1:
        # output k of token 1, and the entries of index p, q and r of token 1
        form = "f_{}_1_{}_1_{}_1_{}_1"
    names = []
    for index in _images(case):
        from_one = [j + 1 for j in index]
        names.append(form.format(*from_one))
    return names
