"""Real curves and surfaces in a box: real roots, isolated exactly, and the pieces that they bound.

A surface is cut into cells over cells of the plane, and a curve into branches over intervals of a
line, as in a cylindrical algebraic decomposition (Brown, J. Symbolic Comput. 32, 2001): over a cell
the number and the order of real roots are constant, and so are the signs that are asked for. Roots
are balls of FLINT that contain one exact root each; only drawn points are rounded.

Pieces end at the zeros of polynomials that are called cuts; those that vanish on the curve or
surface do not cut it. Points are computed over nodes, which are rational numbers in an interval; a
branch along the whole box has about 2·``fineness`` of them, and a surface about ``fineness`` in
each direction of a grid. A section is an equation with numbers put in for variables. A ``Spot`` is
a point: a mapping from each variable to a rational number or a ball.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import cos, pi
from typing import Any

from flint import Ordering, arb, ctx, fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpq_poly
from sympy import groebner
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyElement

from m2bridge.algebra.numbers import flint_rational
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.errors import ContradictionError
from m2bridge.limits import check_deadline_in

Interval = tuple[fmpq, fmpq]  # (left end, right end)
Box = Mapping[str, Interval]
"""The open interval for each variable."""
Point = tuple[float, ...]
"""A point that is drawn, its coordinates in the order of variables."""
Spot = Mapping[str, Any]
"""A point: for each variable a rational number, or a ball of FLINT that contains it."""

ROOT_PRECISION_BITS = 128
"""The precision of roots; intervals between them may be as small as a power of :data:`CLOSE`."""
CLOSE = fmpq(1, 10**7)
"""The distance of the first and last node from the ends of an interval, relative to its length."""
BRANCH_FRACTIONS_TRIED = 12
"""The number of fractions that are tried for a rational point of a branch."""


def to_flint(polynomials: Iterable[PolyElement]) -> list[fmpq_mpoly]:
    """SymPy's polynomials over QQ, of one ring, as FLINT's in the same variables."""
    listed = list(polynomials)
    if not listed:
        return []
    names = tuple(str(symbol) for symbol in listed[0].ring.symbols)
    context = fmpq_mpoly_ctx.get(names, Ordering.lex)
    converted = []
    for polynomial in listed:
        terms = {monomial: flint_rational(c) for monomial, c in polynomial.items()}
        converted.append(context.from_dict(terms))
    return converted


def degree_in(polynomial: fmpq_mpoly, variable: str) -> int:
    """Return the degree in one variable; 0 for the zero polynomial."""
    return max(0, int(polynomial.degrees()[_variables_of(polynomial).index(variable)]))


def _variables_of(polynomial: fmpq_mpoly) -> tuple[str, ...]:
    """The variables of a polynomial's ring."""
    return tuple(polynomial.context().names())


def leading_coefficient(polynomial: fmpq_mpoly, variable: str) -> fmpq_mpoly:
    """The coefficient of the highest power of a variable; it is an element of the same ring."""
    place = _variables_of(polynomial).index(variable)
    degree = degree_in(polynomial, variable)
    terms = {}
    for monomial, coefficient in polynomial.to_dict().items():
        if monomial[place] == degree:
            without_variable = (*monomial[:place], 0, *monomial[place + 1 :])
            terms[without_variable] = coefficient
    return polynomial.context().from_dict(terms)


def factors(polynomials: Iterable[fmpq_mpoly]) -> list[fmpq_mpoly]:
    """The different irreducible factors of some polynomials; those that are zero are left out."""
    factors_by_text: dict[str, fmpq_mpoly] = {}
    for polynomial in check_deadline_in(polynomials):
        if not polynomial.is_zero():
            _, factors_and_exponents = polynomial.factor()
            for factor, _ in factors_and_exponents:
                factors_by_text[str(factor)] = factor
    return list(factors_by_text.values())


def boundaries(polynomial: fmpq_mpoly, variable: str, interval: Interval) -> list[fmpq_mpoly]:
    """Return polynomials in the other variables that vanish where the number or order of the real
    roots in the interval may change: the leading coefficient, the discriminant, and the values at
    both ends of the interval. Source: Brown, *Improved projection for cylindrical algebraic
    decomposition*, J. Symbolic Comput. 32 (2001).
    """
    degree = degree_in(polynomial, variable)
    if degree == 0:  # there are no roots, or all numbers are roots where the polynomial vanishes
        return [polynomial]
    changes = [leading_coefficient(polynomial, variable)]
    if degree > 1:
        changes.append(polynomial.discriminant(variable))
    changes += [polynomial.subs({variable: end}) for end in interval]
    return changes


