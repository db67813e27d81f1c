"""The statements about single-layer attention that m2bridge checks; they predict and never compute.

Their words come from ``words.toml``; predictions and hypotheses are functions. To add one: write
its prediction, and put it into the registry at the end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m2bridge.certificates.wording import wording
from m2bridge.families.attention.integrals import stated_polar_degrees
from m2bridge.families.attention.orbits import Orbit, WeightPair, representative
from m2bridge.families.attention.shape import Shape, degree_formula, dimension_formula
from m2bridge.maps.statement import GlobalStatement, OrbitStatement, Statement, Value
from m2bridge.results.sheet import matrix_text

WORDS = wording(Path(__file__).parent / "words.toml")


def about_orbits(key: str, part: str, **fields: Any) -> OrbitStatement[Shape, Orbit]:
    """The statement with this number about functions, orbit by orbit."""
    return OrbitStatement(**WORDS.fields(key, part), **fields)


def about_the_whole(key: str, part: str, **fields: Any) -> GlobalStatement[Shape]:
    """The statement with this number about the neuromanifold as a whole."""
    return GlobalStatement(**WORDS.fields(key, part), **fields)


def several_tokens(shape: Shape) -> str:
    """t ≥ 2."""
    return "" if shape.t >= 2 else WORDS.hypotheses["several-tokens"]


def paper_hypotheses(shape: Shape) -> str:
    """The hypotheses of the paper from Corollary 3.3 on: t ≥ 2, and α > 1 or d' > 1."""
    if reason := several_tokens(shape):
        return reason
    return WORDS.hypotheses["not-degenerate"] if shape.alpha == 1 and shape.d_out == 1 else ""


def nondegenerate(shape: Shape) -> str:
    """The hypotheses of the paper, and d ≥ 2, which we add: for d = 1 < d' some printed statements
    fail.
    """
    if reason := paper_hypotheses(shape):
        return reason
    return WORDS.hypotheses["two-dimensions"] if shape.d == 1 else ""


def _always(value: Value) -> Callable[[Shape], Value]:
    """A prediction that is the same for all cases."""
    return lambda shape: value


def _rank_one(orbit: Orbit) -> bool:
    return orbit.r == orbit.s == 1


@dataclass(frozen=True, slots=True)
class Preimages:
    """Weights (A, V), up to rescaling, that have the same function."""

    points: frozenset[WeightPair]

    def to_json(self) -> list[dict[str, Any]]:
        """The points in increasing order, for ``json.dumps``."""
        return [
            {"A": [list(row) for row in A], "V": [list(row) for row in V]}
            for A, V in sorted(self.points)
        ]

    def __str__(self) -> str:
        pairs = (f"({matrix_text(A)}, {matrix_text(V)})" for A, V in sorted(self.points))
        return f"{{{', '.join(pairs)}}}"


def _exchanged(orbit: Orbit, shape: Shape) -> Value:
    """Theorem 3.2: A = k qᵀ, V = h vᵀ, and with k and v exchanged; for k = v this is one point.

    The representative has q and h the first unit vectors; k is then the first column of A, v the
    first row of V.
    """
    A, V = representative(orbit, shape)
    k, v = tuple(row[0] for row in A), V[0]
    # h is a unit vector
    exchanged = tuple((entry, *(0,) * (shape.d - 1)) for entry in v), (k, *V[1:])
    return Preimages(frozenset({(A, V), exchanged}))


def _itself(orbit: Orbit, shape: Shape) -> Value:
    return Preimages(frozenset({representative(orbit, shape)}))


def _boundary(orbit: Orbit, shape: Shape) -> bool:
    """Theorem 3.4 (ii): A = v qᵀ and V = h vᵀ with the same v; Lemma A.3 says that these are the
    critical ones.
    """
    return (orbit.r, orbit.s, orbit.m) == (1, 1, 1)


def singular(orbit: Orbit, shape: Shape) -> bool:
    """Theorem 3.4 (iii), as printed."""
    return orbit.r * orbit.s <= 1


def _singular_locus(orbit: Orbit, shape: Shape) -> bool:
    """The singular locus, with the singularities of the source taken into account (ours)."""
    if shape.a >= shape.d:
        return orbit.r == orbit.s == 1
    if shape.a == 1:
        return orbit.s == 1
    return orbit.r <= shape.a - 1


REGISTRY: tuple[Statement, ...] = (
    about_orbits(
        "3.2", "rank one", predict=_exchanged, hypotheses=several_tokens, concerns=_rank_one
    ),
    about_the_whole("3.2", "zero", predict=_always(True), hypotheses=several_tokens),
    about_orbits(
        "3.2",
        "otherwise",
        predict=_itself,
        hypotheses=several_tokens,
        concerns=lambda orbit: not _rank_one(orbit),
    ),
    about_the_whole("3.3", "", predict=dimension_formula, hypotheses=paper_hypotheses),
    about_the_whole("3.4", "i", predict=_always(True), hypotheses=paper_hypotheses),
    about_orbits("3.4", "ii", predict=_boundary, hypotheses=nondegenerate),
    about_orbits("3.4", "iii", predict=singular, hypotheses=nondegenerate),
    about_the_whole("A.2", "birational", predict=_always(True), hypotheses=paper_hypotheses),
    about_the_whole(
        "A.2", "special fibres", predict=_always(2), hypotheses=paper_hypotheses, nothing=0
    ),
    about_orbits("A.3", "", predict=_boundary, hypotheses=nondegenerate),
    about_orbits(
        "A.4", "", predict=lambda orbit, shape: _rank_one(orbit), hypotheses=nondegenerate
    ),
    about_the_whole("A.5", "", predict=_always(True), hypotheses=several_tokens),
    about_orbits("A.6", "", predict=lambda orbit, shape: True, hypotheses=nondegenerate),
    about_the_whole("not-a-manifold", "", predict=_always(False), hypotheses=nondegenerate),
    about_the_whole("degree", "", predict=degree_formula, hypotheses=several_tokens),
    about_orbits("singular-locus", "", predict=_singular_locus, hypotheses=nondegenerate),
    about_the_whole("polar", "", predict=stated_polar_degrees, hypotheses=nondegenerate),
)
