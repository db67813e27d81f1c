"""Zariski closures: whether stored polynomials are minimal generators of the whole ideal I, and its
invariants.

For t ≥ 2 J = I if J is stable under a group U, c_{1,1,1,1} no zero divisor modulo J, and the
restrictions to a slice Σ are equal (docs/checkers.md). For t = 1 Hilbert functions are compared.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, combinations_with_replacement, product, repeat
from math import comb, prod
from random import Random
from typing import Any

from m2bridge.certificates.schema import Certificate, Content, Difference, difference
from m2bridge.checker import algebra
from m2bridge.errors import CertificateError, TooExpensiveError
from m2bridge.families.attention.checker import case as cases
from m2bridge.families.attention.checker.case import Case, function, observe, orbits, representative
from m2bridge.families.attention.checker.statements import WORDS

MOST_DEGREE, MOST_MONOMIALS = 100, 100_000
Images = dict[tuple[int, ...], Any]  # by (k, i, p, q), p ≤ q; for t = 1 by (k, p, q, r), p ≤ q ≤ r


def closure(certificate: Certificate) -> Content | Difference:
    """The content that follows from the stored generators, or the first check that fails."""
    case = Case(**certificate.case)
    # the same functions, the fewest weights
    case = Case(case.d, case.d_out, case.alpha, min(case.t, 2))
    stored, texts = certificate.evidence.get("coordinates"), certificate.evidence.get("generators")
    if not isinstance(stored, list) or len(stored) != case.coordinate_count:
        return Difference(
            "evidence.coordinates", f"{stored!r:.200}", f"{case.coordinate_count} coordinates"
        )
    if (exponents := len(stored) * case.d * (case.d + case.d_out)) > algebra.MOST_EXPONENTS:
        raise TooExpensiveError(
            "case", f"{len(stored)} coordinates of weights have {exponents} exponents"
        )
    first, *others = cases.images(case.d_out, case.d, case.d, case.alpha, case.t).items()
    images = dict([*others, first])  # the last variable is c_{1,1,1,1}
    name = "c_{}_{}_{}_{}" if case.t > 1 else "f_{}_1_{}_1_{}_1_{}_1"
    names = [name.format(*(j + 1 for j in index)) for index, _ in (first, *others)]
    try:
        polynomials = algebra.read(texts, names)
    except CertificateError as reason:
        return Difference("form of the closure", str(reason), "text of polynomials")
    ring = algebra.ring(len(names))
    J = [ring.from_dict({(*e[1:], e[0]): c for e, c in terms.items()}) for terms in polynomials]
    if any(len(set(map(sum, g.monoms()))) > 1 for g in J):
        return Difference("homogeneous generators", "inhomogeneous ones", "homogeneous ones")
    degrees = Counter(g.total_degree() for g in J)
    if max(degrees, default=0) > MOST_DEGREE:
        raise TooExpensiveError("degree of a generator", f"{max(degrees)}; at most {MOST_DEGREE}")
    if isinstance(series := _series(case, J, images, ring), Difference):
        return series
    answer = {
        "hilbert_series": {"numerator": series[0], "denominator_exponent": series[1]},
        "generator_degrees": {str(n): degrees[n] for n in sorted(degrees)},
    } | {"dimension": series[1], "degree": sum(series[0]), "homogeneous": True}
    lemmas = [WORDS.lemmas[lemma] for lemma in WORDS.closure["trusted"]]
    trusted = (
        lemmas if case.t > 1 else [WORDS.closure["one-token"].format(degree=_last(degrees, case))]
    )
    tangents = []
    for orbit in orbits(case) if case.t > 1 else ():
        point = [*map(function(representative(orbit)).get, images, repeat(0))]
        left = len(point) - algebra.rank(
            {j: int(g.derivative(j)(*point)) for j in range(len(point))} for g in J
        )
        tangents.append({"orbit": list(orbit), "dimension": left})
    return Content(
        answer,
        {"coordinates": names, "generators": texts, "tangent_dimensions": tangents},
        tuple(trusted),
    )


def _series(case: Case, J: list[Any], images: Images, ring: Any) -> algebra.Series | Difference:
    """The Hilbert series, or the first check that fails; what costs least comes first."""
    size, wrong = (
        len(images),
        Difference("generator on the parametrization", "a generator", "not identically zero"),
    )
    if any(g(*_values(images, 0)) for g in J):
        return wrong
    basis = algebra.groebner_basis(J, ring)
    leading = algebra.minimal(g.monoms()[0] for g in basis)
    numerator, dimension = series = algebra.hilbert_series(leading, size)
    if case.t > 1:
        expected = tuple(
            map(observe(case.d, case.d_out, case.alpha)[0].get, ("dimension", "degree"))
        )
        if expected != (dimension, sum(numerator)):
            return Difference(
                "evidence.generators",
                f"{dimension, sum(numerator)}",
                f"dimension, degree {expected}",
            )
    if case.t == 1:
        failure = _incomplete_up_to(_last([g.total_degree() for g in J], case), images, series)
    elif any(monomial[-1] for monomial in leading):
        failure = Difference(
            "generators", "c_1_1_1_1 is a zero divisor modulo them", "it is none modulo all"
        )
    else:  # with no generators the closure is the whole space
        failure = (
            (_unstable(case, J, images, basis) or _incomplete_on_slice(case, J, images))
            if J
            else None
        )
    if failure := failure or _redundant(J, series, size):
        return failure
    target = next(iter(images.values())).context()
    return wrong if any(g.compose(*images.values(), ctx=target) for g in J) else series


def _values(images: Images, seed: int) -> list[int]:
    """The coordinates of random weights."""
    random = Random(seed)
    point = [
        random.randrange(1, 10**6) for _ in range(images[next(iter(images))].context().nvars())
    ]
    return [int(image(*point)) for image in images.values()]


def _redundant(J: list[Any], series: algebra.Series, size: int) -> Difference | None:
    """Degree by degree, whether what lower degrees generate lacks as many dimensions as there are
    generators.
    """
    for n in sorted({g.total_degree() for g in J}):
        lower = [g for g in J if g.total_degree() < n]
        exponents = size * sum(
            len(g) * comb(size + n - g.total_degree() - 1, size - 1) for g in lower
        )
        if exponents > algebra.MOST_EXPONENTS:
            raise TooExpensiveError(
                "monomials", f"multiples of generators in degree {n} have {exponents} exponents"
            )
        multiples = (
            {
                tuple(e + m.count(j) for j, e in enumerate(exponents)): int(c)
                for exponents, c in g.to_dict().items()
            }
            for g in lower
            for m in combinations_with_replacement(range(size), n - g.total_degree())
        )
        needed = (
            comb(size + n - 1, n) - algebra.hilbert_function(series, n) - algebra.rank(multiples)
        )
        if failure := difference(
            sum(g.total_degree() == n for g in J), needed, f"minimal generators.{n}"
        ):
            return failure
    return None


def _unstable(case: Case, J: list[Any], images: Images, basis: Any) -> Difference | None:
    """Whether the Lie algebra of U, of l_i ↦ l_i + l_1, v_k ↦ v_k + v_1, y_1 ↦ y_1 + y_q, maps J
    out of itself.
    """
    x = dict(zip(images, J[0].context().gens(), strict=True))
    for move, j in product("lvy", range(1, max(case.d, case.d_out))):
        moved = {}
        for n, (k, i, p, q) in enumerate(x):
            if j == {"l": i, "v": k}.get(move):
                moved[n] = x[(k, 0, p, q) if move == "l" else (0, i, p, q)]
            elif move == "y" and j in (p, q):
                moved[n] = x[k, i, 0, p if q == j else q] * (1 + (0 in (p, q)))
        if not all(
            algebra.is_in(sum((g.derivative(n) * m for n, m in moved.items()), 0 * g), basis)
            for g in J
        ):
            return Difference(
                "generators", "an ideal that is not stable under the group U", "a stable ideal"
            )
    return None


def _incomplete_on_slice(case: Case, J: list[Any], images: Images) -> Difference | None:
    """Whether I on Σ, found by elimination of v, is not in the restriction of J."""
    d, outputs = range(1, case.d), range(1, case.d_out)
    zeros = [
        *((0, j, 0, 0) for j in d),
        *((0, 0, 0, j) for j in d),
        *((k, 0, 0, 0) for k in outputs),
    ]
    fixed = {(0, 0, 0, 0): 1} | dict.fromkeys(zeros, 0)
    free = [index for index in images if index not in fixed]
    lex, on_slice = algebra.ring(len(d) + len(free), "lex"), algebra.ring(len(free))
    v, x = (
        dict(zip(d, lex.gens(), strict=False)),
        dict(zip(free, lex.gens()[len(d) :], strict=True)),
    )
    A = (
        {(0, 0): lex.constant(1)}
        | {(q, 0): -v[q] for q in d}
        | {(q, i): x[0, i, 0, q] for q in d for i in d}
    )
    V = (
        {(0, 0): lex.constant(1)}
        | {(0, q): v[q] for q in d}
        | {(k, q): x[k, 0, 0, q] for k in outputs for q in d}
    )
    graph = [x[index] - function((A, V)).get(index, 0) for index in free]
    for rows, columns in product(combinations(d, case.alpha), repeat=2):
        graph.append(_determinant([[A[p, i] for i in columns] for p in rows]))
    place = fixed | dict(zip(free, on_slice.gens(), strict=True))
    restricted = [
        g.compose(*(on_slice.constant(0) + place[index] for index in images), ctx=on_slice)
        for g in J
    ]
    basis = algebra.groebner_basis(restricted, on_slice)
    for terms in (g.to_dict() for g in algebra.groebner_basis(graph, lex)):
        without_v = on_slice.from_dict(
            {e[len(d) :]: c for e, c in terms.items() if not any(e[: len(d)])}
        )
        if len(without_v) == len(terms) and not algebra.is_in(without_v, basis):
            return Difference(
                "generators", "not all where c_1_1_1_1 ≠ 0", "all functions that vanish on a slice"
            )
    return None


def _determinant(rows: list[list[Any]]) -> Any:
    minors = ([row[:j] + row[j + 1 :] for row in rows[1:]] for j in range(len(rows)))
    return (
        sum((-1) ** j * rows[0][j] * _determinant(minor) for j, minor in enumerate(minors))
        if rows
        else 1
    )


def _last(degrees: Iterable[int], case: Case) -> int:
    fitting = (n for n in (4, 3, 2) if comb(case.coordinate_count + n - 1, n) <= MOST_MONOMIALS)
    return max([*degrees, next(fitting, 1)])


def _incomplete_up_to(last: int, images: Images, series: algebra.Series) -> Difference | None:
    """Part by part: I is homogeneous in the indices k of outputs and in those of inputs."""
    if comb(len(images) + last - 1, last) > 10 * MOST_MONOMIALS:
        raise TooExpensiveError(
            "monomials", f"too many of degree {last} in {len(images)} coordinates"
        )
    indices, points = list(images), list[list[int]]()
    for n in range(1, last + 1):
        parts: dict[Any, list[Any]] = {}
        for m in combinations_with_replacement(range(len(images)), n):
            weight = sorted(indices[j][0] for j in m), sorted(p for j in m for p in indices[j][1:])
            parts.setdefault(str(weight), []).append(m)
        points += [
            _values(images, seed) for seed in range(len(points), max(map(len, parts.values())))
        ]
        evaluated = (
            [[prod(p[j] for j in m) for m in part] for p in points[: len(part)]]
            for part in parts.values()
        )
        there, least = algebra.hilbert_function(series, n), sum(map(algebra.rank_modulo, evaluated))
        if failure := difference(there, least, f"ideal in degree {n}"):
            return failure
    return None
