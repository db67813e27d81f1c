"""The observations of one case, at its orbits and of the whole closure.

Cross-checks and certificates read them here, by the names of observables, such as "singular"; how
they are computed stands in ``observe.py``. The observables are the keys of VALUES_AT_ORBITS and of
VALUES_OF_CLOSURE; None as a value means undecided, or not known without the orbits that are
missing after a limit. (Notation: the docstring of families/attention.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any, ClassVar

from m2bridge.errors import EngineError
from m2bridge.families.attention.orbits.fibres import Fibre
from m2bridge.families.attention.orbits.orbits import Orbit, WeightPair, orbits, representative
from m2bridge.families.attention.polar.chern_integrals import (
    is_computed_for_verdicts,
    localized_polar_degrees,
)
from m2bridge.families.attention.sizes import LayerSizes, is_birational
from m2bridge.families.attention.statements import Preimages, is_singular_by_theorem
from m2bridge.maps.singular_locus import zero_text
from m2bridge.results.known import Bounds
from m2bridge.results.sheet import Facts, Sheet, Table, in_brackets
from m2bridge.statements.statement import IntegerMatrix, Numbers, NumbersByMethod, Observed, Value

BOUNDARY_FAMILY_ORBIT = Orbit(1, 1, 1)
"""The orbit to which the explicit family of boundary points tends."""

BOUNDARY_OBSERVABLES = ("boundary", "boundary_critical")
"""The observables of orbits that need the explicit family of boundary points."""

POLAR_DEGREES_TOO_LARGE = "the polar degrees are too many or too large to be computed for a verdict"
POLAR_CONDITIONS_NOT_OBSERVED = (
    "the conditions under which polar degrees are integrals were not observed"
    " (docs/polar-degrees.md#theorem-polar)"
)

# the column without a heading says singular, smooth or undecided
HEADER = (*Orbit.HEADER, "dimension", "fibre", "points", "tangent", "", "critical", "boundary")
STATUS_WORDS = {True: "singular", False: "smooth", None: "undecided"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrbitFacts:
    """The observations at one orbit.

    Parameters
    ----------
    orbit : Orbit
    dimension : int
        Affine dimension of the orbit in function space, by the tangent map of the group action.
    fibre : Fibre
        The fibre of the projective parametrization.
    preimages : frozenset of (A, V)
        The points of the fibre, with A_11 = V_11 = 1.
    source_smooth : bool
        Whether {rk A ≤ α} is smooth at the rank r of A in the orbit: α = d or r = α.
    singular : bool or None
        Whether the Zariski closure is singular on the orbit; ``None`` means undecided. If the
        parametrization is not birational, the bounds for the tangent dimension decide. Else it is

        1. true if the fibre is not one reduced point;
        2. else false if the source is smooth there;
        3. else true if there are more tangent vectors than the dimension, and undecided if not.
    critical : bool
        Whether the differential of the projective parametrization is not injective on the tangent
        space.
    boundary : bool
        Whether the fibre is not reduced; then functions of the orbit are expected to be boundary
        points, limits of real points of the Zariski closure outside the neuromanifold.
    tangent : Bounds
        Affine tangent dimension of the closure: at least the number of explicit tangent vectors, at
        most what proved equations leave.
    tangent_witness : Orbit
        The orbit at which these vectors are tangent; its closure contains this one.

    Examples
    --------
    >>> seen = observe(SingleLayerAttention(d=2, d_out=1))
    >>> fact = seen.orbits[-1]
    >>> fact.orbit, fact.dimension, fact.singular, fact.tangent_dimension
    (Orbit(r=2, s=1, m=1), 5, False, 5)
    """

    orbit: Orbit
    dimension: int
    fibre: Fibre
    preimages: frozenset[WeightPair]
    source_smooth: bool
    singular: bool | None
    critical: bool
    boundary: bool
    tangent: Bounds
    tangent_witness: Orbit

    def __repr__(self) -> str:
        return in_brackets(self, "orbit", "dimension", "fibre", "singular", "boundary")

    @property
    def tangent_lower(self) -> int:
        """Lower bound for the tangent dimension, by explicit tangent vectors."""
        return self.tangent.value

    @property
    def tangent_upper(self) -> int | None:
        """Upper bound for the tangent dimension, by proved equations; ``None`` without one."""
        return self.tangent.upper

    @property
    def tangent_dimension(self) -> int | None:
        """Affine tangent dimension, if both bounds are equal; else ``None``."""
        return self.tangent.exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Observations(Observed):
    """The observations of one case.

    If a limit was reached before all orbits were observed, the others are :attr:`missing_orbits`.
    A cross-check compares ``value`` and ``at_orbits`` with predictions, asks ``unknown`` and
    ``undecided_reason`` where they are ``None``, and shows ``facts`` and ``table``.

    Parameters
    ----------
    model : LayerSizes
    orbits : tuple of OrbitFacts
        All orbits; if there is a ``limit``, none, or some with the dense one among them.
    dimension : int
        Affine: the largest orbit dimension.
    degree : int or None
        Degree of the closure by the projection formula, compared with a linear section where its
        points are few; ``None`` where the base locus is not empty, no orbit was observed, or it was
        not asked for.
    closed : bool or None
        Whether the base locus of the projective parametrization is empty; if it is, the image is
        compact and the cone over it closed. ``None`` where no orbit was observed.
    products : bool
        Whether functions and the products of their linear forms determine each other, linearly.
    boundary_family : bool
        Whether the explicit family of boundary points at (1, 1, 1) was verified.
    generic : Fibre or None
        The generic fibre; ``None`` where no orbit was observed.
    remarks : tuple of str
        Which independent methods agreed.
    engine_version : str
        Empty if no engine was used.
    seconds : float
    limit : EngineError or None
        The limit that was reached before all orbits were observed.
    polar_degrees : Numbers or None
        Polar degrees of the closure, counted in slices; ``None`` where they are not counted, or
        were not asked for.

    Examples
    --------
    >>> seen = observe(SingleLayerAttention(d=2, d_out=1))
    >>> [str(fact.orbit) for fact in seen.orbits if fact.singular]
    ['(1, 1, 0)', '(1, 1, 1)']
    """

    weights: ClassVar[tuple[str, ...]] = ("A", "V")

    model: LayerSizes
    orbits: tuple[OrbitFacts, ...] = ()
    dimension: int
    degree: int | None = None
    closed: bool | None = None
    products: bool
    boundary_family: bool = False
    generic: Fibre | None = None
    remarks: tuple[str, ...] = ()
    engine_version: str = ""
    seconds: float = 0.0
    limit: EngineError | None = None
    polar_degrees: Numbers | None = None

    def __repr__(self) -> str:
        return in_brackets(self, "model", "dimension", "degree", "unfinished")

    @property
    def generic_fibre(self) -> Fibre:
        """The fibre over the dense orbit; to be asked for only where some orbit was observed."""
        assert self.generic is not None
        return self.generic

    @property
    def is_birational(self) -> bool:
        """Whether the generic fibre is one reduced point; only where some orbit was observed."""
        # a multiple point has a larger length
        return self.generic_fibre.length == 1

    @property
    def missing_orbits(self) -> tuple[Orbit, ...]:
        """The orbits that were not observed; none without a limit."""
        observed_orbits = {fact.orbit for fact in self.orbits}
        return tuple(orbit for orbit in self.all_orbits() if orbit not in observed_orbits)

    @property
    def unfinished(self) -> str:
        """The limit and how many orbits were observed until then, in words; empty without one."""
        return "" if self.limit is None else str(self.limit)

    @property
    def progress(self) -> str:
        """The number of orbits that were observed until the limit, in words; empty without one."""
        return "" if self.limit is None else self.limit.progress

    def value(self, observable: str) -> Value | None:
        """Return an observable of the closure as a whole, as "degree"; ``None`` if not known."""
        return VALUES_OF_CLOSURE[observable](self)

    def unknown(self, observable: str) -> str:
        """Return why the value of an observable of the closure is not known, in words."""
        if self.missing_orbits:
            return f"not known without all orbits; {self.unfinished}"
        if observable != "polar_degrees":
            return "not decided by this method"
        if not is_computed_for_verdicts(self.model):
            return POLAR_DEGREES_TOO_LARGE
        # They are small enough to be computed, so only the conditions of the theorem were missing.
        return POLAR_CONDITIONS_NOT_OBSERVED

    def all_orbits(self) -> tuple[Orbit, ...]:
        """Return all orbits of nonzero functions, observed or not."""
        return orbits(self.model)

    def at_orbits(self, observable: str) -> dict[Orbit, Value | None]:
        """Return an observable, as "singular", at each observed orbit; ``None`` if undecided."""
        values = {}
        for fact in self.orbits:
            values[fact.orbit] = VALUES_AT_ORBITS[observable](fact)
            if observable in BOUNDARY_OBSERVABLES and not self._is_boundary_proved(fact):
                values[fact.orbit] = None
        return values

    def _is_boundary_proved(self, fact: OrbitFacts) -> bool:
        """Return whether ``fact.boundary`` is proved, which says that the fibre is not reduced."""
        if fact.boundary:
            # the proof is a family of functions outside the neuromanifold that tends to the orbit
            return self.boundary_family and fact.orbit == BOUNDARY_FAMILY_ORBIT
        # a function with a reduced fibre of at most two points is not a boundary point
        # (docs/mathematics.md#proposition-boundary)
        return fact.fibre.points <= 2

    def undecided_reason(self, observable: str, undecided: Sequence[Orbit]) -> str:
        """Return why an observable is undecided at these observed orbits, in words."""
        if observable != "singular":
            # the only other observables that can be undecided are about boundary points
            return (
                "an orbit has a fibre that is not reduced but no verified family of boundary"
                " points, or a larger fibre"
            )
        if not self.is_birational:
            return "the generic fibre is not one reduced point, so fibres do not decide smoothness"
        listed = ", ".join(map(str, undecided))
        return (
            "the source seems to be singular, but no more tangent vectors than the dimension are"
            f" known on {listed}"
        )

    def numbers(self) -> dict[str, int]:
        """Return the numbers in the witness of a statement about the whole closure that fails."""
        return {"dimension": self.dimension}

    def witness(
        self, failing: Sequence[Orbit]
    ) -> tuple[Orbit, Mapping[str, IntegerMatrix], dict[str, int]]:
        """Return a failing orbit of largest dimension, with weights over it and its numbers."""
        candidates = [fact for fact in self.orbits if fact.orbit in failing]
        # of several with the largest dimension the last one, so that it is the same each time
        fact = max(candidates, key=attrgetter("dimension", "orbit"))
        A, V = representative(fact.orbit, self.model)
        numbers = {
            "dimension": self.dimension,
            "tangent_dimension_at_least": fact.tangent_lower,
            "fibre_length": fact.fibre.length,
            "fibre_points": fact.fibre.points,
            "rank_A": fact.orbit.r,
            "generic_rank_A": self.model.alpha,
        }
        if fact.tangent_upper is not None:
            numbers["tangent_dimension_at_most"] = fact.tangent_upper
        return fact.orbit, {"A": A, "V": V}, numbers

    def certified(self) -> Observations:
        """Return the observations without upper bounds for tangent dimensions, for a certificate.

        No checker can recompute these bounds cheaply, and ``observe`` can leave them out. Where the
        parametrization is not birational, only they prove orbits smooth; these orbits are then
        undecided.
        """
        facts = []
        for fact in self.orbits:
            singular = fact.singular
            if not self.is_birational:
                # True if there are more tangent vectors than the dimension; None, undecided, if not
                singular = fact.tangent_lower > self.dimension or None
            tangent = Bounds.at_least(fact.tangent_lower)
            facts.append(replace(fact, tangent=tangent, singular=singular))
        return replace(self, orbits=tuple(facts))

    def evidence(self) -> dict[str, Any]:
        """Return the evidence of a certificate, for ``json.dumps``; all orbits are observed."""
        listed = []
        for fact in self.orbits:
            orbit = {"orbit": list(fact.orbit.cells)}
            witness = {"tangent_witness": list(fact.tangent_witness.cells)}
            listed.append(orbit | _fact_json(fact) | witness)
        return {
            "dimension": self.dimension,
            "degree": self.degree,
            "base_locus_empty": self.closed,
            "products_determine_functions": self.products,
            "boundary_family": self.boundary_family,
            "generic_fibre": asdict(self.generic_fibre),
            "orbits": listed,
        }

    def facts(self) -> list[tuple[str, str | None]]:
        """Return lines (heading, text) for the summary; ``None`` for a degree that is not known."""
        # the tangent dimension at zero is the number of independent coordinates
        return [
            ("affine dimension", str(self.dimension)),
            ("degree", None if self.degree is None else str(self.degree)),
            ("zero function", zero_text(self.model.independent_count, self.dimension)),
        ]

    def table(self) -> tuple[str, Sequence[str], Sequence[Sequence[object]]] | None:
        """Return caption, header and rows of the table of orbits; ``None`` without orbits."""
        if not self.orbits:
            return None
        rows = []
        for fact in self.orbits:
            row = (
                *fact.orbit.cells,
                fact.dimension,
                fact.fibre.length,
                fact.fibre.points,
                fact.tangent.relation(),
                STATUS_WORDS[fact.singular],
                "critical" if fact.critical else "",
                "boundary" if fact.boundary else "",
                STATUS_WORDS[is_singular_by_theorem(fact.orbit, self.model)],
            )
            rows.append(row)
        return Orbit.LEGEND, (*HEADER, "Theorem 3.4 (iii) says"), rows

    def to_text(self) -> str:
        """Return dimension, degree and a table of the orbits, as text for a terminal."""
        agreements = [("agreement", remark) for remark in self.remarks]
        blocks: list[Facts | Table] = [Facts([*self.facts(), *agreements])]
        if table := self.table():
            caption, header, rows = table
            blocks.append(Table(header, rows, caption))
        return Sheet(f"Observations of the {self.model.title}, over QQ", blocks).text()

    __str__ = to_text

    def to_json(self) -> dict[str, Any]:
        """Return dimension, degree and the facts at all observed orbits, for ``json.dumps``."""
        listed = []
        for fact in self.orbits:
            tangent = fact.tangent.to_json("tangent_")
            listed.append(fact.orbit.to_json() | _fact_json(fact) | tangent)
        return {
            "dimension": self.dimension,
            "degree": self.degree,
            "orbits": listed,
            "zero_tangent_dimension": self.model.independent_count,
        }


VALUES_AT_ORBITS: dict[str, Callable[[OrbitFacts], Value | None]] = {
    "singular": lambda fact: fact.singular,
    "critical": lambda fact: fact.critical,
    "boundary": lambda fact: fact.boundary,
    "boundary_critical": lambda fact: fact.boundary == fact.critical,
    "fibre_points": lambda fact: fact.fibre.points,
    "fibre": lambda fact: Preimages(fact.preimages),
}
"""The way to read each observable of orbits."""


def _special_fibre_points(case: Observations) -> int | None:
    """Return the largest number of points of a fibre, if it exceeds the generic one; else 0."""
    if case.missing_orbits:
        # a fibre that was not observed may have more points
        return None
    largest_count = max(fact.fibre.points for fact in case.orbits)
    if largest_count > case.generic_fibre.points:
        return largest_count
    return 0


def _decide_linear(case: Observations) -> bool | None:
    """Return whether the neuromanifold, a cone, is the whole space of reduced coordinates.

    It spans this space, and is a smooth manifold only then.
    """
    if case.dimension < case.model.independent_count:
        return False
    if case.model.d == 1:
        # c_k111 = V_k1 A_11, and with A = 1 all vectors V occur
        return True
    # the closure is a linear space, but real functions without real weights are not excluded
    return None


def _polar_degrees(case: Observations) -> NumbersByMethod | None:
    """Return the polar degrees δ_n, …, δ_0 by methods that share nothing with the prediction.

    ``None`` for large cases, and where the conditions of the theorem, under which general slices
    have these numbers of points too, were not observed.
    """
    if case.degree is None or case.missing_orbits or not case.closed:
        return None
    # for α = d' = 1 < d functions are q ⊗ c with a symmetric matrix c of rank ≤ 2, and the generic
    # fibre has to be two reduced points
    is_two_to_one = case.generic_fibre.points == case.generic_fibre.length == 2
    applies_to_two_to_one = is_two_to_one and not is_birational(case.model)
    if not (applies_to_two_to_one or _applies_to_birational(case)):
        return None
    # the numbers of the theorem, integrated at fixed points
    integrals = localized_polar_degrees(case.model)
    if integrals is None:
        return None
    # the projection formula gives δ_n only; the numbers after it are not known by this method
    unknown = (None,) * (len(integrals.entries) - 1)
    degree = Numbers((case.degree, *unknown))
    by_method = [("integrals", integrals), ("projection_formula", degree)]
    if case.polar_degrees is not None:
        by_method.append(("slices", case.polar_degrees))
    return NumbersByMethod(tuple(by_method))


def _applies_to_birational(case: Observations) -> bool:
    """Return whether the theorem on polar degrees for birational maps applies, by observations.

    Y is the desingularization of the source: the (S, A, V) where S is a subspace of dimension α
    that contains the columns of A. The condition, for each orbit, is about the part of Y over the
    orbit: there the kernel of the differential has to be zero, or of smaller dimension than the
    codimension of this part in Y. Two other conditions are that the base locus is empty, which is
    asked before, and the generic fibre is one reduced point.

    For rk A = r the S are a Grassmannian of dimension (α − r)(d − α), so the part has as many
    dimensions more than the orbit. The tangent vectors of the Grassmannian are in the kernel; all
    further ones in it are tangent to the fibre. At a point of a fibre of length l with p points the
    tangent space has at most dimension l − p, as the length at this point is at most l − p + 1. So
    the dimension of the kernel is at most l − p plus the dimension of the Grassmannian.
    """
    if not case.is_birational:
        return False
    alpha = case.model.alpha
    for fact in case.orbits:
        grassmannian_dimension = (alpha - fact.orbit.r) * (case.model.d - alpha)
        kernel_bound = fact.fibre.length - fact.fibre.points + grassmannian_dimension
        # Y has the dimension of the closure, as the map is birational
        codimension = case.dimension - (fact.dimension + grassmannian_dimension)
        # over the dense orbit the kernel and the codimension are zero
        if kernel_bound > 0 and kernel_bound >= codimension:
            return False
    return True


VALUES_OF_CLOSURE: dict[str, Callable[[Observations], Value | None]] = {
    # an empty base locus proves that the neuromanifold is closed; another one proves nothing
    "closed": lambda case: case.closed or None,
    "zero_fibre": lambda case: case.closed,
    "products": lambda case: case.products,
    "dimension": lambda case: case.dimension,
    "birational": lambda case: None if case.generic is None else case.is_birational,
    "special_fibre_points": _special_fibre_points,
    "degree": lambda case: case.degree,
    "smooth_manifold": _decide_linear,
    "polar_degrees": _polar_degrees,
}
"""The way to read each observable of the closure as a whole."""


def _fact_json(fact: OrbitFacts) -> dict[str, Any]:
    """Return the facts at an orbit that the JSON of observations and certificates both have."""
    return {
        "dimension": fact.dimension,
        "fibre_length": fact.fibre.length,
        "fibre_points": fact.fibre.points,
        "source_smooth": fact.source_smooth,
        "singular": fact.singular,
        "critical": fact.critical,
        "boundary": fact.boundary,
        "tangent_lower_bound": fact.tangent_lower,
    }
