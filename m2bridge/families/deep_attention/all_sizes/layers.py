"""One layer of deep attention, of any size: its contribution to a dimension, and its identities.

A dimension of a network is a sum: a number for the value matrix M, and one for each layer; these
numbers are piecewise polynomials on sets of integers (isl). Networks have one head and no skip
connections. The variables of the *end* are

    n = d_0, s = the least of all widths, e = d_l, h = the number of hidden widths,

and the variables of a *layer* k

    n = d_0, r = r_k, s = s_{k+1}, x = α_k, p = how many earlier layers have α = 1, k, t.

*Pieces* of a function on these variables are pairs (condition, formula) of texts for isl: the
number is given by the formula where the condition holds; the conditions exclude each other.

First the dimensions that are counted, then the predictions of statements, by their formulas in the
``words.toml`` of the family. Then the action of one layer on two tokens in a plane, as identities
of polynomials: with "one block decides" they are all that the dimension for any number of layers
needs (docs/deep-attention.md#deep-all-sizes). Source: Verdoolaege, *isl: An Integer Set Library for
the Polyhedral Model*, ICMS 2010.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import flint
import islpy as isl

from m2bridge.certificates import conditions
from m2bridge.certificates.wording import Words, wording
from m2bridge.errors import ContradictionError
from m2bridge.families.deep_attention.bounds import columns_and_rank
from m2bridge.families.deep_attention.matrix_words import WordSum
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.statements import WORDS as STATED_WORDS
from m2bridge.limits import check_deadline_in

Pieces = Sequence[tuple[str, str]]
# Values of the variables of the end or of a layer.
LatticePoint = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PiecewisePolynomial:
    """A piecewise polynomial; isl takes it to be 0 outside of the domain."""

    domain: isl.Set
    polynomial: isl.PwQPolynomial

    @cache  # noqa: B019  (there are few functions)
    def __call__(self, numbers: LatticePoint) -> int:
        """Return the value at a point, the values of the variables; ContradictionError outside."""
        point = isl.Point.zero(self.domain.get_space())
        for place, number in enumerate(numbers):
            point = point.set_coordinate_val(isl.dim_type.set, place, isl.Val(number))
        if not isl.Set.from_point(point).is_subset(self.domain):
            raise ContradictionError(f"no number is given for {numbers}")
        return int(self.polynomial.eval(point).to_python())

    def equals(self, other: PiecewisePolynomial, where: isl.Set) -> bool:
        """Return whether isl shows that both functions are defined and equal on the set ``where``;
        it may not see that a difference is zero.
        """
        if not (where.is_subset(self.domain) and where.is_subset(other.domain)):
            return False
        first, second = self.polynomial, other.polynomial
        difference = first.sub(second).intersect_domain(where)
        # For some statements isl sees that the difference is zero only on basic sets, on which the
        # conditions are one conjunction. So ``where`` is cut into these.
        for piece, _ in difference.get_pieces():
            for basic_set in piece.make_disjoint().get_basic_sets():
                part = isl.Set.from_basic_set(basic_set)
                first_on_part = first.intersect_domain(part)
                second_on_part = second.intersect_domain(part)
                if not first_on_part.sub(second_on_part).is_zero():
                    return False
        return True


@dataclass(frozen=True, slots=True)
class Space:
    """Variables, such as ``n, s``, and a condition, such as ``1 <= s <= n``, that all values which
    occur satisfy.
    """

    names: str
    condition: str

    def where(self, condition: str = "") -> isl.Set:
        """Return the set of values that occur and satisfy a condition; without one, all values."""
        both = f"{self.condition} and ({condition})" if condition else self.condition
        return isl.Set(f"{{ [{self.names}] : {both} }}")

    def function(self, pieces: Pieces) -> PiecewisePolynomial:
        """Return the function with these pieces, an empty condition being always true;
        ContradictionError if two of the conditions are satisfied somewhere.
        """
        # empty before the first piece
        domain = self.where("1 = 0")
        piece_texts = []
        for condition, formula in pieces:
            piece = self.where(condition)
            # isl would add the numbers where two pieces meet.
            if not domain.is_disjoint(piece):
                raise ContradictionError(f"two numbers are given where {condition}")
            domain = domain.union(piece)
            piece_texts.append(f"[{self.names}] -> {formula} : {condition or '1 = 1'}")
        polynomial = isl.PwQPolynomial(f"{{ {'; '.join(piece_texts)} }}")
        return PiecewisePolynomial(domain, polynomial.intersect_domain(domain))


# The least width s is n or e, or the width of a hidden layer.
END = Space("n, s, e, h", "1 <= s <= n and s <= e and 0 <= h and (h >= 1 or s = n or s = e)")
# Ranks do not grow from layer to layer, and the first layer has r = n.
LAYER = Space(
    "n, r, s, x, p, k, t",
    "1 <= s <= r <= n and 1 <= x <= r and 0 <= p < k and 1 <= t and (k >= 2 or r = n)",
)


# s_k = min(r_k, s_{k+1} + 2α_k), for k ≥ 2.
FREE = "s + 2*x <= r"
FILLED = "s + 2*x > r"
LEAST: Pieces = ((FREE, "s + 2*x"), (FILLED, "r"))
# t ≥ 2, and no earlier layer has α = 1: all of an attention matrix of lightning attention matters
# there.
WHOLE = "(t >= 2 and p = 0)"

# Matrices of rank at most x. Where their rows, columns and the subspace before span r dimensions,
# they are in a subspace of dimension r, which is counted with them; else in the whole space.
MATRICES: Pieces = ((FREE, "n^2 - (n - x)^2"), (FILLED, "(r - s)*(n - r) + r^2 - (r - x)^2"))
# Quadratic forms of rank at most 2x, in the same way.
FORMS: Pieces = (
    (FREE, "1/2 * (n*(n + 1) - (n - 2*x)*(n - 2*x + 1))"),
    (f"{FILLED} and 2*x <= r", "(r - s)*(n - r) + 1/2 * (r*(r + 1) - (r - 2*x)*(r - 2*x + 1))"),
    (f"{FILLED} and 2*x > r", "(r - s)*(n - r) + 1/2 * r*(r + 1)"),
)


def _less_scalings(pieces: Pieces, condition: str, scalings: int) -> Iterator[tuple[str, str]]:
    """Yield the pieces restricted to a condition, with formulas that are less by ``scalings``."""
    for where, formula in pieces:
        yield f"({where}) and {condition}", f"{formula} - {scalings}"


# By what is counted: virtual weights, or functions of lightning or softmax attention. A layer of
# lightning attention has one scaling; one token of softmax does not see the attention matrices.
LAYERS: Mapping[str, Pieces] = {
    "virtual_weights": MATRICES,
    "lightning": (*_less_scalings(MATRICES, WHOLE, 1), *_less_scalings(FORMS, f"not {WHOLE}", 1)),
    "softmax": (*_less_scalings(MATRICES, "t >= 2", 0), ("t = 1", "0")),
}


@cache
def contributions(counts: str) -> tuple[PiecewisePolynomial, PiecewisePolynomial]:
    """Return the contributions of M and of a layer to a dimension, on END and on LAYER."""
    # M is given by its row space, a subspace of dimension s of K^n, and by e rows in this space.
    end = END.function([("", "s*(n - s) + s*e")])
    return end, LAYER.function(LAYERS[counts])


@cache
def span_dimension() -> PiecewisePolynomial:
    """Return s_k for k ≥ 2 as a function on LAYER, whose variable s is s_{k+1}."""
    return LAYER.function(LEAST)


def variables(network: DeepAttention) -> tuple[LatticePoint, list[LatticePoint]]:
    """Return the values of the variables of END, and of LAYER from the last layer on."""
    n, *_, e = network.widths
    alphas = network.alphas
    # s_{l+1}, the least of all widths
    s = network.rank
    hidden_widths = network.layers - 1
    end = (n, s, e, hidden_widths)
    layers = list[LatticePoint]()
    for k in range(network.layers, 0, -1):
        r = network.entering_ranks[k - 1]
        p = alphas[: k - 1].count(1)
        layer = (n, r, s, alphas[k - 1], p, k, network.t)
        layers.append(layer)
        # s_k; for the first layer it is not used
        s = span_dimension()(layer)
    # from the last layer to the first, as s_k follows from s_{k+1}
    return end, layers


def sum_contributions(
    network: DeepAttention, end: PiecewisePolynomial, layer: PiecewisePolynomial
) -> int:
    """Return the sum of the contributions of the end and all layers of a network;
    ContradictionError if a function is not defined for it.
    """
    at_end, layers = variables(network)
    return end(at_end) + sum(map(layer, layers))


WORDS = wording(Path(__file__).parent / "words.toml")


@dataclass(frozen=True, slots=True)
class DimensionFormula:
    """A dimension, a key of LAYERS, as a sum over the end and the layers in a statement."""

    counts: str
    end: Pieces
    layer: Pieces
    # the conditions that follow from the hypotheses of the statement
    end_assumed: str = ""
    layer_assumed: str = ""
    spans: Pieces = ()  # the definition of s_k for k ≥ 2, if the statement has one


# The formulas of statements in these variables. s_k is n for the first layer. The width d_{k−1} and
# the rank min(a_k, d_{k−1}) are read where all hidden widths are one δ ≤ d_0, d_l: d_{k−1} is r_k.
_SPANS = (
    ("k = 1", {"u": "n", "d": "n"}),
    (f"k >= 2 and {FREE}", {"u": "(s + 2*x)", "d": "r"}),
    (f"k >= 2 and {FILLED}", {"u": "r", "d": "r"}),
)
_RANKS = {"alpha": "x", "rank": "x"}
# δ is then the least width.
_END_NAMES = {"m": "s", "delta": "s", "l": "(h + 1)"}
# What follows from the hypotheses of a statement, for the end and for each layer: all hidden widths
# are δ ≤ d_0, d_l, so r_k = δ, and for k ≥ 2 s_{k+1} is between the least width δ and r_{k+1}.
_OF_END = {"single-layer": "h = 0"}
_OF_LAYERS = {
    "several-tokens": "t >= 2",
    "single-layer": "k = 1",
    "bottleneck": "(k = 1 or r = s)",
    "ranks-above-one": "p = 0",
}


def end_pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the pieces of the function on END that the value of a statement is, without layers."""
    for condition, formula in conditions.pieces(text):
        yield conditions.isl(condition, _END_NAMES), conditions.isl(formula, _END_NAMES)


