"""Zariski closures: whether stored polynomials are minimal generators of the whole ideal I, and its invariants.

For t ≥ 2 let U be the group of l_i ↦ l_i + a_i l_1, v_k ↦ v_k + b_k v_1 (i, k > 1), y_1 ↦ y_1 + Σ t_q y_q, let c = c_{1,1,1,1},
and Σ the slice c = 1, c_{1,i,1,1} = c_{k,1,1,1} = c_{1,1,1,q} = 0 (i, k, q > 1). A homogeneous ideal J that is stable under U,
modulo which c is no zero divisor, and that has the restriction of I to Σ, is I (docs/mathematics.md, Completeness). J is
stable if the derivations of the Lie algebra of U map its generators into J. On Σ weights are, up to rescaling,
A = (1, 0; −v, A''), V = (1, vᵀ; 0, V''), rk A'' < α, and A'' and V'' are coordinates. For t = 1 the Hilbert function of J is
held, up to a degree, against ranks of evaluation at points, which are at most that of I.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb, prod
from operator import add
from random import Random
from typing import Any

from m2bridge.certificate.difference import Difference, difference
from m2bridge.certificate.schema import Certificate, Content
from m2bridge.checker.algebra import (
    MOST_EXPONENTS,
    Exponents,
    groebner_basis,
    hilbert_function,
    hilbert_series,
    is_in,
    minimal,
    rank,
    rank_modulo,
    read,
    ring,
)
from m2bridge.errors import CertificateError, TooExpensiveError
from m2bridge.families.attention.checker.case import Case, function, orbits, representative
from m2bridge.families.attention.checker.observations import is_counted, observe
from m2bridge.families.attention.checker.statements import WORDS

MOST_DEGREE = 100
"""Of a generator."""
MOST_MONOMIALS = 100_000
Index = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Ideal:
    """Generators J, in the ring where c_{1,1,1,1} is the last variable; the degree of each, and the largest one."""

    case: Case
    indices: list[Index]
    generators: list[Any]
    images: list[Any]
    degrees: Mapping[int, int]


def closure(certificate: Certificate) -> Content | Difference:
    """The content that follows from the stored generators, or the first check that fails."""
    case = Case(**certificate.case)
    case = Case(case.d, case.d_out, case.alpha, min(case.t, 2))  # the same functions, the fewest weights
    stored, texts = certificate.evidence.get("coordinates"), certificate.evidence.get("generators")
    if not isinstance(stored, list) or len(stored) != case.coordinate_count:
        return Difference("evidence.coordinates", f"{stored!r:.200}", f"{case.coordinate_count} coordinates")
    indices = _indices(case)
    names = [_name(index, case) for index in indices]
    try:
        polynomials = read(texts, names)
    except CertificateError as reason:
        return Difference("form of the closure", str(reason), "text of polynomials")
    if any(len(set(map(sum, terms))) > 1 for terms in polynomials):
        return Difference("homogeneous generators", "inhomogeneous ones", "homogeneous ones")
    degrees = Counter(sum(next(iter(terms))) for terms in polynomials)
    if max(degrees, default=0) > MOST_DEGREE:
        raise TooExpensiveError("degree of a generator", f"{max(degrees)}; at most {MOST_DEGREE}")
    context = ring(len(names))
    J = [context.from_dict({(*e[1:], e[0]): c for e, c in terms.items()}) for terms in polynomials]
    series = _series(_Ideal(case, indices, J, _images(case, indices), dict(sorted(degrees.items()))), texts)
    if isinstance(series, Difference):
        return series
    answer = {
        "dimension": series[1],
        "degree": sum(series[0]),
        "generator_degrees": {str(n): count for n, count in sorted(degrees.items())},
        "homogeneous": True,
        "hilbert_series": {"numerator": series[0], "denominator_exponent": series[1]},
    }
    tangents = _tangent_dimensions(case, polynomials, indices) if case.t > 1 else []
    return Content(
        answer, {"coordinates": names, "generators": texts, "tangent_dimensions": tangents}, _trusted(case, degrees)
    )


def _trusted(case: Case, degrees: Mapping[int, int]) -> tuple[str, ...]:
    if case.t == 1:
        return (WORDS.closure["one-token"].format(degree=_last(degrees, case)),)
    return tuple(
        WORDS.lemmas[name] for name in WORDS.closure["trusted-with-section" if is_counted(case) else "trusted"]
    )


def _indices(case: Case) -> list[Index]:
    """(k, i, p, q) of c_{k,i,p,q}, p ≤ q; for t = 1 (k, p, q, r), p ≤ q ≤ r, of the coefficient of x_p x_q x_r in output k."""
    d, outputs = range(case.d), range(case.d_out)
    if case.t == 1:
        return [(k, *three) for k in outputs for three in combinations_with_replacement(d, 3)]
    return [(k, i, *two) for k in outputs for i in d for two in combinations_with_replacement(d, 2)]


def _name(index: Index, case: Case) -> str:
    k, *others = (str(j + 1) for j in index)
    return "_".join(["c", k, *others] if case.t > 1 else ["f", k, "1", *(f"{j}_1" for j in others)])


def _images(case: Case, indices: Sequence[Index]) -> list[Any]:
    """The coordinates of A and V, where A = KᵀQ if α < d; x_i y_p y_q comes from A_pi V_kq and A_qi V_kp."""
    d, alpha = range(case.d), range(case.alpha)
    factors = 1 if case.alpha == case.d else 2
    context = ring(case.d * (case.alpha * factors + case.d_out))
    weights, zero = iter(context.gens()), context.constant(0)
    A, Q, V = (
        [[next(weights) for _ in d] for _ in range(rows)]
        for rows in (case.alpha, case.alpha * (factors - 1), case.d_out)
    )
    if Q:
        A = [[sum((A[e][p] * Q[e][i] for e in alpha), zero) for i in d] for p in d]
    if case.t == 1:
        return [sum((A[p][i] * V[k][q] for p, i, q in set(permutations(three))), zero) for k, *three in indices]
    return [sum((A[p][i] * V[k][q] for p, q in set(permutations(two))), zero) for k, i, *two in indices]


def _values(J: _Ideal, seed: int, bound: int) -> list[int]:
    """The coordinates of random weights."""
    random = Random(seed)
    weights = [random.randrange(1, bound) for _ in J.images[0].context().gens()]
    return [int(image(*weights)) for image in J.images]


def _series(J: _Ideal, texts: Sequence[str]) -> tuple[list[int], int] | Difference:
    """The Hilbert series, or the first check that fails; what costs least comes first."""
    place, size = "generator on the parametrization", len(J.indices)
    values = _values(J, 1, 100)
    if wrong := next((text for text, g in zip(texts, J.generators, strict=True) if g(*values[1:], values[0])), None):
        return Difference(place, wrong[:200], "not identically zero")
    basis = groebner_basis(J.generators, ring(size))
    leading = minimal(g.monoms()[0] for g in basis)
    numerator, dimension = series = hilbert_series(leading, size)
    expected = _invariants(J, sum(numerator))
    if (dimension, sum(numerator)) != expected:
        said = (f"dimension {n}, degree {degree}" for n, degree in ((dimension, sum(numerator)), expected))
        return Difference("evidence.generators", *said)
    if failure := _redundant(J, series) or _incomplete(J, basis, leading, series):
        return failure
    images, target = [*J.images[1:], J.images[0]], J.images[0].context()
    if wrong := next(
        (text for text, g in zip(texts, J.generators, strict=True) if g.compose(*images, ctx=target)), None
    ):
        return Difference(place, wrong[:200], "not identically zero")
    return series


def _invariants(J: _Ideal, degree: int) -> tuple[int, int]:
    """The dimension (for t = 1 the rank of the differential, a lower bound), and the degree where it is counted."""
    if J.case.t > 1:
        evidence = observe(J.case.d, J.case.d_out, J.case.alpha)[0]
        return evidence["dimension"], degree if evidence["degree"] is None else evidence["degree"]
    random, weights = Random(2), range(len(J.images[0].context().gens()))
    point = [random.randrange(1, 10**6) for _ in weights]
    return rank_modulo([[int(image.derivative(j)(*point)) for j in weights] for image in J.images]), degree


def _redundant(J: _Ideal, series: tuple[Sequence[int], int]) -> Difference | None:
    """Degree by degree, whether what lower degrees generate lacks as many dimensions as there are generators."""
    size, lower = len(J.indices), list[Any]()
    for n, count in J.degrees.items():
        exponents = size * sum(len(g) * comb(size + n - g.total_degree() - 1, size - 1) for g in lower)
        if exponents > MOST_EXPONENTS:
            raise TooExpensiveError("monomials", f"multiples of generators in degree {n} have {exponents} exponents")
        spanned = rank(_times(g, m) for g in lower for m in _monomials(size, n - g.total_degree()))
        there = comb(size + n - 1, n) - hilbert_function(series, n)
        if failure := difference(count, there - spanned, f"minimal generators.{n}"):
            return failure
        lower += [g for g in J.generators if g.total_degree() == n]
    return None


def _monomials(size: int, degree: int) -> Iterator[Exponents]:
    for factors in combinations_with_replacement(range(size), degree):
        yield tuple(map(factors.count, range(size)))


def _times(polynomial: Any, monomial: Exponents) -> dict[Exponents, int]:
    return {tuple(map(add, e, monomial)): int(c) for e, c in polynomial.to_dict().items()}


def _incomplete(
    J: _Ideal, basis: Any, leading: Sequence[Exponents], series: tuple[list[int], int]
) -> Difference | None:
    """Why J, with this Gröbner basis, is not all of I; both have the same dimension."""
    if series[1] == len(J.indices):
        return None
    if J.case.t == 1:
        return _incomplete_up_to(_last(J.degrees, J.case), J, series)
    if any(monomial[-1] for monomial in leading):
        return Difference("generators", "c_1_1_1_1 is a zero divisor modulo them", "it is none modulo the whole ideal")
    order = [*J.indices[1:], J.indices[0]]
    x = dict(zip(order, ring(len(order)).gens(), strict=True))
    zero = 0 * J.generators[0]
    for moved in _derivations(J.case):
        for g in J.generators:
            image = sum((g.derivative(j) * c * x[o] for j, index in enumerate(order) for o, c in moved(*index)), zero)
            if not is_in(image, basis):
                return Difference("generators", "an ideal that is not stable under the group U", "a stable ideal")
    return _wrong_on_slice(J)


def _derivations(case: Case) -> Iterator[Any]:
    """The Lie algebra of U: functions that say what becomes of (k, i, p, q), as coordinates with factors."""
    for j in range(1, case.d):
        yield lambda k, i, p, q, j=j: [((k, 0, p, q), 1)] if i == j else []
        yield lambda k, i, p, q, j=j: [((k, i, 0, p if q == j else q), 1 + (0 in (p, q)))] if j in (p, q) else []
    for j in range(1, case.d_out):
        yield lambda k, i, p, q, j=j: [((0, i, p, q), 1)] if k == j else []


def _wrong_on_slice(J: _Ideal) -> Difference | None:
    """Whether I on Σ, found by elimination of v, is not in the restriction of J."""
    d, outputs = range(1, J.case.d), range(1, J.case.d_out)
    fixed = dict.fromkeys([at for j in d for at in ((0, j, 0, 0), (0, 0, 0, j))] + [(k, 0, 0, 0) for k in outputs], 0)
    fixed[0, 0, 0, 0] = 1
    free = [index for index in J.indices if index not in fixed]
    lex = ring(len(d) + len(free), "lex")
    v, x = dict(zip(d, lex.gens(), strict=False)), dict(zip(free, lex.gens()[len(d) :], strict=True))
    A = {(0, 0): lex.constant(1)} | {(q, 0): -v[q] for q in d} | {(q, i): x[0, i, 0, q] for q in d for i in d}
    V = {(0, 0): lex.constant(1)} | {(0, q): v[q] for q in d} | {(k, q): x[k, 0, 0, q] for k in outputs for q in d}
    values = function(A, V)
    chosen = list(combinations(d, J.case.alpha))
    minors = [_determinant([[A[p, i] for i in columns] for p in rows]) for rows, columns in product(chosen, repeat=2)]
    graph = groebner_basis([*minors, *(x[index] - values.get(index, 0) for index in free)], lex)
    slice_ = ring(len(free))
    place = dict(zip(free, slice_.gens(), strict=True)) | {at: slice_.constant(c) for at, c in fixed.items()}
    on_slice = [place[index] for index in [*J.indices[1:], J.indices[0]]]
    restricted = groebner_basis([g.compose(*on_slice, ctx=slice_) for g in J.generators], slice_)
    for terms in (g.to_dict() for g in graph):
        eliminated = slice_.from_dict({e[len(d) :]: c for e, c in terms.items() if not any(e[: len(d)])})
        if not any(any(e[: len(d)]) for e in terms) and not is_in(eliminated, restricted):
            return Difference("generators", "not all where c_1_1_1_1 ≠ 0", "all functions that vanish on a slice")
    return None


def _determinant(rows: list[list[Any]]) -> Any:
    if len(rows) == 1:
        return rows[0][0]
    minors = (_determinant([row[:j] + row[j + 1 :] for row in rows[1:]]) for j in range(len(rows)))
    return sum((-1) ** j * entry * minor for j, (entry, minor) in enumerate(zip(rows[0], minors, strict=True)))


def _last(degrees: Mapping[int, int], case: Case) -> int:
    """For t = 1 the ideal is checked up to this degree."""
    fitting = (n for n in (4, 3, 2) if comb(case.coordinate_count + n - 1, n) <= MOST_MONOMIALS)
    return max([*degrees, next(fitting, 1)])


def _incomplete_up_to(last: int, J: _Ideal, series: tuple[list[int], int]) -> Difference | None:
    """Part by part: I is homogeneous in the indices k of outputs and in those of inputs."""
    size = len(J.indices)
    if comb(size + last - 1, last) > 10 * MOST_MONOMIALS:
        raise TooExpensiveError("monomials", f"too many of degree {last} in {size} coordinates")
    points: list[list[int]] = []
    for n in range(1, last + 1):
        parts: dict[Any, list[Index]] = {}
        for monomial in combinations_with_replacement(range(size), n):
            outputs, inputs = (J.indices[j][0] for j in monomial), (p for j in monomial for p in J.indices[j][1:])
            parts.setdefault((tuple(sorted(outputs)), tuple(sorted(inputs))), []).append(monomial)
        points += [_values(J, seed, 10**6) for seed in range(len(points), max(map(len, parts.values())))]
        evaluated = ([[prod(p[j] for j in m) for m in part] for p in points[: len(part)]] for part in parts.values())
        if failure := difference(hilbert_function(series, n), sum(map(rank_modulo, evaluated)), f"ideal in degree {n}"):
            return failure
    return None


def _tangent_dimensions(case: Case, polynomials: list[Any], indices: Sequence[Index]) -> list[dict[str, Any]]:
    """Of the zeros of the generators at the representatives of orbits."""
    found = []
    for orbit in orbits(case):
        values = function(*representative(orbit))
        point = [values.get(index, 0) for index in indices]  # type: ignore[call-overload]
        rows = (_gradient(terms, point) for terms in polynomials)
        found.append({"orbit": list(orbit), "dimension": len(point) - rank(rows)})
    return found


def _gradient(terms: Mapping[Exponents, int], point: Sequence[int]) -> Mapping[int, int]:
    """The partial derivatives at a point."""
    found = Counter[int]()
    for exponents, c in terms.items():
        support = [j for j, e in enumerate(exponents) if e]
        zeros = [j for j in support if not point[j]]
        for j in (zeros or support) if len(zeros) < 2 else ():
            found[j] += c * exponents[j] * prod(point[i] ** (exponents[i] - (i == j)) for i in support)
    return found
