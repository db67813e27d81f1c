"""What ranks of single matrices prove of a network of heads at its weights.

By Theorem H (docs/deep-attention.md) heads are *separate* under conditions on ranks at the weights.
Changes of base between layers move the functions of heads and not that of the network, where the
outputs of heads span the space behind them.

Head h of a layer has A = KᵀQ and V, or OV where there is an output matrix O. Matrices are those
of the weights modulo the prime, so that their ranks are lower bounds, and full ranks are proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from m2bridge.algebra.linear_algebra import column_products, rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import TooLargeError
from m2bridge.families.deep_attention.bounds import random_residues, unit_rows
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.network import Draw, Residues, random_matrix
from m2bridge.limits import check_deadline_in
from m2bridge.maps.jacobian_rank import SPARE_ROWS

# The largest width of several layers of softmax; ranks of their matrices take seconds each.
MAX_WIDTH = 2048

Matrices = Mapping[str, Any]
"""The matrices of a head modulo the prime, by the letters K and Q, or A, and V, and perhaps O."""
MatricesByLetters = Callable[[str], Iterator[Sequence[Matrices]]]
"""Takes letters, and yields for each layer the matrices of each head with these letters."""


def separate_at_weights(model: DeepAttention, matrices: MatricesByLetters) -> bool:
    """Return whether the hypotheses of Theorem H are proved to hold at these weights.

    They are, for layers k = 1, …, l: the sum B_k of the matrices V (or OV) of layer k, plus the
    identity with skip connections, is onto for k < l and one-to-one for k > 1; and the quadratic
    forms of the heads of layer k are independent on the tokens that some head of layer k − 1 has as
    outputs. No value matrix may be zero, which the caller checks.

    ``matrices`` takes letters, and yields for each layer the matrices of each head with these
    letters, modulo the prime. Full ranks modulo the prime at random tokens prove the hypotheses;
    False may be bad luck. TooLargeError for several layers wider than :data:`MAX_WIDTH`.
    """
    draw = random_residues()
    if model.layers == 1:
        # Theorem H has no conditions on the values of a single layer: V and O are not read.
        (heads,) = check_deadline_in(matrices("KQA"))
        return _are_independent(heads, _random_tokens(model.widths[0], model.heads, draw))
    if max(model.widths) > MAX_WIDTH:
        raise TooLargeError(f"it is computed for widths up to {MAX_WIDTH}")
    # The tokens at which the forms of a layer are evaluated: random ones for the first layer, and
    # for each other layer the outputs of each head of the layer before, at random tokens.
    seen_by_layer = [_random_tokens(model.widths[0], model.heads, draw)]
    for k, heads in enumerate(check_deadline_in(matrices("KQAVO")), start=1):
        # The forms have to be independent on the outputs of one head of the layer before.
        if not any(_are_independent(heads, X) for X in seen_by_layer):
            return False
        width, width_after = model.widths[k - 1], model.widths[k]
        value_matrices = [_values(head) for head in heads]
        rank = _rank_of_sum(value_matrices, with_identity=model.skip)
        is_onto, is_one_to_one = rank == width_after, rank == width
        if k < model.layers and not is_onto:
            return False
        if k > 1 and not is_one_to_one:
            return False
        X = _random_tokens(width, model.heads, draw)
        seen_by_layer = [V * X for V in value_matrices]
    return True


def _random_tokens(width: int, forms: int, draw: Draw) -> Any:
    """Return random tokens with ``width`` entries modulo the prime, as columns of a matrix: more
    than there are quadratic ``forms``.

    A quadratic form has a row of values at these tokens. With more tokens than forms, independent
    forms have independent rows with probability near 1.
    """
    return random_matrix(Residues(LARGE_PRIME), width, forms + SPARE_ROWS, draw)


def _rank_of_sum(matrices: Sequence[Any], *, with_identity: bool) -> int:
    """Return the rank modulo the prime of the sum of matrices of one shape, plus the identity, if
    that is to be added; then they are square.
    """
    total = reduce(add, matrices)
    if with_identity:
        identity = Residues(LARGE_PRIME).matrix(unit_rows(total.ncols()))
        total = total + identity
    return int(total.rank())


def _are_independent(layer: Sequence[Matrices], X: Any) -> bool:
    """Return whether the quadratic forms xᵀAx of all heads of a layer are linearly independent at
    the columns x of X, modulo the prime.
    """
    return rank_mod([_quadratic_form(head, X) for head in layer], LARGE_PRIME) == len(layer)


def _quadratic_form(head: Matrices, X: Any) -> list[int]:
    """Return the values of xᵀAx at all columns x of X."""
    return bilinear_form(head, X, X)


def bilinear_form(head: Matrices, X: Any, Y: Any) -> list[int]:
    """Return the values of xᵀAy for the columns x of X and y of Y in the same place."""
    # A = KᵀQ is not multiplied out: it is a large matrix of small rank.
    if "A" in head:
        return column_products(X, head["A"] * Y)
    return column_products(head["K"] * X, head["Q"] * Y)


def free_base_changes(model: DeepAttention, matrices: MatricesByLetters) -> int:
    """Return the sum of d² over those widths d between layers at which it is proved that every
    change of base but the identity changes the functions of the heads, at these weights.

    Where the outputs of all heads of a layer span the space of tokens behind it, of dimension d,
    each change of base of this space changes some of them: d² dimensions. With A = 0 a head of
    lightning attention has no outputs, whatever its values are.

    ``matrices`` takes letters, and yields for each layer the matrices of each head with these
    letters, modulo the prime.
    """
    # The widths between layers. Skip connections are preserved by no change of base; and ranks of
    # wide matrices take too long, without which nothing is proved.
    hidden = model.widths[1:-1]
    if model.skip or not hidden or max(hidden) > MAX_WIDTH:
        return 0
    free = 0
    draw = random_residues()
    # ``after`` is the width behind a layer. The last layer has outputs behind it, and is left out.
    for after, layer in zip(hidden, check_deadline_in(matrices("KQAVO")), strict=False):
        columns: list[Any] = []
        for head in layer:
            if model.softmax or _has_scores(head, draw):
                columns += _values(head).transpose().table()
        if columns and rank_mod(columns, LARGE_PRIME) == after:
            free += after**2
    return free


def _has_scores(head: Matrices, draw: Draw) -> bool:
    """Return whether xᵀAy is not 0 for random vectors x and y modulo the prime, which proves that A
    is not 0.
    """
    # K and Q have as many columns as V, or A is d × d.
    d = head["V"].ncols()
    # Two matrices of one column.
    x, y = (random_matrix(Residues(LARGE_PRIME), d, 1, draw) for _ in range(2))
    return any(bilinear_form(head, x, y))


def _values(head: Matrices) -> Any:
    """Return the matrix of the values of a head: V, or OV where there is an output matrix."""
    if "O" in head:
        return head["O"] * head["V"]
    return head["V"]
