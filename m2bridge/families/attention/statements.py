"""The statements about single-layer attention that m2bridge checks; they predict and never compute.

Some are of the paper (Henry, Marchetti, Kohn, *Geometry of Lightning Self-Attention*), as printed;
the others are ours. Words and formulas stand in ``words.toml``, which the checker and both programs
for all sizes read, too; here are the predictions that no formula has: points of fibres, lists of
numbers, sets of types. For each of these the checker has a function of its own.

``None`` as a prediction: it is undefined for the case, or too large to compute.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from m2bridge.certificates.wording import Words
from m2bridge.families.attention.hypotheses import WORDS, Assumptions, StatedFormula
from m2bridge.families.attention.orbits.orbits import Orbit, WeightPair, representative
from m2bridge.families.attention.polar.chern_integrals import stated_polar_degrees
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.results.sheet import m2_list, matrix_text
from m2bridge.statements.statement import GlobalStatement, OrbitStatement, Statement, Value


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
        return m2_list(pairs)


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
    V_exchanged = (k, *V[1:])  # h kᵀ: its other rows are zero, as in V
    return Preimages(frozenset({(A, V), (A_exchanged, V_exchanged)}))


def _one_preimage(orbit: Orbit, shape: LayerSizes) -> Value:
    """Predict the fibre where A or V has a rank above 1, by Theorem 3.2: the representative."""
    return Preimages(frozenset({representative(orbit, shape)}))


def _hilbert_function(shape: LayerSizes) -> Value | None:
    """Predict the Hilbert function; ``None`` where no formula is stated."""
    # imported late: it loads SymPy
    from m2bridge.families.attention.ideal.values_by_degree import predicted_hilbert_values

    return predicted_hilbert_values(shape)


def _generators(shape: LayerSizes) -> Value | None:
    """Predict the number of minimal generators in each degree; ``None`` for one token."""
    # imported late: it loads SymPy
    from m2bridge.families.attention.ideal.values_by_degree import GeneratorNumbers

    return GeneratorNumbers.predicted(shape)


def _generator_degrees(shape: LayerSizes) -> Value | None:
    """Predict the degrees of minimal generators, without their numbers; ``None`` for one token."""
    # imported late: it loads SymPy
    from m2bridge.families.attention.ideal.values_by_degree import GeneratorDegrees

    return GeneratorDegrees.predicted(shape)


def _exposed_types(
    shape: LayerSizes, key: str = "exposed", head_dim: int | None = None
) -> Value | None:
    """Predict the exposed types of weights (K, Q, V), or (K, Q, O, V): where the formula holds."""
    from m2bridge.families.attention.training.types import ExposedTypes, weight_types

    is_exposed = StatedFormula(WORDS.words(key, "").value)
    types = weight_types(shape, head_dim)
    return ExposedTypes.of(kind for kind in types if is_exposed(kind, shape))


def _exposed_types_of_heads(shape: LayerSizes) -> Value | None:
    """Predict the exposed types of weights (K, Q, O, V), where O has a columns, as K has rows."""
    return _exposed_types(shape, "exposed-heads", shape.a)


def _learning_degree(shape: LayerSizes) -> Value | None:
    """Predict the number of critical points of training; ``None`` where a hypothesis fails."""
    words = WORDS.words("learning-degree", "")
    return None if Assumptions(words.assumes)(shape) else StatedFormula(words.value)(shape)


PREDICTED: dict[str, Callable[..., Value | None]] = {
    "fibre_exchanged": _preimages_of_rank_one,
    "fibre_itself": _one_preimage,
    "polar_degrees": stated_polar_degrees,
    "Hilbert_function": _hilbert_function,
    "generator_numbers": _generators,
    "generator_degrees": _generator_degrees,
    "exposed_types": _exposed_types,
    "exposed_types_of_heads": _exposed_types_of_heads,
    "learning_degree": _learning_degree,
}
"""The predictions that are not formulas alone, by observable, or by the property of all sizes."""

BY_DEGREE = frozenset({"Hilbert_function", "generator_numbers", "generator_degrees"})
"""The observables for which a closure is computed in addition to the orbits."""
EXPOSED_TYPES = "exposed_types"
EXPOSED_TYPES_OF_HEADS = "exposed_types_of_heads"
OF_TYPES = frozenset({EXPOSED_TYPES, EXPOSED_TYPES_OF_HEADS})
"""The observables that are about types of weights, (K, Q, V) or (K, Q, O, V)."""
OF_TRAINING = frozenset({"learning_degree"})
"""The observables that are about a loss."""


def _statement(words: Words) -> Statement:
    """The statement with these words."""
    predict = PREDICTED.get(words.as_property or words.observable)
    fields = WORDS.fields(words.key, words.part) | {
        "predict": predict or StatedFormula(words.value),
        "hypotheses": Assumptions(words.assumes),
        "printed_hypotheses": None if words.printed is None else Assumptions(words.printed),
    }
    if words.orbits:
        return OrbitStatement(concerns=StatedFormula(words.orbits), **fields)
    return GlobalStatement(
        # the number of points of special fibres is 0 where no fibre is special
        nothing=0 if words.observable == "special_fibre_points" else None,
        separate_computation=words.observable in BY_DEGREE | OF_TYPES | OF_TRAINING,
        follows_from=("generators",) if words.key == "generated" else (),
        **fields,
    )


REGISTRY: tuple[Statement, ...] = tuple(map(_statement, WORDS.statements))

is_singular_by_theorem = StatedFormula(WORDS.words("3.4", "iii").value)
"""Whether an orbit of a case is singular by Theorem 3.4 (iii), as printed."""
