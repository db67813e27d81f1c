"""The statements about single-layer attention that m2bridge checks; they predict and never compute.

They are those of the paper (Henry, Marchetti, Kohn, *Geometry of Lightning Self-Attention*), as
printed, and ours. Their words come from ``words.toml``; predictions and hypotheses are functions.
To add one: write its prediction, and put it into the registry at the end. The predictions are
written independently in ``checker/statements.py``, which shares no code with this module.
"""

from dataclasses import dataclass
from typing import Any

from m2bridge.families.attention.hypotheses import (
    WORDS,
    why_degenerate,
    why_no_prediction,
    why_not_one_output,
    why_not_several_tokens,
    why_not_two_dimensions,
    why_outside_paper,
)
from m2bridge.families.attention.orbits.orbits import Orbit, WeightPair, representative
from m2bridge.families.attention.polar.chern_integrals import stated_polar_degrees
from m2bridge.families.attention.sizes import LayerSizes, degree_formula, dimension_formula
from m2bridge.results.sheet import matrix_text
from m2bridge.statements.statement import Always, GlobalStatement, OrbitStatement, Statement, Value


def about_orbits(key: str, part: str, **fields: Any) -> OrbitStatement[LayerSizes, Orbit]:
    """Return a statement about functions, which predicts a value for each orbit.

    ``key`` and ``part`` are its number in the paper, such as "3.4" and "ii", under which
    ``words.toml`` has its words; ``part`` is empty for a statement without parts. ``fields`` are
    the other fields of the statement by name: its prediction, its hypotheses, and the orbits that
    it concerns.
    """
    return OrbitStatement(**WORDS.fields(key, part), **fields)


def about_the_whole(key: str, part: str, **fields: Any) -> GlobalStatement[LayerSizes]:
    """Return a statement about the neuromanifold as a whole, which predicts one value.

    ``key`` and ``part`` name its words in ``words.toml``, as "3.4" and "i" do; ``part`` is empty
    for a statement without parts. ``fields`` are its prediction and its hypotheses, by name.
    """
    return GlobalStatement(**WORDS.fields(key, part), **fields)


def _has_rank_one(orbit: Orbit) -> bool:
    """Return whether A and V have rank 1."""
    return orbit.r == orbit.s == 1


def _has_rank_above_one(orbit: Orbit) -> bool:
    """Return whether A or V has a rank larger than 1."""
    return not _has_rank_one(orbit)


def _singular_at_rank_one(orbit: Orbit, shape: LayerSizes) -> bool:
    """Predict by Corollary A.4 that an orbit is singular exactly if A and V have rank 1."""
    return _has_rank_one(orbit)


@dataclass(frozen=True, slots=True)
class Preimages:
    """All weights (A, V), up to rescaling, that have the same function: the points of a fibre."""

    points: frozenset[WeightPair]

    def to_json(self) -> list[dict[str, Any]]:
        """Return the points (A, V) in increasing order, for ``json.dumps``."""
        return [
            {"A": [list(row) for row in A], "V": [list(row) for row in V]}
            for A, V in sorted(self.points)
        ]

    def __str__(self) -> str:
        pairs = (f"({matrix_text(A)}, {matrix_text(V)})" for A, V in sorted(self.points))
        return f"{{{', '.join(pairs)}}}"


def _preimages_of_rank_one(orbit: Orbit, shape: LayerSizes) -> Value:
    """Predict the fibre where A and V have rank 1, by Theorem 3.2.

    It has the points A = k qᵀ, V = h vᵀ, and A = v qᵀ, V = h kᵀ, which are one point for k = v. At
    the representative of the orbit q and h are the first unit vectors; so k is the first column of
    A, and v the first row of V. Both have the first entry 1, so both points have A_11 = V_11 = 1.
    """
    A, V = representative(orbit, shape)
    k = tuple(row[0] for row in A)
    v = V[0]
    zeros = (0,) * (shape.d - 1)
    A_exchanged = tuple((entry, *zeros) for entry in v)  # v qᵀ
    V_exchanged = (k, *V[1:])  # h kᵀ: its other rows are zero, as those of V
    return Preimages(frozenset({(A, V), (A_exchanged, V_exchanged)}))


