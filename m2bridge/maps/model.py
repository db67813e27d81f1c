"""The base class of models, and the values that its methods return.

A model is the closure of the image of a polynomial map. A family can know more about it than the
map: a multigrading, bounds for the dimension, a degree, statements. Methods return ``None`` or an
empty value for properties that are not known; so does the base class.

The free parametrization of a model is one whose parameters satisfy no relations. A representation
is one of a group that acts linearly on the coordinates and maps the closure to itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Rational
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from m2bridge.algebra.field import CoefficientField, check_is_field
from m2bridge.errors import InvalidCaseError, elements
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
"""A multidegree."""


Status = Literal["proved", "lower bound", "formula", "not applicable", "unfinished"]
"""How certain a value of a dimension is, the most certain first."""


@dataclass(frozen=True, slots=True)
class MethodValue:
    """A value of the dimension that one method has found."""

    method: str  # in a few words; the title of its row in tables
    known: Bounds  # with the computation they rest on; open, with the reason, if nothing was found
    # empty for a computation; else the value comes from a formula, or the method does not apply
    instead: Literal["", "formula", "not applicable"] = ""

    @property
    def value(self) -> int | None:
        """The dimension, or a lower bound for it, or the value of a formula; ``None`` if nothing
        was found.
        """
        return self.known.lower

    @property
    def status(self) -> Status:
        """How certain the value is; a ``lower bound`` is proved as one, and over QQ very probably
        the dimension.
        """
        return self.instead or self.known.status

    @property
    def remark(self) -> str:
        """The reason for the value, in one line."""
        return self.known.because

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``."""
        names = ("method", "value", "status", "remark")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Expectation:
    """The dimension that a statement predicts for a model.

    Parameters
    ----------
    value : int or None
        Value of the formula, also where its hypotheses fail; ``None`` where it is undefined.
    statement : str
        Name of the statement.
    fails : str
        The hypothesis that fails; empty if all hold.
    assumes : str
        The assumption of the formula that can be checked only by the dimension itself, in words.
    refuted : str
        The assumption that fails, if a different dimension is proved; else empty.
    """

    value: int | None
    statement: str
    fails: str = ""
    assumes: str = "is the formula of a statement that is false here"
    refuted: str = ""

    def against(self, dimension: int) -> Expectation:
        """Return the expectation, marked as refuted if its stated hypotheses hold and its value is
        not the proved dimension of the model.
        """
        # where a hypothesis fails, or the formula is undefined, nothing was predicted
        if self.fails or self.value in (None, dimension):
            return self
        return replace(self, refuted=f"{self.assumes}; the dimension is {dimension}, proved")

    @property
    def why_not(self) -> str:
        """The hypothesis, stated or assumed, that fails; empty if none is known to fail."""
        return self.fails or self.refuted

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``."""
        return {
            "value": self.value,
            "statement": self.statement or None,
            "applies": not self.why_not,
            "fails": self.why_not or None,
        }


@dataclass(frozen=True, slots=True)
class Core:
    """The ideal of a closure, derived from the ideal of a smaller case and computed on demand.

    The derivation is proved in the documentation of the family. The functions raise TimeLimitError
    at the limit, MethodUnavailableError where the smaller case does not decide the question, and
    TooLargeError where it is still too large. Representations are of minimal generators except
    linear forms.
    """

    name: str  # the smaller case in words
    hilbert_series: Callable[[], HilbertSeries]  # of the closure
    representations: Callable[[], tuple[Representation, ...]]
    # from a degree n to H(0), …, H(n) and the representations of the generators of degree ≤ n
    up_to: Callable[[int], tuple[Sequence[int], tuple[Representation, ...]]]
    # from a degree n to the generators of degree > n, expanded from highest weight vectors
    polynomials: Callable[[int], Iterator[tuple[Terms, ...]]] | None = None


@dataclass(frozen=True, slots=True)
class CriticalLocus:
    """A stratum of the source of a parametrization, where its differential can have a kernel."""

    name: str  # the orbit of functions onto which the stratum is mapped
    codimension: int
    kernel: int  # an upper bound for the dimension of the kernel at points of the stratum


@dataclass(frozen=True, slots=True)
class PolarData:
    """The polar degrees of a case by a theorem of its family.

    Those of a cone; or, with ``closure``, of the closure in projective space of an affine variety
    that is not known to be a cone.
    """

    degrees: tuple[int, ...]  # δ_n, …, δ_0, where n is the projective dimension
    known: str  # the method, in a few words
    rests_on: tuple[str, ...]  # the lemmas that the theorem uses
    loci: tuple[CriticalLocus, ...] = ()  # the strata that were computed
    generic_fibre: int | None = None  # its number of points, where it was computed
    closure: bool = False


@dataclass(frozen=True, slots=True)
class WithoutRealWeights:
    """The real points of a Zariski closure that are not functions of real weights: where all
    polynomials in ``zero`` vanish and ``positive`` is positive.
    """

    zero: tuple[PolyElement, ...]
    positive: PolyElement
    reason: str  # why these points have no real weights, in one line


class Model(ABC):
    """A case of a family: the closure of the image of a polynomial map.

    Subclasses are frozen dataclasses. Operations that may take time are methods; names and titles
    are attributes.

    Attributes
    ----------
    family : str
        Name of the family, as in the registry; ``map`` for a bare polynomial map.
    key : str
        Name of the case within its family, for files, tables and the command line. It consists of
        letters, digits, ``-`` and ``_``.
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
        """Return the numbers that define the case, without its name; the family reads them back."""

    @abstractmethod
    def parametrization(self) -> PolynomialMap:
        """Return the map from parameters to coordinates, expanded; TooLargeError if it is too
        large.
        """

    def free_parametrization(self) -> PolynomialMap | None:
        """Return a parametrization of the same closure without relations among the parameters;
        ``None`` where only :meth:`parametrization` is known, which may be free or not.
        """
        return None

    def in_coordinates(self, coordinates: str | None, weights: str | None) -> Model:
        """Return the model in the coordinates and the parameters with these names; ``None`` keeps
        the choice of the model, and the base class has no choice.

        Raises
        ------
        InvalidCaseError
            If the model has no such coordinates or parameters.
        """
        for option, value in (("coordinates", coordinates), ("weights", weights)):
            if value is not None:
                raise InvalidCaseError(option, f"does not apply to a {self.title}")
        return self

    @property
    def coordinate_system(self) -> str:
        """Name of the coordinate system; empty if there is only one."""
        return ""

    @property
    def coordinate_count(self) -> int:
        """Number of coordinates; overridden where it is known without constructing the map."""
        return len(self.coordinate_names())

    def coordinate_names(self) -> tuple[str, ...]:
        """Return the ordered coordinates; overridden where they are known without the map."""
        return self.polynomial_map.coordinates

    @property
    @lru_cache(maxsize=64)  # noqa: B019  (models are small values)
    def polynomial_map(self) -> PolynomialMap:
        """The parametrization, computed once; raises as :meth:`parametrization`."""
        return self.parametrization()

    @property
    @lru_cache(maxsize=64)  # noqa: B019
    def free_map(self) -> PolynomialMap:
        """The map :meth:`free_parametrization` if there is one, else :meth:`parametrization`."""
        return self.free_parametrization() or self.polynomial_map

    @property
    def case(self) -> dict[str, Any] | None:
        """The numbers that define the case, for JSON; ``None`` for a bare polynomial map."""
        return self.to_json()

    @property
    def ambient(self) -> str:
        """The ambient space in words, such as ``3 coordinates x, y, z``."""
        system = f"{self.coordinate_system} ".lstrip()
        names = self.coordinate_names()
        names_shown = ", ".join(names) if len(names) <= 6 else f"{names[0]}, …, {names[-1]}"
        return f"{plural(len(names), f'{system}coordinate')} {names_shown}"

    def check_field(self, field: CoefficientField) -> None:
        """Raise InvalidCaseError if the map cannot be taken over this field."""
        check_is_field(field)

    def grading(self) -> tuple[DegreeVector, ...] | None:
        """Return the multidegree of each coordinate in the finest grading of the ideal, short ones;
        ``None`` where it has to be computed from the map.
        """
        return None

    def representations(
        self, counts: Mapping[tuple[int, DegreeVector], int]
    ) -> tuple[Representation, ...] | None:
        """Return the representations that the minimal generators form under a group of the model.

        Parameters
        ----------
        counts : mapping from (degree, multidegree) to int
            The number of minimal generators; one multidegree of each orbit is enough.
        """
        return None

    def symmetries(self) -> tuple[Mapping[str, str], ...]:
        """Return generators of a group of permutations of the free parameters; each permutes the
        polynomials of the free map, one for each coordinate. Empty if none is known.

        A permutation maps names to names; parameters that are fixed may be left out.
        """
        return ()

    def gauge_dimension(self) -> int:
        """Return the dimension of generic orbits of a group of parameters that fixes the function.

        Generic fibres of the free parametrization have at least this dimension in every
        characteristic; so the dimension of the image is at most the number of parameters minus this
        one. (It is the dimension of the group if generic stabilizers are finite.)
        """
        return 0

    def upper_bounds(self, characteristic: int) -> tuple[Bounds, ...]:
        """Return proved upper bounds for the dimension of the closure in a characteristic, 0 or a
        prime p, for the map modulo p; without the numbers of parameters and coordinates, which are
        bounds too.
        """
        return ()

    def lower_bounds(self, characteristic: int) -> Iterator[MethodValue] | None:
        """Return lower bounds for the dimension that replace the rank of the differential; ``None``
        where that rank is used.

        The iterator, perhaps empty, computes each on demand, the quickest first; it raises
        TimeLimitError, MethodUnavailableError or TooLargeError where a bound cannot be computed.
        """
        return None

    def expectations(self) -> tuple[Expectation, ...]:
        """Return what each formula of the family predicts for the dimension, the most important one
        first; also formulas whose hypotheses fail.
        """
        return ()

    def core(self) -> Core | None:
        """Return a smaller case that determines generators of the ideal of the closure."""
        return None

    def fewer_outputs(self, count: int) -> Model | None:
        """Return the model of the first ``count`` outputs; ``None`` if these are all.

        Its coordinates are the coordinates of this model, the full one, that belong to these
        outputs. Who overrides this needs multidegrees with an entry for each output, 1 for its
        coordinates and 0 for others: then a polynomial of degree n whose first ``count`` entries
        sum to n has no other coordinates, and minimal generators of the smaller model are minimal
        here.
        """
        return None

    def eliminated(self) -> Model:
        """Return the model whose map is eliminated where the generators are proved to be all: this
        one, or one with the same coordinates and closure over QQ, whose parameters satisfy fewer
        relations.
        """
        return self

    def fibre_degree(self) -> int | None:
        """Return the degree of the closure as a projective variety over QQ, without its equations,
        by a formula of the family: a degree on the source of the parametrization, divided by the
        number of points of a generic fibre.
        """
        return None

    def predicted_hilbert_function(self, degree: int) -> int | None:
        """Return the dimension of the graded piece of this degree of the coordinate ring, by a
        formula that is proved for large degrees only.
        """
        return None

    def numbers(self, observable: str) -> str:
        """Return as text the values that an observable has if its statement is true; empty where
        the family predicts none.
        """
        return ""

    def polar_theorem(self) -> PolarData | None:
        """Return the polar degrees of the closure by a theorem."""
        return None

    def without_real_weights(self) -> WithoutRealWeights | None:
        """Return a criterion for real points that are not functions of real weights."""
        return None

    def has_real_weights(self, function: Mapping[str, Fraction]) -> bool:
        """Decide whether a point of the closure, by the values of all coordinates, is a function of
        real weights, by computing them; for models with a criterion :meth:`without_real_weights`.
        """
        raise NotImplementedError

    def no_orbits(self) -> str:
        """Return in words why orbits do not classify the points of the image; empty if they do."""
        return "no orbits of this model are known"

    def no_fibres(self, field: CoefficientField) -> str:
        """Return in words why the fibres of the parametrization do not decide over this field which
        points of the closure are smooth; empty if they do.
        """
        return "no orbits of this model are known"

    def orbit_methods(self) -> OrbitMethods | None:
        """Return methods that find the singular locus orbit by orbit."""
        return None

    def statements(self) -> tuple[Statement, ...]:
        """Return the theorems, conjectures and expectations about the family."""
        return ()

    def needs_engine(self, observables: Collection[str]) -> bool:
        """Return whether one of the observables with these names needs Macaulay2."""
        return False

    def observables(self, statements: Iterable[Statement]) -> frozenset[str]:
        """Return the names of the observables that the statements are about, but for observables
        that need Macaulay2, which takes time, where a hypothesis of the statement fails.
        """
        names: set[str] = set()
        for statement in statements:
            takes_time = self.needs_engine({statement.observable})
            failing_hypothesis = statement.hypotheses(self)  # empty if all hold
            if not (takes_time and failing_hypothesis):
                names.add(statement.observable)
        return frozenset(names)

    def observe(self, observables: Collection[str], *, certified: bool = False) -> Observed | None:
        """Compute at least these observables, by methods that share nothing with the predictions.

        Returns ``None`` where none of the observables of the family can be computed.

        Parameters
        ----------
        observables : collection of str
            Their names, as in the statements of the family.
        certified : bool
            Whether the observation is for a certificate: then it is complete, and has only values
            that a checker recomputes. Otherwise a part is returned if a limit is reached. A family
            that observes the dimension alone returns ``observe_rank(self, certified=certified)``.

        Raises
        ------
        ContradictionError
            If independent methods disagree.
        EngineError
            If Macaulay2 failed, or a limit was reached before any value was computed.
        """
        return None