def real_roots(
    polynomial: fmpq_mpoly, variable: str, interval: Interval, *, exact: bool = False
) -> list[Any]:
    """The different real roots of a polynomial in one variable in an open interval, increasing, as
    balls; if ``exact``, roots that are rational are rational numbers. A constant, also zero, has no
    roots here.
    """
    univariate = _univariate(polynomial, variable)
    if univariate.degree() < 1:
        return []
    low, high = map(arb, interval)
    roots_inside = []
    # ``numer()`` is a multiple with integer coefficients; its roots come with multiplicities
    for root, _ in univariate.numer().complex_roots():
        # FLINT refines roots until those that are real have the exact imaginary part 0.
        if root.imag == 0 and low < root.real < high:
            roots_inside.append(root.real)
    roots_inside.sort(key=arb.mid)
    if not exact:
        return roots_inside
    rational_roots = [number for number, _ in univariate.roots()]
    # A ball contains no other root, so a rational root in it is the root that it stands for.
    return [next(filter(root.contains, rational_roots), root) for root in roots_inside]


def _univariate(polynomial: fmpq_mpoly, variable: str) -> fmpq_poly:
    """A polynomial in which only one variable occurs, as FLINT's polynomial in one variable."""
    place = _variables_of(polynomial).index(variable)
    coefficients = [fmpq(0)] * (degree_in(polynomial, variable) + 1)
    for monomial, coefficient in polynomial.to_dict().items():
        coefficients[monomial[place]] = coefficient
    return fmpq_poly(coefficients)


def root_intervals(
    polynomials: Iterable[fmpq_mpoly], variable: str, interval: Interval
) -> list[Interval]:
    """The open intervals, from left to right, into which real roots of polynomials in one variable
    cut an interval.

    They are different and irreducible, so that no two have a root in common. The ends are rational:
    the roots, rounded to their precision.
    """
    roots: list[fmpq] = []
    for polynomial in check_deadline_in(polynomials):
        roots += map(ball_middle, real_roots(polynomial, variable, interval))
    # A rounded root can be an end of the interval: equal ends are taken once.
    low, high = interval
    ends = dict.fromkeys([low, *sorted(roots), high])
    return list(pairwise(ends))


def nodes(interval: Interval, count: int) -> list[fmpq]:
    """``count`` rational numbers in an open interval, denser at its ends, where roots move fast."""
    low, high = interval
    fractions = [CLOSE]  # places in the interval from 0 to 1, whose ends are left out
    for k in range(1, count - 1):
        # the projection to [0, 1] of one of ``count`` equally distant points on a half circle
        angle = pi * k / (count - 1)
        fractions.append(ball_middle(arb((1 - cos(angle)) / 2)))
    fractions.append(1 - CLOSE)
    return [low + (high - low) * fraction for fraction in fractions]


def middle(interval: Interval) -> fmpq:
    """A rational number in the middle third of an interval, by :func:`fractions_between`."""
    low, high = interval
    third = (high - low) / 3
    (number,) = fractions_between((low + third, high - third), count=1)
    return number


def fractions_between(interval: Interval, count: int) -> list[fmpq]:
    """``count`` rational numbers in an open interval, away from its ends, which may be rounded;
    with small denominators if there are enough, else at equal distances.
    """
    left, right = interval
    margin = (right - left) / 100
    low, high = left + margin, right - margin
    fractions: list[fmpq] = []
    for denominator in range(1, 201):  # larger ones would not be readable
        first = int((low * denominator).floor())
        last = int((high * denominator).ceil())
        for numerator in range(first, last + 1):
            fraction = fmpq(numerator, denominator)
            if low < fraction < high and fraction.q == denominator:  # else it was found before
                fractions.append(fraction)
        if len(fractions) >= count:
            return fractions[:count]
    # the middles of ``count`` equal parts
    return [low + (high - low) * fmpq(2 * k + 1, 2 * count) for k in range(count)]


def ball_middle(number: arb) -> fmpq:
    """The middle of a ball, which is a rational number."""
    mantissa, exponent = number.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def as_float(number: Any) -> float:
    """The floating-point number nearest to a rational number, or to the middle of a ball."""
    if isinstance(number, arb):
        return float(number.mid())
    return int(number.p) / int(number.q)


