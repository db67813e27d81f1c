"""The base class of models, and the values that they return.

A model is the closure of the image of a polynomial map, of which more may be known than the map: a
multigrading, bounds for the dimension, a degree, statements. What is not known of a model is
``None`` or empty, as it is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from m2bridge.algebra.field import CoefficientField, check_is_field
from m2bridge.errors import InvalidCaseError
from m2bridge.results.known import Bounds
from m2bridge.results.sheet import plural
from m2bridge.statements.statement import Observed, Statement

if TYPE_CHECKING:
    from sympy.polys.rings import PolyElement

    from m2bridge.algebra.hilbert_series import HilbertSeries
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.algebra.schur import Representation
    from m2bridge.algebra.sparse_polynomial import Terms
    from m2bridge.maps.locus import OrbitMethods


DegreeVector = tuple[int, ...]


Status = Literal["proved", "lower bound", "formula", "not applicable", "unfinished"]
"""How far a value of a dimension is certain, the most certain first."""


@dataclass(frozen=True, slots=True)
class MethodValue:
    """The answer of one method to the question for a dimension.

    Parameters
    ----------
    method : str
        How it was found, in a few words: the line of a table.
    known : Bounds
        What was found, and what was computed for it; open, with the reason, where nothing was.
    instead : {"", "formula", "not applicable"}
        Why this is no computation: it is the value of a formula, or the method does not apply.
    """

    method: str
    known: Bounds
    instead: Literal["", "formula", "not applicable"] = ""

    @property
    def value(self) -> int | None:
        """The dimension, or a lower bound for it, or the value of a formula."""
        return self.known.lower

    @property
    def status(self) -> Status:
        """``proved``; ``lower bound`` (proved as such; over QQ very probably the dimension);
        ``formula``; ``not applicable``; ``unfinished``.
        """
        return self.instead or self.known.status

    @property
    def remark(self) -> str:
        """The reason, in one line."""
        return self.known.because

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        names = ("method", "value", "status", "remark")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Expectation:
    """The dimension that a statement predicts for a model.

    Parameters
    ----------
    value : int or None
        Its formula, also where its hypotheses do not hold; ``None`` where it has no meaning.
    statement : str
        The statement.
    fails : str
        Which of its hypotheses fails; empty if all hold.
    assumes : str
        What the formula takes for granted and nothing but the dimension decides, in words.
    refuted : str
        What of that fails, where another dimension is proved; empty if that is not known.
    """

    value: int | None
    statement: str
    fails: str = ""
    assumes: str = "is the formula of a statement that is false here"
    refuted: str = ""

    def against(self, dimension: int) -> Expectation:
        """The expectation beside the proved dimension, which may refute it."""
        if self.fails or self.value in (None, dimension):
            return self
        return replace(self, refuted=f"{self.assumes}; the dimension is {dimension}, proved")

    @property
    def why_not(self) -> str:
        """The hypothesis that fails, stated or taken for granted; empty if none is known to."""
        return self.fails or self.refuted

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {
            "value": self.value,
            "statement": self.statement or None,
            "applies": not self.why_not,
            "fails": self.why_not or None,
        }


@dataclass(frozen=True, slots=True)
class Core:
    """The ideal of a closure by that of a smaller case, computed when it is asked for.

    The family vouches for both, by proofs in its documentation. They raise TimeLimitError at the
    limit, MethodUnavailableError where the smaller case decides nothing, and TooLargeError where it
    is not small enough.

    Parameters
    ----------
    name : str
        The smaller case in words, for people.
    hilbert_series : callable
        The Hilbert series of the closure.
    representations : callable
        All minimal generators of its ideal, besides linear forms.
    up_to : callable
        The values of the Hilbert function up to a degree, and the generators.
    polynomials : callable, optional
        The generators above a degree, expanded from highest weight vectors; none where that is not
        known.
    """

    name: str
    hilbert_series: Callable[[], HilbertSeries]
    representations: Callable[[], tuple[Representation, ...]]
    up_to: Callable[[int], tuple[Sequence[int], tuple[Representation, ...]]]
    polynomials: Callable[[int], Iterator[Terms]] | None = None


@dataclass(frozen=True, slots=True)
class CriticalLocus:
    """A part of the source of a theorem, as it was observed.

    Parameters
    ----------
    name : str
        The orbit.
    codimension : int
        Of the points over the orbit.
    kernel : int
        An upper bound for the dimension of the kernel of the differential there.
    """

    name: str
    codimension: int
    kernel: int


@dataclass(frozen=True, slots=True)
class PolarData:
    """The polar degrees of a case by a theorem of its family.

    Parameters
    ----------
    degrees : tuple of int
        δ_n, …, δ_0.
    known : str
        How, in a few words.
    rests_on : tuple of str
        Lemmas.
    loci : tuple of CriticalLocus
        What was observed of the case; empty if nothing.
    generic_fibre : int or None
        The number of points of the general fibre, where it was observed.
    """

    degrees: tuple[int, ...]
    known: str
    rests_on: tuple[str, ...]
    loci: tuple[CriticalLocus, ...] = ()
    generic_fibre: int | None = None


@dataclass(frozen=True, slots=True)
class WithoutRealWeights:
    """The real points of a Zariski closure that are no functions of real weights.

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


