"""A certificate of a number of critical points, checked by another method, in FLINT alone.

A certificate says that for general weights, readout, constant and input of some sizes the distance
to the boundary g = 0 has N complex critical points. It was found by Gröbner bases of equations for
them. Here no equations are solved: one critical point is enough to count all.

*One point.* A general (X, λ) with g(X) = 0 is a critical point of the input U = X − λ∇g(X), which
is general, too. Weights, X and λ are drawn modulo a prime p that is drawn; then b = −g(X), or for a
cone, X is on a line through g = 0. So N is the degree of (X, λ) ↦ U.

*A curve.* On the line U + sU₁ this point moves along a curve; X(s) and λ(s) are power series, by
Newton's method. The curve is irreducible if g is (a cone may have components: each has a curve, and
degrees are added), and N is the degree of its field of functions over k(s), k = 𝔽_p.

*A fibre.* Functions on the curve are power series in s, so relations between them with coefficients
in k[s] are found by linear algebra. Taken at a random s, they determine the vectors of values of
functions at all critical points of one input: ℓ, a linear form in X, acts on their span, X is a
polynomial in ℓ modulo its characteristic polynomial h, and if all equations for critical points
hold modulo h, there are deg h of them, and no others (docs/robustness.md has the proof).

*What is on trust.* That the number over the complex numbers is the one modulo p. The certificate
gives the sizes and the claim, and nothing else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import chain
from random import Random
from typing import Any, TypeAlias

from flint import nmod_mat, nmod_poly

from m2bridge.checker.draws import random_prime, unpredictable
from m2bridge.decision_boundary.checker import digest_of
from m2bridge.errors import CertificateError, TooExpensiveError

FORM = "m2bridge-critical-points-1"
FIELDS = {"form", "version", "case", "pool", "skip", "cone", "critical_points", "digest"}
SIZES = ("d", "d_out", "a", "t")
MAX_BYTES, MAX_POINTS, MAX_ENTRIES = 10_000, 150, 30

Series: TypeAlias = nmod_poly
"""A power series in s, truncated."""


def is_of_count(text: bytes) -> bool:
    """Whether a file says that it is a certificate of a count."""
    try:
        fields = json.loads(text) if len(text) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and fields.get("form") == FORM


def check_count(text: bytes) -> str:
    """What agrees with a certificate, in words; CertificateError if another number is found, and
    TooExpensiveError if its sizes or its number are too large.
    """
    fields = _fields(text)
    claim = fields["critical_points"]
    found = number_of_points(_Sizes.of(fields), claim)
    if found != claim:
        number = f"more than {claim}" if found is None else found
        raise CertificateError(f"critical_points: {claim} are claimed, and {number} are found")
    return (
        f"{claim} critical points, modulo a prime that was drawn; that their number over the"
        " complex numbers is the same is not proved"
    )


def _fields(text: bytes) -> dict[str, Any]:
    """The fields of a certificate, of the right types."""
    if len(text) > MAX_BYTES:
        raise TooExpensiveError("certificate", f"has more than {MAX_BYTES} bytes")
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise CertificateError("the file is no certificate: it is not JSON") from None
    if not isinstance(fields, dict) or fields.keys() != FIELDS:
        raise CertificateError(f"the fields must be {', '.join(sorted(FIELDS))}")
    if fields["form"] != FORM or not isinstance(fields["version"], str):
        raise CertificateError(f"form: must be {FORM}, of a version")
    if fields["digest"] != digest_of(fields):
        raise CertificateError("digest: the fields have another one")
    case = fields["case"]
    if not isinstance(case, dict) or case.keys() != set(SIZES):
        raise CertificateError("case: must have d, d_out, a and t")
    for name, number in (*case.items(), ("critical_points", fields["critical_points"])):
        if type(number) is not int or not 1 <= number <= 10**9:
            raise CertificateError(f"{name}: must be an integer from 1 on")
    for name in ("skip", "cone"):
        if type(fields[name]) is not bool:
            raise CertificateError(f"{name}: must be true or false")
    pool = fields["pool"]
    is_token = isinstance(pool, str) and pool.isdecimal() and int(pool) < case["t"]
    if not (pool in (None, "mean", "first", "last") or is_token):
        raise CertificateError("pool: must be null, mean, first, last or the index of a token")
    if fields["skip"] and case["d"] != case["d_out"]:
        raise CertificateError("skip: needs as many outputs as inputs")
    return fields


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The sizes of a boundary with the same number of points, by Theorems R1, R2 and R5."""

    d: int
    t: int
    a: int
    r: int
    skip: bool
    cone: bool

    @classmethod
    def of(cls, fields: dict[str, Any]) -> _Sizes:
        """The sizes of a certificate; TooExpensiveError if these are too large."""
        d, d_out, a, t = (fields["case"][name] for name in SIZES)
        r = min(d, d_out, t) if fields["pool"] is None else 1
        directions = min(d, 2 * a + r + (r if fields["skip"] else 0))
        a = min(a, directions)
        enough = min(a + 1, directions) + 1 if r == 1 else directions + r
        sizes = cls(directions, min(t, enough), a, r, fields["skip"], fields["cone"])
        if sizes.d * sizes.t > MAX_ENTRIES or fields["critical_points"] > MAX_POINTS:
            raise TooExpensiveError(
                "critical_points",
                f"more than {MAX_ENTRIES} entries of an input, after reductions, or"
                f" {MAX_POINTS} points are not counted again",
            )
        return sizes


