"""A certificate of a distance, checked by formulas of its own, in balls of FLINT.

A certificate says that the distance of an input U to the boundary g = 0 lies in an interval
[lower, D], and perhaps that the nearest point is near U + E. Nothing in it is believed but what was
asked: layer, readout, bias and input. Its step E and its multipliers are tried. With them Theorem
R4 of docs/robustness.md either proves the claim here, or it is refused.

*Coordinates.* The rows of P (n×d) are all rows of K, Q, βᵀ and ωᵀ, dependent or not, or the unit
vectors if there are more than d. g(X) depends on x = PX only (Theorem R1), and with ``k``, ``q``,
``b``, which pick rows, g is the same cubic in x as it is in X. For every D > 0 and H = (PPᵀ + D)⁻¹,

    ‖E‖² ≥ tr(eᵀHe),    e = PE,

so that no basis is needed; D is tiny. All is decided for the form Φ(e) = λ tr(eᵀHe) − q(e) on all
n×t matrices e = hΓᵀ + f with fΓ = 0, where

    Φ(e) = tr(fᵀNf) − ⟨f, J(h)w⟩ + a form of h,    J(h) = Σ (b(Ah)ᵀ + Ah bᵀ),

and w = x − yΓᵀ, y = xΓ at the base point. f is eliminated, and matrices of n and n·r rows remain.
The file reads from the claim to g, to Φ, and to the numbers in the file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from itertools import chain, product
from typing import Any, NamedTuple

from flint import arb, arb_mat, ctx, fmpq_mat

from m2bridge.errors import CertificateError, TooExpensiveError

FORM = "m2bridge-distance-1"
FIELDS = "form version claim distance layer readout bias input step proof digest"
MAX_BYTES, MAX_NUMBERS, MAX_ENTRIES_OF_R = 100_000_000, 2_000_000, 40_000


def check_distance(text: bytes) -> str:
    """What a certificate proves, in words; CertificateError if it proves less than it claims, and
    TooExpensiveError if it is too large.
    """
    if len(text) > MAX_BYTES:
        raise TooExpensiveError("certificate", f"has more than {MAX_BYTES} bytes")
    try:
        fields = _object(json.loads(text), FIELDS, "certificate")
    except (ValueError, RecursionError):
        raise CertificateError("the file is no certificate: it is not JSON") from None
    if fields["form"] != FORM or not isinstance(fields["version"], str):
        raise CertificateError(f"form: must be {FORM}, of a version")
    if fields["digest"] != digest_of(fields):
        raise CertificateError("digest: the fields have another one")
    before = ctx.prec
    try:
        # binary digits of the middles of balls; the second where the first do not know g(U)
        for precision in (384, 4608):
            ctx.prec = precision
            boundary = _boundary(fields)
            value = boundary.value(boundary.U)
            if value != 0 and value.rel_accuracy_bits() >= 64:
                return _proved(fields, boundary if value < 0 else boundary.negative())
        raise CertificateError("the sign of g at the input is not decided")
    finally:
        ctx.prec = before


def digest_of(fields: dict[str, Any]) -> str:
    """The SHA-256 of all other fields, as JSON with sorted names."""
    others = {name: fields[name] for name in fields if name != "digest"}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()


def _proved(fields: dict[str, Any], boundary: _Boundary) -> str:
    """What is proved, for g(U) < 0."""
    claim, proof, U = fields["claim"], fields["proof"], boundary.U
    if claim not in ("nearest", "bounds"):
        raise CertificateError("claim: must be nearest or bounds")
    low, high = _list(fields["distance"], "distance", 2)
    lower = _positive(low, "distance", or_zero=True)
    interval = f"the distance is at least {float(lower.mid())!r}"
    if high is not None:
        upper = _positive(high, "distance")
        step = _matrix(fields["step"], "step", U.nrows(), U.ncols())
        length = _square(step).sqrt()
        if not (length > 0 and boundary.value(U + step * (upper / length)) > 0):
            raise CertificateError("distance: g does not change its sign up to the upper end")
        ends = f"{float(lower.mid())!r} and {float(upper.mid())!r}"
        interval = f"the distance is between {ends}"
    gradient = boundary.gradient(boundary.P * U)

    if claim == "bounds":
        _object(proof, "radius multiplier weights", "proof")
        radius = _positive(proof["radius"], "proof.radius")
        form = _Form(boundary, U, radius, proof)
        if not form.exceeds(gradient, boundary.value(U) + form.multiplier * radius * radius):
            raise CertificateError("proof: the ball around the input is not proved to be free")
        if not lower <= radius:
            raise CertificateError("distance: the lower end is not proved")
        return f"{interval} (Theorem R4, 1)"

    if high is None:
        raise CertificateError("distance: a nearest point needs an upper end")
    _object(proof, "part multiplier weights away", "proof")
    part, away = _positive(proof["part"], "proof.part"), proof["away"]
    radius = part * length if away is not None else length + upper
    point = U + step
    near = _Form(boundary, point, radius, proof)
    if not near.is_positive():
        raise CertificateError("proof: the form at the nearest point is not positive definite")
    if away is not None:
        # κ(σ − ⟨E, step⟩) ≥ 0 is added, and ⟨E, step⟩ is ⟨e, dual⟩ and a part outside of T
        _object(away, "multiplier weights weight", "proof.away")
        weight = _positive(away["weight"], "proof.away.weight", or_zero=True)
        form = _Form(boundary, U, upper, away)
        dual = boundary.H * (boundary.P * step)
        outside = _square(step - boundary.P.transpose() * dual).sqrt()
        slack = (upper * upper + length * length - radius * radius) / 2 + outside * upper
        most = boundary.value(U) + form.multiplier * upper * upper + weight * slack
        if not form.exceeds(gradient - dual * weight, most):
            raise CertificateError("proof.away: points far from the nearest are not excluded")
    # part 4, with the λ for which the gradient is nearest to 2λE
    gradient = boundary.P.transpose() * boundary.gradient(boundary.P * point)
    larger = _inner(gradient, step) / (2 * length * length)
    if not larger > near.multiplier:
        raise CertificateError("proof.multiplier: must be less than the gradient over 2‖E‖")
    error = _square(gradient - step * (2 * larger))
    loss = abs(boundary.value(point)) + error / (4 * (larger - near.multiplier))
    if not lower * lower <= length * length - loss / larger:
        raise CertificateError("distance: the lower end is not proved")
    parts = "2 and 4" if away is None else "2, 3 and 4"
    return f"{interval}, and the nearest point is found (Theorem R4, {parts})"


class _Head(NamedTuple):
    """The matrices of a head over x = PX."""

    k: arb_mat  # n×a
    q: arb_mat  # n×a
    b: arb_mat  # n×r
    KK: arb_mat  # a×a, KKᵀ


class _Boundary(NamedTuple):
    """g as a function of x = PX, and the input."""

    P: arb_mat  # n×d
    H: arb_mat  # n×n
    heads: list[_Head]
    gamma: arb_mat  # t×r, with orthonormal columns
    omega: arb_mat  # n×r
    bias: arb
    U: arb_mat  # d×t

    def negative(self) -> _Boundary:
        """The same boundary by −g."""
        heads = [head._replace(b=head.b * arb(-1)) for head in self.heads]
        return self._replace(heads=heads, omega=self.omega * arb(-1), bias=-self.bias)

    def value(self, X: arb_mat) -> arb:
        """g(X)."""
        x = self.P * X
        y = x * self.gamma
        total = self.bias + _inner(self.omega, y)
        for head in self.heads:
            read = head.b.transpose() * x
            total += _inner(read * (x.transpose() * head.k), (head.q.transpose() * y).transpose())
        return total

    def gradient(self, x: arb_mat) -> arb_mat:
        """The derivatives of g with respect to x."""
        y = x * self.gamma
        on_gamma = self.omega
        total = arb_mat(x.nrows(), x.ncols())
        for head in self.heads:
            values, read = head.k * (head.q.transpose() * y), head.b.transpose() * x
            total += head.b * (values.transpose() * x) + values * read
            on_gamma = on_gamma + head.q * ((head.k.transpose() * x) * read.transpose())
        return total + on_gamma * self.gamma.transpose()


class _Form:
    """The form Φ at a base point for a radius, with the multipliers of a certificate."""

    def __init__(self, boundary: _Boundary, X: arb_mat, radius: arb, proof: dict[str, Any]) -> None:
        self.boundary, self.heads = boundary, boundary.heads
        self.multiplier = _positive(proof["multiplier"], "multiplier")
        texts = _list(proof["weights"], "weights", len(self.heads))
        x = boundary.P * X
        self.y = x * boundary.gamma
        self.w = x - self.y * boundary.gamma.transpose()
        self.N = boundary.H * self.multiplier
        self.on_h = arb_mat(x.nrows(), x.nrows())
        for text, head in zip(texts, self.heads, strict=True):
            theta = _positive(text, "weights")
            mixed = head.k * (head.q.transpose() * self.y) * head.b.transpose()
            self.N -= (mixed + mixed.transpose()) / 2
            self.N -= head.b * head.b.transpose() * (radius * theta / 2)
            self.on_h -= head.q * head.KK * head.q.transpose() * (radius / (2 * theta))

    def is_positive(self) -> bool:
        """Whether Φ is proved to be positive definite."""
        return _is_positive(self.N) and _is_positive(self._without_f(self.N.inv()))

    def exceeds(self, gradient: arb_mat, value: arb) -> bool:
        """Whether value + ⟨gradient, e⟩ − Φ(e) < 0 is proved for all e."""
        if not _is_positive(self.N):
            return False
        inverse, gamma = self.N.inv(), self.boundary.gamma
        linear = gradient * gamma
        on_f = gradient - linear * gamma.transpose()
        moved = inverse * on_f
        both = moved * self.w.transpose()
        both += both.transpose()
        for head in self.heads:  # half of h ↦ ⟨J(h)w, N⁻¹ on_f⟩
            linear += head.q * (head.k.transpose() * (both * head.b)) / 2
        border = [x / -2 for x in linear.transpose().entries()]
        corner = -value - _inner(on_f, moved) / 4
        rows = self._without_f(inverse).tolist()
        bordered = [[*row, x] for row, x in zip(rows, border, strict=True)]
        return _is_positive(_of([*bordered, [*border, corner]]))

    def _without_f(self, inverse: arb_mat) -> arb_mat:
        """The form of the columns of h that is left of Φ, with N⁻¹; its symmetric matrix."""
        n, r = self.y.nrows(), self.y.ncols()
        blocks = [[arb_mat(n, n) for _ in range(r)] for _ in range(r)]
        C = self.w * self.w.transpose()
        columns = []
        for m, head in product(range(r), self.heads):
            b = _column(head.b, m)
            columns.append((m, head, b, inverse * b, C * b))
        for m, head, b, _, _ in columns:
            read = self.y.transpose() * b
            towards = head.q * (head.k.transpose() * self.y)  # Aᵀy
            for l in range(r):
                blocks[l][m] -= b * _column(towards, l).transpose()
                blocks[l][m] -= head.k * head.q.transpose() * read[l, 0]
        # less a quarter of ⟨J(h)w, N⁻¹J(h)w⟩
        for (m, left, b, N_b, C_b), (l, right, _, N_c, C_c) in product(columns, columns):
            middle = N_c * C_b.transpose() + C_c * N_b.transpose()
            middle += inverse * _inner(b, C_c) + C * _inner(b, N_c)
            small = left.k.transpose() * middle * right.k
            blocks[m][l] -= left.q * small * right.q.transpose() / 4
        rows: list[list[arb]] = []
        for m, line in enumerate(blocks):
            line[m] += self.N + self.on_h
            parts = zip(*(block.tolist() for block in line), strict=True)
            rows += [list(chain.from_iterable(part)) for part in parts]
        form = _of(rows)
        return (form + form.transpose()) / 2


def _is_positive(matrix: arb_mat) -> bool:
    """Whether a symmetric matrix is proved to be positive definite: its first half of rows is, and
    so is the Schur complement.
    """
    size = matrix.nrows()
    if size == 1:
        return bool(matrix[0, 0] > 0)
    half, rows = size // 2, matrix.tolist()
    first = _of([row[:half] for row in rows[:half]])
    if not _is_positive(first):
        return False
    mixed = _of([row[half:] for row in rows[:half]])
    last = _of([row[half:] for row in rows[half:]])
    try:
        return _is_positive(last - mixed.transpose() * first.solve(mixed))
    except ZeroDivisionError:  # not solved in this precision
        return False


def _of(rows: Sequence[Sequence[arb]]) -> arb_mat:
    return arb_mat(len(rows), len(rows[0]), [x for row in rows for x in row])


def _diagonal(entries: Sequence[arb]) -> arb_mat:
    matrix = arb_mat(len(entries), len(entries))
    for i, x in enumerate(entries):
        matrix[i, i] = x
    return matrix


def _column(matrix: arb_mat, number: int) -> arb_mat:
    return arb_mat(matrix.nrows(), 1, [row[number] for row in matrix.tolist()])


def _inner(left: arb_mat, right: arb_mat) -> arb:
    return sum((x * y for x, y in zip(left.entries(), right.entries(), strict=True)), arb(0))


def _square(matrix: arb_mat) -> arb:
    return _inner(matrix, matrix)


# From the fields of a certificate to g.


def _boundary(fields: dict[str, Any]) -> _Boundary:
    """g and the input; sizes are asked before any number is read."""
    layer = _object(fields["layer"], "heads skip scores_over_root_of", "layer")
    d, t = _shape(fields["input"], "input")
    entries, rows = 2 * d * t, 0
    heads = [_object(head, "K Q V O", "layer.heads") for head in _list(layer["heads"], "heads")]
    for head in heads:
        names = "KQV" if head["O"] is None else "KQVO"
        shapes = [_shape(head[name], name) for name in names]
        entries += sum(height * width for height, width in shapes)
        rows += 2 * shapes[0][0]
    outputs = len(heads[0]["V" if heads[0]["O"] is None else "O"])
    if entries > MAX_NUMBERS:
        raise TooExpensiveError("certificate", f"has more than {MAX_NUMBERS} numbers")
    W, gamma = _readout(fields["readout"], outputs, t)
    r = gamma.ncols()
    n = min(rows + (len(heads) + 1) * r, d)
    products = max((len(heads) * r) ** 2 * n**3, n * d * t)
    # the sizes of the largest matrix to invert, and the multiplications of balls
    if n * r > 400 or products > 200_000_000:
        raise TooExpensiveError("certificate", "needs matrices that are too large")
    root = arb(_integer(layer["scores_over_root_of"], "scores_over_root_of", 1)).sqrt()
    directions = []
    for head in heads:
        a, v = len(head["K"]), len(head["V"])
        if head["O"] is None and v != outputs:
            raise CertificateError("V: has another number of rows")
        OW = W if head["O"] is None else _matrix(head["O"], "O", outputs, v).transpose() * W
        beta = _matrix(head["V"], "V", v, d).transpose() * OW / root
        K, Q = _matrix(head["K"], "K", a, d), _matrix(head["Q"], "Q", a, d)
        directions += [K, Q, beta.transpose()]
    if type(layer["skip"]) is not bool or (layer["skip"] and outputs != d):
        raise CertificateError("layer.skip: must be true or false, and true for d' = d only")
    directions.append(W.transpose() if layer["skip"] else arb_mat(r, d))
    P, H, picked = _coordinates(directions)
    of_heads = []
    for h in range(0, 3 * len(heads), 3):
        k, q, b = picked[h : h + 3]
        of_heads.append(_Head(k, q, b, directions[h] * directions[h].transpose()))
    return _Boundary(
        P=P,
        H=H,
        heads=of_heads,
        gamma=gamma,
        omega=picked[-1],
        bias=_number(fields["bias"], "bias"),
        U=_matrix(fields["input"], "input", d, t),
    )


def _coordinates(directions: Sequence[arb_mat]) -> tuple[arb_mat, arb_mat, list[arb_mat]]:
    """P and H, and each block of rows M as the matrix m with M = mᵀP."""
    d = directions[0].ncols()
    rows = [row for block in directions for row in block.tolist()]
    if len(rows) >= d:
        one = _diagonal([arb(1)] * d)
        return one, one, [block.transpose() for block in directions]
    # rows of length about 1, by powers of two; a row of zeros is not picked, as its e is free
    scales = [_power(_exponent(row)) for row in rows]
    P = _of([[x / scale for x in row] for row, scale in zip(rows, scales, strict=True)])
    # D is small, as rows are of length about 1
    D = _diagonal([_power(-160)] * len(rows))
    H = (P * P.transpose() + D).inv()
    is_zero = [all(x == 0 for x in row) for row in rows]
    picks = [arb(0) if zero else scale for zero, scale in zip(is_zero, scales, strict=True)]
    lines = iter(_diagonal(picks).tolist())
    return P, H, [_of([next(lines) for _ in block.tolist()]).transpose() for block in directions]


def _exponent(row: Sequence[arb]) -> int:
    """An exponent e with entries of size 2^e at most about; 0 for zeros."""
    sizes = [x.mid().man_exp() for x in row if x != 0]
    return max((int(m).bit_length() + int(e) for m, e in sizes), default=0)


def _readout(field: Any, outputs: int, t: int) -> tuple[arb_mat, arb_mat]:
    """W and Γ, whose columns are orthonormal, with R = WΓᵀ."""
    if isinstance(field, dict) and "R" in field:
        _object(field, "R rows", "readout")
        if len(_list(field["R"], "readout.R")) * t > MAX_ENTRIES_OF_R:
            raise TooExpensiveError("readout.R", f"has more than {MAX_ENTRIES_OF_R} entries")
        R = _matrix(field["R"], "readout.R", outputs, t)
        # floats have smaller exponents; without a limit the rank would be of huge numbers
        if any(abs(x.man_exp()[1]) > 1_100 for x in R.entries()):
            raise CertificateError("readout.R: has an entry that is no float")
        places = _list(field["rows"], "readout.rows")
        basis = [R.tolist()[_integer(i, "readout.rows", 0, outputs - 1)] for i in places]
        if fmpq_mat(outputs, t, [x.fmpq() for x in R.entries()]).rank() != len(basis):
            raise CertificateError("readout.rows: are no basis of the rows of R")
    else:
        _object(field, "w pool", "readout")
        w = _matrix([[x] for x in _list(field["w"], "readout.w")], "readout.w", outputs, 1)
        basis, over = [[arb(1)] * t], t
        if field["pool"] != "mean":
            place = _integer(field["pool"], "readout.pool", 0, t - 1)
            basis, over = [[arb(int(j == place)) for j in range(t)]], 1
        R = w * _of(basis) / over
    found: list[arb_mat] = []
    for vector in basis:
        column = arb_mat(t, 1, vector)
        for other in found:
            column -= other * _inner(other, column)
        length = _square(column).sqrt()
        if not length > 0:
            raise CertificateError("readout: its rows are not proved to be independent")
        found.append(column / length)
    gamma = _of([column.entries() for column in found]).transpose()
    return R * gamma, gamma


def _object(value: Any, names: str, place: str) -> dict[str, Any]:
    """A JSON object with exactly these fields."""
    if not isinstance(value, dict):
        raise CertificateError(f"{place}: must be an object")
    missing = [name for name in names.split() if name not in value]
    if missing or len(value) > len(names.split()):
        what = f"{missing[0]} is missing" if missing else "there are unknown fields"
        raise CertificateError(f"{place}: {what}")
    return value


def _list(value: Any, place: str, length: int | None = None) -> list[Any]:
    """A list that is not empty, of this length."""
    if not isinstance(value, list) or not value or length not in (None, len(value)):
        raise CertificateError(f"{place}: must be a list of {length or 'some'} entries")
    return value


def _shape(value: Any, place: str) -> tuple[int, int]:
    """The numbers of rows, and of entries of the first row."""
    rows = _list(value, place)
    return len(rows), len(_list(rows[0], place))


def _matrix(value: Any, place: str, rows: int, columns: int) -> arb_mat:
    """A matrix of this shape, as a list of rows."""
    table = [_list(row, place, columns) for row in _list(value, place, rows)]
    return _of([[_number(x, place) for x in row] for row in table])


def _integer(value: Any, place: str, least: int, most: int = 10**12) -> int:
    if type(value) is not int or not least <= value <= most:
        raise CertificateError(f"{place}: must be an integer from {least} to {most}")
    return value


_NUMBER = re.compile(r"(-?)0x([01])\.([0-9a-f]{1,13})p([+-]\d{1,5})")


def _number(value: Any, place: str) -> arb:
    """A number in hexadecimal digits, as ``float.hex`` writes it; its exponent may be larger."""
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise CertificateError(f"{place}: must be a number in hexadecimal digits, such as 0x1.8p+0")
    sign, whole, digits, exponent = match.groups()
    mantissa = int(sign + whole + digits, 16)
    return arb(mantissa) * _power(int(exponent) - 4 * len(digits))


@cache
def _power(exponent: int) -> arb:
    return arb(2) ** exponent


def _positive(value: Any, place: str, *, or_zero: bool = False) -> arb:
    number = _number(value, place)
    if not (number > 0 or (or_zero and number == 0)):
        raise CertificateError(f"{place}: must be positive")
    return number
