"""What a model is, and what a model may be able to do.

A model is a family of functions, or of points of affine space, that depend polynomially on parameters. A general room
asks for a :class:`Model` and, by ``isinstance``, for the capabilities below; it never asks for a class. A bare
``PolynomialMap`` becomes a model by :func:`m2bridge.maps.map_model.as_model`.

What names a model is an attribute; what may take time is a method, so that ``isinstance`` computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from m2bridge.maps.statement import Statement
from m2bridge.maps.structure import Multigrading, Symmetry

if TYPE_CHECKING:
    from sympy.polys.rings import PolyElement

    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.engine import Engine
    from m2bridge.maps.completeness import Core
    from m2bridge.maps.observation import Observed


@runtime_checkable
class Model(Protocol):
    """A case of a family: the closure of the image of a polynomial map.

    Attributes
    ----------
    family : str
        Name of the family, as in the registry; ``map`` for a bare polynomial map.
    key : str
        Names the case within its family: in files, tables and on the command line. Letters, digits, ``-`` and ``_``.
    title : str
        The case in words, on one line.
    """

    def __hash__(self) -> int: ...

    @property
    def family(self) -> str: ...

    @property
    def key(self) -> str: ...

    @property
    def title(self) -> str: ...

    def to_json(self) -> dict[str, Any]:
        """The numbers of the case, without the name of the family; what the family reads back."""
        ...

    def parametrization(self) -> PolynomialMap:
        """The map from parameters to coordinates, expanded.

        Raises
        ------
        TooLargeError
            If it is too large to be expanded.
        """
        ...

    def grading(self) -> Multigrading | None:
        """The finest multigrading of the free parametrization, in legible degrees; ``None`` where none are chosen."""
        ...

    def symmetries(self) -> tuple[Symmetry, ...]:
        """Generators of a group of permutations of the free parametrization."""
        ...

    def gauge_dimension(self) -> int:
        """Dimension of the generic orbits of a group that acts on the parameters without changing the function.

        Generic fibres of the free parametrization have at least this dimension, in every characteristic; so the image
        has at most the number of parameters less this. (It is the dimension of the group where generic stabilizers are
        finite.)
        """
        ...


@runtime_checkable
class FreelyParametrized(Protocol):
    """Has a second parametrization of the same closure, without relations among the parameters."""

    def __hash__(self) -> int: ...

    def free_parametrization(self) -> PolynomialMap:
        """The map from an affine space."""
        ...


@runtime_checkable
class Evaluates(Protocol):
    """Can be evaluated modulo a prime without being expanded.

    A model with ``input_count`` 0 is a map from parameters to its coordinates. With inputs it is a family of functions
    x ↦ φ_w(x), and its coordinates are the coefficients of φ_w as a polynomial in x.
    """

    @property
    def parameter_count(self) -> int: ...

    @property
    def input_count(self) -> int: ...

    @property
    def output_count(self) -> int: ...

    def values(self, parameters: Sequence[int], inputs: Sequence[Sequence[int]], prime: int) -> list[list[int]]:
        """The outputs φ_w(x) modulo the prime, for each x in ``inputs``."""
        ...


@runtime_checkable
class Differentiates(Evaluates, Protocol):
    """Can be differentiated with respect to the parameters, modulo a prime, without being expanded."""

    def pullbacks(
        self,
        parameters: Sequence[int],
        inputs: Sequence[Sequence[int]],
        covectors: Sequence[Sequence[int]],
        prime: int,
    ) -> list[list[int]]:
        """The gradient of w ↦ ⟨g, φ_w(x)⟩ modulo the prime, for each pair of x in ``inputs`` and g in ``covectors``."""
        ...


@dataclass(frozen=True, slots=True)
class UpperBound:
    """A proved upper bound for the dimension of the closure of the image.

    Parameters
    ----------
    value : int
    reason : str
        Why, in one line.
    """

    value: int
    reason: str


@dataclass(frozen=True, slots=True)
class LowerBound:
    """A proved lower bound for the dimension of the closure of the image.

    Parameters
    ----------
    value : int
    method : str
        How it was found, in a few words: the line of a table.
    reason : str
        What was computed.
    """

    value: int
    method: str
    reason: str


@runtime_checkable
class HasLowerBounds(Protocol):
    """Knows ways of its own to bound its dimension from below, which take the place of the general one."""

    def lower_bounds(self, characteristic: int) -> Iterator[LowerBound] | None:
        """Bounds that are proved in this characteristic, each computed when it is asked for, the quickest first.

        ``None`` where the general way serves.
        """
        ...


@runtime_checkable
class HasUpperBounds(Protocol):
    """Knows upper bounds for its dimension, beyond the number of parameters and of coordinates."""

    def upper_bounds(self, characteristic: int) -> tuple[UpperBound, ...]:
        """Bounds that are proved in this characteristic."""
        ...


@runtime_checkable
class HasCoordinateSystems(Protocol):
    """Offers several systems of coordinates, and of parameters, for the same functions."""

    def in_coordinates(self, coordinates: str | None, weights: str | None) -> Model:
        """The model in one of them; ``None`` stands for the default.

        Raises
        ------
        InvalidCaseError
            If there is no such system.
        """
        ...


@runtime_checkable
class NamesCoordinates(Protocol):
    """Knows its coordinates without building the map, and what their system is called."""

    @property
    def coordinate_system(self) -> str: ...

    @property
    def coordinate_count(self) -> int: ...

    def coordinate_names(self) -> tuple[str, ...]:
        """In the order of the parametrization."""
        ...


@runtime_checkable
class HasCore(Protocol):
    """Knows a smaller map whose ideal tells in which degrees the ideal of the closure is generated."""

    def core(self) -> Core | None:
        """The smaller map; ``None`` for cases that have none."""
        ...


@runtime_checkable
class HasExpectedDimension(Protocol):
    """Belongs to a family with a formula for the dimension."""

    def expected_dimension(self) -> tuple[int | None, str]:
        """The value of the formula, ``None`` where it does not apply; and its name, or why it does not apply."""
        ...


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a statement says about the dimension of a model.

    Parameters
    ----------
    value : int or None
        Its formula, also where its hypotheses do not hold; ``None`` where it has no meaning.
    statement : str
        The statement.
    fails : str
        Which of its hypotheses fails; empty if all hold.
    """

    value: int | None
    statement: str
    fails: str = ""