def number_of_points(sizes: _Sizes, claim: int) -> int | None:
    """The number of critical points of a general boundary; None if there are more than the claim,
    for which the number of functions is chosen.
    """
    if sizes.d * sizes.t == 1:  # the roots of a general cubic, or of x³
        return 0 if sizes.cone and not sizes.skip else 3
    prime = random_prime()
    # ±i are in the field, so that isotropic lines are, which a cone may contain
    while prime % 4 != 1:
        prime = random_prime()
    drawn = _Draws(prime, unpredictable())
    boundary = _Boundary.general(sizes, drawn)
    if not sizes.cone:
        X = drawn.matrix(sizes.d, sizes.t)
        boundary = replace(boundary, constant=-boundary.value(X, 1))
        return _degree(boundary, X, drawn, claim)
    # three points on a line are looked for, which not every cone has modulo the prime
    for _ in range(300):
        if starts := _on_components(boundary, sizes, drawn):
            degrees = [_degree(boundary, X, drawn, claim) for X in starts]
            return None if None in degrees else sum(filter(None, degrees))
        boundary = _Boundary.general(sizes, drawn)
    raise TooExpensiveError("cone", "no points of it are found modulo the prime")


@dataclass(frozen=True, slots=True)
class _Draws:
    """Random numbers modulo a prime."""

    prime: int
    random: Random

    def number(self) -> Series:
        """A random number, as a constant series."""
        return self.constant(self.random.randrange(self.prime))

    def constant(self, *coefficients: int) -> Series:
        """The series with these first coefficients."""
        return nmod_poly(list(coefficients), self.prime)

    def matrix(self, rows: int, columns: int) -> _Matrix:
        """A random matrix."""
        return _Matrix([[self.number() for _ in range(columns)] for _ in range(rows)])


class _Matrix:
    """A matrix of power series; products are truncated at an order that they are given."""

    def __init__(self, rows: list[list[Series]]) -> None:
        self.rows = rows

    @property
    def T(self) -> _Matrix:
        """The transpose."""
        return _Matrix([list(column) for column in zip(*self.rows, strict=True)])

    @property
    def entries(self) -> list[Series]:
        """The entries, row by row."""
        return list(chain.from_iterable(self.rows))

    def __add__(self, other: _Matrix) -> _Matrix:
        pairs = zip(self.rows, other.rows, strict=True)
        return _Matrix([[x + y for x, y in zip(*rows, strict=True)] for rows in pairs])

    def scaled(self, factor: Series, order: int) -> _Matrix:
        """The product with a series."""
        return _Matrix([[x.mul_low(factor, order) for x in row] for row in self.rows])

    def times(self, other: _Matrix, order: int) -> _Matrix:
        """The product of two matrices."""
        columns = other.T.rows
        return _Matrix([[_inner(row, column, order) for column in columns] for row in self.rows])


def _inner(left: list[Series], right: list[Series], order: int) -> Series:
    """The sum of products, truncated."""
    products = [x.mul_low(y, order) for x, y in zip(left, right, strict=True)]
    return sum(products[1:], products[0])


