"""The section of a closure by a space of dimension 3: its real surface and singular curve.

Macaulay2 decomposes the slice and its singular locus over QQ. The real points of each component in
a box form pieces (``pictures.real_geometry``). Each piece lies as a whole among the functions of
real weights or outside: the sign from which a criterion of the family tells it is constant on it.
The proof is in docs/pictures.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Rational
from typing import Any, Unpack

from flint import fmpq, fmpq_mpoly
from sympy import Expr, sympify
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.numbers import flint_rational, fraction
from m2bridge.algebra.polynomial_map import substitute
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, first_names, total_degree
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.convert.printing import ideal_macaulay2, polynomial_text
from m2bridge.engine import RunOptions, computation, current
from m2bridge.engine.script import Script, render
from m2bridge.errors import (
    ContradictionError,
    ConversionError,
    InvalidCaseError,
    TimeLimitError,
    check_kind,
)
from m2bridge.ideals.ideal import Ideal
from m2bridge.limits import clock
from m2bridge.maps.closure import closure
from m2bridge.maps.closure_result import Closure
from m2bridge.maps.model import Model, WithoutRealWeights
from m2bridge.maps.polynomial_map_model import Case
from m2bridge.pictures.real_geometry import Cell, ball, branches, patches, to_flint
from m2bridge.pictures.slice_picture import (
    CLOSURE_ONLY,
    FUNCTIONS,
    UNDECIDED,
    Piece,
    PieceKind,
    SurfaceResult,
    equation_latex,
)
from m2bridge.results.base import result_json
from m2bridge.results.markup import csv_text
from m2bridge.results.sheet import Facts, Picture, Sheet, Table, computed_by

MAX_INTERVAL_END = 10**100
"""The largest end of an interval; its length is at least the inverse, so that floats suffice."""
LEAST_FINENESS, MOST_FINENESS = 4, 200
"""The least and the largest number of points along a side; larger numbers take minutes."""

Span = tuple[Rational | int, Rational | int]
Values = Mapping[str, Expr | Rational | int]


@dataclass(frozen=True, slots=True)
class SingularComponent:
    """An irreducible component over QQ of the singular locus of the surface: a curve, or points."""

    prime: Ideal
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
        The real points in the box.
    box : mapping from variable to (Fraction, Fraction)
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
            if not abs(angle) <= 360:  # nor is nan
                raise InvalidCaseError(name, f"must be from -360 to 360 degrees, not {angle}")
        return replace(self, elevation=elevation, azimuth=azimuth)

    def to_sheet(self) -> Sheet:
        """The equation, the singular locus, and the pieces with a point of each."""
        forms = {name: polynomial_text(form) for name, form in self.coordinates.items()}
        spans = [f"{low} < {name} < {high}" for name, (low, high) in self.box.items()]
        facts = [
            ("slice", _assignments(forms)),
            ("equation", f"{polynomial_text(self.equation)} = 0"),
            ("singular locus", "; ".join(map(_component_text, self.singular)) or "empty"),
            ("box", ", ".join(spans)),
            ("decided by", self.decided_by or None),
            ("computed by", computed_by(self.engine_version, self.seconds)),
            ("not finished", self.unfinished or None),
        ]
        rows = []
        for piece in self.pieces:
            singular = "singular" if piece.singular else ""
            rows.append((piece.kind, singular, piece.place, _assignments(piece.sample or {})))
        pieces = Table(("piece", "", "its points are", "for example"), rows)
        title = f"Surface in a slice of the Zariski closure of the {self.model.title}"
        formula = equation_latex(self.equation)
        return Sheet(title, [Facts(facts), pieces, Picture(self.page_svg)], [formula])

    def to_json(self) -> dict[str, Any]:
        """The equation, the singular locus, and a point of each piece."""
        return result_json(self.model.case, "QQ", self.engine_version, self.seconds) | {
            "slice": {name: polynomial_text(form) for name, form in self.coordinates.items()},
            "variables": list(self.variables),
            "equation": polynomial_text(self.equation),
            "singular_locus": [_component_json(part) for part in self.singular],
            "box": {name: [str(end) for end in ends] for name, ends in self.box.items()},
            "decided_by": self.decided_by or None,
            "pieces": [_piece_json(piece) for piece in self.pieces],
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """The ideal of the surface."""
        return ideal_macaulay2(GeneratingSet(PolynomialRing(QQ, self.variables), (self.equation,)))

    def to_csv(self) -> str:
        """Return all drawn points, each with the number of its piece."""
        rows = []
        for number, piece in enumerate(self.pieces, 1):
            about = (number, piece.kind, piece.place, int(piece.singular))
            for strip in piece.points:
                rows += [(*about, *point) for point in strip]
        return csv_text(("piece", "kind", "place", "singular", *self.variables), rows)


def _assignments(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _component_text(part: SingularComponent) -> str:
    named = "curve" if part.dimension else "points"
    return f"{named} {' = '.join(map(polynomial_text, part.prime.generators))} = 0"


def _component_json(part: SingularComponent) -> dict[str, Any]:
    generators = list(map(polynomial_text, part.prime.generators))
    return {"dimension": part.dimension, "generators": generators}


def _piece_json(piece: Piece) -> dict[str, Any]:
    """A piece with a point of it, for ``json.dumps``."""
    sample = None
    if piece.sample is not None:
        sample = {name: str(value) for name, value in piece.sample.items()}
    about = {"kind": piece.kind, "place": piece.place, "singular": piece.singular}
    return {**about, "sample": sample}


@dataclass(frozen=True, slots=True)
class SliceSpace:
    """The coordinates of a closure as polynomials of degree ≤ 1 in three variables, and a box."""

    ring: PolynomialRing
    forms: Mapping[str, PolyElement]
    box: Mapping[str, tuple[fmpq, fmpq]]

    @classmethod
    def of(cls, names: Sequence[str], values: Values, box: Mapping[str, Span] | Span) -> SliceSpace:
        """The space in which some coordinates are given; the others are variables of their own.

        Raises
        ------
        InvalidCaseError
            If a name is not a coordinate, there are not three variables, an expression is not of
            degree ≤ 1, or the box is not one.
        """
        variables = _variables(names, values)
        ring = PolynomialRing(QQ, variables)
        forms = {name: _form(name, values.get(name), ring) for name in names}
        return cls(ring, forms, _box(variables, box))

    def restricted(self, polynomials: Sequence[PolyElement]) -> list[PolyElement]:
        """Polynomials in the coordinates on the space, without those that are zero there."""
        return [value for value in map(self._substituted, polynomials) if value]

    def _substituted(self, polynomial: PolyElement) -> PolyElement:
        return substitute(polynomial, list(self.forms.values()))

    def criterion(self, model: Model) -> WithoutRealWeights | None:
        """The criterion of a model on the space, without what vanishes there anyway."""
        whole = model.without_real_weights()
        if whole is None:
            return None
        positive = self._substituted(whole.positive)
        return WithoutRealWeights(tuple(self.restricted(whole.zero)), positive, whole.reason)


def _variables(names: Sequence[str], values: Values) -> tuple[str, ...]:
    """The symbols of the expressions, in their order, and the coordinates that are not given."""
    check_kind("coordinates", values, Mapping, "a dictionary of values by coordinates")
    variables: dict[str, None] = {}  # a set in order
    for name, value in values.items():
        if name not in names:
            known = first_names(names)
            reason = f"'{name:.60}' is not a coordinate: they are {known}"
            raise InvalidCaseError("coordinates", reason)
        for symbol in sorted(sympify(value, strict=True).free_symbols, key=str):
            variables[str(symbol)] = None
    for name in variables:
        if name in names:
            reason = f"'{name}' is a coordinate: give the variable another name"
            raise InvalidCaseError("coordinates", reason)
    for name in names:
        if name not in values:
            variables[name] = None
    if len(variables) != 3:
        left = f"leave {len(variables)} variables, and a surface is in three"
        raise InvalidCaseError("coordinates", f"{left}: {first_names(tuple(variables))}")
    return tuple(variables)


def _form(name: str, value: Expr | Rational | int | None, ring: PolynomialRing) -> PolyElement:
    """A coordinate as a polynomial of degree at most 1; a free one is a variable."""
    if value is None:
        return ring.sympy_ring.gens[ring.variables.index(name)]
    try:
        form = ring.polynomial(value)
    except ConversionError as reason:
        raise InvalidCaseError("coordinates", f"{name}: {reason}") from None
    if total_degree(form) > 1:
        raise InvalidCaseError("coordinates", f"{name}: '{value}' is not of degree at most 1")
    return form


def _box(variables: Sequence[str], box: Mapping[str, Span] | Span) -> dict[str, tuple[fmpq, fmpq]]:
    """The intervals as rational numbers; InvalidCaseError if one is invalid, or floats would not
    show it.
    """
    spans = box if isinstance(box, Mapping) else dict.fromkeys(variables, box)
    # too many names are as wrong as too few
    wrong = set(spans) ^ set(variables)
    if wrong:
        reason = f"has one interval for each of {', '.join(variables)}; look at '{min(wrong)}'"
        raise InvalidCaseError("box", reason)
    ends = {}
    for name in variables:
        low, high = map(fraction, spans[name])
        if low >= high:
            reason = f"from {low!s:.60} to {high!s:.60} is not an interval for {name}"
            raise InvalidCaseError("box", reason)
        if max(-low, high) > MAX_INTERVAL_END or MAX_INTERVAL_END * (high - low) < 1:
            reason = (
                f"ends are at most {MAX_INTERVAL_END:.0e}, and its length is at least the inverse"
            )
            raise InvalidCaseError("box", f"{reason}: floats show it")
        ends[name] = (flint_rational(low), flint_rational(high))
    return ends


@computation
def slice_surface(
    case: Case | Closure,
    coordinates: Values | None = None,
    *,
    box: Mapping[str, Span] | Span = (-1, 1),
    fineness: int = 24,
    **options: Unpack[RunOptions],
) -> SliceSurface:
    """Cut the Zariski closure by a space of dimension 3, and find the real points in a box.

    Every piece of the surface, and of its singular curve, consists of functions of real weights, or
    of points that are only in the Zariski closure. A criterion of the family decides that, and
    membership confirms it at a rational point of each piece that has one; the pieces of a model
    without such a criterion are undecided.

    Parameters
    ----------
    case : a model, a PolynomialMap or a Closure
    coordinates : mapping from coordinate to number or expression
        The values of coordinates; a value may also be an expression of degree ≤ 1 in other
        variables. Those left out are variables of their own. There must be three variables in the
        end.
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
    timeout : float, optional
        Seconds for the whole computation.
    box : (low, high), or one for each variable
    fineness : int
        About how many points are computed along a side of the box.

    Raises
    ------
    InvalidCaseError
        If the slice has not three variables, names no coordinates, or does not cut the closure in
        one surface.
    MethodUnavailableError
        If the ideal of the closure is not proved complete.
    ContradictionError
        If membership at a rational point of a piece contradicts the criterion.

    Examples
    --------
    >>> from sympy import symbols
    >>> w, v, c = symbols("w v c")
    >>> fixed = {"c_1_1_1_1": 1, "c_1_1_1_2": 0, "c_1_2_1_1": 0}
    >>> named = {"c_1_1_2_2": -w, "c_1_2_1_2": v, "c_1_2_2_2": c}
    >>> result = slice_surface(SingleLayerAttention(d=2, d_out=1), fixed | named)
    >>> result.equation
    w*v**2 - c**2
    >>> [(piece.place, piece.sample["w"]) for piece in result.pieces if piece.kind == "curve"]
    [('only in the Zariski closure', Fraction(-1, 2)),
     ('functions of real weights', Fraction(1, 2))]
    """
    if not LEAST_FINENESS <= fineness <= MOST_FINENESS:
        raise InvalidCaseError(
            "fineness", f"must be from {LEAST_FINENESS} to {MOST_FINENESS}, not {fineness}"
        )
    result = case if isinstance(case, Closure) else closure(case)
    # a part of the equations would cut out more than the slice of the closure
    if result.ideal is None or not result.completeness.proved:
        raise result.incomplete()
    space = SliceSpace.of(result.model.coordinate_names(), coordinates or {}, box)
    criterion = space.criterion(result.model)
    answer = answer_to(slice_script(result, space, criterion.zero if criterion else ()))
    _check_one_surface(answer)
    parts = _Parts(result.model, space, criterion, answer)
    pieces: list[Piece] = []
    unfinished = ""
    try:
        # each piece is kept at once, so that a limit leaves those that were found
        for piece in parts.pieces(fineness):
            parts.confirm(piece)
            pieces.append(piece)
    except TimeLimitError as limit:
        unfinished = f"there may be more pieces: {limit}"
    return SliceSurface(
        model=result.model,
        coordinates=space.forms,
        equation=parts.own(answer.ideal("equation")).generators[0],
        singular=tuple(parts.primes("singular")),
        pieces=tuple(pieces),
        box={name: tuple(map(fraction, ends)) for name, ends in space.box.items()},
        decided_by=criterion.reason if criterion else "",
        engine_version=current().version,
        seconds=clock().seconds,
        unfinished=unfinished,
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    """The components of a slice by Macaulay2, and the pieces that their real points form."""

    model: Model
    space: SliceSpace
    criterion: WithoutRealWeights | None
    answer: Answer

    def own(self, ideal: GeneratingSet) -> Ideal:
        """An ideal in the ring of the slice."""
        ring = self.space.ring
        return Ideal(ring, tuple(g.set_ring(ring.sympy_ring) for g in ideal.generators))

    def primes(self, name: str) -> list[SingularComponent]:
        """Prime ideals of the answer, with their dimensions."""
        primes = map(self.own, self.answer.ideals(name))
        dimensions = self.answer.integers(f"{name}_dimensions")
        return list(map(SingularComponent, primes, dimensions))

    def pieces(self, fineness: int) -> Iterator[Piece]:
        """The pieces of the surface, its singular curve, and other curves without real weights."""
        for component in map(self.own, self.answer.ideals("components")):
            cuts = self._cuts(component)
            surface, *others = to_flint([*component.generators, *cuts])
            for patch in patches(surface, self.space.box, others, fineness):
                yield self._piece("surface", patch, others, False)
        for prime, singular in self._curves():
            cuts = self._cuts(prime)
            for branch in branches(prime, self.space.box, cuts, fineness):
                kind: PieceKind = "curve" if len(branch.points[0]) > 1 else "point"
                yield self._piece(kind, branch, to_flint(cuts), singular)

    def _cuts(self, prime: Ideal) -> list[PolyElement]:
        """The polynomial whose sign matters on the variety of a prime ideal, if any does.

        It does where all of ``zero`` vanish on the variety, and ``positive`` does not.
        """
        if self.criterion is None or not all(map(prime.contains, self.criterion.zero)):
            return []
        positive = self.criterion.positive
        return [] if prime.contains(positive) else [positive]

    def _curves(self) -> Iterator[tuple[Ideal, bool]]:
        """Yield curves and points on the surface, and whether it is singular there.

        They are the components of its singular locus, and those components of the locus where
        functions lack real weights that are not contained in it.
        """
        singular = [part.prime for part in self.primes("singular")]
        for prime in singular:
            yield prime, True
        if "exceptional" in self.answer:
            for part in self.primes("exceptional"):
                if part.dimension < 2 and not any(map(part.prime.contains, singular)):
                    yield part.prime, False

    def _piece(
        self, kind: PieceKind, cell: Cell, cuts: Sequence[fmpq_mpoly], singular: bool
    ) -> Piece:
        """The piece, whose place the signs of ``cuts`` at one of its points decide."""
        place = UNDECIDED if self.criterion is None else FUNCTIONS
        for cut in cuts:
            value = ball(cut, cell.sample)
            if value > 0:
                place = CLOSURE_ONLY
            elif not value < 0:  # pieces end where the polynomial is zero
                raise ContradictionError(
                    f"a polynomial that is not zero on a piece is {value} at a point of it"
                )
        sample = cell.rational
        if sample is not None:
            sample = {name: fraction(value) for name, value in sample.items()}
        return Piece(kind=kind, place=place, singular=singular, points=cell.points, sample=sample)

    def confirm(self, piece: Piece) -> None:
        """Raise ContradictionError if membership at its rational point contradicts it."""
        if self.criterion is None or piece.sample is None:
            return
        values = [flint_rational(piece.sample[name]) for name in self.space.ring.variables]
        forms = zip(self.space.forms, to_flint(self.space.forms.values()), strict=True)
        function = {name: fraction(form(*values)) for name, form in forms}
        # Membership computes the weights themselves, without the criterion.
        real = self.model.has_real_weights(function)
        if real != (piece.place == FUNCTIONS):
            raise ContradictionError(
                f"at {_assignments(piece.sample)} the criterion says {piece.place}, and membership"
                " the contrary"
            )


def _check_one_surface(answer: Answer) -> None:
    """Check that all components of the slice have codimension 1."""
    codimensions = answer.integers("codimensions")
    if set(codimensions) == {1}:
        return
    dimensions = ", ".join(str(3 - codimension) for codimension in sorted(codimensions))
    place = f"in components of dimension {dimensions}" if codimensions else "nowhere"
    raise InvalidCaseError(
        "coordinates", f"this space meets the closure {place}, and a surface has dimension 2 only"
    )


def slice_script(result: Closure, space: SliceSpace, exceptional: Sequence[PolyElement]) -> Script:
    """The Macaulay2 program for the components of the slice, and its singular points."""
    assert result.ideal is not None
    generators = space.restricted(result.ideal.generators) or [space.ring.sympy_ring.zero]
    values = m2_syntax.ring_values(GeneratingSet(space.ring, tuple(generators)))
    others = m2_syntax.ring_values(GeneratingSet(space.ring, tuple(exceptional)))
    values |= {"title": result.model.title, "exceptional": others["generators"]}
    return render("slice_surface", values=values)
