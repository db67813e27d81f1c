"""Identities of polynomials that hold for one layer of every network, and the number it adds to a dimension."""

from typing import Any

from m2bridge.checker.algebra import ring
from m2bridge.errors import ContradictionError

Matrix = list[list[Any]]
IDENTITIES = (
    "parallel tokens",
    "ratio of tokens",
    "determinant",
    "skew part",
    "weights of softmax",
    "difference of tokens",
    "mean of tokens",
    "normal form",
)


def identities() -> list[str]:
    """Their names; ContradictionError if one does not hold."""
    holds = (*_lightning(), *_softmax(), _normal_form())
    if not all(holds):
        raise ContradictionError(f"an identity of one layer does not hold: {holds}")
    return list(IDENTITIES)


def _times(*factors: Matrix) -> Matrix:
    found, *others = factors
    for B in others:
        found = [
            [sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*B, strict=True)] for row in found
        ]
    return found


def _turned(A: Matrix) -> Matrix:
    return [list(row) for row in zip(*A, strict=True)]


def _det(A: Matrix) -> Any:
    return A[0][0] * A[1][1] - A[0][1] * A[1][0]


def _lightning() -> tuple[bool, ...]:
    """The layer Y ↦ YYᵀAY for Y = (u, κu + hy), and for A skew."""
    a, b, c, d, p, q, v, w, kappa, h = ring(10).gens()
    A, Y = [[a, b], [c, d]], [[p, kappa * p + h * v], [q, kappa * q + h * w]]
    moved, u = _times(Y, _turned(Y), A, Y), [[p], [q]]
    form, beside = (_times([[p, q]], A, column)[0][0] for column in (u, [[v], [w]]))
    tau = 1 + kappa**2
    first = [moved[i][0] - tau * form * x for i, x in enumerate((p, q))]
    second = [moved[i][1] - kappa * moved[i][0] - tau * h * beside * x for i, x in enumerate((p, q))]
    skew = _times([[p, q]], [[0 * a, h], [-h, 0 * a]], [[p, v], [q, w]])[0]
    return (
        all(_order(f, 9) >= 1 for f in first),
        all(_order(f, 9) >= 2 for f in second),
        _det(moved) == _det(Y) ** 3 * _det(A),
        skew == [0, h * (p * w - q * v)],
    )


def _order(polynomial: Any, variable: int) -> int:
    """The least power of a variable in it."""
    return min((int(exponents[variable]) for exponents, _ in polynomial.terms()), default=99)


def _softmax() -> tuple[bool, ...]:
    """π = (1 + ζ)/(t + ζ) + O(ζ²) is 1/t + (t − 1)ζ/t² + O(ζ²); ζ is linear in tokens."""
    a, b, c, d, p, q, v, w, t, z = ring(10).gens()
    A, delta = [[a, b], [c, d]], [[p - v, q - w]]
    at_x, at_y, at_delta, at_sum = (
        _times(delta, A, [[x], [y]])[0][0]
        for x, y in ((p, q), (v, w), (p - v, q - w), (p + (t - 1) * v, q + (t - 1) * w))
    )
    weights = (1 + z) * t**2 - (t + (t - 1) * z) * (t + z)
    return _order(weights, 9) >= 2, at_x - at_y == at_delta, at_x + (t - 1) * at_y == at_sum


def _normal_form() -> bool:
    """For φ = MQX the words V φφᵀAφ and M⁺Q⁺X with M⁺ = VM, Q⁺ = Q XXᵀ Qᵀ(MᵀAM)Q; a negative letter is a transpose."""
    V, M, Q, X, A = ((letter,) for letter in range(1, 6))
    token, form = M + Q + X, _transposed(M) + A + M
    longer = Q + X + _transposed(X) + _transposed(Q) + form + Q
    return V + token + _transposed(token) + A + token == V + M + longer + X


def _transposed(word: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-letter for letter in reversed(word))


def sums_agree() -> bool:
    """Whether what is stated for M and for each layer is what they add, wherever a formula is meant.

    A layer takes the space of dimension s behind it to one of dimension u, in n = d_0: u = s + 2x, or u = r, which is n
    in the first layer.
    """
    n, r, s, x, u, e = ring(6).gens()
    first = [(n, s + 2 * x, x), (n, n, x)]  # free and filled
    grown = all(_matrices(n, s, x, to) == x * (2 * n - x) for _, to, x in first)
    whole = _matrices(n, s, x, u) == (u - s) * (n - u) + x * (2 * u - x)
    one_width = _matrices(n, r, x, r) == x * (2 * r - x)
    forms = all(_twice_forms(n, s, y, u) == 2 * (u - s) * (n - u) + y * (2 * u - y + 1) for y in (2 * x, u))
    first_forms = _twice_forms(n, s, 2 * x, s + 2 * x) == 2 * x * (2 * n - 2 * x + 1)
    end = _end(n, s, e) == s * (n + e - s) and _end(n, n, e) == n * e == _end(n, e, e)
    return grown and whole and one_width and forms and first_forms and end


def _matrices(n: Any, s: Any, x: Any, u: Any) -> Any:
    """A space of dimension u around one of dimension s, a column space in it, and x columns."""
    return (u - s) * (n - u) + x * (u - x) + x * u


def _twice_forms(n: Any, s: Any, y: Any, u: Any) -> Any:
    """Twice the same for quadratic forms of rank y: a space of dimension y, and forms on it."""
    return 2 * (u - s) * (n - u) + 2 * y * (u - y) + y * (y + 1)


def _end(n: Any, s: Any, e: Any) -> Any:
    """The rows of M span a space of dimension s; e vectors of it."""
    return s * (n - s) + s * e