@dataclass(frozen=True, slots=True, eq=False)
class _Boundary:
    """g(X) = tr(Bᵀ X Xᵀ A X) + ⟨S, X⟩ + b; S is zero without a skip connection."""

    A: _Matrix
    B: _Matrix
    S: _Matrix
    constant: Series

    @classmethod
    def general(cls, sizes: _Sizes, drawn: _Draws) -> _Boundary:
        """A boundary with b = 0 that is general among all of these sizes."""
        d, t, r = sizes.d, sizes.t, sizes.r
        rows = drawn.matrix(r, t)
        zero = drawn.constant(0)
        S = _Matrix([[zero] * t] * d)
        if sizes.skip:
            S = drawn.matrix(d, r).times(rows, 1)
        left, right = drawn.matrix(d, sizes.a), drawn.matrix(sizes.a, d)
        A = left.times(right, 1)
        B = drawn.matrix(d, r).times(rows, 1)
        return cls(A, B, S, zero)

    def value(self, X: _Matrix, order: int) -> Series:
        """g(X)."""
        on_A = X.T.times(self.A.times(X, order), order)
        cubic = _inner(self.B.entries, X.times(on_A, order).entries, order)
        return cubic + _inner(self.S.entries, X.entries, order) + self.constant

    def gradient(self, X: _Matrix, order: int) -> _Matrix:
        """∇g(X)."""
        return self.S + self._bilinear(X, X, order)

    def second_derivative(self, X: _Matrix, Y: _Matrix, order: int) -> _Matrix:
        """The derivative of ∇g at X in the direction Y."""
        return self._bilinear(X, Y, order) + self._bilinear(Y, X, order)

    def _bilinear(self, X: _Matrix, Y: _Matrix, order: int) -> _Matrix:
        """B Xᵀ Aᵀ Y + A X Bᵀ Y + Aᵀ X Yᵀ B."""
        B = self.B
        AX = self.A.times(X, order)
        AtX = self.A.T.times(X, order)
        on_AX = AX.T.times(Y, order)
        on_B = B.T.times(Y, order)
        first = B.times(on_AX, order)
        second = AX.times(on_B, order)
        third = AtX.times(Y.T.times(B, order), order)
        return first + second + third


def _on_components(boundary: _Boundary, sizes: _Sizes, drawn: _Draws) -> list[_Matrix]:
    """A point of each component of a cone, of degree three: each hyperplane in it, and what is left
    if that is not empty, as a reducible cubic contains a hyperplane. It is empty if a random line
    has fewer than three points of the cone.
    """
    variable = drawn.constant(0, 1)
    origin, first, second = (drawn.matrix(sizes.d, sizes.t) for _ in range(3))
    roots = boundary.value(origin + second.scaled(variable, 2), 4).roots()
    on_hyperplanes: list[_Matrix] = []
    others: list[_Matrix] = []
    for root, _ in roots if len(roots) == 3 else []:
        X = origin + second.scaled(drawn.constant(int(root)), 1)
        normal = boundary.gradient(X, 1).entries
        along, across = (_inner(normal, one.entries, 1)[0] for one in (first, second))
        tangent = first + second.scaled(drawn.constant(int(-along / across)), 1)
        on_tangent = boundary.value(X + tangent.scaled(variable, 2), 4)
        (others if on_tangent else on_hyperplanes).append(X)
    return on_hyperplanes + others[:1]