def ball(polynomial: fmpq_mpoly, values: Mapping[str, Any]) -> arb:
    """Return a ball that contains the value of a polynomial at a point."""
    point = [arb(values[name]) for name in _variables_of(polynomial)]
    value = arb(0)
    for monomial, coefficient in polynomial.to_dict().items():
        term = arb(coefficient)
        for number, exponent in zip(point, monomial, strict=True):
            if exponent:
                term *= number**exponent
        value += term
    return value


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a real surface or curve, or a point, on which no sign changes."""

    # what is drawn: of a surface a grid, line by line; of a curve, or a point, one line
    points: tuple[tuple[Point, ...], ...]
    sample: Spot  # a point of it
    rational: Mapping[str, fmpq] | None  # a rational point of it, where one was found


def branches(
    prime: GeneratingSet, box: Box, cuts: Sequence[PolyElement], fineness: int
) -> tuple[Cell, ...]:
    """The real branches of a curve, or the real points, of a prime ideal over QQ of dimension 1 or
    0.
    """
    with ctx.workprec(ROOT_PRECISION_BITS):
        return tuple(_Branches(prime, box).cells(cuts, fineness))


class _Branches:
    """The real points of a prime ideal in a box: over the line of one variable, or finitely many.

    The ``base`` is a variable that takes infinitely many values on the variety: no polynomial in it
    alone is in the ideal. ``projections`` are, for each other variable, the equation between it and
    the base, or of it alone.
    """

    def __init__(self, prime: GeneratingSet, box: Box) -> None:
        """Take a prime ideal of dimension 1 or 0, and find the base and the projections."""
        self.prime = prime
        self.box = box
        self.names = prime.ring.variables
        self.generators = to_flint(prime.generators)
        # The base is the first variable in which alone no polynomial is in the ideal.
        free_names = (name for name in self.names if not self.eliminated([name]))
        self.base: str | None = next(free_names, None)
        # Elimination ideals of a prime ideal are prime. One in a single variable is principal. One
        # in the base and another variable defines a curve of the plane: its height is 1, and prime
        # ideals of height 1 in polynomial rings are principal.
        self.projections: dict[str, fmpq_mpoly] = {}
        for name in self.names:
            if name != self.base:
                remaining = [name] if self.base is None else [self.base, name]
                (equation,) = self.eliminated(remaining)
                self.projections[name] = equation

    def eliminated(
        self, remaining: Sequence[str], more: Sequence[PolyElement] = ()
    ) -> list[fmpq_mpoly]:
        """Generators of the ideal of all polynomials in the variables ``remaining`` that are in the
        ideal that the prime ideal and the polynomials ``more`` generate.
        """
        ring = self.prime.ring.sympy_ring
        symbols = dict(zip(self.names, ring.symbols, strict=True))
        eliminated = [symbols[name] for name in self.names if name not in remaining]
        order = [*eliminated, *(symbols[name] for name in remaining)]
        generators = [g.as_expr() for g in (*self.prime.generators, *more)]
        basis = groebner(generators, *order, order=lex).exprs
        # Elements of a lexicographic basis without the first variables generate the ideal.
        polynomials = [element for element in basis if element.free_symbols.isdisjoint(eliminated)]
        return to_flint(map(ring.from_expr, polynomials))

    def points(self, over: Spot, *, exact: bool = False) -> list[Spot]:
        """Return the real points over a point of the base, or all if there is no base, in
        lexicographic order of coordinates; if ``exact``, rational ones are rational numbers.
        """
        roots = []  # for each variable of ``projections`` its values
        for name, equation in self.projections.items():
            section = equation.subs(dict(over))
            roots.append(real_roots(section, name, self.box[name], exact=exact))
        points: list[Spot] = []
        # Not each combination of coordinates is a point: the generators have to vanish there, as
        # far as the precision of the balls tells.
        for values in product(*roots):
            spot = {**over, **dict(zip(self.projections, values, strict=True))}
            if all(ball(g, spot).contains(0) for g in self.generators):
                points.append(spot)
        return points

    def rational(self, spot: Spot) -> Spot | None:
        """Return the point if it is rational and exactly on the variety."""
        numbers = [spot[name] for name in self.names]
        if not all(isinstance(number, fmpq) for number in numbers):
            return None
        return spot if all(g(*numbers) == 0 for g in self.generators) else None

    def cells(self, cuts: Sequence[PolyElement], fineness: int) -> Iterator[Cell]:
        """Yield the branches of a curve, from left to right, and over an interval in their order;
        or the points of a variety that has finitely many.
        """
        base = self.base
        if base is None:  # no variable takes infinitely many values
            for spot in self.points({}, exact=True):
                point = _rounded_point(spot, self.names)
                yield Cell(points=((point,),), sample=spot, rational=self.rational(spot))
            return
        # Polynomials in the base at whose roots branches meet, leave the box, or meet a cut;
        # between them the number of points is constant.
        critical: list[fmpq_mpoly] = []
        for name, equation in self.projections.items():
            critical += boundaries(equation, name, self.box[name])
        for cut in cuts:
            critical += self.eliminated([base], more=[cut])
        base_intervals = root_intervals(factors(critical), base, self.box[base])
        for base_interval in check_deadline_in(base_intervals):
            count = max(5, round(2 * fineness * _relative_length(base_interval, self.box[base])))
            # points_over_nodes[node][branch], where the nodes are values of the base
            places = check_deadline_in(nodes(base_interval, count))
            points_over_nodes = [self.points({base: place}) for place in places]
            samples = self.points({base: middle(base_interval)})
            _common_count([len(spots) for spots in (*points_over_nodes, samples)])  # must be equal
            # of some branches, by their numbers
            rational = self._rational_points_over(base, base_interval, len(samples))
            for number, sample in enumerate(samples):
                branch = [spots[number] for spots in points_over_nodes]
                line = tuple(_rounded_point(spot, self.names) for spot in branch)
                yield Cell(points=(line,), sample=sample, rational=rational.get(number))

    def _rational_points_over(
        self, base: str, base_interval: Interval, count: int
    ) -> dict[int, Spot]:
        """A rational point of each of ``count`` branches over an interval, by the number of the
        branch, if there is one over a few fractions.
        """
        points: dict[int, Spot] = {}
        for place in check_deadline_in(fractions_between(base_interval, BRANCH_FRACTIONS_TRIED)):
            for number, spot in enumerate(self.points({base: place}, exact=True)):
                rational = self.rational(spot)
                if rational is not None:
                    points.setdefault(number, rational)
            if len(points) == count:
                break
        return points


def _relative_length(base_interval: Interval, whole: Interval) -> float:
    """The length of an interval divided by the length of ``whole``."""
    (left, right), (left_of_whole, right_of_whole) = base_interval, whole
    return as_float((right - left) / (right_of_whole - left_of_whole))


def _rounded_point(spot: Spot, names: Sequence[str]) -> Point:
    """The rounded coordinates of a point, in the order of the names."""
    return tuple(as_float(spot[name]) for name in names)


def patches(
    surface: fmpq_mpoly, box: Box, cuts: Sequence[fmpq_mpoly], fineness: int
) -> tuple[Cell, ...]:
    """The cells of an irreducible surface, in three variables, in an open box, on each of which no
    cut changes its sign.
    """
    with ctx.workprec(ROOT_PRECISION_BITS):
        decomposition = _Decomposition(surface=surface, box=box, cuts=cuts, fineness=fineness)
        return tuple(decomposition.patches())


class _Decomposition:
    """A decomposition of a surface in variables x, y, z, of which z is the one over the plane.

    The curves of the plane are those over which points of the surface meet, leave the box, or meet
    a cut. Over an interval of x in which they do not cross, the strips are the intervals of y
    between them; over a strip the surface is a number of graphs. A ``section`` is its equation at a
    value of x.
    """

    def __init__(
        self, surface: fmpq_mpoly, box: Box, cuts: Sequence[fmpq_mpoly], fineness: int
    ) -> None:
        """Take an irreducible surface and polynomials; find x, y, z and the curves of the plane."""
        self.surface = surface
        self.box = box
        self.fineness = fineness
        self.x, self.y, self.z = _choose_variables(surface)
        # Where these resultants vanish, the surface and a cut may meet over a point of the plane.
        crossings = [surface.resultant(cut, self.z) for cut in cuts]
        # the irreducible equations of the curves of the plane, in x and y
        self.curves = factors([*boundaries(surface, self.z, box[self.z]), *crossings])

    def patches(self) -> Iterator[Cell]:
        """Yield the graphs of the surface over the cells of the plane."""
        # the roots in x of these are where the curves of the plane cross, turn, or leave the box
        critical: list[fmpq_mpoly] = []
        for curve in self.curves:
            critical += boundaries(curve, self.y, self.box[self.y])
        # Two curves in which y occurs cross over zeros of their resultant. The other curves are
        # lines x = constant, whose equations are among their own boundaries already.
        with_y = [curve for curve in self.curves if degree_in(curve, self.y) > 0]
        critical += [p.resultant(q, self.y) for p, q in check_deadline_in(combinations(with_y, 2))]
        base_intervals = root_intervals(factors(critical), self.x, self.box[self.x])
        for base_interval in check_deadline_in(base_intervals):
            yield from self._cells_over(base_interval)

    def _cells_over(self, base_interval: Interval) -> Iterator[Cell]:
        """Yield the cells over an interval of x, strip by strip, and over a strip from below.

        Over some values of x, the *x-nodes*, there are equally many strips, and over each *y-node*,
        a value of y in a strip at that x, equally many points of the surface: one on each of its
        graphs over the strip, which are the cells.
        """
        count = max(7, round(self.fineness * _relative_length(base_interval, self.box[self.x])))
        # columns[x-node][strip][y-node][graph] is a point of the surface
        columns = [self._column(x) for x in check_deadline_in(nodes(base_interval, count))]
        # each cell has its sample point over this x
        x_inside = middle(base_interval)
        strips = self._strips(x_inside)
        section = self.surface.subs({self.x: x_inside})
        _common_count([len(strips), *map(len, columns)])  # raises if the counts of strips differ
        for strip, interval in enumerate(strips):
            lines = [column[strip] for column in columns]  # lines[x-node][y-node][graph]
            graph_counts = [len(points) for line in lines for points in line]
            samples = self._spots(x_inside, section, middle(interval))
            for graph in range(_common_count(graph_counts)):
                # grid[x-node][y-node]
                grid = tuple(tuple(points[graph] for points in line) for line in lines)
                rational = self._rational_point(base_interval, strip, graph)  # perhaps None
                yield Cell(points=grid, sample=samples[graph], rational=rational)

    def _column(self, x: fmpq) -> list[list[list[Point]]]:
        """The points of the surface over the line at x, rounded: ``column[strip][y-node][graph]``.

        The number of y-nodes must not depend on x, so that the points form a grid, also where the
        interval shrinks to a point.
        """
        section = self.surface.subs({self.x: x})
        names = _variables_of(self.surface)
        count = max(5, round(self.fineness / 2))
        column = []
        for interval in self._strips(x):
            line = []
            for y in nodes(interval, count):
                spots = self._spots(x, section, y)
                line.append([_rounded_point(spot, names) for spot in spots])
            column.append(line)
        return column

    def _strips(self, x: fmpq) -> list[Interval]:
        """The intervals of y, at x, between the curves of the plane."""
        sections = (curve.subs({self.x: x}) for curve in self.curves)
        return root_intervals(sections, self.y, self.box[self.y])

    def _spots(self, x: fmpq, section: fmpq_mpoly, y: fmpq, *, exact: bool = False) -> list[Spot]:
        """The points of the surface over the point (x, y) of the plane, in the order of z; if
        ``exact``, a rational z is a rational number.
        """
        heights = real_roots(section.subs({self.y: y}), self.z, self.box[self.z], exact=exact)
        return [{self.x: x, self.y: y, self.z: z} for z in heights]

    def _rational_point(
        self, base_interval: Interval, strip: int, graph: int
    ) -> Mapping[str, fmpq] | None:
        """Return a rational point of a cell, if there is one among a few candidates: z is a root,
        rational for few rational x and y. Strip and graph are numbered alike over every x in the
        interval.
        """
        for x in check_deadline_in(fractions_between(base_interval, BRANCH_FRACTIONS_TRIED)):
            section = self.surface.subs({self.x: x})
            for y in fractions_between(self._strips(x)[strip], BRANCH_FRACTIONS_TRIED // 4):
                spot = self._spots(x, section, y, exact=True)[graph]
                if isinstance(spot[self.z], fmpq):
                    return spot
        return None


def _choose_variables(surface: fmpq_mpoly) -> tuple[str, str, str]:
    """The names of the variables x, y, z of a decomposition of a surface: z is the variable in
    which the surface is a graph z = f(x, y), or most like one. The other two keep their order.
    """

    def unlike_a_graph(name: str) -> tuple[bool, bool, int]:
        """Return a key: the smaller, the more the surface is like a graph in this variable."""
        degree = degree_in(surface, name)  # 0 for an upright surface, which is not a graph at all
        # Where the leading coefficient vanishes, a root goes to infinity and leaves the box.
        may_go_to_infinity = not leading_coefficient(surface, name).is_constant()
        return degree == 0, may_go_to_infinity, degree

    names = _variables_of(surface)
    last = min(names, key=unlike_a_graph)
    first, second = (name for name in names if name != last)
    return first, second, last


def _common_count(counts: Iterable[int]) -> int:
    """The one number to which all counts, of real roots or points over nodes of a cell, are equal
    by the theorem of the decomposition.
    """
    different_counts = set(counts)
    if len(different_counts) != 1:
        raise ContradictionError(
            f"the number of real roots over a cell is not constant: {sorted(different_counts)}"
        )
    return different_counts.pop()
