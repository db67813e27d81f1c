"""The section of a variety by a space of dimension 3: its real surface and singular curve.

The variety is the Zariski closure of an image, or given by an ideal over QQ. Macaulay2 decomposes
the slice and its singular locus over QQ. The real points of each component in a box form pieces
(``pictures.real_geometry``), which end at the zeros of polynomials ``cuts``. Each piece lies as a
whole among the functions of real weights or outside: the sign by which a criterion of the family
decides this is constant on it. The proof is in docs/mathematics.md. A map or an ideal has no
weights: all its pieces are real points. ``fineness`` is about the number of points that are
computed along a side of the box.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import Any, Unpack

from flint import fmpq_mpoly
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.numbers import flint_rational, fraction
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.convert.printing import ideal_macaulay2, polynomial_text
from m2bridge.engine import RunOptions, computation, current
from m2bridge.engine.script import Script, render
from m2bridge.errors import ContradictionError, InvalidCaseError, TimeLimitError, check_kind
from m2bridge.ideals.ideal import Ideal
from m2bridge.limits import clock
from m2bridge.maps.chain import Chain
from m2bridge.maps.closure import Closure, closure
from m2bridge.maps.model import Model, WithoutRealWeights
from m2bridge.maps.polynomial_map_model import Case, IdealModel, MapModel, as_model
from m2bridge.maps.slice_space import SliceSpace, Span, Values
from m2bridge.pictures.real_geometry import Cell, ball, branches, patches, to_flint
from m2bridge.pictures.slice_picture import (
    CLOSURE_ONLY,
    FUNCTIONS,
    REAL_POINTS,
    UNDECIDED,
    Piece,
    PieceKind,
    SurfaceResult,
    equation_latex,
)
from m2bridge.results.base import Proof, result_json
from m2bridge.results.markup import csv_text
from m2bridge.results.sheet import Facts, Picture, Sheet, Table, computed_by, in_brackets

MIN_FINENESS, MAX_FINENESS = 4, 200
"""The least and the largest number of points along a side; larger numbers take minutes."""


@dataclass(frozen=True, slots=True)
class SingularComponent:
    """A curve, or points, on the surface, irreducible over QQ: a component of the singular locus,
    or of the part where functions may lack real weights, which may be one of the surface too.
    """

    prime: Ideal  # in the ring of the slice
    dimension: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceSurface(SurfaceResult):
    """A surface: the part of a Zariski closure in an affine-linear space of dimension 3.

    Parameters
    ----------
    model : Model
    coordinates : mapping from coordinate to polynomial
        Every coordinate of the closure as a polynomial of degree ≤ 1 in the three variables.
    equation : PolyElement
        The squarefree equation in these variables.
    singular : tuple of SingularComponent
        Components of the locus where the equation and its derivatives vanish, by Macaulay2.
    pieces : tuple of Piece
        What the real points in the box form: pieces of the surface, of curves, and points.
    box : mapping from variable to (Fraction, Fraction)
        The interval of each variable.
    decided_by : str
        The criterion for functions of real weights, in words; empty if there is none.
    engine_version : str
    seconds : float
    unfinished : str
        The limit that was reached before all pieces were computed; otherwise empty.
    elevation, azimuth : float
        The viewing angles in degrees.

    Examples
    --------
    >>> from sympy import symbols
    >>> u, v = symbols("u v")
    >>> umbrella = PolynomialMap.from_expressions([u, v], {"x": u * v, "y": u, "z": v**2})
    >>> result = slice_surface(umbrella)
    >>> result.equation, [component.prime.generators for component in result.singular]
    (y**2*z - x**2, [(y, x)])
    >>> result.seen_from(elevation=30, azimuth=45).to_svg().count("<svg")
    1
    """

    model: Model
    coordinates: Mapping[str, PolyElement]
    equation: PolyElement
    singular: tuple[SingularComponent, ...]
    pieces: tuple[Piece, ...]
    box: Mapping[str, tuple[Fraction, ...]]
    decided_by: str
    engine_version: str
    seconds: float
    unfinished: str = ""
    elevation: float = 20.0
    azimuth: float = -60.0

    def seen_from(self, elevation: float, azimuth: float) -> SliceSurface:
        """Return the same surface from a different viewpoint, with angles in degrees.

        Raises
        ------
        InvalidCaseError
            If an angle is not a number from -360 to 360.
        """
        for name, angle in (("elevation", elevation), ("azimuth", azimuth)):
            check_kind(name, angle, Real, "a number of degrees")
            if not abs(angle) <= 360:  # refuses nan too, which no comparison holds for
                raise InvalidCaseError(name, f"must be from -360 to 360 degrees, not {angle}")
        return replace(self, elevation=elevation, azimuth=azimuth)

    def proof(self) -> Proof:
        """Return that this is a picture, of which only a part could be proved."""
        exact = "the equation and the singular locus are exact"
        return Proof(None, f"a picture: {exact}, the pieces are found on a grid of points")

    def __repr__(self) -> str:
        return in_brackets(self, "model", "equation")

    @property
    def variety(self) -> str:
        """The variety that is cut, in words."""
        return self.model.title if isinstance(self.model, IdealModel) else "Zariski closure"

    def to_sheet(self) -> Sheet:
        """Return the equation, the singular locus, and the pieces with a point of each."""
        forms = {name: polynomial_text(form) for name, form in self.coordinates.items()}
        spans = [f"{low} < {name} < {high}" for name, (low, high) in self.box.items()]
        components = []  # such as ``curve x = y = 0``
        for component in self.singular:
            kind = "curve" if component.dimension else "points"
            equations = map(polynomial_text, component.prime.generators)
            components.append(f"{kind} {' = '.join(equations)} = 0")
        singular_locus = "; ".join(components) or "empty"
        is_cut = any(name != form for name, form in forms.items())
        facts = [
            ("slice", _assignments_text(forms) if is_cut else None),
            ("equation", f"{polynomial_text(self.equation)} = 0"),
            ("singular locus", singular_locus),
            ("box", ", ".join(spans)),
            ("decided by", self.decided_by or None),
            ("computed by", computed_by(self.engine_version, self.seconds)),
            ("not finished", self.unfinished or None),
        ]
        rows = []
        for piece in self.pieces:
            singular = "singular" if piece.singular else ""
            example = _assignments_text(piece.sample or {})
            rows.append((piece.kind, singular, piece.place, example))
        pieces = Table(("piece", "", "its points are", "for example"), rows)
        title = f"Surface in a slice of the {self.variety}"
        if not isinstance(self.model, IdealModel):
            title += f" of the {self.model.title}"
        formula = equation_latex(self.equation)
        return Sheet(title, [Facts(facts), pieces, Picture(self.page_svg)], [formula])

    def to_json(self) -> dict[str, Any]:
        """Return the equation, the singular locus, and a point of each piece, as JSON values."""
        return result_json(self.model.case, "QQ", self.engine_version, self.seconds) | {
            "slice": {name: polynomial_text(form) for name, form in self.coordinates.items()},
            "variables": list(self.variables),
            "equation": polynomial_text(self.equation),
            "singular_locus": [_component_json(part) for part in self.singular],
            "box": {name: [str(end) for end in ends] for name, ends in self.box.items()},
            "decided_by": self.decided_by or None,
            "pieces": [_piece_json(piece) for piece in self.pieces],
            "unfinished": self.unfinished or None,
            **self.proof()._asdict(),
        }

    def to_macaulay2(self) -> str:
        """Return a Macaulay2 program that defines the ideal of the surface."""
        return ideal_macaulay2(GeneratingSet(PolynomialRing(QQ, self.variables), (self.equation,)))

    def to_csv(self) -> str:
        """Return all drawn points, each with the number of its piece."""
        rows = []
        for number, piece in enumerate(self.pieces, 1):
            of_piece = (number, piece.kind, piece.place, int(piece.singular))
            for strip in piece.points:
                rows += [(*of_piece, *point) for point in strip]
        return csv_text(("piece", "kind", "place", "singular", *self.variables), rows)


def _assignments_text(values: Mapping[str, object]) -> str:
    """Return names and values as text: ``x = 1, y = 2``."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _component_json(component: SingularComponent) -> dict[str, Any]:
    """Return a component with its equations, for ``json.dumps``."""
    generators = list(map(polynomial_text, component.prime.generators))
    return {"dimension": component.dimension, "generators": generators}