class _Curve:
    """The curve over the line U + sU₁ through a critical point (X, λ) of U."""

    def __init__(self, boundary: _Boundary, X: _Matrix, drawn: _Draws) -> None:
        self.boundary, self.X, self.order = boundary, X, 1
        self.factor = drawn.number()
        self.minus_one = drawn.constant(-1)
        d, t = len(X.rows), len(X.rows[0])
        start = X + boundary.gradient(X, 1).scaled(-self.factor, 1)
        self.line = start + drawn.matrix(d, t).scaled(drawn.constant(0, 1), 2)
        columns = []
        for place in range(d * t + 1):
            unit = [drawn.constant(int(place == k)) for k in range(d * t + 1)]
            columns.append([int(entry[0]) for entry in self._derivative(unit, 1)])
        matrix = nmod_mat(d * t + 1, d * t + 1, list(chain(*columns)), drawn.prime).transpose()
        self.inverse = None if matrix.det() == 0 else matrix.inv()

    def extend(self, order: int) -> None:
        """Lift X and λ to this order, by Newton's method."""
        while self.order < order:
            more = min(self.order, order - self.order)
            residue = self._equations(self.order + more)
            shifted = [(-entry).right_shift(self.order) for entry in residue]
            change = [entry.left_shift(self.order) for entry in self._solution(shifted, more)]
            self.X = self.X + self.shaped(change[:-1])
            self.factor += change[-1]
            self.order += more

    def _equations(self, order: int) -> list[Series]:
        """X − λ∇g(X) − U − sU₁ and g(X), which are to be zero."""
        moved = self.boundary.gradient(self.X, order).scaled(-self.factor, order)
        difference = self.X + moved + self.line.scaled(self.minus_one, order)
        return [*difference.entries, self.boundary.value(self.X, order)]

    def _derivative(self, change: list[Series], order: int) -> list[Series]:
        """The derivative of the equations in a direction."""
        Y = self.shaped(change[:-1])
        gradient = self.boundary.gradient(self.X, order)
        second = self.boundary.second_derivative(self.X, Y, order)
        moved = second.scaled(-self.factor, order) + gradient.scaled(-change[-1], order)
        return [*(Y + moved).entries, _inner(gradient.entries, Y.entries, order)]

    def _solution(self, right: list[Series], order: int) -> list[Series]:
        """The solution of the linear equations with this right side: its first half, and by what is
        left of the right side its second half.
        """
        if order == 1:
            assert self.inverse is not None
            prime = self.factor.modulus()
            column = nmod_mat(len(right), 1, [int(entry[0]) for entry in right], prime)
            return [nmod_poly([int(x)], prime) for x in (self.inverse * column).entries()]
        half = (order + 1) // 2
        low = self._solution(right, half)
        rest = [
            (entry - image).right_shift(half)
            for entry, image in zip(right, self._derivative(low, order), strict=True)
        ]
        high = self._solution(rest, order - half)
        return [x + y.left_shift(half) for x, y in zip(low, high, strict=True)]

    def shaped(self, entries: list[Series]) -> _Matrix:
        """A matrix of the form of X."""
        t = len(self.X.rows[0])
        return _Matrix([entries[k : k + t] for k in range(0, len(entries), t)])


def _degree(boundary: _Boundary, X: _Matrix, drawn: _Draws, claim: int) -> int | None:
    """The number of critical points on the component of X; None if there are more than the claim,
    for which the number of functions is chosen.

    Where (X, λ) ↦ U has no invertible derivative at a general point, almost no input has any.
    """
    curve = _Curve(boundary, X, drawn)
    if curve.inverse is None:
        return 0
    functions = _Functions.general(len(X.entries), 2 * claim + 3, drawn)
    order = 8 * claim + 60
    for k in (3, 5, 8, 12):  # the degree in s of relations
        curve.extend(order)
        while (kernel := _relations(functions.values(curve), k, order)) is None:
            order *= 2
            if order > 30 * claim + 500:
                return None
            curve.extend(order)
        if number := _fibre(curve, functions, kernel, drawn):
            return number
    return None


@dataclass(frozen=True, slots=True)
class _Functions:
    """The functions f₁, ℓf₁, f₂, ℓf₂, …, and X₁f₁, X₂f₁, … on the curve: each f is a product of
    linear forms in X, ℓ is a linear form, and X₁, X₂, … are the entries of X.
    """

    products: list[list[list[Series]]]
    multiplier: list[Series]

    @classmethod
    def general(cls, entries: int, number: int, drawn: _Draws) -> _Functions:
        """Random ones, with a number of products of five linear forms."""

        def form() -> list[Series]:
            return [drawn.number() for _ in range(entries + 1)]

        return cls([[form() for _ in range(5)] for _ in range(number)], form())

    def values(self, curve: _Curve) -> list[Series]:
        """Their power series."""
        order = curve.order
        one = curve.minus_one * curve.minus_one
        variables = [*curve.X.entries, one]
        multiplier = _inner(self.multiplier, variables, order)
        values = []
        for forms in self.products:
            product = one
            for form in forms:
                product = product.mul_low(_inner(form, variables, order), order)
            values += [product, product.mul_low(multiplier, order)]
        return values + [values[0].mul_low(entry, order) for entry in curve.X.entries]