def _one_preimage(orbit: Orbit, shape: LayerSizes) -> Value:
    """Predict the fibre where A or V has a rank above 1, by Theorem 3.2: the representative."""
    return Preimages(frozenset({representative(orbit, shape)}))


def _has_common_vector(orbit: Orbit, shape: LayerSizes) -> bool:
    """Predict whether an orbit consists of boundary points, or of critical points.

    Theorem 3.4 (ii) says the first and Lemma A.3 the second: exactly where A = v qᵀ and V = h vᵀ
    with the same v, so that rk A = rk V = dim L ∩ U = 1.
    """
    return (orbit.r, orbit.s, orbit.m) == (1, 1, 1)


def is_singular_by_theorem(orbit: Orbit, shape: LayerSizes) -> bool:
    """Predict whether an orbit is singular by Theorem 3.4 (iii), as printed: rk A · rk V ≤ 1."""
    return orbit.r * orbit.s <= 1


def _singular_locus(orbit: Orbit, shape: LayerSizes) -> bool:
    """Predict whether an orbit is singular, by a statement of ours that corrects 3.4 (iii).

    By 3.4 (iii) singular points are those where A and V have rank 1. By ours they are these, and
    for a < d also the functions of the singular points of the source, the A of rank below a.
    """
    if shape.a >= shape.d:
        # all matrices A: the source is smooth, and 3.4 (iii) holds
        return _has_rank_one(orbit)
    if shape.a == 1:
        # A has rank 1 always
        return orbit.s == 1
    # this includes rank 1, as 1 is below a
    return orbit.r <= shape.a - 1


def _hilbert_function(shape: LayerSizes) -> Value | None:
    """Predict the Hilbert function; ``None`` where no formula is stated."""
    # imported late: it loads SymPy
    from m2bridge.families.attention.ideal.values_by_degree import predicted_hilbert_values

    return predicted_hilbert_values(shape)


def _generators(shape: LayerSizes) -> Value | None:
    """Predict the number of minimal generators in each degree; ``None`` for one token."""
    # imported late: it loads SymPy
    from m2bridge.families.attention.ideal.values_by_degree import predicted_generators

    return predicted_generators(shape)


def _generator_degrees(shape: LayerSizes) -> Value | None:
    """Predict the degrees of minimal generators of the ideal of the closure.

    Only the degrees are predicted, not how many generators there are of each. ``None`` for one
    token.
    """
    # imported late: it loads SymPy
    from m2bridge.families.attention.ideal.values_by_degree import predicted_degrees

    return predicted_degrees(shape)


def _exposed_types(shape: LayerSizes) -> Value | None:
    """Predict the exposed types of weights (K, Q, V).

    A type is all weights with given ranks of the matrices. It is exposed if some of its weights are
    critical points of a squared loss for all targets in an open set.
    """
    from m2bridge.families.attention.training.types import predicted_types

    return predicted_types(shape)


def _exposed_types_of_heads(shape: LayerSizes) -> Value | None:
    """Predict the exposed types of weights (K, Q, O, V), where O has as many columns as K has rows.

    This number is a, the dimension of the head.
    """
    from m2bridge.families.attention.training.types import predicted_types

    return predicted_types(shape, head_dim=shape.a)


def _learning_degree(shape: LayerSizes) -> Value | None:
    """Predict the number of critical points of training: the Stirling number S(d + 2, 3) of the
    second kind.

    ``None`` outside the hypotheses t ≥ 2, d' = 1 and a ≥ d.
    """
    if shape.t < 2 or shape.d_out > 1 or shape.alpha < shape.d:
        return None
    # S(n, 3) = (3^(n−1) − 2^n + 1)/2 at n = d + 2
    twice_the_number: int = 3 ** (shape.d + 1) - 2 ** (shape.d + 2) + 1
    return twice_the_number // 2


