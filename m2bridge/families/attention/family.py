"""Single-layer lightning self-attention as a family.

Modules that need SymPy are imported inside methods; where a command may be interrupted meanwhile,
signals and the deadline are checked during the import.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from m2bridge.citation import LIGHTNING
from m2bridge.errors import InvalidCaseError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.sizes import NAME
from m2bridge.families.base import Family, integer_option
from m2bridge.limits import importing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from m2bridge.engine.script import Script
    from m2bridge.families.attention.all_sizes.closures import AllClosures
    from m2bridge.families.attention.all_sizes.family import AllSizes
    from m2bridge.families.attention.all_sizes.generators import GeneratorsOfAllSizes
    from m2bridge.families.base import Figure, Question
    from m2bridge.statements.statement import Statement


class Attention(Family[SingleLayerAttention]):
    """Single-layer lightning self-attention with arbitrary d, d', a and t."""

    __slots__ = ()

    name = NAME
    title = "single-layer lightning self-attention"
    paper = LIGHTNING
    model_class = SingleLayerAttention
    options = (
        integer_option("d", "input embedding dimension d"),
        integer_option("d_out", "output embedding dimension d'", symbol="d'"),
        integer_option("a", "query/key dimension a; d when left out", required=False),
        integer_option("t", "number of tokens", default="2"),
    )
    grid_note = "a ≤ d"
    orbits = "rk A, rk V, dim of the intersection of column space and row space"
    all_sizes = "attention-all-sizes"
    all_sizes_use_engine = True
    modules = (
        "m2bridge.families.attention.observations.observe",
        "m2bridge.families.attention.questions",
        "m2bridge.families.attention.closure_answers",
    )
    prefix = ""
    # Both are about singular points: rk A · rk V ≤ 1 is rk A = rk V = 1 where neither is 0.
    same_fact = (("3.4 (iii)", "A.4"),)
    sample: ClassVar[Mapping[str, str]] = {"d": "2", "d_out": "1"}

    def from_key(self, key: str) -> SingleLayerAttention:
        """Return the model with this key, such as ``d3-dout2-a2-t2``."""
        # no zeros in front, so that a case has one key; no case has a number of ten digits
        number = "([1-9][0-9]{0,8})"
        match = re.fullmatch(f"d{number}-dout{number}-a{number}-t{number}", key, re.ASCII)
        if match is None:
            raise InvalidCaseError(
                "key", f"'{key}' does not name an attention model: write d3-dout2-a2-t2"
            )
        return SingleLayerAttention(*map(int, match.groups()))

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements of the paper, and ours."""
        from m2bridge.families.attention.statements import REGISTRY

        return REGISTRY

    def questions(self) -> tuple[Question[SingleLayerAttention, Any], ...]:
        """Return the questions that are certified in addition to the statements."""
        from m2bridge.families.attention.questions import CLOSURE, EQUATIONS, POLAR
        from m2bridge.families.attention.training.question import (
            EXPOSED,
            EXPOSED_HEADS,
            LEARNING_DEGREE,
        )

        return POLAR, EQUATIONS, CLOSURE, EXPOSED, EXPOSED_HEADS, LEARNING_DEGREE

    def figures(self) -> tuple[Figure, ...]:
        """Return Figure 1 of the paper, and pictures of slices, orbits and numbers by degree."""
        from m2bridge.families.attention.figures import figures

        return figures(self.options)

    def program(self, model: SingleLayerAttention, key: str) -> Script | None:
        """Return the program for the fibres, the same for each ``key``; ``None`` for one token."""
        from m2bridge.families.attention.orbits.fibres import fibres_program

        return fibres_program(model)

    def effort(self, model: SingleLayerAttention) -> int:
        """Return the number of coordinates, a rough measure by which batches order their cases."""
        return model.coordinate_count

    def excluded_from_grids(self, model: SingleLayerAttention) -> bool:
        """Return whether a > d: such a case has the functions of a = d, so grids leave it out."""
        return model.a > model.d

    def cross_check_all_sizes(
        self, statements: Sequence[Statement]
    ) -> AllSizes | GeneratorsOfAllSizes:
        """Decide statements, of which there is at least one, for all sizes at once.

        If all are about generators or the Hilbert function, the result is a
        ``GeneratorsOfAllSizes``, about the sizes with one of the small cores; else an ``AllSizes``.
        Each names as not stated what belongs to the other one; a MethodUnavailableError says that
        it would decide nothing.
        """
        with importing():
            from m2bridge.families.attention.all_sizes.family import cross_check_all_sizes
            from m2bridge.families.attention.statements import BY_DEGREE

        # numbers by degree are observed degree by degree, all others by orbits, never both together
        if all(statement.observable in BY_DEGREE for statement in statements):
            with importing():  # imports NumPy
                from m2bridge.families.attention.all_sizes.generators import generators_of_all_sizes

            return generators_of_all_sizes(statements=statements)
        return cross_check_all_sizes(statements)

    def closures_of_all_sizes(self, *, vectors: bool = False) -> AllClosures:
        """Compute the closures of all sizes with a small core; ``vectors`` adds polynomials."""
        with importing():
            from m2bridge.families.attention.all_sizes.closures import closures_of_all_sizes

        return closures_of_all_sizes(vectors=vectors)


FAMILY = Attention()
