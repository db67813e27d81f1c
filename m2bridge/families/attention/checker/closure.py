"""Zariski closures: whether stored polynomials are minimal generators of the whole ideal, and its invariants.

For t ≥ 2 let U be the group of l_i ↦ l_i + a_i l_1, v_k ↦ v_k + b_k v_1 (i, k > 1), y_1 ↦ y_1 + Σ t_q y_q, let c = c_{1,1,1,1},
and Σ the slice c = 1, c_{1,i,1,1} = c_{k,1,1,1} = c_{1,1,1,q} = 0 (i, k, q > 1). A homogeneous ideal J that is stable under U,
modulo which c is no zero divisor, and that has the restriction to Σ of the ideal I of the closure, is I
(docs/mathematics.md, Completeness). J is stable if the derivations of the Lie algebra of U map generators into J. On Σ the
weights are A = (1, 0; −v, A''), V = (1, vᵀ; 0, V''), rk A'' < α, up to rescaling; A'' and V'' are coordinates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb, prod
from random import Random
from typing import Any

import flint

from m2bridge.certificate.difference import Difference, difference
from m2bridge.certificate.schema import Certificate, Content
from m2bridge.checker import polynomials as ideals
from m2bridge.checker.linear_algebra import rank
from m2bridge.checker.polynomials import Exponents
from m2bridge.errors import CertificateError, TooExpensiveError
from m2bridge.families.attention.checker.case import Case, function, orbits, representative
from m2bridge.families.attention.checker.observations import observe
from m2bridge.families.attention.checker.section import is_counted
from m2bridge.families.attention.checker.statements import WORDS

PRIME = 2**61 - 1
MOST_MONOMIALS = 100_000
MOST_TERMS = 10**8
"""Of all generators with the parametrization put in."""


def closure(certificate: Certificate) -> Content | Difference:
    """The content that follows from the stored generators, or the first check that fails."""
    full = Case.read(certificate.case)
    case = Case(full.d, full.d_out, full.alpha, min(full.t, 2))  # the same functions, the fewest weights
    size, names = case.coordinate_count, certificate.evidence.get("coordinates")
    if not isinstance(names, list) or len(names) != size:
        return Difference("evidence.coordinates", f"{names!r:.200}", f"{size} coordinates")
    indices = _indices(case)
    names = [_name(index, case) for index in indices]
    texts = certificate.evidence.get("generators")
    try:
        generators = ideals.read(texts, names)
    except CertificateError as reason:
        return Difference("form of the closure", str(reason), "text of polynomials")
    if any(len(set(map(sum, terms))) > 1 for terms in generators):
        return Difference("homogeneous generators", "inhomogeneous ones", "homogeneous ones")
    degrees = Counter(sum(next(iter(terms))) for terms in generators)
    if max(degrees, default=0) > ideals.MOST_DEGREE:
        raise TooExpensiveError("degree of a generator", f"{max(degrees)}; at most {ideals.MOST_DEGREE}")
    return _checked(case, texts, generators, degrees, indices, names)


def _checked(case: Case, texts: list[str], generators: list[Any], degrees: Mapping[int, int], indices: Any, names: Any):
    size = len(names)
    images = _images(case, indices)
    random, weights = Random(1), images[0].context().nvars()
    values = [[int(image(*point)) for image in images] for point in [[random.randrange(1, 100) for _ in range(weights)]]]
    context = ideals.ring(size)
    # c_{1,1,1,1} is the last variable
    J = [context.from_dict({(*e[1:], e[0]): c for e, c in terms.items()}) for terms in generators]
    point = values[0][1:] + values[0][:1]
    if wrong := next((text for text, g in zip(texts, J, strict=True) if g(*point)), None):
        return Difference("generator on the parametrization", wrong[:200], "not identically zero")
    basis = ideals.groebner_basis(J, context)
    leading = ideals.leading_monomials(basis)
    numerator, dimension = ideals.hilbert_series(leading, size)
    found = _invariants(case, images)
    expected = found[0], sum(numerator) if found[1] is None else found[1]
    if (dimension, sum(numerator)) != expected:
        stored = f"dimension {dimension}, degree {sum(numerator)}"
        return Difference("evidence.generators", stored, f"dimension {expected[0]}, degree {expected[1]}")
    if failure := _redundant(J, degrees, size) or _incomplete(case, J, basis, leading, indices, (numerator, dimension), images):
        return failure
    if any(g.compose(*images[1:], images[0], ctx=images[0].context()) for g in J):
        return Difference("generator on the parametrization", "one", "not identically zero")
    return _content(case, texts, generators, degrees, names, indices, numerator, dimension)


def _content(case: Case, texts: list[str], generators: list[Any], degrees: Mapping[int, int], names, indices, numerator, dimension) -> Content:
    series = {"numerator": numerator, "denominator_exponent": dimension}
    counts = {str(n): degrees[n] for n in sorted(degrees)}
    answer = {"dimension": dimension, "degree": sum(numerator), "generator_degrees": counts, "homogeneous": True}
    tangents = [] if case.t == 1 else _tangent_dimensions(case, generators, indices)
    evidence = {"coordinates": names, "generators": texts, "tangent_dimensions": tangents}
    if case.t == 1:
        lemmas = [WORDS.closure["one-token"].format(degree=_last(degrees, len(names)))]
    else:
        listed = WORDS.closure["trusted-with-section" if is_counted(case) else "trusted"]
        lemmas = [WORDS.lemmas[name] for name in listed]
    return Content(answer | {"hilbert_series": series}, evidence, tuple(lemmas))


def _indices(case: Case) -> list[tuple[int, ...]]:
    """Of the coordinates c_{k,i,p,q}, p ≤ q; for t = 1 (k, p, q, r), p ≤ q ≤ r: the coefficient of x_p x_q x_r in output k."""
    d, outputs = range(case.d), range(case.d_out)
    if case.t == 1:
        return [(k, *three) for k in outputs for three in combinations_with_replacement(d, 3)]
    return [(k, i, *two) for k in outputs for i in d for two in combinations_with_replacement(d, 2)]


def _name(index: tuple[int, ...], case: Case) -> str:
    if case.t > 1:
        return "_".join(["c", *(str(j + 1) for j in index)])
    return "_".join([f"f_{index[0] + 1}_1", *(f"{j + 1}_1" for j in index[1:])])


def _images(case: Case, indices: Any) -> list[Any]:
    """The coordinates of A and V, where A = KᵀQ if α < d; x_i y_p y_q comes from A_pi V_kq and A_qi V_kp."""
    d, alpha, full = case.d, case.alpha, case.alpha == case.d
    context = ideals.ring(d * (d if full else 2 * alpha) + d * case.d_out)
    weights = iter(context.gens())
    first = [[next(weights) for _ in range(d)] for _ in range(alpha)]
    if full:
        A = first
    else:
        second = [[next(weights) for _ in range(d)] for _ in range(alpha)]
        A = [[sum((k[p] * q[i] for k, q in zip(first, second)), context.constant(0)) for i in range(d)] for p in range(d)]
    V = [[next(weights) for _ in range(d)] for _ in range(case.d_out)]
    zero = context.constant(0)
    if case.t == 1:
        return [sum((A[p][i] * V[k][q] for p, i, q in set(permutations(three))), zero) for k, *three in indices]
    return [sum((A[p][i] * V[k][q] for p, q in set(permutations(two))), zero) for k, i, *two in indices]


def _invariants(case: Case, images: Sequence[Any]) -> tuple[int, int | None]:
    """The dimension, and the degree where it is counted."""
    if case.t > 1:
        evidence = observe(case).evidence
        return evidence["dimension"], evidence["degree"]
    random, weights = Random(2), images[0].context().nvars()
    point = [random.randrange(1, 10**6) for _ in range(weights)]
    rows = [[int(image.derivative(j)(*point)) % PRIME for j in range(weights)] for image in images]
    return int(flint.nmod_mat(len(rows), weights, [x for row in rows for x in row], PRIME).rank()), None


def _redundant(J, degrees, size) -> Difference | None:
    """Degree by degree, whether generators reduce the Hilbert function of what lower degrees generate by their number."""
    before: list[Exponents] = []
    for n in sorted(degrees):
        context = ideals.ring(size)
        after = ideals.leading_monomials(ideals.groebner_basis([g for g in J if g.total_degree() <= n], context))
        fewer = hilbert_function(ideals.hilbert_series(before, size), n) - hilbert_function(ideals.hilbert_series(after, size), n)
        if failure := difference(degrees[n], fewer, f"minimal generators.{n}"):
            return failure
        before = after
    return None


def hilbert_function(series: tuple[Sequence[int], int], n: int) -> int:
    numerator, dimension = series
    if dimension == 0:
        return numerator[n] if n < len(numerator) else 0
    return sum(h * comb(n - i + dimension - 1, dimension - 1) for i, h in enumerate(numerator[: n + 1]))


def _incomplete(case, J, basis, leading, indices, series, images) -> Difference | None:
    if series[1] == len(indices):  # the zero ideal
        return None
    if case.t == 1:
        return _incomplete_up_to(case, indices, images, series, [g.total_degree() for g in J])
    context, place = basis[0].context() if len(basis) else None, {}
    if any(monomial[-1] for monomial in leading):
        return Difference("generators", "c_1_1_1_1 is a zero divisor modulo them", "it is none modulo the whole ideal")
    gens = dict(zip([*indices[1:], indices[0]], J[0].context().gens(), strict=True))
    variables = {x: at for at, x in enumerate(gens)}
    for move in _derivations(case):
        changes = [(variables[index], sum((x * gens[other] for other, x in move(*index)), 0 * J[0])) for index in gens]
        changes = [(j, change) for j, change in changes if change]
        for g in J:
            image = sum((g.derivative(j) * change for j, change in changes), 0 * g)
            if image and image.reduction_primitive_part(basis):
                return Difference("generators", "their ideal is not stable under the group of the chart", "a stable ideal")
    return _wrong_on_slice(case, J, indices)


def _derivations(case: Case) -> Iterator[Any]:
    """The Lie algebra of U: what becomes of the coordinate (k, i, p, q), as a list of coordinates with factors."""
    for j in range(1, case.d):
        yield lambda k, i, p, q, j=j: [((k, 0, p, q), 1)] if i == j else []
    for j in range(1, case.d_out):
        yield lambda k, i, p, q, j=j: [((0, i, p, q), 1)] if k == j else []
    for j in range(1, case.d):  # y_1 ↦ y_1 + t y_j
        def moved(k, i, p, q, j=j):
            if j not in (p, q):
                return []
            other = p if q == j else q
            return [((k, i, *sorted((0, other))), 2 if other == 0 else 1)]
        yield moved


def _wrong_on_slice(case: Case, J, indices) -> Difference | None:
    """Whether J and the ideal of the closure differ on Σ."""
    d = range(1, case.d)
    fixed = {(0, 0, 0, 0): 1} | {(0, i, 0, 0): 0 for i in d} | {(0, 0, 0, q): 0 for q in d} | {(k, 0, 0, 0): 0 for k in range(1, case.d_out)}
    free = [index for index in indices if index not in fixed]
    lex = ideals.ring(len(d) + len(free), "lex")
    v, x = dict(zip(d, lex.gens())), dict(zip(free, lex.gens()[len(d):], strict=True))
    one, zero = lex.constant(1), lex.constant(0)
    A = {(0, 0): one} | {(q, 0): -v[q] for q in d} | {(q, i): x[0, i, 0, q] for q in d for i in d}
    V = {(0, 0): one} | {(0, q): v[q] for q in d} | {(k, q): x[k, 0, 0, q] for k in range(1, case.d_out) for q in d}
    values = {index: zero for index in indices}
    for ((p, i), a), ((k, q), b) in product(A.items(), V.items()):
        values[k, i, min(p, q), max(p, q)] += a * b
    minors = [_determinant([[A[p, i] for i in columns] for p in rows], zero) for rows in combinations(d, case.alpha) for columns in combinations(d, case.alpha)]
    kernel = ideals.groebner_basis([*minors, *(x[index] - values[index] for index in free)], lex)
    ring = ideals.ring(len(free))
    on_slice = [ring.constant(fixed[index]) if index in fixed else ring.gens()[free.index(index)] for index in [*indices[1:], indices[0]]]
    restricted = ideals.groebner_basis([g.compose(*on_slice, ctx=ring) for g in J], ring)
    for g in kernel:
        terms = g.to_dict()
        if not any(any(e[: len(d)]) for e in terms):
            h = ring.from_dict({e[len(d):]: c for e, c in terms.items()})
            if h.reduction_primitive_part(restricted) if len(restricted) else h:
                return Difference("generators", "not all where c_1_1_1_1 ≠ 0", "all functions that vanish on a slice")
    return None


def _determinant(rows, zero):
    if not rows:
        return zero + 1
    return sum(((-1) ** j * entry * _determinant([row[:j] + row[j + 1 :] for row in rows[1:]], zero) for j, entry in enumerate(rows[0])), zero)


def _last(degrees: Mapping[int, int], size: int) -> int:
    """For t = 1 the ideal is checked up to this degree."""
    fitting = (n for n in (4, 3, 2) if comb(size + n - 1, n) <= MOST_MONOMIALS)
    return max([*degrees, next(fitting, 1)])


def _incomplete_up_to(case: Case, indices, images, series, degrees) -> Difference | None:
    """t = 1: the Hilbert function against ranks of evaluation, which are at most that of the closure, degree by degree.

    The monomial f_{k,pqr} … has the multidegree of the k and that of the p, q, r; the ideal is the sum of its parts.
    """
    last = _last(Counter(degrees), len(indices))
    if comb(len(indices) + last - 1, last) > 10 * MOST_MONOMIALS:
        raise TooExpensiveError("monomials", f"too many of degree {last} in {len(indices)} coordinates")
    random, weights = Random(3), images[0].context().nvars()
    points: list[list[int]] = []
    for n in range(1, last + 1):
        parts: dict[Any, list[tuple[int, ...]]] = {}
        for monomial in combinations_with_replacement(range(len(indices)), n):
            outputs = Counter(indices[j][0] for j in monomial)
            inputs = Counter(p for j in monomial for p in indices[j][1:])
            weight = tuple(outputs[k] for k in range(case.d_out)), tuple(inputs[p] for p in range(case.d))
            parts.setdefault(weight, []).append(monomial)
        most = max(map(len, parts.values()))
        while len(points) < most:
            point = [random.randrange(PRIME) for _ in range(weights)]
            points.append([int(image(*point)) % PRIME for image in images])
        found = 0
        for weight, monomials in parts.items():
            if any(list(w) != sorted(w) for w in weight):
                continue
            copies = prod(len(set(permutations(w))) for w in weight)
            entries = [prod(point[j] for j in m) % PRIME for point in points[: len(monomials)] for m in monomials]
            found += copies * int(flint.nmod_mat(len(monomials), len(monomials), entries, PRIME).rank())
        if found != hilbert_function(series, n):
            return Difference(f"ideal in degree {n}", f"Hilbert function {hilbert_function(series, n)}", f"at least {found}")
    return None


def _tangent_dimensions(case: Case, generators, indices) -> list[dict[str, Any]]:
    """At the representatives of orbits, by the generators."""
    found = []
    for orbit in orbits(case):
        values = function(*representative(orbit, case))
        point = [values.get(index, 0) for index in indices]
        rows = (_gradient(terms, point) for terms in generators)
        found.append({"orbit": list(orbit), "dimension": len(point) - rank(rows)})
    return found


def _gradient(terms: Mapping[Exponents, int], point: Sequence[int]) -> dict[int, int]:
    """The partial derivatives that are not zero."""
    found: Counter[int] = Counter()
    for exponents, c in terms.items():
        support = [j for j, e in enumerate(exponents) if e]
        zeros = [j for j in support if not point[j]]
        for j in zeros or support:
            if len(zeros) < 2 and not (zeros and exponents[j] > 1):
                others = prod(point[i] ** (exponents[i] - (i == j)) for i in support)
                found[j] += c * exponents[j] * others
    return found