class DifferentiableModel(Model):
    """A model that can be evaluated and differentiated modulo a prime without being expanded.

    A model with ``input_count`` 0 is a map from parameters to its coordinates. With inputs it is a
    family of functions x ↦ φ_w(x), and its coordinates are the coefficients of φ_w as a polynomial
    in x.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def parameter_count(self) -> int:
        """The number of parameters w."""

    @property
    @abstractmethod
    def input_count(self) -> int:
        """The length of an input x; 0 for a map from the parameters alone."""

    @property
    @abstractmethod
    def output_count(self) -> int:
        """The length of an output φ_w(x); without inputs, the number of coordinates."""

    @abstractmethod
    def pullbacks(
        self,
        parameters: Sequence[int],
        inputs: Sequence[Sequence[int]],
        covectors: Sequence[Sequence[int]],
        prime: int,
    ) -> list[list[int]]:
        """Return the gradient of w ↦ ⟨g, φ_w(x)⟩ modulo the prime, for each pair of x and g.

        Parameters
        ----------
        parameters : sequence of int
            The point w, of length ``parameter_count``.
        inputs : sequence of sequences of int
            The inputs x, each of length ``input_count``; empty ones if that is 0.
        covectors : sequence of sequences of int
            As many covectors g, each of length ``output_count``: the k-th goes with the k-th input.
        prime : int
            The prime p; all entries are residues modulo it.

        Returns
        -------
        list of lists of int
            One gradient for each pair, of length ``parameter_count``, with entries from 0 to p − 1.

        Raises
        ------
        InvalidCaseError
            If the model has no reduction modulo the prime, or an argument has another size than
            these, entries that are not integers, or is not a prime (:meth:`checked_pullback`).
        """

    def checked_pullback(
        self, parameters: object, inputs: object, covectors: object, prime: object
    ) -> PullbackArguments:
        """Return the arguments of :meth:`pullbacks` as lists of integers, for implementations; an
        InvalidCaseError if they have wrong sizes, entries that are not integers, or no prime.
        """
        point = integers("parameters", parameters, self.parameter_count)
        points = [integers("inputs", x, self.input_count) for x in list_of("inputs", inputs)]
        forms = [
            integers("covectors", g, self.output_count) for g in list_of("covectors", covectors)
        ]
        if len(points) != len(forms):
            message = f"must be as many as the inputs, {len(points)}, not {len(forms)}"
            raise InvalidCaseError("covectors", message)
        return PullbackArguments(point, points, forms, checked_prime(prime))


class PullbackArguments(NamedTuple):
    """The point, the inputs, the covectors and the prime of a pullback, by Python's integers."""

    parameters: list[int]
    inputs: list[list[int]]
    covectors: list[list[int]]
    prime: int


