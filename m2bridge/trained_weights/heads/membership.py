"""Where the function of given weights lies: exact matrices A and V of arrays of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Unpack

import numpy
from sympy import Float, Matrix, Rational

from m2bridge.algebra.linear_algebra import rank_of
from m2bridge.engine import RunOptions, computation
from m2bridge.errors import InvalidCaseError, MethodUnavailableError, check_kind
from m2bridge.families.attention.orbits.membership import (
    MatrixPair,
    Membership,
    function_of,
    membership_of,
)
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.system import any_length
from m2bridge.trained_weights.checkpoints.arrays import is_float
from m2bridge.trained_weights.checkpoints.names import given_layer
from m2bridge.trained_weights.heads.numerical import Spectrum, precision, rounded
from m2bridge.trained_weights.heads.ranks import integers, words_on_excess_rank
from m2bridge.trained_weights.heads.shape import HeadShape


@computation
def membership(
    model: LayerSizes,
    function: Mapping[str, Fraction | int] | None = None,
    *,
    A: Any = None,
    K: Any = None,
    Q: Any = None,
    V: Any = None,
    weights: Sequence[Any] | None = None,
    **options: Unpack[RunOptions],
) -> Membership:
    """Decide exactly whether a function is in the neuromanifold of a model, only in its Zariski
    closure, or in neither.

    Parameters
    ----------
    model : LayerSizes
        A :class:`~m2bridge.SingleLayerAttention` with t ≥ 2.
    function : mapping from coordinate name to rational number, optional
        Reduced coordinates ``c_k_i_p_q``; those left out are zero. The function of the weights when
        it is left out.
    A, V, K, Q : matrices, optional
        Weights of the function, A and V or K, Q and V: lists of rows, arrays or SymPy matrices. A =
        KᵀQ is multiplied out exactly. Floats are taken exactly, and a remark says so. An A with rk
        A > a is not a weight of the model; a remark says what to give instead where A is a rounded
        product. Of the zero function these weights are the witness.
    weights : tuple of matrices, optional
        These weights as (A, V) or (K, Q, V).
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.

    Raises
    ------
    InvalidCaseError
        If ``model`` is not such a model, a name is not a coordinate of the model, a value is not a
        rational number, the given weights do not have this function or do not have the shapes of
        the model, or neither a function nor weights are given.
    MethodUnavailableError
        If t = 1.
    ContradictionError
        If the weights that were found do not give the function.

    Examples
    --------
    >>> function = {"c_1_1_1_1": 1, "c_1_1_2_2": 1}
    >>> membership(SingleLayerAttention(d=2, d_out=1), function).place
    'only in the Zariski closure'
    >>> rank_one = SingleLayerAttention(d=2, d_out=1, a=1)
    >>> membership(rank_one, K=[[0.5, 1.0]], Q=[[1.0, 0.1]], V=[[1.0, 2.0]]).orbit
    Orbit(r=1, s=1, m=1)
    """
    check_kind("model", model, LayerSizes, "a SingleLayerAttention")
    if model.t == 1:
        raise MethodUnavailableError(
            "membership is decided in reduced coordinates, which need t ≥ 2"
        )
    given = {"K": K, "Q": Q, "A": A, "V": V}
    has_weights = weights is not None or any(value is not None for value in given.values())
    if function is None and not has_weights:
        raise InvalidCaseError("function", "give a function, or weights: K, Q and V, or A and V")
    pair = None
    remark = ""
    if has_weights:
        pair, remark = exact_weights(model, given, weights)
        if function is None:
            function = function_of(*pair)
    assert function is not None
    # ``membership_of`` refuses a function that is not a mapping
    if isinstance(function, Mapping):
        function = exact_coordinates(function)
    return membership_of(model, function, pair, remark)


def exact_coordinates(function: Mapping[str, Any]) -> dict[str, Any]:
    """Return the coordinates of a function with rational numbers of SymPy as values; floats are
    left as they are: :func:`membership_of` refuses them, with the exact number to write.
    """
    exact = {}
    for name, value in function.items():
        if isinstance(value, float | Float):
            exact[name] = value
            continue
        try:
            # SymPy takes a text of many digits for no number where Python limits their number
            with any_length():
                number = None if isinstance(value, bool) else Rational(value)
        except (TypeError, ValueError, ZeroDivisionError):
            number = None
        # SymPy reads the text "nan" as a number
        if number is None or not number.is_finite:
            raise InvalidCaseError(
                "function", f"{value!r:.40} is no rational number, given for '{name!s:.60}'"
            )
        exact[name] = number
    return exact


TAKEN = "the floating-point numbers are taken exactly, as the dyadic rationals that they are"


def exact_weights(
    model: LayerSizes, given: Mapping[str, Any], weights: Sequence[Any] | None
) -> tuple[MatrixPair, str]:
    """Return A and V as exact matrices of SymPy, and a remark, perhaps empty: that floats are taken
    exactly, or that A has a larger rank than the model allows.

    ``given`` has matrices by the letters K, Q, A, V, ``None`` for missing ones; ``weights`` are
    (A, V) or (K, Q, V) in their place. InvalidCaseError if they are not K, Q and V, or A and V, or
    do not have the shapes of the model.
    """
    matrices = {letter: value for letter, value in given.items() if value is not None}
    # Weights of another kind or number count as not given: :func:`given_layer` refuses that, and
    # says what to give.
    if not matrices and isinstance(weights, Sequence) and len(weights) in (2, 3):
        letters = "AV" if len(weights) == 2 else "KQV"
        matrices = dict(zip(letters, weights, strict=True))
    # The matrices are read as a layer of one head.
    (head,) = given_layer(matrices).heads(layer=1, count=1)
    arrays = head.matrices
    shape = HeadShape.of(arrays, model.a, softmax=False)
    if (shape.d, shape.d_out, shape.a) != (model.d, model.d_out, model.a):
        sizes = f"({shape.d}, {shape.d_out}, {shape.a})"
        raise InvalidCaseError("weights", f"they are those of (d, d', a) = {sizes}, not of {model}")
    has_floats = False
    exact = {}
    for letter, array in arrays.items():
        # An array of floats has a type of floats; a mixed one has objects, with fractions for
        # floats: there the matrix is looked at as it was given.
        entries = numpy.array(matrices[letter], dtype=object).flat
        has_floats |= array.dtype != object
        has_floats |= any(is_float(entry) or isinstance(entry, Float) for entry in entries)
        values = [Rational(Fraction(entry)) for entry in array.ravel().tolist()]
        exact[letter] = Matrix(*array.shape, values)
    remarks = [TAKEN] if has_floats else []
    if "K" in exact:
        return (exact["K"].T * exact["Q"], exact["V"]), "; ".join(remarks)
    A = arrays["A"]
    rank = rank_of(integers(A))
    if rank > model.alpha:
        distance = rounded(*Spectrum.of([A], rank).distance(model.alpha))
        remarks.append(
            words_on_excess_rank(
                rank, most=model.a, size=model.d, distance=distance, precision=precision(A)
            )
        )
    return (exact["A"], exact["V"]), "; ".join(remarks)
