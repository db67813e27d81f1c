"""The checker of certificates about deep attention for all sizes: any widths, ranks and layers.

*Theorems* (docs/deep-attention.md): one block decides (theorem-block), its kernel is only what it
always is (lemma-kernel), and the dimension is a sum with a summand for each layer (lemma-layers).

*Checked here*: the identities of one layer on which lemma-kernel rests, the ranks of all blocks of
few layers as a check of the whole lemma, the summands of lemma-layers by dimensions of
Grassmannians, without isl, and that these and the dimensions of small networks are what the
formulas of a statement say.

*Taken on trust*: the steps of these proofs around the identities, the upper bounds, and that the
hypotheses say of all networks what they say of small ones ("All sizes at once" there).

*Notation* (as in docs/deep-attention.md). A network has widths d_0, …, d_l with n = d_0, ranks
a_1, …, a_l and t tokens. A *block* is a network with at most two inputs and one output: matrices
C_k in the first layers, and C_k = c_k m mᵀ in those after a hidden width one; its *kernel* is that
of its differential. Lightning attention maps the tokens Y, the columns of a matrix, to YYᵀAY, and
q(x) = xᵀAx. M, A'_k and Q are as in the normal form φ(X) = M Q X. In the sums, a layer has a
matrix of rank x on a space of dimension u around one of dimension s, in K^n; r is the largest
dimension that u can have, and e the number of outputs. The registry loads ``CHECKER``.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product as tuples
from pathlib import Path
from typing import Any

from m2bridge.certificates import conditions
from m2bridge.certificates.form import Certificate, Content
from m2bridge.certificates.wording import Words, wording
from m2bridge.checker import FamilyChecker, only_case
from m2bridge.checker.algebra import ring
from m2bridge.errors import ContradictionError
from m2bridge.families.deep_attention.checker import predictions
from m2bridge.families.deep_attention.checker.block import columns_and_rank, unseen_dimension
from m2bridge.families.deep_attention.checker.matrices import Matrix, product, transposed
from m2bridge.families.deep_attention.checker.observables import observe, transposed_word
from m2bridge.families.deep_attention.checker.predictions import (
    Network,
    hypotheses,
    prediction,
    upper_bound,
    virtual_weights_dimension,
)

WORDS = wording(Path(__file__).parent / "words.toml")
NAME = "deep-attention-all-sizes"


def _kind(words: Words) -> str:
    """The name, in words.toml, of the lemmas on which a verdict on a statement rests."""
    if words.observable != "dimension":
        return words.observable
    return "softmax" if "softmax" in words.assumes else "lightning"


# The kinds of the statements that are decided for all sizes, by their keys.
KINDS = {
    words.key: _kind(words)
    for words in predictions.WORDS.statements
    if "plain" in words.assumes
    and words.observable in ("virtual_weights", "normal_form", "dimension")
}

Json = dict[str, Any]


# The identities of one layer.


def identities() -> list[str]:
    """The names of the identities of one layer, equalities of polynomials or of words in matrices;
    ContradictionError if one does not hold.
    """
    holds = _lightning() | _softmax() | {"normal form": _normal_form()}
    if not all(holds.values()):
        raise ContradictionError(f"an identity of one layer does not hold: {holds}")
    return list(holds)


def _lightning() -> dict[str, bool]:
    """Whether each identity of Y' = YYᵀAY holds, for two tokens Y = (u, v) in the plane.

    Here v = κu + hy is close to parallel to u, for small h, and τ = 1 + κ².

    * *parallel tokens*: the first token of Y' is τ q(u) u modulo h.
    * *ratio of tokens*: the second is κ times the first, plus τh (uᵀAy) u, modulo h².
    * *determinant*: det Y' = (det Y)³ det A.
    * *skew part*: for the skew-symmetric J, uᵀJu = 0 and uᵀJy = det(u, y). So the skew-symmetric
      part of A is seen in uᵀAy, though not in q(u).
    """
    a, b, c, d, u_1, u_2, y_1, y_2, kappa, h = ring(10).gens()
    variable_h = 9
    A = [[a, b], [c, d]]
    u = [u_1, u_2]
    y = [y_1, y_2]
    v = [kappa * u_1 + h * y_1, kappa * u_2 + h * y_2]
    Y = [[u[0], v[0]], [u[1], v[1]]]
    # Y', whose columns are the two tokens after the layer
    moved = product(Y, transposed(Y), A, Y)
    tau = 1 + kappa**2
    q_of_u = _value(A, u, u)
    uAy = _value(A, u, y)
    # both differences have two coordinates
    rest_of_first = []
    rest_of_second = []
    for u_i, (first, second) in zip(u, moved, strict=True):
        rest_of_first.append(first - tau * q_of_u * u_i)
        rest_of_second.append(second - kappa * first - tau * h * uAy * u_i)
    J = [[0, 1], [-1, 0]]
    uJy_is_determinant = _value(J, u, y) == _det([[u_1, y_1], [u_2, y_2]])
    return {
        "parallel tokens": all(_order(x, variable_h) >= 1 for x in rest_of_first),
        "ratio of tokens": all(_order(x, variable_h) >= 2 for x in rest_of_second),
        "determinant": _det(moved) == _det(Y) ** 3 * _det(A),
        "skew part": _value(J, u, u) == 0 and uJy_is_determinant,
    }


def _value(A: Matrix, x: list[Any], y: list[Any]) -> Any:
    """The value xᵀAy of the bilinear form with the matrix A."""
    column = [[entry] for entry in y]
    ((value,),) = product([x], A, column)
    return value


def _det(A: Matrix) -> Any:
    """The determinant of a 2 × 2 matrix."""
    return A[0][0] * A[1][1] - A[0][1] * A[1][0]


def _order(polynomial: Any, variable: int) -> int:
    """The least exponent of the variable with this number, from 0; 99, more than any, for zero."""
    powers = [int(exponents[variable]) for exponents, _ in polynomial.terms()]
    return min(powers, default=99)


def _softmax() -> dict[str, bool]:
    """Whether each identity of one layer of softmax holds, on the tokens x, y, …, y in the plane.

    Put δ = x − y, and ζ(z) = δᵀAz for a token z, the difference of the scores of x and y. So the
    softmax gives x the weight e^ζ/(e^ζ + t − 1), which is (1 + ζ)/(t + ζ) to first order in ζ.

    * *weights of softmax*: this weight is 1/t + (t − 1)ζ/t² modulo ζ².
    * *difference of tokens*: ζ(x) − ζ(y) = q(δ).
    * *mean of tokens*: the sum of ζ(z) over all t tokens z is ζ of the sum of the tokens.
    """
    a, b, c, d, x_1, x_2, y_1, y_2, t, zeta = ring(10).gens()
    variable_zeta = 9
    A = [[a, b], [c, d]]
    delta = [x_1 - y_1, x_2 - y_2]
    sum_of_tokens = [x_1 + (t - 1) * y_1, x_2 + (t - 1) * y_2]
    at_x = _value(A, delta, [x_1, x_2])
    at_y = _value(A, delta, [y_1, y_2])
    at_delta = _value(A, delta, delta)
    at_sum = _value(A, delta, sum_of_tokens)
    # both sides of the first identity, multiplied by t²(t + ζ) to have polynomials
    multiple_of_weight = (1 + zeta) * t**2
    multiple_of_expansion = (t + (t - 1) * zeta) * (t + zeta)
    difference = multiple_of_weight - multiple_of_expansion
    return {
        "weights of softmax": _order(difference, variable_zeta) >= 2,
        "difference of tokens": at_x - at_y == at_delta,
        "mean of tokens": at_x + (t - 1) * at_y == at_sum,
    }


def _normal_form() -> bool:
    """Whether one more layer keeps the normal form φ = MQX, as words in matrices (Lemma 3.6): V
    φφᵀAφ is M⁺Q⁺X, with M⁺ = VM and Q⁺ = Q XXᵀ Qᵀ(MᵀAM)Q. A negative letter is a transpose.
    """
    V = (1,)
    M = (2,)
    Q = (3,)
    X = (4,)
    A = (5,)
    phi = M + Q + X
    layer = V + phi + transposed_word(phi) + A + phi
    longer_Q = Q + X + transposed_word(X) + transposed_word(Q) + transposed_word(M) + A + M + Q
    return layer == V + M + longer_Q + X


# What each layer adds to the dimension.


def sums_agree(words: Words) -> bool:
    """Whether M and each layer add to a dimension what the formulas of a statement say, as
    polynomials.

    A layer extends the space of dimension s, which the layers after it span with M, to one of
    dimension u in K^n, by the rows and columns of a matrix of rank x. It is *free* if they are
    independent, u = s + 2x, and otherwise *fills* a space of some given dimension u; the first
    layer fills the whole space, u = n. If all hidden widths are one, r, the space does not grow.
    """
    # twice variables, so that halves in formulas are polynomials with integer coefficients
    n, r, s, x, u, e = (2 * variable for variable in ring(6).gens())
    # the number l of layers, and the rank of M, which is full where no hidden width bounds it
    ends = [(1, n), (1, e)]
    if "single-layer" not in words.assumes:
        ends.append((2, s))
    for layers, rank in ends:
        of_network = {"n": n, "e": e, "m": rank, "delta": rank, "l": layers}
        if conditions.value(words.value, of_network) != _count_of_M(n, rank, e):
            return False
    # what a layer extends, to what, and the width before it
    spaces = [(s, n, n)]
    if "bottleneck" in words.assumes:
        spaces.append((r, r, r))
    elif "single-layer" not in words.assumes:
        spaces += [(s, s + 2 * x, r), (s, u, r)]
    for (low, high, width), (t, p) in tuples(spaces, ((1, 0), (2, 0), (2, 1))):
        # these layers are excluded
        if t == 1 and "several-tokens" in words.assumes:
            continue
        if p == 1 and "ranks-above-one" in words.assumes:
            continue
        names = {"n": n, "s": low, "u": high, "d": width, "alpha": x, "rank": x, "t": t, "p": p}
        whole = KINDS[words.key] != "lightning" or (t, p) == (2, 0)
        # a quadratic form has rank 2x, or the full rank
        for rho in (2 * x, high):
            if whole:
                count = _count_with_matrix(n, low, x, high)
            else:
                count = _twice_count_with_form(n, low, rho, high) // 2
            if KINDS[words.key] == "softmax" and t == 1:
                count = 0 * n
            if KINDS[words.key] == "lightning":
                # the scaling of its matrix
                count -= 1
            if conditions.value(words.each_layer, names | {"rho": rho}) != count:
                return False
    return True


def _count_with_matrix(n: Any, s: Any, x: Any, u: Any) -> Any:
    """The number of parameters that a layer with a matrix of rank x adds, as a polynomial."""
    space = (u - s) * (n - u)  # around one of dimension s: a point of a Grassmannian of K^n/K^s
    column_space = x * (u - x)
    rows = x * u  # which express the columns in a basis of the column space
    return space + column_space + rows


def _twice_count_with_form(n: Any, s: Any, y: Any, u: Any) -> Any:
    """Twice the number of parameters that a layer adds if it has a quadratic form of rank y."""
    twice_space = 2 * (u - s) * (n - u)
    twice_subspace = 2 * y * (u - y)  # on which the form lives
    twice_forms = y * (y + 1)
    return twice_space + twice_subspace + twice_forms


def _count_of_M(n: Any, s: Any, e: Any) -> Any:
    """The number of parameters of M: of its row space, s dimensions of K^n, and of e rows in it."""
    return s * (n - s) + e * s


# The content of certificates.


@cache
def content(words: Words) -> Content:
    """The content of a certificate on the statement in these words; ContradictionError if its
    formulas are not what is counted, and no small network refutes it.
    """
    counterexample, outside = _examples(words)
    if counterexample is None and words.observable != "normal_form" and not sums_agree(words):
        raise ContradictionError("the number of a layer is not the stated one")
    verdict: Json = {
        "text": words.text,
        "source": words.source,
        "verdict": "CONFIRMED" if counterexample is None else "REFUTED",
        "counterexample": counterexample,
        "outside": outside,
    }
    evidence = _evidence_of_the_lemma()
    lemmas = WORDS.trusted[KINDS[words.key]]
    return Content({"verdicts": [verdict]}, evidence, lemmas)


@cache
def _evidence_of_the_lemma() -> Json:
    """The evidence for lemma-kernel: the names of the identities, and the ranks of blocks;
    ContradictionError if a kernel is larger than the lemma says.
    """
    blocks = []
    for network in _blocks():
        columns, rank = columns_and_rank(network)
        if rank != columns - unseen_dimension(network):
            raise ContradictionError(f"the kernel of {network} is larger than it always is")
        blocks.append({"network": network.key, "columns": columns, "rank": rank})
    return {"identities": identities(), "blocks": blocks}


def _blocks() -> Iterator[Network]:
    """Yield networks with all blocks of at most three layers, for softmax of at most two; two
    tokens stand for all t ≥ 2.

    A block has some layers with matrices of rank one or two, and then others after a hidden width
    one.
    """
    lightning = tuples((1, 2, 3), (1, 2), (False,))
    softmax = tuples((1, 2), (2,), (True,))
    for layers, t, is_softmax in (*lightning, *softmax):
        for wide_layers in range(layers + 1):
            later_layers = layers - wide_layers
            for ranks in tuples((1, 2), repeat=wide_layers):
                widths = (2,) * wide_layers + (1,) * (later_layers + 1)
                a = ranks + (1,) * later_layers
                yield Network(widths=widths, a=a, t=t, softmax=is_softmax)


def _examples(words: Words) -> tuple[Json | None, list[Json]]:
    """The first small network that refutes a statement; if there is none, for each hypothesis the
    first one which shows that it is needed: only that hypothesis fails, and the dimension, found by
    the upper bound and then by ranks, is not the stated number.
    """
    # an identity of matrices of all sizes, with which no dimension is compared
    if words.observable == "normal_form":
        return None, []
    examples: dict[str, Json] = {}
    for network in _small_networks(softmax=KINDS[words.key] == "softmax"):
        stated = prediction(network, words)
        dimension = upper_bound(network)
        if words.observable == "virtual_weights":
            dimension = virtual_weights_dimension(network, whole=network.depth)
        # None says that the statement has no meaning for the network
        if stated is None or stated == dimension:
            continue
        failing = hypotheses(network, words)
        # the words of a hypothesis continue, after a semicolon, with the numbers of the network
        hypothesis = failing[0].split(";")[0] if failing else ""
        if len(failing) > 1 or hypothesis in examples:
            continue
        by_ranks, _ = observe(network, words.observable)
        if by_ranks != dimension:
            raise ContradictionError(f"{network.key}: {by_ranks} by ranks, bounded by {dimension}")
        example = {"network": network.key, "computed": by_ranks, "stated": stated}
        if not failing:
            return example, []
        examples[hypothesis] = {"hypothesis": failing[0]} | example
    return None, list(examples.values())


@cache
def _small_networks(softmax: bool) -> tuple[Network, ...]:
    """The networks of at most three layers, widths and ranks, with one or two tokens, by size."""
    numbers = (1, 2, 3)
    networks = []
    for layers in (1, 2, 3):
        for widths in tuples(numbers, repeat=layers + 1):
            for a in tuples(numbers, repeat=layers):
                # dimensions depend on t only by whether it is 1
                networks += [Network(widths=widths, a=a, t=t, softmax=softmax) for t in (1, 2)]

    def size(network: Network) -> tuple[Any, ...]:
        """The sum of the numbers of a network, then the numbers themselves."""
        total = sum(network.widths) + sum(network.a) + network.t
        return (total, network.depth, network.widths, network.a, network.t)

    return tuple(sorted(networks, key=size))


def _asked(certificate: Certificate) -> Content:
    """The content of a certificate on the statement that it asks about."""
    (words,) = predictions.WORDS.listed(certificate.question, certificate.answer)
    return content(words)


CHECKER = FamilyChecker(
    family=NAME,
    name=only_case(NAME),
    questions=dict.fromkeys(KINDS, _asked),
    wordings=(predictions.WORDS, WORDS),
)