def integers(name: str, values: object, count: int) -> list[int]:
    """Return ``count`` integers as a list; InvalidCaseError, about ``name``, if they are others."""
    return list(map(int, _entries_of(name, values, count, Integral, "integers")))


def rational_numbers(name: str, values: object, count: int) -> list[Any]:
    """Return ``count`` integers or fractions as a list; InvalidCaseError if they are others."""
    return _entries_of(name, values, count, Rational, "integers or fractions")


def _entries_of(name: str, values: object, count: int, kind: type, words: str) -> list[Any]:
    """Return ``count`` numbers of a kind, called ``words``; InvalidCaseError if they are others."""
    entries = list_of(name, values)
    if len(entries) != count:
        raise InvalidCaseError(name, f"are {plural(count, 'number')}, not {len(entries)}")
    for entry in entries:
        if not isinstance(entry, kind) or isinstance(entry, bool):
            raise InvalidCaseError(name, f"must be {words}, not {entry!r:.60}")
    return entries


def list_of(name: str, values: object) -> list[Any]:
    """Return the entries of a sequence; InvalidCaseError, about ``name``, if it is none."""
    if isinstance(values, Mapping | Set):
        raise InvalidCaseError(name, f"must be a list, not {values!r:.60}")
    return elements(name, values, "a list")


def checked_prime(value: object) -> int:
    """Return a prime as an integer; InvalidCaseError if it is none."""
    from m2bridge.algebra.numbers import is_prime  # imports FLINT

    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    number = int(value) if isinstance(value, Integral) else 0
    if not is_integer or number < 2 or not is_prime(number):
        raise InvalidCaseError("prime", f"must be a prime number, not {value!r:.60}")
    return number
