"""Cut a Zariski closure by an affine-linear space of dimension 3: a surface with one equation, for a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy.polys.groebnertools import groebner
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.real_curve import Branch, branches
from m2bridge.algebra.real_roots import to_flint
from m2bridge.algebra.real_surface import Patch, patches
from m2bridge.algebra.ring import Ideal
from m2bridge.clock import clock, limited
from m2bridge.convert import macaulay2
from m2bridge.convert.names import all_to_macaulay2
from m2bridge.engine import Engine, given_or_own
from m2bridge.engine.answer import Answer, parse
from m2bridge.errors import EngineTimeoutError, InvalidCaseError, MethodUnavailableError
from m2bridge.maps.closure import closure
from m2bridge.maps.closure_result import Closure
from m2bridge.maps.slice_criterion import Criterion
from m2bridge.maps.slice_result import Kind, Piece, SingularComponent, SliceSurface
from m2bridge.maps.slice_space import Given, SliceSpace, Span
from m2bridge.maps.subject import Case
from m2bridge.render import Script, render

LEAST_FINENESS, MOST_FINENESS = 4, 200


def slice_surface(
    case: Case | Closure,
    coordinates: Given | None = None,
    engine: Engine | None = None,
    timeout: float | None = None,
    *,
    box: Mapping[str, Span] | Span = (-1, 1),
    fineness: int = 24,
) -> SliceSurface:
    """Cut the Zariski closure by an affine-linear space of dimension 3, and find the real points in a box.

    Every piece of the surface, and of its singular curve, consists of functions of real weights, or of points that are
    only in the Zariski closure. A criterion of the family decides that, and membership confirms it at a rational point
    of each piece that has one; the pieces of a model without such a criterion are undecided.

    Parameters
    ----------
    case : a model, a PolynomialMap or a Closure
    coordinates : mapping from coordinate to number or expression
        What is fixed; a coordinate may also be an expression of degree ≤ 1 in other variables. Those left out are
        variables of their own. There must be three variables in the end.
    engine : Engine, optional
        A Macaulay2 of its own is started, and ended, where none is given.
    timeout : float, optional
        Seconds for the whole computation.
    box : (low, high), or one for each variable
    fineness : int
        About how many points are computed along a side of the box.

    Raises
    ------
    InvalidCaseError
        If the slice has not three variables, names no coordinates, or does not cut the closure in one surface.
    MethodUnavailableError
        If the ideal of the closure is not proved complete.
    ContradictionError
        If membership at a rational point of a piece is not what the criterion says.

    Examples
    --------
    >>> from sympy import symbols
    >>> w, v, c = symbols("w v c")
    >>> fixed = {"c_1_1_1_1": 1, "c_1_1_1_2": 0, "c_1_2_1_1": 0}
    >>> named = {"c_1_1_2_2": -w, "c_1_2_1_2": v, "c_1_2_2_2": c}
    >>> found = slice_surface(SingleLayerAttention(d=2, d_out=1), fixed | named)
    >>> found.equation
    w*v**2 - c**2
    >>> [(piece.place, piece.sample["w"]) for piece in found.pieces if piece.kind == "curve"]
    [('only in the Zariski closure', Fraction(-1, 2)), ('functions of real weights', Fraction(1, 2))]
    """
    if not LEAST_FINENESS <= fineness <= MOST_FINENESS:
        raise InvalidCaseError("fineness", f"must be from {LEAST_FINENESS} to {MOST_FINENESS}, not {fineness}")
    with limited(timeout), given_or_own(engine) as engine:
        found = case if isinstance(case, Closure) else closure(case, engine)
        if found.ideal is None or not found.completeness.proved:
            if found.unfinished:
                late = EngineTimeoutError(f"the ideal is not proved complete; {found.unfinished}")
                late.progress = f"the closure has dimension {found.dimension}"
                raise late
            raise MethodUnavailableError("the ideal is not proved complete")
        space = SliceSpace.of(found.subject.coordinate_names, coordinates or {}, box)
        return _Slice.of(found, space, engine).surface(fineness)


@dataclass(frozen=True, slots=True)
class _Slice:
    """What Macaulay2 said about a slice."""

    closure: Closure
    space: SliceSpace
    criterion: Criterion
    answer: Answer
    engine: Engine

    @classmethod
    def of(cls, found: Closure, space: SliceSpace, engine: Engine) -> _Slice:
        criterion = Criterion.of(found.subject.model, space)
        script = slice_script(found, space, criterion.zero)
        answer = parse(engine.run(script, clock().remaining).records)
        _check_one_surface(answer)
        return cls(found, space, criterion, answer, engine)

    def surface(self, fineness: int) -> SliceSurface:
        """The result, with its pieces."""
        (equation,) = self._own(self.answer.ideal("equation")).generators
        pieces: list[Piece] = []
        unfinished = ""
        try:
            pieces.extend(self.criterion.confirmed(piece, self.engine) for piece in self._pieces(fineness))
        except EngineTimeoutError as limit:
            unfinished = f"there may be more pieces: {limit}"
        measured = zip(self.answer.ideals("singular"), self.answer.integers("singular_dimensions"), strict=True)
        singular = tuple(SingularComponent(self._own(prime), dimension) for prime, dimension in measured)
        box = {name: tuple(Fraction(int(e.p), int(e.q)) for e in ends) for name, ends in self.space.box.items()}
        version, seconds = self.engine.version, clock().seconds
        subject, reason = self.closure.subject, self.criterion.reason
        return SliceSurface(
            subject, self.space.forms, equation, singular, tuple(pieces), box, reason, version, seconds, unfinished
        )

    def _own(self, ideal: Ideal) -> Ideal:
        """An ideal in the ring of the slice."""
        ring = self.space.ring
        return Ideal(ring, tuple(generator.set_ring(ring.sympy_ring) for generator in ideal.generators))

    def _pieces(self, fineness: int) -> Iterator[Piece]:
        for component in self.answer.ideals("components"):
            factor = self._own(component)
            cuts, applies = self._cuts(factor)
            surface, *others = to_flint([*factor.generators, *cuts])
            for patch in patches(surface, self.space.box, others, fineness):
                yield self._piece("surface", patch, patch.points, applies, False)
        for prime, singular in self._curves():
            cuts, applies = self._cuts(prime)
            for branch in branches(prime, self.space.box, cuts, fineness):
                kind: Kind = "curve" if len(branch.points) > 1 else "point"
                yield self._piece(kind, branch, (branch.points,), applies, singular)

    def _cuts(self, prime: Ideal) -> tuple[list[PolyElement], bool]:
        """Polynomials whose sign matters on the variety of a prime ideal, and whether the criterion applies there."""
        positive = self.criterion.positive
        vanishing = all(_contains(prime, form) for form in self.criterion.zero)
        applies = vanishing and positive is not None and not _contains(prime, positive)
        return [positive] if applies else [], applies

    def _curves(self) -> Iterator[tuple[Ideal, bool]]:
        """Components of the singular locus; and those where functions lack real weights, if they are no part of it."""
        singular = [self._own(prime) for prime in self.answer.ideals("singular")]
        yield from ((prime, True) for prime in singular)
        if "exceptional" in self.answer:
            dimensions = self.answer.integers("exceptional_dimensions")
            for prime, dimension in zip(self.answer.ideals("exceptional"), dimensions, strict=True):
                own = self._own(prime)
                if dimension < 2 and not any(_inside(own, other) for other in singular):
                    yield own, False

    def _piece(self, kind: Kind, part: Patch | Branch, points: Any, applies: bool, singular: bool) -> Piece:
        exact = part.rational and {name: Fraction(int(v.p), int(v.q)) for name, v in part.rational.items()}
        return Piece(kind, self.criterion.place(part.sample, applies), singular, points, exact)


def _check_one_surface(answer: Answer) -> None:
    codimensions = answer.integers("codimensions")
    if set(codimensions) == {1}:
        return
    dimensions = ", ".join(str(3 - codimension) for codimension in sorted(codimensions))
    said = f"in components of dimension {dimensions}" if codimensions else "nowhere"
    raise InvalidCaseError("coordinates", f"this space meets the closure {said}, and a surface has dimension 2 only")


def slice_script(found: Closure, space: SliceSpace, exceptional: Sequence[PolyElement]) -> Script:
    """The Macaulay2 program for the components of the slice, and the singular points of the surface."""
    assert found.ideal is not None
    names = all_to_macaulay2(space.ring.variables)

    def written(polynomials: Sequence[PolyElement]) -> str:
        return macaulay2.sequence(macaulay2.polynomial(p, names) for p in polynomials)

    values = {
        "title": found.subject.title,
        "field": macaulay2.field(QQ),
        "coordinates": ", ".join(names),
        "generators": written(space.restricted(found.ideal.generators) or [space.ring.sympy_ring.zero]),
        "exceptional": written(exceptional) if exceptional else "",
    }
    return render("slice_surface", values=values)


def _contains(prime: Ideal, polynomial: PolyElement) -> bool:
    """Whether a polynomial vanishes on the variety of a prime ideal."""
    return not polynomial.rem(groebner(list(prime.generators), prime.ring.sympy_ring))


def _inside(prime: Ideal, larger: Ideal) -> bool:
    """Whether the variety of ``prime`` is part of that of ``larger``."""
    return all(_contains(prime, generator) for generator in larger.generators)