def _piece_json(piece: Piece) -> dict[str, Any]:
    """Return a piece with a rational point of it, if one was found, for ``json.dumps``."""
    sample = None
    if piece.sample is not None:
        sample = {name: str(value) for name, value in piece.sample.items()}
    return {"kind": piece.kind, "place": piece.place, "singular": piece.singular, "sample": sample}


@computation
def slice_surface(
    case: Case | Closure | Ideal,
    coordinates: Values | None = None,
    *,
    box: Mapping[str, Span] | Span = (-1, 1),
    fineness: int = 24,
    **options: Unpack[RunOptions],
) -> SliceSurface:
    """Cut a Zariski closure, or the variety of an ideal, by a space of dimension 3, and find the
    real points in a box.

    Every piece of the surface, and of its singular curve, consists of functions of real weights, or
    of points that are only in the Zariski closure. A criterion of the family decides that, and
    membership confirms it at a rational point of each piece that has one; the pieces of a model
    without such a criterion are undecided. Maps and ideals have no weights: their pieces are real
    points.

    Parameters
    ----------
    case : a model, a PolynomialMap, a mapping ``{"x": expression}``, a Closure or an Ideal
    coordinates : mapping from coordinate to number or expression
        The values of coordinates; a value may also be an expression of degree ≤ 1 in other
        variables. Those left out are variables of their own. There must be three variables in the
        end.
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
    timeout : float, optional
        Seconds for the whole computation.
    box : (low, high), or a mapping from variable to (low, high)
        The interval of all variables, or of each.
    fineness : int
        About how many points are computed along a side of the box.

    Raises
    ------
    InvalidCaseError
        If a closure is not over QQ, the slice has not three variables or does not cut the closure
        in one surface, a value is not of degree ≤ 1, or an interval or the fineness is not valid.
    MethodUnavailableError, TimeLimitError
        If the ideal of the closure is not proved complete; TimeLimitError if a limit was reached.
    ContradictionError
        If membership at a rational point of a piece contradicts the criterion.

    Examples
    --------
    >>> from sympy import symbols
    >>> w, v, c = symbols("w v c")
    >>> fixed = {"c_1_1_1_1": 1, "c_1_1_1_2": 0, "c_1_2_1_1": 0}
    >>> named = {"c_1_1_2_2": -w, "c_1_2_1_2": v, "c_1_2_2_2": c}
    >>> slice_surface(ideal("x^2 - y^2*z")).pieces[0].name
    'surface: real points'
    >>> result = slice_surface(SingleLayerAttention(d=2, d_out=1), fixed | named)
    >>> result.equation
    w*v**2 - c**2
    >>> [(piece.place, piece.sample["w"]) for piece in result.pieces if piece.kind == "curve"]
    [('only in the Zariski closure', Fraction(-1, 2)),
     ('functions of real weights', Fraction(1, 2))]
    """
    check_kind("fineness", fineness, Real, "a number")
    if not MIN_FINENESS <= fineness <= MAX_FINENESS:
        raise InvalidCaseError(
            "fineness", f"must be from {MIN_FINENESS} to {MAX_FINENESS}, not {fineness}"
        )
    if isinstance(case, Ideal):
        model, ideal = as_model(case), case
        if ideal.ring.field != QQ:
            reason = (
                f"must be an ideal over QQ, not {ideal.ring.field}, since real points are found"
            )
            raise InvalidCaseError("case", reason)
    else:
        result = case if isinstance(case, Closure) else closure(case)
        if result.field != QQ:
            reason = f"must be a closure over QQ, not {result.field}, since real points are found"
            raise InvalidCaseError("case", reason)
        # a part of the equations would cut out more than the slice of the closure
        if result.ideal is None or not result.completeness.proved:
            raise result.incomplete()
        model, ideal = result.model, result.ideal
    if coordinates is None:
        coordinates = {}
    space = SliceSpace.of(model.coordinate_names(), coordinates, box)
    components = _SliceComponents.of(model, ideal, space)  # raises if they are not surfaces
    # each piece is kept at once, so that a limit leaves those that were found
    pieces: list[Piece] = []
    unfinished = ""
    try:
        for piece in components.pieces(fineness):
            components.confirm(piece)
            pieces.append(piece)
    except TimeLimitError as limit:
        unfinished = f"there may be more pieces: {limit}"
    criterion = components.criterion
    return SliceSurface(
        model=model,
        coordinates=space.forms,
        equation=components.equation,
        singular=tuple(components.primes("singular")),
        pieces=tuple(pieces),
        box={name: tuple(map(fraction, ends)) for name, ends in space.box.items()},
        decided_by="" if criterion is None else criterion.reason,
        engine_version=current().version,
        seconds=clock().seconds,
        unfinished=unfinished,
    )