@runtime_checkable
class HasExpectations(Protocol):
    """Belongs to a family with several formulas for the dimension."""

    def expectations(self) -> tuple[Expectation, ...]:
        """What each of them says, the most important one first."""
        ...


@runtime_checkable
class HasFibreDegree(Protocol):
    """Knows the degree of the closure from its source and its generic fibre, without equations."""

    def fibre_degree(self) -> int | None:
        """The degree of the projective variety over QQ; ``None`` for cases about which nothing is known."""
        ...


@runtime_checkable
class PredictsHilbertFunction(Protocol):
    """Belongs to a family with a formula for the Hilbert function of the closure, proved in large degrees only."""

    def predicted_hilbert_function(self, degree: int) -> int | None:
        """The dimension of the part of this degree; ``None`` where nothing is predicted."""
        ...


@runtime_checkable
class HasStatements(Protocol):
    """Belongs to a family about which there are theorems, conjectures or expectations."""

    def statements(self) -> tuple[Statement, ...]:
        """All statements about the family."""
        ...


@runtime_checkable
class IsObserved(Protocol):
    """Can be observed: what statements predict is computed, by methods that share nothing with the predictions."""

    @property
    def needs_engine(self) -> bool:
        """Whether Macaulay2 takes part."""
        ...

    def observe(self, engine: Engine | None, *, certified: bool = False) -> Observed | None:
        """Observe; ``None`` where nothing of what statements are about can be observed.

        Parameters
        ----------
        certified : bool
            For a certificate: everything or nothing, and only what a checker recomputes. Else a part is observed where
            a limit is reached.

        Raises
        ------
        ContradictionError
            If independent methods disagree.
        EngineError
            If Macaulay2 failed, or a limit was reached before anything was observed.
        """
        ...


@runtime_checkable
class Stated(HasStatements, IsObserved, Protocol):
    """A case about which there are statements, and which can be observed: what a cross-check takes."""

    @property
    def family(self) -> str: ...

    @property
    def title(self) -> str: ...

    def to_json(self) -> dict[str, Any]:
        """The numbers of the case."""
        ...


@dataclass(frozen=True, slots=True)
class WithoutRealWeights:
    """Which real points of a Zariski closure are no functions of real weights.

    They are those at which all of ``zero`` vanish and ``positive`` is positive.

    Parameters
    ----------
    zero : tuple of PolyElement
        In the coordinates.
    positive : PolyElement
    reason : str
        Why, in one line.
    """

    zero: tuple[PolyElement, ...]
    positive: PolyElement
    reason: str


@runtime_checkable
class KnowsRealWeights(Protocol):
    """Knows which real points of the closure are functions of real weights."""

    def without_real_weights(self) -> WithoutRealWeights | None:
        """A criterion; ``None`` where none is known."""
        ...

    def has_real_weights(self, function: Mapping[str, Fraction], engine: Engine) -> bool:
        """Whether one point of the closure is a function of real weights, by computing its weights."""
        ...
