"""Which points of a slice are functions of real weights: by the criterion of the model, and by membership."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq
from sympy.polys.rings import PolyElement

from m2bridge.algebra.real_roots import ball, to_flint
from m2bridge.engine import Engine
from m2bridge.errors import ContradictionError
from m2bridge.maps.model import KnowsRealWeights, Model
from m2bridge.maps.slice_result import CLOSURE_ONLY, FUNCTIONS, UNDECIDED, Piece
from m2bridge.maps.slice_space import SliceSpace


@dataclass(frozen=True, slots=True)
class Criterion:
    """A real point of the slice has no real weights where all of ``zero`` vanish and ``positive`` is positive.

    Parameters
    ----------
    model : KnowsRealWeights or None
        ``None`` where nothing is known.
    space : SliceSpace
    zero : tuple of PolyElement
        On the slice; those that are zero there are left out.
    positive : PolyElement or None
        ``None`` if it is zero on the slice.
    """

    model: KnowsRealWeights | None
    space: SliceSpace
    zero: tuple[PolyElement, ...] = ()
    positive: PolyElement | None = None

    @classmethod
    def of(cls, model: Model, space: SliceSpace) -> Criterion:
        """The criterion of a model on a slice."""
        known = model.without_real_weights() if isinstance(model, KnowsRealWeights) else None
        if known is None or not isinstance(model, KnowsRealWeights):
            return cls(None, space)
        positive = space.restricted([known.positive])
        return cls(model, space, tuple(space.restricted(known.zero)), positive[0] if positive else None)

    @property
    def reason(self) -> str:
        """Why it is right; empty where nothing is known."""
        known = None if self.model is None else self.model.without_real_weights()
        return "" if known is None else known.reason

    def place(self, sample: Mapping[str, Any], applies: bool) -> str:
        """Where a piece lies on which ``positive`` has one sign, from a point of it.

        Parameters
        ----------
        applies : bool
            Whether all of ``zero`` vanish on the piece, and ``positive`` does not.
        """
        if self.model is None:
            return UNDECIDED
        if not applies or self.positive is None:
            return FUNCTIONS
        value = ball(to_flint([self.positive])[0], sample)
        if not (value > 0 or value < 0):
            raise ContradictionError(f"a polynomial that is not zero on a piece is {value} at a point of it")
        return CLOSURE_ONLY if value > 0 else FUNCTIONS

    def confirmed(self, piece: Piece, engine: Engine) -> Piece:
        """The piece; raises ContradictionError if membership at its rational point says the contrary."""
        if self.model is not None and piece.sample is not None:
            real = self.model.has_real_weights(self._function(piece.sample), engine)
            if real != (piece.place == FUNCTIONS):
                point = ", ".join(f"{name} = {value}" for name, value in piece.sample.items())
                raise ContradictionError(f"at {point} the criterion says {piece.place}, and membership the contrary")
        return piece

    def _function(self, point: Mapping[str, Fraction]) -> dict[str, Fraction]:
        values = [fmpq(point[name].numerator, point[name].denominator) for name in self.space.ring.variables]
        found = zip(self.space.forms, to_flint(self.space.forms.values()), strict=True)
        numbers = {name: form(*values) for name, form in found}
        return {name: Fraction(int(value.p), int(value.q)) for name, value in numbers.items()}