class Model(ABC):
    """A case of a family: the closure of the image of a polynomial map.

    Subclasses are frozen dataclasses. What may take time is a method, and what names a model is an
    attribute.

    Attributes
    ----------
    family : str
        Name of the family, as in the registry; ``map`` for a bare polynomial map.
    key : str
        Names the case within its family: in files, tables and on the command line. Letters, digits,
        ``-`` and ``_``.
    title : str
        The case in words, on one line.
    """

    __slots__ = ()

    family: ClassVar[str]

    @property
    @abstractmethod
    def key(self) -> str: ...

    @property
    @abstractmethod
    def title(self) -> str: ...

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return the numbers of the case, which the family reads back, without its name."""

    @abstractmethod
    def parametrization(self) -> PolynomialMap:
        """Return the map from parameters to coordinates, expanded.

        Raises
        ------
        TooLargeError
            If it is too large to be expanded.
        """

    def free_parametrization(self) -> PolynomialMap | None:
        """Return a parametrization of the same closure without relations among the parameters.

        ``None`` where there is no other parametrization.
        """
        return None

    def in_coordinates(self, coordinates: str | None, weights: str | None) -> Model:
        """Return the model in these coordinates and parameters; ``None`` is the default.

        Raises
        ------
        InvalidCaseError
            If there is no such system.
        """
        for option, value in (("coordinates", coordinates), ("weights", weights)):
            if value is not None:
                raise InvalidCaseError(option, f"there is no choice for a {self.title}")
        return self

    @property
    def coordinate_system(self) -> str:
        """The name of the system of coordinates; empty where there is one system only."""
        return ""

    @property
    def coordinate_count(self) -> int:
        """The number of coordinates; overridden where it is known without building the map."""
        return len(self.coordinate_names())

    def coordinate_names(self) -> tuple[str, ...]:
        """Return the coordinates in order; overridden where they are known without the map."""
        return self.polynomial_map.coordinates

    @property
    @lru_cache(maxsize=64)  # noqa: B019  (models are small values)
    def polynomial_map(self) -> PolynomialMap:
        """The parametrization, computed once; raises as :meth:`parametrization`."""
        return self.parametrization()

    @property
    @lru_cache(maxsize=64)  # noqa: B019
    def free_map(self) -> PolynomialMap:
        """A parametrization without relations, if there is one, else any; computed once."""
        return self.free_parametrization() or self.polynomial_map

    @property
    def case(self) -> dict[str, Any] | None:
        """The numbers that name the case, for results in JSON; ``None`` for a bare map."""
        return self.to_json()

    @property
    def ambient(self) -> str:
        """The ambient space, in words."""
        system = f"{self.coordinate_system} ".lstrip()
        names = self.coordinate_names()
        shown = ", ".join(names) if len(names) <= 6 else f"{names[0]}, …, {names[-1]}"
        return f"{plural(len(names), f'{system}coordinate')} {shown}"

    def check_field(self, field: CoefficientField) -> None:
        """Raise InvalidCaseError if the map cannot be taken over this field."""
        check_is_field(field)

    def grading(self) -> tuple[DegreeVector, ...] | None:
        """Return legible multidegrees of the coordinates in the finest grading, if known."""
        return None

    def representations(
        self, counts: Mapping[tuple[int, DegreeVector], int]
    ) -> tuple[Representation, ...] | None:
        """Return the representations of minimal generators, from their numbers by multidegree.

        One multidegree of each orbit of the symmetries is enough. ``None`` where no group is known.
        """
        return None

    def symmetries(self) -> tuple[Mapping[str, str], ...]:
        """Return permutations of free parameters that permute the images; fixed ones may lack."""
        return ()

    def gauge_dimension(self) -> int:
        """Return the dimension of generic orbits of a group that keeps the function.

        Generic fibres of the free parametrization have at least this dimension, in every
        characteristic; so the image has at most the number of parameters less this. (It is the
        dimension of the group where generic stabilizers are finite.)
        """
        return 0

    def upper_bounds(self, characteristic: int) -> tuple[Bounds, ...]:
        """Return proved bounds, besides the numbers of parameters and coordinates."""
        return ()

    def lower_bounds(self, characteristic: int) -> Iterator[MethodValue] | None:
        """Return bounds that take the place of the rank of the differential.

        Each is computed when it is asked for, the quickest first. ``None`` where the general way
        serves.
        """
        return None

    def expectations(self) -> tuple[Expectation, ...]:
        """Return what each formula for the dimension says, the most important one first."""
        return ()

    def core(self) -> Core | None:
        """Return a smaller case whose ideal tells how the ideal of the closure is generated."""
        return None

    def fewer_outputs(self, count: int) -> Model | None:
        """Return the model of the first ``count`` outputs, fewer than all, where weights tell them.

        Its coordinates are those of these outputs, and the multidegrees of the model have a weight
        that is 1 for them and 0 for all others: so its minimal generators are some of those of the
        model. ``None`` where that is not known.
        """
        return None

    def eliminated(self) -> Model:
        """Return a model in the same coordinates, with the same closure over QQ, for elimination.

        Another one where its parameters satisfy fewer relations.
        """
        return self

    def fibre_degree(self) -> int | None:
        """Return the degree of the projective variety over QQ, by source and generic fibre."""
        return None

    def predicted_hilbert_function(self, degree: int) -> int | None:
        """Return the dimension of a graded piece by a formula that large degrees obey."""
        return None

    def numbers(self, observable: str) -> str:
        """Return the numbers that a true statement about an observable means; empty for none."""
        return ""

    def polar_theorem(self) -> PolarData | None:
        """Return the polar degrees of the closure by a theorem of the family, if there is one."""
        return None

    def without_real_weights(self) -> WithoutRealWeights | None:
        """Return a criterion for real points that are no functions of real weights."""
        return None

    def has_real_weights(self, function: Mapping[str, Fraction]) -> bool:
        """Return whether a point of the closure is a function of real weights, by computing them.

        Implemented by models with a criterion :meth:`without_real_weights`.
        """
        raise NotImplementedError

    def no_orbits(self) -> str:
        """Return why orbits do not classify the points of the image; empty if they do."""
        return "no orbits of this model are known"

    def no_fibres(self, field: CoefficientField) -> str:
        """Return why fibres do not decide smoothness over this field; empty if they do."""
        return "no orbits of this model are known"

    def orbit_methods(self) -> OrbitMethods | None:
        """Return ways to find the singular locus orbit by orbit, where orbits are known."""
        return None

    def statements(self) -> tuple[Statement, ...]:
        """Return the theorems, conjectures and expectations about the family."""
        return ()

    def needs_engine(self, observables: Collection[str]) -> bool:
        """Return whether Macaulay2 takes part in observing these."""
        return False

    def observables(self, statements: Iterable[Statement]) -> frozenset[str]:
        """Return what statements are about; where Macaulay2 is needed, only those that apply."""
        return frozenset(
            statement.observable
            for statement in statements
            if not self.needs_engine({statement.observable}) or not statement.hypotheses(self)
        )

    def observe(self, observables: Collection[str], *, certified: bool = False) -> Observed | None:
        """Compute at least these, by methods that share nothing with predictions.

        ``None`` where nothing of what statements are about can be observed.

        Parameters
        ----------
        certified : bool
            For a certificate: everything or nothing, and only what a checker recomputes. Else a
            part is observed where a limit is reached.

        Raises
        ------
        ContradictionError
            If independent methods disagree.
        EngineError
            If Macaulay2 failed, or a limit was reached before anything was observed.
        """
        return None


class DifferentiableModel(Model):
    """A model that is evaluated and differentiated modulo a prime without being expanded.

    A model with ``input_count`` 0 is a map from parameters to its coordinates. With inputs it is a
    family of functions x ↦ φ_w(x), and its coordinates are the coefficients of φ_w as a polynomial
    in x.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def parameter_count(self) -> int: ...

    @property
    @abstractmethod
    def input_count(self) -> int: ...

    @property
    @abstractmethod
    def output_count(self) -> int: ...

    @abstractmethod
    def pullbacks(
        self,
        parameters: Sequence[int],
        inputs: Sequence[Sequence[int]],
        covectors: Sequence[Sequence[int]],
        prime: int,
    ) -> list[list[int]]:
        """Return the gradient of w ↦ ⟨g, φ_w(x)⟩ modulo the prime, for each pair of x and g."""