REGISTRY: tuple[Statement, ...] = (
    about_orbits(
        "3.2",
        "rank one",
        predict=_preimages_of_rank_one,
        hypotheses=why_not_several_tokens,
        printed_hypotheses=why_not_several_tokens,
        concerns=_has_rank_one,
    ),
    about_the_whole(
        "3.2",
        "zero",
        predict=Always(True),
        hypotheses=why_not_several_tokens,
        printed_hypotheses=why_not_several_tokens,
    ),
    about_orbits(
        "3.2",
        "otherwise",
        predict=_one_preimage,
        hypotheses=why_not_several_tokens,
        printed_hypotheses=why_not_several_tokens,
        concerns=_has_rank_above_one,
    ),
    about_the_whole(
        "3.3",
        "",
        predict=dimension_formula,
        hypotheses=why_outside_paper,
        printed_hypotheses=why_outside_paper,
    ),
    about_the_whole(
        "3.4",
        "i",
        predict=Always(True),
        hypotheses=why_outside_paper,
        printed_hypotheses=why_outside_paper,
    ),
    about_orbits(
        "3.4",
        "ii",
        predict=_has_common_vector,
        hypotheses=why_degenerate,
        printed_hypotheses=why_outside_paper,
    ),
    about_orbits(
        "3.4",
        "iii",
        predict=is_singular_by_theorem,
        hypotheses=why_degenerate,
        printed_hypotheses=why_outside_paper,
    ),
    about_the_whole(
        "A.2",
        "birational",
        predict=Always(True),
        hypotheses=why_outside_paper,
        printed_hypotheses=why_outside_paper,
    ),
    about_the_whole(
        "A.2",
        "special fibres",
        predict=Always(2),
        hypotheses=why_outside_paper,
        printed_hypotheses=why_outside_paper,
        nothing=0,
    ),
    about_orbits(
        "A.3",
        "",
        predict=_has_common_vector,
        hypotheses=why_degenerate,
        printed_hypotheses=why_outside_paper,
    ),
    about_orbits(
        "A.4",
        "",
        predict=_singular_at_rank_one,
        hypotheses=why_degenerate,
        printed_hypotheses=why_outside_paper,
    ),
    about_the_whole(
        "A.5",
        "",
        predict=Always(True),
        hypotheses=why_not_several_tokens,
        printed_hypotheses=why_not_several_tokens,
    ),
    about_orbits(
        "A.6",
        "",
        predict=Always(True),
        hypotheses=why_degenerate,
        printed_hypotheses=why_outside_paper,
    ),
    about_the_whole(
        "not-a-manifold",
        "",
        predict=Always(False),
        hypotheses=why_degenerate,
        printed_hypotheses=why_outside_paper,
    ),
    about_the_whole("degree", "", predict=degree_formula, hypotheses=why_not_several_tokens),
    about_orbits("singular-locus", "", predict=_singular_locus, hypotheses=why_degenerate),
    about_the_whole("polar", "", predict=stated_polar_degrees, hypotheses=why_not_two_dimensions),
    about_the_whole(
        "hilbert",
        "",
        predict=_hilbert_function,
        hypotheses=why_no_prediction,
        separate_computation=True,
    ),
    about_the_whole(
        "generators",
        "",
        predict=_generators,
        hypotheses=why_not_several_tokens,
        separate_computation=True,
    ),
    about_the_whole(
        "generated",
        "",
        predict=_generator_degrees,
        hypotheses=why_not_several_tokens,
        separate_computation=True,
        follows_from=("generators",),
    ),
    about_the_whole(
        "exposed",
        "",
        predict=_exposed_types,
        hypotheses=why_not_several_tokens,
        separate_computation=True,
    ),
    about_the_whole(
        "exposed-heads",
        "",
        predict=_exposed_types_of_heads,
        hypotheses=why_not_several_tokens,
        separate_computation=True,
    ),
    about_the_whole(
        "learning-degree",
        "",
        predict=_learning_degree,
        hypotheses=why_not_one_output,
        separate_computation=True,
    ),
)

EXPOSED_TYPES = "exposed_types"
EXPOSED_TYPES_OF_HEADS = "exposed_types_of_heads"
OF_TYPES = frozenset({EXPOSED_TYPES, EXPOSED_TYPES_OF_HEADS})
"""The observables that are about types of weights, (K, Q, V) or (K, Q, O, V)."""
OF_TRAINING = frozenset({"learning_degree"})
"""The observables that are about a loss."""

BY_DEGREE = (
    frozenset(statement.observable for statement in REGISTRY if statement.separate_computation)
    - OF_TRAINING
    - OF_TYPES
)
"""The observables for which a closure is computed in addition to the orbits."""