@dataclass(frozen=True, slots=True)
class _SliceComponents:
    """The components of a slice by the answer to :func:`slice_script`, and the pieces that their
    real points form.
    """

    model: Model
    space: SliceSpace
    criterion: WithoutRealWeights | None  # on the space
    answer: Answer

    @classmethod
    def of(cls, model: Model, ideal: GeneratingSet, space: SliceSpace) -> _SliceComponents:
        """Return the components of the slice of the variety of an ideal by a space;
        InvalidCaseError unless they are surfaces.
        """
        criterion = space.criterion(model)
        exceptional = () if criterion is None else criterion.zero
        script = slice_script(model.title, ideal, space, exceptional=exceptional)
        answer = answer_to(script)
        codimensions = answer.integers("codimensions")
        if set(codimensions) != {1}:
            # codimensions are those in the space of dimension 3
            dimensions = ", ".join(str(3 - codimension) for codimension in sorted(codimensions))
            variety = "variety" if isinstance(model, IdealModel) else "closure"
            place = f"in components of dimension {dimensions}" if codimensions else "nowhere"
            raise InvalidCaseError(
                "coordinates",
                f"this space meets the {variety} {place}, and a surface has dimension 2 only",
            )
        return cls(model=model, space=space, criterion=criterion, answer=answer)

    @property
    def equation(self) -> PolyElement:
        """The squarefree equation of the slice, in the three variables."""
        # the ideal of the answer is generated by the one equation
        (equation,) = self.in_ring_of_slice(self.answer.ideal("equation")).generators
        return equation

    def in_ring_of_slice(self, ideal: GeneratingSet) -> Ideal:
        """Return an ideal of the answer as an ideal in the ring of the slice."""
        ring = self.space.ring
        return Ideal(ring, tuple(g.set_ring(ring.sympy_ring) for g in ideal.generators))

    def primes(self, name: str) -> list[SingularComponent]:
        """Return the prime ideals in the list ``singular`` or ``exceptional`` of the answer, with
        their dimensions.
        """
        primes = map(self.in_ring_of_slice, self.answer.ideals(name))
        dimensions = self.answer.integers(f"{name}_dimensions")
        return list(map(SingularComponent, primes, dimensions))

    def pieces(self, fineness: int) -> Iterator[Piece]:
        """Yield the pieces of the surface, then of the curves and points on it."""
        for component in map(self.in_ring_of_slice, self.answer.ideals("components")):
            (surface,) = to_flint(component.generators)  # a component has one equation
            cuts = to_flint(self._deciding_polynomials(component))
            for patch in patches(surface, self.space.box, cuts, fineness):
                yield self._piece("surface", patch, cuts, singular=False)
        for prime, singular in self._curves_and_points():
            deciding = self._deciding_polynomials(prime)
            cuts = to_flint(deciding)  # for `_piece`; `branches` takes polynomials of SymPy
            for branch in branches(prime, self.space.box, deciding, fineness):
                # a branch has one line of points; an isolated point is a line with it alone
                kind: PieceKind = "curve" if len(branch.points[0]) > 1 else "point"
                yield self._piece(kind, branch, cuts, singular=singular)

    def _deciding_polynomials(self, prime_ideal: Ideal) -> list[PolyElement]:
        """Return a list of the polynomials, at most one, whose sign decides which points of the
        variety of a prime ideal are functions of real weights, and at whose zeros pieces end.

        By the criterion, points without real weights are those where all of ``zero`` vanish and
        ``positive`` > 0; so ``positive`` decides. The list is empty if there is no criterion, or
        all general points of the variety have real weights.
        """
        if self.criterion is None:
            return []
        # If a polynomial of `zero` does not vanish on the variety, a general point of the variety
        # has real weights. The points where all of `zero` vanish lie in the components
        # `exceptional` of the answer, which are pieces of their own.
        if not all(map(prime_ideal.contains, self.criterion.zero)):
            return []
        positive = self.criterion.positive
        if prime_ideal.contains(positive):  # then `positive` is 0 at all points
            return []
        return [positive]

    def _curves_and_points(self) -> Iterator[tuple[Ideal, bool]]:
        """Yield the prime ideals of curves and points on the surface, each with whether the surface
        is singular there: the components of the singular locus, and those exceptional components,
        where functions may lack real weights, that are not contained in it.
        """
        singular = [component.prime for component in self.primes("singular")]
        for prime in singular:
            yield prime, True
        if "exceptional" in self.answer:
            for component in self.primes("exceptional"):
                if component.dimension >= 2:  # a component of the surface, and no curve on it
                    continue
                # a component lies in a singular one if its prime ideal contains the other one
                if not any(map(component.prime.contains, singular)):
                    yield component.prime, False

    def _piece(
        self, kind: PieceKind, cell: Cell, cuts: Sequence[fmpq_mpoly], singular: bool
    ) -> Piece:
        """Return the piece that a cell, a set of real points, forms.

        Its place is outside the functions of real weights if one of the polynomials ``cuts`` is
        positive at a point of the cell, else among them; the criterion gives no cuts where all
        points are functions of real weights.
        """
        place = FUNCTIONS
        if isinstance(self.model, Chain | IdealModel | MapModel):  # which have no weights
            place = REAL_POINTS
        elif self.criterion is None:
            place = UNDECIDED
        for cut in cuts:
            value = ball(cut, cell.sample)  # a small interval that contains the value there
            if value > 0:
                place = CLOSURE_ONLY
            elif not value < 0:  # the ball contains 0, although pieces end where a cut is zero
                raise ContradictionError(
                    f"a polynomial that is not zero on a piece is {value} at a point of it"
                )
        sample = cell.rational
        if sample is not None:
            sample = {name: fraction(value) for name, value in sample.items()}
        return Piece(kind=kind, place=place, singular=singular, points=cell.points, sample=sample)

    def confirm(self, piece: Piece) -> None:
        """Raise ContradictionError if the place of a piece is not the place of its rational point,
        if it has one.
        """
        if self.criterion is None or piece.sample is None:
            return
        values = [flint_rational(piece.sample[name]) for name in self.space.ring.variables]
        forms = zip(self.space.forms, to_flint(self.space.forms.values()), strict=True)
        # the value of every coordinate at the point
        function = {name: fraction(form(*values)) for name, form in forms}
        # Membership computes the weights themselves, without the criterion.
        has_real_weights = self.model.has_real_weights(function)
        if has_real_weights != (piece.place == FUNCTIONS):
            raise ContradictionError(
                f"at {_assignments_text(piece.sample)} the criterion says {piece.place}, and"
                " membership the contrary"
            )


def slice_script(
    title: str, ideal: GeneratingSet, space: SliceSpace, *, exceptional: Sequence[PolyElement]
) -> Script:
    """Return the Macaulay2 program for the components of the slice, and its singular points.

    Its answers are the prime ideals ``components`` of the slice with their ``codimensions`` in the
    space. If these are all 1, there are also ``equation``, the product of their equations; the
    prime ideals ``singular`` with ``singular_dimensions``; and, unless the argument ``exceptional``
    is empty, the prime ideals ``exceptional``, where it vanishes on the slice and functions may
    lack real weights, with ``exceptional_dimensions``.
    """
    # the template needs at least one generator
    generators = space.restrict(ideal.generators) or [space.ring.sympy_ring.zero]
    values = m2_syntax.ring_values(GeneratingSet(space.ring, tuple(generators)))
    exceptional_values = m2_syntax.ring_values(GeneratingSet(space.ring, tuple(exceptional)))
    values |= {"title": title, "exceptional": exceptional_values["generators"]}
    return render("slice_surface", values=values)
