"""A certificate of a distance, checked by formulas of its own, in balls of FLINT.

A certificate says that the distance of an input U to the boundary g = 0 lies in an interval
[lower, D], and perhaps that the nearest point is near U + E. Nothing in it is believed but what was
asked: layer, readout, bias and input. Its step E and its multipliers are tried. With them Theorem
R4 of docs/robustness.md either proves the claim here, or it is refused.

*Coordinates.* The rows of P (n×d) are all rows of K, Q, βᵀ and ωᵀ, dependent or not, or the unit
vectors if there are more than d. g(X) depends on x = PX only (Theorem R1), and with ``k``, ``q``,
``b``, which pick rows, g is the same cubic in x as it is in X. For every D > 0 and H = (PPᵀ + D)⁻¹,

    ‖E‖² ≥ tr(eᵀHe),    e = PE,

so that no basis is needed; D is tiny. The form Φ(e) = λ tr(eᵀHe) − q(e) is decided on all n×t
matrices e = hΓᵀ + f, fΓ = 0. With J(h) = Σ (b(Ah)ᵀ + Ah bᵀ) and w = x − yΓᵀ, y = xΓ, the mixed
terms of q are ⟨f, J(h)w⟩, and the gradient of g has the part J(y)w on f. So an affine function
m − ⟨c, e⟩ + Φ(e) is positive if one bordered matrix, of (h, 1), is positive definite after f is
eliminated: it is J(h + y) there that stands for both.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from m2bridge.errors import CertificateError, TooExpensiveError

FORM = "m2bridge-distance-1"
FIELDS = "form version claim distance layer readout bias input step proof digest"
PRECISIONS = 384, 4608
"""Binary digits of the middles of balls; the second where the first do not know g(U)."""
REGULAR = -160
"""D is 2 to this power, where rows are of length about 1."""
MOST_BYTES, MOST_ENTRIES, MOST_OF_R = 100_000_000, 2_000_000, 40_000
MOST_ROWS, MOST_PRODUCTS, MOST_EXPONENT = 400, 200_000_000, 1_100

_NUMBER = re.compile(r"(-?)0x([01])\.([0-9a-f]{1,13})p([+-]\d{1,5})")


def check_distance(text: bytes) -> str:
    """What a certificate proves, in words; CertificateError if it proves less than it claims, and
    TooExpensiveError if it is too large.
    """
    if len(text) > MOST_BYTES:
        raise TooExpensiveError("certificate", f"has more than {MOST_BYTES} bytes")
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
        for precision in PRECISIONS:
            ctx.prec = precision
            problem = _Problem(fields)
            value = problem.value(problem.U)
            if value != 0 and value.rel_accuracy_bits() >= 64:
                return _proved(fields, problem if value < 0 else problem.negative())
        raise CertificateError("the sign of g at the input is not decided")
    finally:
        ctx.prec = before


def digest_of(fields: dict[str, Any]) -> str:
    """The SHA-256 of all other fields, as JSON with sorted names."""
    others = {name: fields[name] for name in fields if name != "digest"}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()


def _proved(fields: dict[str, Any], problem: _Problem) -> str:
    """What is proved, for g(U) < 0."""
    claim, proof = fields["claim"], fields["proof"]
    if claim not in ("nearest", "bounds"):
        raise CertificateError("claim: must be nearest or bounds")
    low, high = _list(fields["distance"], "distance", 2)
    lower = _positive(low, "distance", or_zero=True)
    upper = None if high is None else _positive(high, "distance")
    step = length = None
    if upper is not None:
        step = _matrix(fields["step"], "step", *problem.shape)
        length = _square(step).sqrt()
        if not (length > 0 and problem.value(problem.U + step * (upper / length)) > 0):
            raise CertificateError("distance: g does not change its sign up to the upper end")
    if claim == "bounds":
        _object(proof, "radius multiplier weights", "proof")
        radius = _positive(proof["radius"], "proof.radius")
        if not _Estimate(problem, problem.U, radius, proof).excludes():
            raise CertificateError("proof: the ball around the input is not proved to be free")
        if not lower <= radius:
            raise CertificateError("distance: the lower end is not proved")
        return f"{_interval(lower, upper)} (Theorem R4, 1)"
    if step is None or length is None or upper is None:
        raise CertificateError("distance: a nearest point needs an upper end")
    _object(proof, "part multiplier weights away", "proof")
    part, away = _positive(proof["part"], "proof.part"), proof["away"]
    radius = part * length if away is not None else length + upper
    point = problem.U + step
    near = _Estimate(problem, point, radius, proof)
    if not near.is_positive():
        raise CertificateError("proof: the form at the nearest point is not positive definite")
    if away is not None:
        _object(away, "multiplier weights weight", "proof.away")
        weight = _positive(away["weight"], "proof.away.weight", or_zero=True)
        slack = (upper * upper + length * length - radius * radius) / 2
        if not _Estimate(problem, problem.U, upper, away).excludes(step, weight, slack):
            raise CertificateError("proof.away: points far from the nearest are not excluded")
    # part 4, with the λ for which the gradient is nearest to 2λE
    gradient = problem.P.transpose() * problem.gradient(problem.P * point)
    larger = _inner(gradient, step) / (2 * length * length)
    if not larger > near.multiplier:
        raise CertificateError("proof.multiplier: must be less than the gradient over 2‖E‖")
    error = _square(gradient - step * (2 * larger))
    loss = abs(problem.value(point)) + error / (4 * (larger - near.multiplier))
    if not lower * lower <= length * length - loss / larger:
        raise CertificateError("distance: the lower end is not proved")
    cases = "2 and 4" if away is None else "2, 3 and 4"
    return f"{_interval(lower, upper)}, and the nearest point is found (Theorem R4, {cases})"


def _interval(lower: arb, upper: arb | None) -> str:
    """The claim in words."""
    low = float(lower.mid())
    if upper is None:
        return f"the distance is at least {low!r}"
    return f"the distance is between {low!r} and {float(upper.mid())!r}"


@dataclass(frozen=True, slots=True)
class _Head:
    """The matrices of a head over x = PX."""

    k: arb_mat  # n×a
    q: arb_mat  # n×a
    b: arb_mat  # n×r
    KK: arb_mat  # a×a, KKᵀ


class _Problem:
    """g as a function of x = PX, read from the fields of a certificate; ``sign`` times g."""

    sign = 1

    def __init__(self, fields: dict[str, Any]) -> None:
        layer = _object(fields["layer"], "heads skip scores_over_root_of", "layer")
        rows = _list(fields["input"], "input")
        d, t = len(rows), len(_list(rows[0], "input"))
        self.shape = d, t
        heads = _list(layer["heads"], "layer.heads")
        for head in heads:
            _object(head, "K Q V O", "layer.heads")
        entries = d * t * 2 + sum(
            len(_list(head[name], name)) * len(_list(head[name][0], name))
            for head in heads
            for name in "KQVO"
            if name != "O" or head["O"] is not None
        )
        if entries > MOST_ENTRIES:
            raise TooExpensiveError("certificate", f"has more than {MOST_ENTRIES} numbers")
        outputs = len(heads[0]["V" if heads[0]["O"] is None else "O"])
        W, self.gamma = _readout(fields["readout"], outputs, t)
        r = self.gamma.ncols()
        n = sum(2 * len(head["K"]) + r for head in heads) + r
        n = min(n, d)
        products = max((len(heads) * r) ** 2 * n**3, n * d * t)
        if n * r > MOST_ROWS or products > MOST_PRODUCTS:
            raise TooExpensiveError("certificate", "needs matrices that are too large")
        root = arb(_integer(layer["scores_over_root_of"], "scores_over_root_of", 1)).sqrt()
        directions = []
        for head in heads:
            a, v = len(head["K"]), len(head["V"])
            if head["O"] is None and v != outputs:
                raise CertificateError("V: has another number of rows")
            OW = W if head["O"] is None else _matrix(head["O"], "O", outputs, v).transpose() * W
            K, Q = _matrix(head["K"], "K", a, d), _matrix(head["Q"], "Q", a, d)
            directions += [
                K,
                Q,
                (_matrix(head["V"], "V", v, d).transpose() * OW / root).transpose(),
            ]
        if type(layer["skip"]) is not bool or (layer["skip"] and outputs != d):
            raise CertificateError("layer.skip: must be true or false, and true for d' = d only")
        directions.append(W.transpose() if layer["skip"] else arb_mat(r, d))
        picked = self._coordinates(directions)
        self.heads = []
        for h in range(0, 3 * len(heads), 3):
            k, q, b = picked[h : h + 3]
            self.heads.append(_Head(k, q, b, directions[h] * directions[h].transpose()))
        self.omega = picked[-1]
        self.bias = _number(fields["bias"], "bias")
        self.U = _matrix(rows, "input", d, t)

    def _coordinates(self, directions: Sequence[arb_mat]) -> list[arb_mat]:
        """P and H, and each block of rows M as the matrix m with M = mᵀP."""
        d = self.shape[0]
        rows = [row for block in directions for row in block.tolist()]
        if len(rows) >= d:
            self.P = self.H = _diagonal([arb(1)] * d)
            return [block.transpose() for block in directions]
        # rows of length about 1, by powers of two
        scales = [_power(_exponent(row)) for row in rows]
        scaled = [[x / scale for x in row] for row, scale in zip(rows, scales, strict=True)]
        self.P = _of(scaled)
        gram = self.P * self.P.transpose()
        self.H = (gram + _diagonal([_power(REGULAR)] * len(rows))).inv()
        # a row that is exactly zero is not picked, as its values in e are free
        picks = [
            arb(0) if all(x == 0 for x in row) else scale
            for row, scale in zip(rows, scales, strict=True)
        ]
        everything = _diagonal(picks).tolist()
        found, start = [], 0
        for block in directions:
            found.append(_of(everything[start : start + block.nrows()]).transpose())
            start += block.nrows()
        return found

    def negative(self) -> _Problem:
        """The same problem with −g."""
        minus = arb(-1)
        self.heads = [_Head(head.k, head.q, head.b * minus, head.KK) for head in self.heads]
        self.omega, self.bias = self.omega * minus, -self.bias
        return self

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


class _Estimate:
    """The form Φ at a base point for a radius, with the multipliers of a certificate."""

    def __init__(self, problem: _Problem, X: arb_mat, radius: arb, proof: dict[str, Any]) -> None:
        self.problem, self.X, self.radius = problem, X, radius
        self.multiplier = _positive(proof["multiplier"], "multiplier")
        texts = _list(proof["weights"], "weights", len(problem.heads))
        weights = [_positive(text, "weights") for text in texts]
        x = problem.P * X
        self.y = x * problem.gamma
        self.w = x - self.y * problem.gamma.transpose()
        self.N = problem.H * self.multiplier
        self.on_h = arb_mat(x.nrows(), x.nrows())
        for theta, head in zip(weights, problem.heads, strict=True):
            mixed = head.k * (head.q.transpose() * self.y) * head.b.transpose()
            self.N -= (mixed + mixed.transpose()) / 2
            self.N -= head.b * head.b.transpose() * (radius * theta / 2)
            self.on_h -= head.q * head.KK * head.q.transpose() * (radius / (2 * theta))
        self.N_is_positive = _is_positive(self.N)
        if self.N_is_positive:
            self.inverse = self.N.inv()
            self.coupling = self._coupling()

    def _coupling(self) -> arb_mat:
        """The form ⟨J(h)w, N⁻¹J(h)w⟩ of h, column after column."""
        r, heads = self.y.ncols(), self.problem.heads
        C = self.w * self.w.transpose()
        N_b, C_b = [self.inverse * one.b for one in heads], [C * one.b for one in heads]
        blocks = [[arb_mat(C.nrows(), C.nrows()) for _ in range(r)] for _ in range(r)]
        for i, left in enumerate(heads):
            for j, right in enumerate(heads):
                by_N, by_C = left.b.transpose() * N_b[j], left.b.transpose() * C_b[j]
                for m in range(r):
                    for l in range(r):
                        inner = _column(N_b[j], l) * _column(C_b[i], m).transpose()
                        inner += _column(C_b[j], l) * _column(N_b[i], m).transpose()
                        inner += self.inverse * by_C[m, l] + C * by_N[m, l]
                        small = left.k.transpose() * inner * right.k
                        blocks[m][l] += left.q * small * right.q.transpose()
        return _joined(blocks)

    def _form(self) -> arb_mat:
        """Φ on h, after f is eliminated."""
        r, n = self.y.ncols(), self.y.nrows()
        blocks = [[arb_mat(n, n) for _ in range(r)] for _ in range(r)]
        for m in range(r):
            blocks[m][m] += self.N + self.on_h
            for head in self.problem.heads:
                read = self.y.transpose() * head.b
                towards = head.q * (head.k.transpose() * self.y)  # Aᵀy
                for l in range(r):
                    blocks[m][l] -= _column(head.b, l) * _column(towards, m).transpose()
                    blocks[m][l] -= head.k * head.q.transpose() * read[m, l]
        form = _joined(blocks) - self.coupling / 4
        return (form + form.transpose()) / 2

    def is_positive(self) -> bool:
        """Whether λ‖E‖² − q(E) is proved to be positive."""
        return self.N_is_positive and _is_positive(self._form())

    def excludes(
        self, step: arb_mat | None = None, weight: arb | None = None, slack: arb | None = None
    ) -> bool:
        """Whether g(X + E) < 0 is proved for ‖E‖ ≤ ρ; with a step, where ⟨E, step⟩ ≤ slack."""
        if not self.N_is_positive:
            return False
        problem, gamma = self.problem, self.problem.gamma
        on_h = problem.gradient(problem.P * self.X) * gamma
        stacked = _stacked(self.y)
        border = self.coupling * stacked
        corner = -problem.value(self.X) - self.multiplier * self.radius * self.radius
        corner -= _inner(stacked, border) / 4
        border = border * arb(-1) / 4
        if step is not None and weight is not None and slack is not None:
            dual = problem.H * (problem.P * step)
            rest = step - problem.P.transpose() * dual
            dual_on_h = dual * gamma
            dual_on_f = dual - dual_on_h * gamma.transpose()
            moved = self.inverse * dual_on_f
            both = moved * self.w.transpose()
            both += both.transpose()
            linear = arb_mat(on_h.nrows(), on_h.ncols())  # h ↦ ⟨J(h)w, N⁻¹ dual_on_f⟩
            for head in problem.heads:
                linear += head.q * (head.k.transpose() * (both * head.b))
            on_h -= dual_on_h * weight
            border += _stacked(linear) * (weight / 4)
            corner += weight / 2 * _inner(self.y, linear)
            corner -= weight * weight / 4 * _inner(dual_on_f, moved)
            corner -= weight * (slack + _square(rest).sqrt() * self.radius)
        border -= _stacked(on_h) / 2
        rows = [[*row, x] for row, [x] in zip(self._form().tolist(), border.tolist(), strict=True)]
        rows.append([*(x for [x] in border.tolist()), corner])
        return _is_positive(_of(rows))


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
    return arb_mat(matrix.nrows(), 1, [matrix[i, number] for i in range(matrix.nrows())])


def _stacked(matrix: arb_mat) -> arb_mat:
    """The columns, one below the other."""
    return arb_mat(matrix.nrows() * matrix.ncols(), 1, matrix.transpose().entries())


def _joined(blocks: Sequence[Sequence[arb_mat]]) -> arb_mat:
    rows: list[list[arb]] = []
    for line in blocks:
        parts = zip(*(block.tolist() for block in line), strict=True)
        rows += [list(chain.from_iterable(part)) for part in parts]
    return _of(rows)


def _inner(left: arb_mat, right: arb_mat) -> arb:
    return sum((x * y for x, y in zip(left.entries(), right.entries(), strict=True)), arb(0))


def _square(matrix: arb_mat) -> arb:
    return _inner(matrix, matrix)


def _exponent(row: Sequence[arb]) -> int:
    """An exponent e with entries of size 2^e at most about; 0 for zeros."""
    sizes = [x.mid().man_exp() for x in row if x != 0]
    return max((int(m).bit_length() + int(e) for m, e in sizes), default=0)


def _readout(field: Any, outputs: int, t: int) -> tuple[arb_mat, arb_mat]:
    """W and Γ, whose columns are orthonormal, with R = WΓᵀ."""
    if isinstance(field, dict) and "R" in field:
        _object(field, "R rows", "readout")
        if len(_list(field["R"], "readout.R")) * t > MOST_OF_R:
            raise TooExpensiveError("readout.R", f"has more than {MOST_OF_R} entries")
        R = _matrix(field["R"], "readout.R", outputs, t)
        numbers = [
            _integer(i, "readout.rows", 0, outputs - 1)
            for i in _list(field["rows"], "readout.rows")
        ]
        rows = R.tolist()
        basis = [rows[i] for i in numbers]
        exact = fmpq_mat(outputs, t, [_rational(x) for x in R.entries()])
        if exact.rank() != len(basis):
            raise CertificateError("readout.rows: are no basis of the rows of R")
    else:
        _object(field, "w pool", "readout")
        w = _matrix([[x] for x in _list(field["w"], "readout.w")], "readout.w", outputs, 1)
        if field["pool"] == "mean":
            basis = [[arb(1)] * t]
            R = w * _of(basis) / t
        else:
            place = _integer(field["pool"], "readout.pool", 0, t - 1)
            basis = [[arb(int(j == place)) for j in range(t)]]
            R = w * _of(basis)
    found: list[arb_mat] = []
    for vector in basis:
        column = arb_mat(t, 1, vector)
        for other in found:
            column -= other * _inner(other, column)
        length = _square(column).sqrt()
        if not length > 0:
            raise CertificateError("readout: its rows are not proved to be independent")
        found.append(column / length)
    gamma = _of([list(row) for row in zip(*(one.entries() for one in found), strict=True)])
    return R * gamma, gamma


def _rational(number: arb) -> fmpq:
    mantissa, exponent = number.mid().man_exp()
    if abs(exponent) > MOST_EXPONENT:
        raise CertificateError("readout.R: has an entry that is no float")
    power = 2 ** abs(int(exponent))
    return fmpq(mantissa * power) if exponent >= 0 else fmpq(mantissa, power)


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


def _integer(value: Any, place: str, least: int, most: int = 10**12) -> int:
    if type(value) is not int or not least <= value <= most:
        raise CertificateError(f"{place}: must be an integer from {least} to {most}")
    return value


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


def _matrix(value: Any, place: str, rows: int, columns: int) -> arb_mat:
    """A matrix of this shape, as a list of rows."""
    table = [_list(row, place, columns) for row in _list(value, place, rows)]
    return _of([[_number(x, place) for x in row] for row in table])