def _relations(values: list[Series], k: int, order: int) -> nmod_mat | None:
    """The relations over the field between all sⁱf, i ≤ k, as columns; None if the order is too low
    to know them.
    """
    columns = []
    for value in values:
        known = [int(x) for x in value.coeffs()][:order]
        known += [0] * (order - len(known))
        columns += [[0] * i + known[: order - i] for i in range(k + 1)]
    prime = values[0].modulus()
    matrix = nmod_mat(len(columns), order, list(chain(*columns)), prime)
    kernel, nullity = matrix.transpose().nullspace()
    if len(columns) - nullity == order:
        return None
    rows = kernel.table()
    return nmod_mat(len(columns), nullity, [x for row in rows for x in row[:nullity]], prime)


def _fibre(curve: _Curve, functions: _Functions, relations: nmod_mat, drawn: _Draws) -> int | None:
    """The number of critical points of a general input on the line, if the relations determine
    them.

    The vectors that satisfy the relations at s contain the vectors of values of all points. If they
    have a basis on which ℓ acts, coordinates X are polynomials in ℓ modulo its characteristic
    polynomial h. If these are critical points, and h has no multiple roots, they are all.
    """
    prime, products = drawn.prime, len(functions.products)
    total = 2 * products + len(curve.X.entries)
    k = relations.nrows() // total
    s = drawn.random.randrange(prime)
    powers = [pow(s, i, prime) for i in range(k)]
    at_s = nmod_mat(total, relations.nrows(), [0] * (total * relations.nrows()), prime)
    for place in range(total):
        for i, power in enumerate(powers):
            at_s[place, place * k + i] = power
    solutions, number = (at_s * relations).transpose().nullspace()
    rows = [row[:number] for row in solutions.table()]
    # L = (f₁, f₂, …) and R = (ℓf₁, ℓf₂, …) on a basis of the solutions; ℓ acts by T if L T = R
    left = nmod_mat(products, number, list(chain(*rows[: 2 * products : 2])), prime)
    right = rows[1 : 2 * products : 2]
    reduced, rank = left.transpose().rref()
    if rank < number or not number:
        return None
    table = reduced.table()
    pivots = [next(j for j, x in enumerate(row) if x) for row in table[:number]]
    chosen = nmod_mat(number, number, [left[j, c] for j in pivots for c in range(number)], prime)
    images = nmod_mat(number, number, [x for j in pivots for x in right[j]], prime)
    action = chosen.inv() * images
    if left * action != nmod_mat(len(right), number, list(chain(*right)), prime):
        return None
    # the entries of X are polynomials in ℓ: X₁f₁ is a combination of f₁, ℓf₁, ℓ²f₁, …
    krylov = [nmod_mat(1, number, rows[0], prime)]
    for _ in range(number):
        krylov.append(krylov[-1] * action)
    basis = nmod_mat(number, number, [x for row in krylov[:-1] for x in row.entries()], prime)
    if basis.rank() < number:
        return None
    inverse = basis.inv()

    def polynomial(values: nmod_mat) -> Series:
        return nmod_poly([int(x) for x in (values * inverse).entries()], prime)

    h = nmod_poly([0] * number + [1], prime) - polynomial(krylov[-1])
    entries = [polynomial(nmod_mat(1, number, row, prime)) for row in rows[2 * products :]]
    input_at_s = [drawn.constant(int(entry(s))) for entry in curve.line.entries]
    # different roots of h are different points, as they have different ℓ
    one, variable = drawn.constant(1), drawn.constant(0, 1)
    on_points = _inner(functions.multiplier, [*entries, one], number + 1)
    are_different = h.gcd(h.derivative()) == one and (on_points - variable) % h == 0
    are_critical = _are_critical(curve.boundary, curve.shaped(entries), input_at_s, h)
    return number if are_different and are_critical else None


def _are_critical(boundary: _Boundary, X: _Matrix, input_at: list[Series], h: Series) -> bool:
    """Whether g(X) = 0, and X − U is a multiple of ∇g(X) ≠ 0, modulo h."""
    exact = 4 * h.degree() + 1  # degrees are at most three times as large
    gradient = [entry % h for entry in boundary.gradient(X, exact).entries]
    difference = [x - u for x, u in zip(X.entries, input_at, strict=True)]
    common, inverse, _ = gradient[0].xgcd(h)
    if common.degree() != 0 or boundary.value(X, exact) % h != 0:
        return False
    factor = difference[0] * inverse % h
    return all(
        (one - factor * other) % h == 0 for one, other in zip(difference, gradient, strict=True)
    )
