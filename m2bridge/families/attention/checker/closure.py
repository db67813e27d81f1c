"""Zariski closures: whether stored polynomials generate the whole ideal I, minimally; its
invariants.

Rests on: for t ≥ 2 a homogeneous ideal J in I is I if it is stable under a group U, if c_{1,1,1,1}
is no zero divisor modulo J, and if J and I have the same restriction to a slice Σ of the chart
c_{1,1,1,1} = 1 (docs/computing-closures.md, proposition-chart, over QQ).
Proved in: docs/computing-closures.md; docs/checkers.md (the section Ideals).
Computed here: that each polynomial vanishes identically on the closure; Gröbner bases over QQ and,
from them, the Hilbert series; the three conditions; the least number of generators in each degree.
On trust: rank conditions generate prime ideals; Bayer's and Stillman's criterion; and for t = 1,
where only Hilbert functions in low degrees are compared, that there are no generators of higher
degree.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from math import comb, prod
from operator import add
from random import Random
from typing import Any

from m2bridge.certificates.schema import Certificate, Content, Difference, difference
from m2bridge.checker import algebra
from m2bridge.errors import CertificateError, TooExpensiveError
from m2bridge.families.attention.checker import case as cases
from m2bridge.families.attention.checker.case import Case, function, observe, orbits, representative
from m2bridge.families.attention.checker.statements import WORDS

MOST_GENERATOR_DEGREE = 100
"""No closure has a generator of half this degree, and FLINT's exponents have their limits."""

MOST_MONOMIALS_OF_A_DEGREE = 100_000
"""For t = 1 the degrees with so many monomials are compared, and up to ten times as many where
there are generators.
"""

