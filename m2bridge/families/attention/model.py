"""Single-layer lightning self-attention: its shape, its function coordinates.

Source: Henry, Marchetti, Kohn, *Geometry of Lightning Self-Attention: Identifiability and Dimension*, ICLR 2025
(arXiv 2408.17221), Definition 1, proof of Theorem 3.2, Proposition A.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, ClassVar, Literal, cast, get_args

from m2bridge.errors import InvalidCaseError
from m2bridge.startup import imported

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.engine import Engine
    from m2bridge.families.attention.coordinates import AttentionCoordinates
    from m2bridge.families.attention.observed import Observations
    from m2bridge.maps.statement import Statement

NAME = "attention"
"""Of the family."""

Coordinates = Literal["reduced", "full"]
Weights = Literal["attention", "factored"]


LARGEST = 999_999_999
"""Of each number: for larger cases only formulas can be computed, and their values would fill pages."""


@dataclass(frozen=True, slots=True, init=False)
class SingleLayerAttention:
    """The model X ↦ V X Xᵀ A X with A = KᵀQ, X ∈ R^{d×t} (Definition 1).

    Parameters
    ----------
    d : int
        Input embedding dimension.
    d_out : int
        Output embedding dimension (d' in the paper).
    a : int, optional
        Query/key dimension, d when left out; the attention matrix A has rank at most α = min(a, d).
    t : int
        Number of tokens. The statements of the paper assume t ≥ 2; t = 1 is a different variety.

    Raises
    ------
    InvalidCaseError
        If one of them is not an integer, below 1 or above :data:`LARGEST`.

    Examples
    --------
    >>> model = SingleLayerAttention(d=2, d_out=1)
    >>> print(model)
    (d, d', a) = (2, 1, 2), t = 2
    >>> model.parametrization().images[1]
    A_2_1*V_1_1 + A_1_1*V_1_2
    """

    d: int
    d_out: int
    a: int
    t: int

    family: ClassVar[str] = NAME
    needs_engine: ClassVar[bool] = True

    def __init__(self, d: int, d_out: int, a: int | None = None, t: int = 2) -> None:
        for option, value in (("d", d), ("d_out", d_out), ("a", d if a is None else a), ("t", t)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise InvalidCaseError(option, f"must be an integer, not {value!r:.60}")
            if value > LARGEST:
                raise InvalidCaseError(option, f"must be at most {LARGEST}")
            if value < 1:
                raise InvalidCaseError(option, "must be at least 1" + (f", not {value}" if value > -LARGEST else ""))
            object.__setattr__(self, option, value)

    def __str__(self) -> str:
        return f"(d, d', a) = ({self.d}, {self.d_out}, {self.a}), t = {self.t}"

    @property
    def key(self) -> str:
        """``d3-dout2-a2-t2``: names the case in files."""
        return f"d{self.d}-dout{self.d_out}-a{self.a}-t{self.t}"

    @property
    def title(self) -> str:
        """In words."""
        return f"neuromanifold of lightning self-attention, {self}"

    def to_json(self) -> dict[str, int]:
        """The four numbers, for ``json.dumps``."""
        return {"d": self.d, "d_out": self.d_out, "a": self.a, "t": self.t}

    def in_coordinates(self, coordinates: str | None = None, weights: str | None = None) -> AttentionCoordinates:
        """The model in a coordinate system, as general computations see it; see :meth:`parametrization`."""
        from m2bridge.families.attention.coordinates import AttentionCoordinates  # it imports this module

        system = coordinates or self.default_coordinates
        self.check_options(system, weights or "attention")
        return AttentionCoordinates(self, cast(Coordinates, system), cast(Weights, weights or "attention"))

    @property
    def alpha(self) -> int:
        """Largest rank of an attention matrix, α = min(a, d)."""
        return min(self.a, self.d)

    @property
    def default_coordinates(self) -> Coordinates:
        """``reduced`` for t ≥ 2, ``full`` for t = 1 (where the reduced coordinates are not functions of the output)."""
        return "reduced" if self.t >= 2 else "full"

    def coordinate_count(self, coordinates: Coordinates) -> int:
        """Number of coordinates (for ``full``: coefficients that are not identically zero)."""
        quadratic = self.d * (self.d + 1) // 2
        if coordinates == "reduced":
            return self.d_out * self.d * quadratic
        cubic = comb(self.d + 2, 3)
        return self.d_out * self.t * (cubic + (self.t - 1) * self.d * quadratic)

    def parametrization(self, coordinates: Coordinates | None = None, weights: Weights = "attention") -> PolynomialMap:
        """The map from weights to function coordinates.

        Parameters
        ----------
        coordinates : {"reduced", "full"}, optional
            ``reduced``: the d'·d·d(d+1)/2 coordinates ``c_k_i_p_q``, the coefficient of x_i y_p y_q (p ≤ q) in
            output k, where x is the token and y another one; only for t ≥ 2. ``full``: all coefficients of V X Xᵀ A X
            that are not identically zero; ``f_k_j_p_u_q_v_r_w`` is the coefficient of X_pu X_qv X_rw in output k of
            token j.
        weights : {"attention", "factored"}
            ``attention``: parameters are the entries ``A_p_i`` and ``V_k_p``, with the (a+1)-minors of A as relations
            when a < d. ``factored``: parameters are the entries of Q, K and V, without relations.

        Raises
        ------
        InvalidCaseError
            If the coordinates do not exist for this t.
        TooLargeError
            If the map is too large to be stored.
        """
        from m2bridge.families.attention.parametrization import parametrization  # needs SymPy, which is slow to import

        system = coordinates or self.default_coordinates
        self.check_options(system, weights)
        return parametrization(self, system, weights)

    def check_options(self, coordinates: str, weights: str = "attention") -> None:
        """Raise InvalidCaseError if these coordinates or weights do not exist for this model."""
        if coordinates not in get_args(Coordinates):
            raise InvalidCaseError("coordinates", f"unknown coordinate system '{coordinates}': use reduced or full")
        if weights not in get_args(Weights):
            raise InvalidCaseError("weights", f"unknown weights '{weights}': use attention or factored")
        if coordinates == "reduced" and self.t == 1:
            raise InvalidCaseError("coordinates", "reduced coordinates need t ≥ 2; use full coordinates for t = 1")

    def statements(self) -> tuple[Statement, ...]:
        """Those of the paper, and ours."""
        from m2bridge.families.attention.statements import REGISTRY  # it imports this module

        return REGISTRY

    def observe(self, engine: Engine | None, *, certified: bool = False) -> Observations | None:
        """See :func:`m2bridge.families.attention.observation.observe`; for one token there are no orbits to observe."""
        if self.t == 1 or engine is None:
            return None
        observe = imported("m2bridge.families.attention.observation").observe  # with SymPy, while Macaulay2 starts
        seen: Observations = observe(self, engine, partial=not certified)
        return seen.certified() if certified else seen
