"""Single-layer lightning self-attention: its shape, its function coordinates.

Source: Henry, Marchetti, Kohn, *Geometry of Lightning Self-Attention: Identifiability and Dimension*, ICLR 2025
(arXiv 2408.17221), Definition 1, proof of Theorem 3.2, Proposition A.5.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, get_args

from m2bridge.errors import InvalidCaseError
from m2bridge.families.definition import positive_integer
from m2bridge.maps.model import LowerBound, Model, UpperBound, WithoutRealWeights
from m2bridge.maps.structure import Multigrading, Symmetry
from m2bridge.system import imported

if TYPE_CHECKING:
    from m2bridge.algebra.field import CoefficientField
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.algebra.ring import GeneratingSet
    from m2bridge.engine import Engine
    from m2bridge.families.attention.observed import Observations
    from m2bridge.families.attention.orbits import Orbit
    from m2bridge.maps.agreement import LocusFindings
    from m2bridge.maps.closure_result import Closure
    from m2bridge.maps.model import Core
    from m2bridge.maps.statement import Statement


NAME = "attention"
"""Of the family."""

Coordinates = Literal["reduced", "full"]
Weights = Literal["attention", "factored"]


"""Of each number: for larger cases only formulas can be computed, and their values would fill pages."""


@dataclass(frozen=True, slots=True, init=False)
class SingleLayerAttention(Model):
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
        If one of them is not an integer, below 1 or above :data:`~m2bridge.families.definition.LARGEST`.

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

    def __init__(self, d: int, d_out: int, a: int | None = None, t: int = 2) -> None:
        for option, value in (("d", d), ("d_out", d_out), ("a", d if a is None else a), ("t", t)):
            object.__setattr__(self, option, positive_integer(option, value))

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

    def coordinate_count(self, coordinates: Coordinates) -> int:  # type: ignore[override]
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

    def needs_engine(self, observables: Collection[str]) -> bool:
        """Return True: fibres and degrees are computed by Macaulay2."""
        return True

    def observe(
        self, observables: Collection[str], engine: Engine | None, *, certified: bool = False
    ) -> Observations | None:
        """See :func:`m2bridge.families.attention.observation.observe`; for one token there are no orbits to observe."""
        if self.t == 1 or engine is None:
            return None
        observe = imported("m2bridge.families.attention.observation").observe  # with SymPy, while Macaulay2 starts
        seen: Observations = observe(self, engine, partial=not certified)
        return seen.certified() if certified else seen


FEW_COORDINATES = 1000
"""Cases with more are not expanded to know their dimension: that takes a second and more."""


@dataclass(frozen=True, slots=True)
class AttentionCoordinates(Model):
    """A :class:`~m2bridge.maps.model.Model`, with a core and with orbits.

    Parameters
    ----------
    shape : SingleLayerAttention
    coordinates : {"reduced", "full"}
    weights : {"attention", "factored"}
        The parameters of :meth:`parametrization`.
    """

    shape: SingleLayerAttention
    coordinates: Coordinates
    weights: Weights = "attention"
    family: ClassVar[str] = NAME

    @property
    def key(self) -> str:
        """As of the shape."""
        return self.shape.key

    @property
    def title(self) -> str:
        """As of the shape."""
        return self.shape.title

    def to_json(self) -> dict[str, Any]:
        """The numbers of the shape."""
        return self.shape.to_json()

    def parametrization(self) -> PolynomialMap:
        """From the chosen weights."""
        return self.shape.parametrization(self.coordinates, self.weights)

    def free_parametrization(self) -> PolynomialMap:
        """From weights without relations, as few as there can be: A = KᵀQ is any matrix of rank at most α for a = α."""
        shape = SingleLayerAttention(self.shape.d, self.shape.d_out, self.shape.alpha, self.shape.t)
        return shape.parametrization(self.coordinates, "attention" if shape.a == shape.d else "factored")

    @property
    def coordinate_system(self) -> str:
        """``reduced`` or ``full``."""
        return self.coordinates

    @property
    def coordinate_count(self) -> int:
        """The number of coordinates, without building the map."""
        return self.shape.coordinate_count(self.coordinates)

    def coordinate_names(self) -> tuple[str, ...]:
        """The names of the coordinates, without building the map."""
        from m2bridge.families.attention.parametrization import coordinate_names

        return coordinate_names(self.shape, self.coordinates)

    def grading(self) -> Multigrading | None:
        """The multidegree of c_k_i_p_q is (e_k, e_i, e_p + e_q); none is chosen for full coordinates."""
        from m2bridge.families.attention.parametrization import grading

        return grading(self.shape, self.free_parametrization()) if self.coordinates == "reduced" else None

    def symmetries(self) -> tuple[Symmetry, ...]:
        """All permutations of the indices."""
        from m2bridge.families.attention.parametrization import symmetries

        return symmetries(self.shape, self.free_parametrization())

    def gauge_dimension(self) -> int:
        """Of the group that acts on the free parameters: rescaling A against V, and GL_α on Q and K."""
        return 1 if self.shape.alpha == self.shape.d else 1 + self.shape.alpha**2

    def upper_bounds(self, characteristic: int) -> tuple[UpperBound, ...]:
        """See :func:`m2bridge.families.attention.orbits.dimension_bound`."""
        from m2bridge.families.attention.orbits import dimension_bound

        return (UpperBound(dimension_bound(self.shape), "the dimension of the weights less one for their rescaling"),)

    def lower_bounds(self, characteristic: int) -> Iterator[LowerBound] | None:
        """See :mod:`m2bridge.families.attention.one_block`; small cases are expanded."""
        if self.coordinate_count <= FEW_COORDINATES:
            return None
        from m2bridge.families.attention.one_block import lower_bounds

        return lower_bounds(self.shape, characteristic)

    def expected_dimension(self) -> tuple[int | None, str]:
        """Corollary 3.3."""
        from m2bridge.families.attention.orbits import dimension_formula
        from m2bridge.families.attention.statements.statement import paper_hypotheses

        if self.shape.t == 1:
            return None, "Corollary 3.3 assumes t ≥ 2"
        remark = "Corollary 3.3" + (", outside its hypothesis α > 1 or d' > 1" if paper_hypotheses(self.shape) else "")
        return dimension_formula(self.shape), remark

    def fibre_degree(self) -> int | None:
        """By :func:`m2bridge.families.attention.orbits.degree_formula`, with the generic fibre of all sizes."""
        from m2bridge.families.attention.orbits import degree_formula

        return degree_formula(self.shape) if self.shape.t > 1 else None

    def predicted_hilbert_function(self, degree: int) -> int | None:
        """See :mod:`m2bridge.families.attention.hilbert`; the same in all coordinates."""
        from m2bridge.families.attention.hilbert import no_prediction, predicted_hilbert_function

        return None if no_prediction(self.shape) else predicted_hilbert_function(self.shape, degree)

    def core(self) -> Core | None:
        """See :mod:`m2bridge.families.attention.core`."""
        from m2bridge.families.attention.core import core

        return core(self.shape, self.coordinates)

    def no_orbits(self) -> str:
        """For one token the orbits classify no functions."""
        return "" if self.shape.t >= 2 else "orbits classify functions of attention with t ≥ 2 only"

    def no_fibres(self, field: CoefficientField) -> str:
        """The smoothness lemma needs a birational parametrization, in characteristic 0."""
        from m2bridge.families.attention.singular_points import fibres_apply

        if fibres_apply(self.shape) and not field.characteristic:
            return ""
        return "the method of fibres is for attention over QQ with t ≥ 2, and α > 1 or d' > 1"

    def by_fibres(self, engine: Engine) -> LocusFindings:
        """See :func:`m2bridge.families.attention.singular_points.by_fibres`."""
        from m2bridge.families.attention.singular_points import by_fibres

        return by_fibres(self.shape, engine)

    def by_bounds(self) -> LocusFindings:
        """See :func:`m2bridge.families.attention.singular_points.by_bounds`."""
        from m2bridge.families.attention.singular_points import by_bounds

        return by_bounds(self.shape)

    def by_orbits(self, found: Closure) -> LocusFindings:
        """See :func:`m2bridge.families.attention.singular_points.by_orbits`."""
        from m2bridge.families.attention.singular_points import by_orbits

        return by_orbits(found, self)

    @property
    def independent_count(self) -> int:
        """The number of linearly independent coordinates: the reduced ones."""
        return self.shape.coordinate_count("reduced")

    def orbit_closure(self, orbit: Orbit) -> PolynomialMap:
        """See :func:`m2bridge.families.attention.orbits.orbit_closure_map`."""
        from m2bridge.families.attention.orbits import orbit_closure_map

        return orbit_closure_map(orbit, self.shape, self.coordinates)

    def identify(self, prime: GeneratingSet, dimension: int) -> Orbit | None:
        """The orbit whose closure is the variety of the prime: contained in it, and irreducible of this dimension."""
        from m2bridge.algebra.polynomial_map import vanishes_on_image
        from m2bridge.families.attention.orbits import orbits
        from m2bridge.families.attention.tangents import orbit_dimension

        for orbit in orbits(self.shape):
            same = orbit_dimension(orbit, self.shape) == dimension
            if same and vanishes_on_image(prime, self.orbit_closure(orbit)):
                return orbit
        return None

    def zero_tangent_dimension(self) -> int:
        """See :func:`m2bridge.families.attention.tangents.zero_tangent_dimension`."""
        from m2bridge.families.attention.tangents import zero_tangent_dimension

        return zero_tangent_dimension(self.shape)

    def without_real_weights(self) -> WithoutRealWeights | None:
        """See :mod:`m2bridge.families.attention.fibres`; for t ≥ 2."""
        from m2bridge.families.attention.fibres import without_real_weights

        return without_real_weights(self.shape, self.coordinates) if self.shape.t > 1 else None

    def has_real_weights(self, function: Mapping[str, Fraction], engine: Engine) -> bool:
        """See :func:`m2bridge.families.attention.membership.membership`; for t ≥ 2."""
        from m2bridge.families.attention.membership import INSIDE, membership
        from m2bridge.families.attention.parametrization import name_in
        from m2bridge.families.attention.parametrization import reduced_indices as indices
        from m2bridge.families.attention.parametrization import reduced_name as name

        reduced = {name(index): function[name_in(index, self.coordinates)] for index in indices(self.shape)}
        return membership(self.shape, reduced, engine).place == INSIDE