def layer_pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the pieces of the function on LAYER that a formula for each layer is."""
    for condition, formula in conditions.pieces(text):
        for where, names in _SPANS:
            s_k = names["u"]
            forms = [("0 = 0", "0")]
            if "rho" in conditions.names(formula):
                forms = [(f"2*x <= {s_k}", "2*x"), (f"2*x > {s_k}", s_k)]
            for where_rho, rho in forms:
                where_all = f"({conditions.isl(condition)}) and {where} and {where_rho}"
                replaced = names | _RANKS | {"rho": f"({rho})"}
                yield where_all, conditions.isl(formula, replaced)


def counted_dimension(words: Words) -> str:
    """Return the dimension, a key of LAYERS, that a statement is about."""
    if words.observable in LAYERS:
        return words.observable
    return "softmax" if "softmax" in words.assumes else "lightning"


def dimension_formula(words: Words) -> DimensionFormula:
    """Return the dimension that a statement predicts, as a sum over the end and the layers."""
    end_assumed = [_OF_END[name] for name in words.assumes if name in _OF_END]
    layer_assumed = [_OF_LAYERS[name] for name in words.assumes if name in _OF_LAYERS]
    return DimensionFormula(
        counts=counted_dimension(words),
        end=tuple(end_pieces(words.value)),
        layer=tuple(layer_pieces(words.each_layer)),
        end_assumed=" and ".join(end_assumed),
        layer_assumed=" and ".join(layer_assumed),
        spans=LEAST if "u" in conditions.names(words.each_layer) else (),
    )


# By the key of the statement, which has one part: the statements about plain networks of all sizes.
# The normal form, 3.6, is an identity and no number.
PREDICTIONS: dict[str, DimensionFormula] = {
    words.key: dimension_formula(words)
    for words in STATED_WORDS.statements
    if "plain" in words.assumes and words.observable in ("virtual_weights", "dimension")
}

# A vector in the plane, with two polynomials as entries.
LayerColumn = list[Any]


@cache
def layer_identities() -> dict[str, bool]:
    """Return for each identity of one layer, by its name, whether it holds."""
    return {**dict(_lightning()), **dict(_softmax()), "normal form": _normal_form()}


def _lightning() -> Iterator[tuple[str, bool]]:
    """Yield names of identities about a layer of lightning attention, and whether they hold.

    The layer moves a token x to SAx, where S = uuᵀ + vvᵀ for two tokens u and v = κu + hy in the
    plane, which are almost parallel for small h. With τ = 1 + κ²:

    * *parallel tokens*: u is moved to τ(uᵀAu)u modulo h.
    * *ratio of tokens*: v is moved to κ times the image of u, plus τh(uᵀAy)u, modulo h².
    * *determinant*: det(SAu, SAv) = det(u, v)³ det A.
    * *skew part*: the matrix hJ with J = (0, 1; −1, 0) has uᵀhJu = 0 and uᵀhJy = h det(u, y).
    """
    a, b, c, d, u1, u2, y1, y2, kappa, h = _variables()
    A = [[a, b], [c, d]]
    u = [u1, u2]
    y = [y1, y2]
    v = [kappa * x + h * z for x, z in zip(u, y, strict=True)]
    moved_u = _moved(A, u, v=v, token=u)
    moved_v = _moved(A, u, v=v, token=v)
    tau = 1 + kappa**2
    # each difference that has to vanish modulo h or h² is a vector
    tau_uAu = tau * _form(A, u, u)
    tau_h_uAy = tau * h * _form(A, u, y)
    rest_of_u = [new - tau_uAu * old for new, old in zip(moved_u, u, strict=True)]
    yield "parallel tokens", all(_divides(h, entry) for entry in rest_of_u)
    rest_of_v = []
    for new_v, new_u, old in zip(moved_v, moved_u, u, strict=True):
        rest_of_v.append(new_v - kappa * new_u - tau_h_uAy * old)
    yield "ratio of tokens", all(_divides(h**2, entry) for entry in rest_of_v)
    determinant_of_A = a * d - b * c
    cube = _determinant(u, v) ** 3
    yield "determinant", _determinant(moved_u, moved_v) == cube * determinant_of_A
    skew = [[0 * h, h], [-h, 0 * h]]
    uJy_is_determinant = _form(skew, u, y) == h * _determinant(u, y)
    yield "skew part", _form(skew, u, u) == 0 and uJy_is_determinant


def _softmax() -> Iterator[tuple[str, bool]]:
    """Yield names of identities about a layer of softmax, and whether they hold.

    The tokens are x, y, …, y with δ = x − y; a token z becomes y + π(z)δ with
    π = e^ζ/(e^ζ + t − 1) and the score ζ = δᵀAz.

    * *weights of softmax*: π is 1/t + (t − 1)ζ/t² modulo ζ².
    * *difference of tokens*: the scores of x and y differ by δᵀAδ.
    * *mean of tokens*: the sum of the scores of all t tokens is the score of their sum.
    """
    a, b, c, d, x1, x2, y1, y2, t, z = _variables()
    A = [[a, b], [c, d]]
    x = [x1, x2]
    y = [y1, y2]
    delta = [x1 - y1, x2 - y2]
    # π = 1/t + (t − 1)ζ/t² modulo ζ², with z for ζ and 1 + z for e^ζ: the difference of both sides,
    # times t²(t + z)
    difference = (1 + z) * t**2 - (t + (t - 1) * z) * (t + z)
    yield "weights of softmax", _divides(z**2, difference)
    score_x, score_y = _form(A, delta, x), _form(A, delta, y)
    yield "difference of tokens", score_x - score_y == _form(A, delta, delta)
    sum_of_tokens = [p + (t - 1) * q for p, q in zip(x, y, strict=True)]
    all_scores = score_x + (t - 1) * score_y
    yield "mean of tokens", all_scores == _form(A, delta, sum_of_tokens)


def _variables() -> list[Any]:
    """Return the ten variables of a polynomial ring over the integers."""
    return list(flint.fmpz_mpoly_ctx.get(("x", 10), flint.Ordering.degrevlex).gens())


def _moved(A: list[LayerColumn], u: LayerColumn, v: LayerColumn, token: LayerColumn) -> LayerColumn:
    """Return SA·token, where S = uuᵀ + vvᵀ, and ``A`` are the rows of the matrix A."""
    # uuᵀA·token is u times the number uᵀA·token
    u_factor = _form(A, u, token)
    v_factor = _form(A, v, token)
    return [u_factor * u_i + v_factor * v_i for u_i, v_i in zip(u, v, strict=True)]


def _form(A: list[LayerColumn], x: LayerColumn, y: LayerColumn) -> Any:
    """Return the value xᵀAy of the bilinear form of the 2 × 2 matrix with the rows ``A``."""
    Ay = [row[0] * y[0] + row[1] * y[1] for row in A]
    return x[0] * Ay[0] + x[1] * Ay[1]


def _determinant(x: LayerColumn, y: LayerColumn) -> Any:
    """Return the determinant of the 2 × 2 matrix with columns x and y."""
    return x[0] * y[1] - x[1] * y[0]


def _divides(divisor: Any, polynomial: Any) -> bool:
    """Return whether a polynomial is a multiple of the divisor."""
    _, remainder = divmod(polynomial, divisor)
    return bool(remainder == 0)


def _normal_form() -> bool:
    """Return whether the step of Lemma 3.6 holds, as an identity of words in matrices: V φφᵀAφ is
    M⁺Q⁺X for φ = MQX, M⁺ = VM and Q⁺ = Q S Qᵀ(MᵀAM)Q, where S = XXᵀ.
    """
    V, A, M, Q, X = map(WordSum.letter, range(5))
    phi = M * Q * X
    layer = V * phi * phi.transpose() * A * phi
    S = X * X.transpose()
    longer_Q = Q * S * Q.transpose() * (M.transpose() * A * M) * Q
    return layer == V * M * longer_Q * X


# The key of a network that is a block of itself, as ``network``, with ``columns`` and ``rank``.
BlockRank = dict[str, Any]


def blocks() -> Iterator[DeepAttention]:
    """Yield all blocks of at most three layers, for softmax of at most two, as networks: power
    series of three layers of softmax take long to check.

    A block has some layers with two inputs and a matrix of rank 1 or 2, and then layers after a
    hidden width 1, all of rank 1.
    """
    lightning = product((1, 2, 3), ("none",), (1, 2))
    softmax = product((1, 2), ("softmax",), (2,))
    for layers, normalization, t in (*lightning, *softmax):
        for wide_layers in range(layers + 1):
            # Ranks do not grow, so that a width 1 is followed by widths 1 only.
            widths = (2,) * wide_layers + (1,) * (layers + 1 - wide_layers)
            for ranks in product((1, 2), repeat=wide_layers):
                a = ranks + (1,) * (layers - wide_layers)
                yield DeepAttention(widths, a, t, normalization=normalization)


@cache
def block_ranks() -> tuple[BlockRank, ...]:
    """Return the columns and the rank of the differential of each of the blocks; ContradictionError
    if a kernel is larger than it always is.
    """
    ranks = []
    for network in check_deadline_in(blocks()):
        columns, rank = columns_and_rank(network)
        unseen = network.kernel_dimension
        if rank != columns - unseen:
            raise ContradictionError(
                f"the {network.title} has a block of rank {rank}, not {columns} − {unseen}"
            )
        ranks.append(BlockRank(network=network.key, columns=columns, rank=rank))
    return tuple(ranks)