Index = tuple[int, ...]  # (k, i, p, q), p ≤ q; for t = 1 (k, p, q, r), p ≤ q ≤ r


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An ideal J that is claimed to be the ideal I of the closure of a case.

    Parameters
    ----------
    case : Case
    ring : fmpz_mpoly_ctx
        QQ[c], graded reverse lexicographic, with c_{1,1,1,1} as its last variable.
    indices : list of Index
        Those of the coordinates, in the order of the variables.
    images : list of fmpz_mpoly
        The coordinates as functions of generic weights, in this order.
    generators : list of fmpz_mpoly
        Homogeneous, with integer coefficients.
    """

    case: Case
    ring: Any
    indices: list[Index]
    images: list[Any]
    generators: list[Any]

    @property
    def degrees(self) -> Counter[int]:
        """How many generators there are of each degree."""
        return Counter(g.total_degree() for g in self.generators)


def closure(certificate: Certificate) -> Content | Difference:
    """The content that follows from the stored generators, or the first check that fails."""
    case = Case(**certificate.case).with_fewest_weights()
    count = case.coordinate_count
    stored = certificate.evidence.get("coordinates")
    texts = certificate.evidence.get("generators")
    if not isinstance(stored, list) or len(stored) != count:
        return Difference("evidence.coordinates", f"{stored!r:.200}", f"{count} coordinates")
    exponents = count * case.d * (case.d + case.d_out)
    if exponents > algebra.MOST_EXPONENTS:
        raise TooExpensiveError(
            "case", f"{count} coordinates of weights have {exponents} exponents"
        )
    candidate = candidate_of(case, texts)
    if isinstance(candidate, Difference):
        return candidate
    degrees = candidate.degrees
    highest = max(degrees, default=0)
    if highest > MOST_GENERATOR_DEGREE:
        raise TooExpensiveError(
            "degree of a generator", f"{highest}; at most {MOST_GENERATOR_DEGREE}"
        )
    series = _series_of_closure(candidate)
    if isinstance(series, Difference):
        return series
    numerator, dimension = series
    answer = {
        "hilbert_series": {"numerator": numerator, "denominator_exponent": dimension},
        "generator_degrees": {str(n): degrees[n] for n in sorted(degrees)},
        "dimension": dimension,
        "degree": sum(numerator),
        "homogeneous": True,
    }
    evidence = {
        "coordinates": names_of_coordinates(case),
        "generators": texts,
        "tangent_dimensions": _tangent_dimensions(candidate),
    }
    if case.t == 1:
        trusted = [WORDS.closure["one-token"].format(degree=_last_degree(candidate))]
    else:
        trusted = [WORDS.lemmas[lemma] for lemma in WORDS.closure["trusted"]]
    return Content(answer, evidence, tuple(trusted))


def candidate_of(case: Case, texts: Any) -> Candidate | Difference:
    """The ideal with generators of these texts, which have to be homogeneous polynomials."""
    try:
        polynomials = algebra.read(texts, names_of_coordinates(case))
    except CertificateError as reason:
        return Difference("form of the closure", str(reason), "text of polynomials")
    ring = algebra.ring(case.coordinate_count)
    generators = []
    for terms in polynomials:
        # in certificates c_{1,1,1,1} is the first variable
        moved = {(*others, first): c for (first, *others), c in terms.items()}
        generators.append(ring.from_dict(moved))
    if not all(_is_homogeneous(g) for g in generators):
        return Difference("homogeneous generators", "inhomogeneous ones", "homogeneous ones")
    images = _images(case)
    first, *others = images
    indices = [*others, first]
    return Candidate(
        case=case,
        ring=ring,
        indices=indices,
        images=[images[index] for index in indices],
        generators=generators,
    )


@lru_cache(maxsize=1)
def _images(case: Case) -> dict[Index, Any]:
    """The coordinates as functions of generic weights, in the order of certificates."""
    return cases.images(case.d_out, case.d, case.d, case.alpha, case.t)


def names_of_coordinates(case: Case) -> list[str]:
    """The names of the coordinates in certificates, where indices begin with 1."""
    form = "c_{}_{}_{}_{}"
    if case.t == 1:
        form = "f_{}_1_{}_1_{}_1_{}_1"
    names = []
    for index in _images(case):
        from_one = [j + 1 for j in index]
        names.append(form.format(*from_one))
    return names


def _is_homogeneous(polynomial: Any) -> bool:
    """Whether all terms have one degree."""
    return len({sum(exponents) for exponents in polynomial.monoms()}) == 1


def _tangent_dimensions(candidate: Candidate) -> list[dict[str, Any]]:
    """The tangent dimension at each orbit: coordinates less the rank of the Jacobian matrix of I.

    It is the same at all points of an orbit, and its representative is one. For t = 1 orbits are
    not known.
    """
    found: list[dict[str, Any]] = []
    if candidate.case.t == 1:
        return found
    count = len(candidate.indices)
    for orbit in orbits(candidate.case):
        c = function(representative(orbit))
        point = [c.get(index, 0) for index in candidate.indices]
        jacobian = []
        for g in candidate.generators:
            row = {j: int(g.derivative(j)(*point)) for j in range(count)}
            jacobian.append(row)
        found.append({"orbit": list(orbit), "dimension": count - algebra.rank(jacobian)})
    return found


def _series_of_closure(candidate: Candidate) -> algebra.Series | Difference:
    """The Hilbert series of QQ[c]/I, or the first check for J = I that fails.

    What costs least comes first: values at one point, then a Gröbner basis with dimension and
    degree, which has to be those of the closure; and J ⊆ I, by expansion, comes last.
    """
    case, generators = candidate.case, candidate.generators
    point = _values_at_random_weights(candidate, seed=0)
    not_on_closure = Difference(
        "generator on the parametrization", "a generator", "not identically zero"
    )
    if any(g(*point) for g in generators):
        return not_on_closure
    basis = algebra.groebner_basis(generators, candidate.ring)
    leading = algebra.minimal(g.monoms()[0] for g in basis)
    series = algebra.hilbert_series(leading, len(candidate.indices))
    if case.t == 1:
        failure = _incomplete_in_low_degrees(candidate, series)
    else:
        failure = (
            _other_invariants(candidate, series)
            or zero_divisor(leading)
            or unstable(candidate, basis)
            or incomplete_on_slice(candidate)
        )
    failure = failure or _redundant(candidate, series)
    if failure:
        return failure
    weights = candidate.images[0].context()
    if any(g.compose(*candidate.images, ctx=weights) for g in generators):
        return not_on_closure
    return series


def _values_at_random_weights(candidate: Candidate, seed: int) -> list[int]:
    """The coordinates of a point of the closure: those of random integers as weights."""
    random = Random(seed)
    number_of_weights = candidate.images[0].context().nvars()
    weights = [random.randrange(1, 10**6) for _ in range(number_of_weights)]
    return [int(image(*weights)) for image in candidate.images]


def _redundant(candidate: Candidate, series: algebra.Series) -> Difference | None:
    """A difference if in some degree there are not as many generators as are needed.

    Needed in degree n are dim J_n less the dimension of what the generators of lower degree
    generate in it: the rank of their multiples by monomials. As QQ[c]/J has the Hilbert function H,
    dim J_n is the number of monomials of degree n less H(n).
    """
    count = len(candidate.indices)
    for n, stored in sorted(candidate.degrees.items()):
        lower = [g for g in candidate.generators if g.total_degree() < n]
        exponents = 0
        for g in lower:
            factors = comb(count + n - g.total_degree() - 1, count - 1)
            exponents += count * len(g) * factors
        if exponents > algebra.MOST_EXPONENTS:
            raise TooExpensiveError(
                "monomials", f"multiples of generators in degree {n} have {exponents} exponents"
            )
        dimension = comb(count + n - 1, n) - algebra.hilbert_function(series, n)
        needed = dimension - algebra.rank(_multiples(lower, n, count))
        failure = difference(stored, needed, f"minimal generators.{n}")
        if failure:
            return failure
    return None


def _multiples(generators: list[Any], n: int, count: int) -> Iterator[dict[tuple[int, ...], int]]:
    """The multiples of polynomials by monomials that have degree n, by the exponents of terms."""
    for g in generators:
        terms = g.to_dict()
        for factors in combinations_with_replacement(range(count), n - g.total_degree()):
            monomial = [factors.count(j) for j in range(count)]
            multiple = {}
            for exponents, c in terms.items():
                multiple[tuple(map(add, exponents, monomial))] = int(c)
            yield multiple


# For t ≥ 2: the three conditions under which J is I.


def _other_invariants(candidate: Candidate, series: algebra.Series) -> Difference | None:
    """A difference if J has another dimension or degree than case.py observes."""
    case = candidate.case
    numerator, dimension = series
    closure, _ = observe(case.d, case.d_out, case.alpha)
    expected = closure["dimension"], closure["degree"]
    found = dimension, sum(numerator)
    if found == expected:
        return None
    return Difference("evidence.generators", f"{found}", f"dimension, degree {expected}")


def zero_divisor(leading: list[tuple[int, ...]]) -> Difference | None:
    """A difference if c_{1,1,1,1} is a zero divisor modulo J; it is none modulo the prime I.

    The last variable of a graded reverse lexicographic order is none modulo a homogeneous ideal
    exactly if it divides no minimal leading monomial (Bayer and Stillman, Invent. Math. 87, 1987).
    """
    if any(exponents[-1] for exponents in leading):
        return Difference(
            "generators", "c_1_1_1_1 is a zero divisor modulo them", "it is none modulo all"
        )
    return None


def unstable(candidate: Candidate, basis: Any) -> Difference | None:
    """A difference if J is not stable under the group U.

    U is a product of additive groups. In characteristic 0 an ideal is stable under such a group
    exactly if the derivations of its Lie algebra map generators into the ideal.
    """
    for derivation in _lie_algebra(candidate):
        for g in candidate.generators:
            image = g * 0
            for j, derivative_of_variable in derivation.items():
                image += g.derivative(j) * derivative_of_variable
            if not algebra.is_in(image, basis):
                return Difference(
                    "generators", "an ideal that is not stable under the group U", "a stable ideal"
                )
    return None


def _lie_algebra(candidate: Candidate) -> Iterator[dict[int, Any]]:
    """The derivations of QQ[c] that span the Lie algebra of U, by what they do to the variables.

    U is generated by l_j ↦ l_j + l_1, v_j ↦ v_j + v_1, y_1 ↦ y_1 + y_j. To first order c_{k,j,p,q}
    gains c_{k,1,p,q}, c_{j,i,p,q} gains c_{1,i,p,q}, and, as y_1 y_q becomes y_1 y_q + y_j y_q,
    c_{k,i,j,q} gains c_{k,i,1,q}: twice that for q = 1, where y_1² becomes y_1² + 2 y_1 y_j.
    """
    variable = dict(zip(candidate.indices, candidate.ring.gens(), strict=True))
    for j in range(1, max(candidate.case.d, candidate.case.d_out)):
        on_l = {}
        on_v = {}
        on_y = {}
        for number, (k, i, p, q) in enumerate(candidate.indices):
            if i == j:
                on_l[number] = variable[k, 0, p, q]
            if k == j:
                on_v[number] = variable[0, i, p, q]
            if j in (p, q):
                other = p + q - j  # of p and q the one that is not replaced
                on_y[number] = variable[k, i, 0, other]
                if other == 0:
                    on_y[number] *= 2
        yield from (on_l, on_v, on_y)


def incomplete_on_slice(candidate: Candidate) -> Difference | None:
    """A difference if I has more elements on the slice Σ than J.

    Σ is the affine space c_{1,1,1,1} = 1, c_{1,i,1,1} = c_{k,1,1,1} = c_{1,1,1,q} = 0. There I is
    the ideal of the image of A = (1 0; −v A″), V = (1 vᵀ; 0 V″) with rk A″ < α
    (docs/computing-closures.md#proposition-chart). In the ideal of the graph, with the coordinates
    and v as unknowns and with the minors of A″ of size α, which generate a prime ideal, it is what
    does not have v: the elements of a lexicographic Gröbner basis without v generate it.
    """
    case = candidate.case
    from_two = range(1, case.d)
    outputs_from_two = range(1, case.d_out)
    fixed: dict[Index, int] = {(0, 0, 0, 0): 1}
    fixed |= {(0, i, 0, 0): 0 for i in from_two}
    fixed |= {(0, 0, 0, q): 0 for q in from_two}
    fixed |= {(k, 0, 0, 0): 0 for k in outputs_from_two}
    free = [index for index in candidate.indices if index not in fixed]

    graph_ring = algebra.ring(len(from_two) + len(free), "lex")  # with v first
    unknowns = graph_ring.gens()
    v = dict(zip(from_two, unknowns[: len(from_two)], strict=True))
    c = dict(zip(free, unknowns[len(from_two) :], strict=True))
    A = {(0, 0): graph_ring.constant(1)}
    V = {(0, 0): graph_ring.constant(1)}
    for q in from_two:
        A[q, 0] = -v[q]
        V[0, q] = v[q]
        # the entries of A″ and V″ are coordinates
        A |= {(q, i): c[0, i, 0, q] for i in from_two}
        V |= {(k, q): c[k, 0, 0, q] for k in outputs_from_two}
    image = function((A, V))
    graph = [c[index] - image.get(index, 0) for index in free]
    for rows, columns in product(combinations(from_two, case.alpha), repeat=2):
        minor = _determinant([[A[p, i] for i in columns] for p in rows])
        graph.append(minor)

    slice_ring = algebra.ring(len(free))
    values = {index: slice_ring.constant(value) for index, value in fixed.items()}
    values |= dict(zip(free, slice_ring.gens(), strict=True))
    place = [values[index] for index in candidate.indices]
    restricted = [g.compose(*place, ctx=slice_ring) for g in candidate.generators]
    basis = algebra.groebner_basis(restricted, slice_ring)
    for element in algebra.groebner_basis(graph, graph_ring):
        terms = element.to_dict()
        if any(any(exponents[: len(from_two)]) for exponents in terms):
            continue  # it has v
        on_slice = {exponents[len(from_two) :]: x for exponents, x in terms.items()}
        if not algebra.is_in(slice_ring.from_dict(on_slice), basis):
            return Difference(
                "generators", "not all where c_1_1_1_1 ≠ 0", "all functions that vanish on a slice"
            )
    return None


def _determinant(rows: list[list[Any]]) -> Any:
    """The determinant of a matrix, at least of size 1, by its first row."""
    first, *others = rows
    if not others:
        return first[0]
    total = 0
    for j, entry in enumerate(first):
        minor = [row[:j] + row[j + 1 :] for row in others]
        total += (-1) ** j * entry * _determinant(minor)
    return total


# For t = 1: Hilbert functions in low degrees.


def _last_degree(candidate: Candidate) -> int:
    """The last degree in which Hilbert functions are compared for t = 1.

    It is that of the last generators, or 4 if there are not too many monomials of degree 4.
    """
    count = candidate.case.coordinate_count
    fitting = 1
    for n in (2, 3, 4):
        if comb(count + n - 1, n) <= MOST_MONOMIALS_OF_A_DEGREE:
            fitting = n
    return max([*candidate.degrees, fitting])


def _incomplete_in_low_degrees(candidate: Candidate, series: algebra.Series) -> Difference | None:
    """A difference if in some degree QQ[f]/J may have another dimension than QQ[f]/I.

    I is homogeneous in the indices of outputs, and in those of inputs; so QQ[f]/I is a sum of parts
    by these indices. The values of the monomials of one part at points of the closure have a rank
    that is at most its dimension, modulo a prime, too. And dim (QQ[f]/I)_n ≤ dim (QQ[f]/J)_n for
    J ⊆ I: where the sum of the ranks is the latter, J is I in this degree.
    """
    count = len(candidate.indices)
    last = _last_degree(candidate)
    if comb(count + last - 1, last) > 10 * MOST_MONOMIALS_OF_A_DEGREE:
        raise TooExpensiveError("monomials", f"too many of degree {last} in {count} coordinates")
    points: list[list[int]] = []
    for n in range(1, last + 1):
        lower_bound = 0
        for monomials in _parts(candidate, n):
            while len(points) < len(monomials):
                point = _values_at_random_weights(candidate, seed=len(points))
                points.append(point)
            values = []
            for point in points[: len(monomials)]:
                row = [prod(point[j] for j in monomial) for monomial in monomials]
                values.append(row)
            lower_bound += algebra.rank_modulo(values)
        dimension = algebra.hilbert_function(series, n)
        failure = difference(dimension, lower_bound, f"ideal in degree {n}")
        if failure:
            return failure
    return None


def _parts(candidate: Candidate, n: int) -> list[list[tuple[int, ...]]]:
    """The monomials of degree n, as numbers of variables, by the indices that occur in them."""
    parts: dict[Any, list[tuple[int, ...]]] = {}
    for monomial in combinations_with_replacement(range(len(candidate.indices)), n):
        outputs = []
        inputs = []
        for j in monomial:
            k, *others = candidate.indices[j]
            outputs.append(k)
            inputs += others
        part = tuple(sorted(outputs)), tuple(sorted(inputs))
        parts.setdefault(part, []).append(monomial)
    return list(parts.values())
