"""Ideals of polynomial rings, and what is computed with them.

Algebra, invariants, components and geometry, in the words of commutative algebra. Each method is
one question to Macaulay2 (``program``): ``ask`` runs a program ``templates/ideal_*.m2.j2``, and the
answer has values by the names that it prints. ``@computation`` applies the options ``engine`` and
``timeout`` to all that a method does, so that its body does not use them. Ideals for other programs
are in ``interop``; how an ideal is read from what people write stands in ``construct``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Unpack

from sympy import Symbol

from m2bridge.algebra.extension_field import ExtensionField, check_prime_field
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.modules import (
    BettiTable,
    Complex,
    GroebnerBasis,
    HilbertPolynomial,
    Matrix,
    Module,
)
from m2bridge.algebra.polynomial_map import PolynomialMap, images_over, relations_over, substitute
from m2bridge.algebra.ring import (
    GeneratingSet,
    PolynomialRing,
    check_ideal,
    check_one_ring,
    is_homogeneous,
    total_degree,
)
from m2bridge.algebra.typeset import Typeset, ideal_latex as ideal_in_ring
from m2bridge.convert.answers import Answer
from m2bridge.convert.m2_syntax import all_to_macaulay2
from m2bridge.convert.parsing import check_field, element, flat
from m2bridge.convert.printing import (
    generator_lines,
    ideal_latex,
    ideal_macaulay2,
    ideal_text,
    polynomial_text,
)
from m2bridge.engine import RunOptions, computation
from m2bridge.errors import ConversionError, MethodUnavailableError, check_kind
from m2bridge.ideals.interop import ConvertibleIdeal
from m2bridge.ideals.program import (
    are_same_small_ideals,
    ask,
    hilbert_polynomial,
    hilbert_series,
    ideal_sort_key,
    map_values,
    normalized_generators,
    tidy,
)
from m2bridge.ideals.second_order import decompose_in_either_order
from m2bridge.ideals.singular_locus_result import IdealSingularLocus
from m2bridge.ideals.varieties import Minors, ProjectiveScheme, singular_locus
from m2bridge.limits import check_deadline_in
from m2bridge.results.base import Result
from m2bridge.results.sheet import Sheet


@dataclass(frozen=True, slots=True, eq=False)
class Ideal(Result, ConvertibleIdeal, Typeset):
    """An ideal of a polynomial ring, given by generators; :func:`m2bridge.ideal` reads them as
    people write them.

    Methods that ask Macaulay2 take ``engine``, a session to use (where none is given, one that all
    ideals share: the first call starts it, and it ends with Python), and ``timeout``, a limit in
    seconds. All computations are over the field of the ring: over a larger one a prime ideal can
    decompose, as x² + 1 over QQ(i). Radicals, singular loci, dimensions, degrees and Hilbert series
    do not change there, because QQ and GF(p) are perfect. Over ZZ there are Gröbner bases,
    containment, equality, intersections, quotients, saturations and elimination; other methods
    raise MethodUnavailableError.

    Parameters
    ----------
    ring : PolynomialRing
    generators : tuple of sympy.polys.rings.PolyElement
        Nonzero elements of ``ring.sympy_ring``.

    Examples
    --------
    >>> ring = PolynomialRing(QQ, ("x", "y", "z"))
    >>> x, y, z = ring.sympy_ring.gens
    >>> Ideal(ring, (x * z - y**2, x - z)).generator_degrees
    {1: 1, 2: 1}
    """

    @classmethod
    def of(cls, generators: GeneratingSet) -> Ideal:
        """The ideal that these elements generate."""
        check_kind("generators", generators, GeneratingSet, "an Ideal or other GeneratingSet")
        return cls(generators.ring, generators.generators)

    def __repr__(self) -> str:
        """The first line of its text."""
        return str(self).partition("\n")[0]

    def to_sheet(self) -> Sheet:
        """The generators and the ring on one line, and as a formula; if they are shortened there, a
        line for each generator in place of the formula.
        """
        title = ideal_text(self)
        if title != ideal_text(self, most=None):  # the full text: so the title is shortened
            return Sheet(title, blocks=[generator_lines(self)])
        return Sheet(title, blocks=[], formulas=[ideal_latex(self)])

    def _formula(self) -> str:
        """The generators in angle brackets, and the ring; empty if there are many or long ones."""
        is_shortened = ideal_text(self) != ideal_text(self, most=None)
        return "" if is_shortened else ideal_in_ring(self.generators, self.ring)

    def _repr_html_(self) -> str | None:  # type: ignore[override]
        """The list of generators; ``None`` where a notebook typesets the formula instead."""
        return None if Typeset._repr_latex_(self) else Result._repr_html_(self)

    def _repr_latex_(self) -> str | None:
        """The formula of the ideal if it is short, else the LaTeX of its sheet."""
        return Typeset._repr_latex_(self) or Result._repr_latex_(self)

    def to_json(self) -> dict[str, Any]:
        """Field, variables and generators, as :func:`m2bridge.read_ideal` reads them."""
        return {
            "field": str(self.ring.field),
            "coordinates": list(self.ring.variables),
            "generators": list(map(polynomial_text, self.generators)),
        }

    def to_macaulay2(self) -> str:
        """A Macaulay2 program that defines the ring ``R`` and the ideal ``I``."""
        return ideal_macaulay2(self)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same ideal of the same ring, whatever generators they are given by.

        Small ideals over QQ are compared by FLINT, others by Macaulay2. ``hash`` is the hash of the
        ring.

        >>> ideal("x + y", "x - y") == ideal("x", "y")
        True
        """
        if not isinstance(other, GeneratingSet):
            return NotImplemented
        return self.equals(other)

    def __hash__(self) -> int:
        return hash(self.ring)

    def __contains__(self, polynomial: object) -> bool:
        return self.contains(polynomial)

    def equals(self, other: GeneratingSet, **options: Unpack[RunOptions]) -> bool:
        """Whether both are the same ideal of the same ring, whatever their generators are.

        Small ideals over QQ are compared by FLINT, unless an engine is given, which then decides.

        >>> ideal("x + y", "x - y").equals(ideal("x", "y"), timeout=60)
        True
        """
        if self.ring != check_ideal(other).ring:
            return False
        # The same generators up to units: no computation is needed.
        if set(normalized_generators(self)) == set(normalized_generators(other)):
            return True
        if options.get("engine") is None:
            same = are_same_small_ideals(self, other)
            if same is not None:  # FLINT has decided
                return same
        return self._ask_within("ideal_equality", other, **options).boolean("equal")

    def contains(self, other: object, **options: Unpack[RunOptions]) -> bool:
        """Whether a polynomial, as :func:`m2bridge.ideal` takes it, or another ideal J lies in this
        ideal I; ``other in I`` is the same question.

        >>> cusp = ideal("y^2 - x^3")
        >>> cusp.contains("x*y^2 - x^4"), cusp.contains("x")
        (True, False)
        """
        second = self._as_ideal(other)
        check_one_ring(self, second)
        # All generators of J are, up to units, generators of I: no computation is needed.
        if set(normalized_generators(second)) <= set(normalized_generators(self)):
            return True
        # J is contained in I if and only if I + J = I.
        if options.get("engine") is None:
            same = are_same_small_ideals(self, self + second)
            if same is not None:  # FLINT has decided
                return same
        return self._ask_within("ideal_containment", second, **options).boolean("contains")

    @computation
    def intersect(
        self, *others: GeneratingSet | Sequence[GeneratingSet], **options: Unpack[RunOptions]
    ) -> Ideal:
        """The intersection with other ideals of the ring: it defines the union of the varieties.

        Source: Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*, section 4.3.

        >>> x, y = (ideal(name, variables="x y") for name in "xy")
        >>> print(x.intersect(y))
        ideal(x*y) of QQ[x, y]
        """
        if not others:
            return self
        ideals = {f"ideal{number}": ideal for number, ideal in enumerate((self, *flat(others)))}
        values = {"names": f"({', '.join(ideals)})"}  # of the ideals, for Macaulay2's intersect
        return _tidy_ideal(ask("ideal_intersection", ideals, values).ideal("intersection"))

    @computation
    def quotient(self, other: object, **options: Unpack[RunOptions]) -> Ideal:
        """The quotient I : J, all f with f·J ⊆ I; ``other`` is the ideal J, or a generator of it.

        Source: Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*, section 4.4.

        >>> print(ideal("x^2*y").quotient("x"))
        ideal(x*y) of QQ[x, y]
        """
        return _tidy_ideal(self._ask("ideal_quotient", self._as_ideal(other)).ideal("quotient"))

    @computation
    def saturate(self, other: object, **options: Unpack[RunOptions]) -> Ideal:
        """The saturation I : J^∞, all f with f·J^n ⊆ I for some n.

        ``other`` is the ideal J, or a polynomial that generates it. The saturation defines the
        closure of V(I) without V(J), components embedded in V(J) left out.
        Source: Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*, section 4.4.

        >>> print(ideal("x^2*y").saturate("x"))
        ideal(y) of QQ[x, y]
        """
        return _tidy_ideal(self._ask("ideal_saturation", self._as_ideal(other)).ideal("saturation"))

    @computation
    def eliminate(
        self, *variables: str | Symbol | Sequence[str | Symbol], **options: Unpack[RunOptions]
    ) -> Ideal:
        """The elimination ideal: the polynomials of the ideal without the given variables.

        It is an ideal of the ring in the other variables, and defines the closure of the projection
        of V(I) to these coordinates.
        Source: Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*, sections 3.1 and 3.2.

        >>> print(ideal("x - t^2", "y - t^3").eliminate("t"))
        ideal(x**3 - y**2) of QQ[x, y]
        """
        names = self.ring.variables
        macaulay2_names = dict(zip(names, all_to_macaulay2(names), strict=True))
        eliminated = list(dict.fromkeys(map(str, flat(variables))))
        for name in eliminated:
            if name not in macaulay2_names:
                raise ConversionError(f"{name!r:.60} is not a variable of {self.ring}")
        name_list = ", ".join(macaulay2_names[name] for name in eliminated)
        answer = ask("ideal_elimination", {"givenIdeal": self}, {"eliminated": f"{{{name_list}}}"})
        remaining_names = tuple(name for name in names if name not in eliminated)
        smaller = PolynomialRing(self.ring.field, remaining_names)
        elements = answer.ideal("elimination").generators
        generators = tuple(generator.set_ring(smaller.sympy_ring) for generator in elements)
        return _tidy_ideal(GeneratingSet(smaller, generators))

    @computation
    def groebner_basis(self, **options: Unpack[RunOptions]) -> GroebnerBasis:
        """The reduced Gröbner basis for graded reverse lexicographic order, low degrees first.

        Over ZZ it is a minimal strong one: Adams, Loustaunau, *An Introduction to Gröbner Bases*,
        section 4.5. Source: Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*, section 2.7.

        >>> ideal("x^2 + y", "x*y - 1").groebner_basis().generators
        (x**2 + y, x*y - 1, y**2 + x)
        """
        basis = self._ask("ideal_groebner_basis").ideal("groebner_basis")
        elements = tidy(GeneratingSet(self.ring, normalized_generators(basis))).generators
        target = _free_module(self.ring, [0])
        source = _free_module(self.ring, map(total_degree, elements))
        return GroebnerBasis(Matrix(target, source, entries=(elements,), degree=(0,)))  # one row

    @computation
    def dimension(self, **options: Unpack[RunOptions]) -> int:
        """The dimension of the affine variety V(I), the Krull dimension of the quotient ring.

        It is −1 for the unit ideal.

        >>> ideal("x*y", "x*z").dimension()
        2
        """
        return self.hilbert_series().dimension

    @computation
    def codimension(self, **options: Unpack[RunOptions]) -> int:
        """The number n of variables less the dimension; n + 1 for the unit ideal.

        >>> ideal("x*y", "x*z").codimension()
        1
        """
        return len(self.ring.variables) - self.dimension()

    @computation
    def degree(self, **options: Unpack[RunOptions]) -> int:
        """The degree of the closure in projective space; 0 for the unit ideal.

        Only components of the largest dimension count, with their multiplicities.
        Source: Hartshorne, *Algebraic Geometry*, section I.7.

        >>> ideal("x^2*y").degree()
        3
        """
        return self.hilbert_series().degree

    @computation
    def hilbert_series(self, **options: Unpack[RunOptions]) -> HilbertSeries:
        """The Hilbert series of the quotient ring.

        If the ideal is not homogeneous, it belongs to the ideal of its forms of highest degree.
        Source: Bruns, Herzog, *Cohen–Macaulay Rings*, section 4.1.

        >>> ideal("x^2 - y*z").hilbert_series()
        HilbertSeries(numerator=(1, 1), dimension=2)
        """
        return hilbert_series(self)

    @computation
    def hilbert_polynomial(self, **options: Unpack[RunOptions]) -> HilbertPolynomial:
        """The Hilbert polynomial: the values of the Hilbert function in all large degrees.

        For ideals that are not homogeneous see :meth:`hilbert_series`.
        Source: Bruns, Herzog, *Cohen–Macaulay Rings*, Theorem 4.1.3.

        >>> cubic = ideal("x*z - y^2", "y*w - z^2", "x*w - y*z")
        >>> print(cubic.hilbert_polynomial(), cubic.hilbert_polynomial().to_sympy("n"))
        -2*P_0 + 3*P_1 3*n + 1
        """
        return hilbert_polynomial(self.hilbert_series())

    @computation
    def betti_table(self, **options: Unpack[RunOptions]) -> BettiTable:
        """The graded Betti numbers of the quotient by a homogeneous ideal.

        Raises MethodUnavailableError for an ideal that is not.
        Source: Eisenbud, *The Geometry of Syzygies*, chapter 1.

        >>> print(ideal("x*z - y^2", "y*w - z^2", "x*w - y*z").betti_table())
               0 1 2
        total: 1 3 2
            0: 1 . .
            1: . 3 2
        """
        if not all(map(is_homogeneous, self.generators)):
            raise MethodUnavailableError(
                "Betti numbers are for homogeneous ideals: this one has other generators"
            )
        # triples (homological degree i, degree j, number); a table has j as a vector and a weight
        numbers = self._ask("ideal_betti_table").integer_lists("betti_numbers")
        return BettiTable(tuple(((i, (j,), j), count) for i, j, count in sorted(numbers)))

    @computation
    def resolution(self, **options: Unpack[RunOptions]) -> Complex:
        """A free resolution of the quotient: the minimal one if the generators are homogeneous.

        Source: Eisenbud, *Commutative Algebra*, chapters 19 and 20.

        >>> koszul = ideal("x", "y").resolution()
        >>> [module.degrees for module in koszul.modules]
        [((0,),), ((1,), (1,)), ((2,),)]
        >>> koszul.differentials[1].entries
        ((-y,), (x,))
        """
        answer = self._ask("ideal_resolution")
        modules = [_free_module(self.ring, degrees) for degrees in answer.integer_lists("degrees")]
        differentials = []
        # Each module but the first is the source of a differential to the module before.
        neighbours = zip(pairwise(modules), answer.lists("differentials"), strict=True)
        for (target, source), rows in neighbours:
            entries = tuple(map(tuple, rows))
            differentials.append(Matrix(target, source, entries=entries, degree=(0,)))
        return Complex(self.ring, 0, tuple(modules), tuple(differentials))

    def jacobian(self) -> Matrix:
        """The Jacobian matrix, (generators) × (variables); Macaulay2's ``jacobian`` is transposed.

        >>> ideal("x^2 - y^2*z").jacobian().entries
        ((2*x, -2*y*z, -y**2),)
        """
        variables = self.ring.sympy_ring.gens
        rows = [tuple(map(f.diff, variables)) for f in check_deadline_in(self.generators)]
        # By these degrees the matrix of homogeneous generators is homogeneous of degree 0: a
        # partial derivative of f, in row f, has degree deg f − 1.
        target = _free_module(self.ring, (-total_degree(f) for f in self.generators))
        source = _free_module(self.ring, [-1] * len(variables))
        return Matrix(target, source, entries=tuple(rows), degree=(0,))

    @computation
    def radical(self, **options: Unpack[RunOptions]) -> Ideal:
        """The radical: all polynomials of which a power lies in the ideal.

        Source: Greuel, Pfister, *A Singular Introduction to Commutative Algebra*, section 4.5.

        >>> print(ideal("x^2", "x*y").radical())
        ideal(x) of QQ[x, y]
        """
        return _tidy_ideal(self._ask("ideal_radical").ideal("radical"))

    @computation
    def minimal_primes(self, **options: Unpack[RunOptions]) -> tuple[Ideal, ...]:
        """The minimal primes: the components of the variety over the field.

        The unit ideal has none.
        Source: Greuel, Pfister, *A Singular Introduction to Commutative Algebra*, sections 4.3 and
        4.4.

        >>> ideal("x*y", "x*z").minimal_primes()
        (ideal(x) of QQ[x, y, z],
         ideal(y, z) of QQ[x, y, z])
        """

        def primes(ideal: GeneratingSet) -> Iterable[GeneratingSet]:
            """The minimal primes that Macaulay2 finds, with the variables in the ideal's order."""
            return ask("ideal_minimal_primes", {"givenIdeal": ideal}).ideals("minimal_primes")

        return _sort_ideals(decompose_in_either_order(self, primes))

    @computation
    def primary_decomposition(self, **options: Unpack[RunOptions]) -> tuple[Ideal, ...]:
        """Primary ideals with different radicals, none superfluous, that intersect in this ideal.

        For the unit ideal there are none. Embedded components are not unique; their radicals are,
        see :meth:`associated_primes`. Source: Eisenbud, *Commutative Algebra*, Theorem 3.10.

        >>> I = ideal("x^2", "x*y")
        >>> first, second = I.primary_decomposition()
        >>> first.intersect(second) == I
        True
        """
        return _sort_ideals(self._ask("ideal_primary_decomposition").ideals("components"))

    @computation
    def associated_primes(self, **options: Unpack[RunOptions]) -> tuple[Ideal, ...]:
        """The associated primes over the field, the minimal and the embedded ones.

        The unit ideal has none.
        Source: Eisenbud, *Commutative Algebra*, Theorem 3.1.

        >>> [str(prime.generators) for prime in ideal("x^2", "x*y").associated_primes()]
        ['(x,)', '(x, y)']
        """
        return _sort_ideals(self._ask("ideal_associated_primes").ideals("associated_primes"))

    @computation
    def is_prime(self, **options: Unpack[RunOptions]) -> bool:
        """Whether the ideal is prime over the field of its ring; the unit ideal is not.

        >>> ideal("x^2 + 1").is_prime(), ideal("x^2 - 1").is_prime()
        (True, False)
        """
        if isinstance(self.ring.field, ExtensionField):
            primes = self.minimal_primes()  # a prime ideal is its only minimal prime
            return len(primes) == 1 and self.equals(primes[0])
        return self._ask("ideal_is_prime").boolean("prime")

    @computation
    def is_radical(self, **options: Unpack[RunOptions]) -> bool:
        """Whether the ideal is its own radical; the unit ideal is.

        >>> ideal("x*y").is_radical(), ideal("x^2*y").is_radical()
        (True, False)
        """
        if isinstance(self.ring.field, ExtensionField):  # whose radicals Macaulay2 does not know
            return self.equals(self.radical())
        return self._ask("ideal_is_radical").boolean("radical")

    @computation
    def singular_locus(
        self, *, minors: Minors = "auto", **options: Unpack[RunOptions]
    ) -> IdealSingularLocus[Ideal]:
        """The singular locus of the variety V(I): the points of which the local ring is not
        regular.

        V(I) is taken as a reduced variety. Of the ``minors`` of Jacobian matrices, ``"selected"``
        takes some until the components are proved, ``"all"`` takes all at once, and ``"auto"``
        takes all at once where they are few. Source: Hartshorne, *Algebraic Geometry*, Theorem
        I.5.1; Eisenbud, *Commutative Algebra*, Corollary 16.20.

        >>> umbrella = ideal("x^2 - y^2*z")
        >>> umbrella.singular_locus().ideal == ideal("x", "y", variables="x y z")
        True
        """
        return singular_locus(self, minors=minors)

    def projective(self) -> ProjectiveScheme[Ideal]:
        """The projective scheme that the ideal defines, if its generators are homogeneous.

        Dimensions are then dimensions of projective varieties, and the irrelevant ideal, which all
        variables generate, is left out. Raises MethodUnavailableError if a generator is not
        homogeneous.

        >>> cayley = ideal("x*y*z + x*y*w + x*z*w + y*z*w").projective()
        >>> cayley.dimension(), [node.dimension for node in cayley.singular_locus().components]
        (2, [0, 0, 0, 0])
        """
        return ProjectiveScheme(self)

    @computation
    def image(self, polynomial_map: PolynomialMap, **options: Unpack[RunOptions]) -> Ideal:
        """The ideal of the image of the scheme of this ideal under a map.

        It defines the Zariski closure of the image of V(I). If the source of the map has relations,
        the ideal of the points that they define is added; if not, the ideal of the image is
        radical, or prime, if this ideal is. Source: Hartshorne, *Algebraic Geometry*, Exercise
        II.3.11.

        >>> from sympy import symbols
        >>> s, t = symbols("s t")
        >>> square = PolynomialMap.from_expressions([s, t], {"x": s**2, "y": t**2})
        >>> print(ideal("s - t").image(square))
        ideal(x - y) of QQ[x, y]
        """
        check_prime_field(self.ring.field, "images")
        check_kind("polynomial_map", polynomial_map, PolynomialMap, "a PolynomialMap")
        relations = relations_over(polynomial_map, self.ring.field)
        self._check_ring(relations.ring, "the source")
        values = map_values(polynomial_map, relations)  # images, target, perhaps a radical to take
        answer = ask("ideal_image", {"givenIdeal": self + relations}, values)
        return _tidy_ideal(answer.ideal("image"))

    def preimage(self, polynomial_map: PolynomialMap) -> Ideal:
        """The ideal of the preimage of V(I) under a map, in the ring of the map's source.

        It is generated by the generators of this ideal, with images for coordinates, and by the
        relations.

        >>> from sympy import symbols
        >>> t = symbols("t")
        >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
        >>> print(ideal("x", "y").preimage(cusp))
        ideal(t**2, t**3) of QQ[t]
        """
        check_prime_field(self.ring.field, "preimages")
        check_kind("polynomial_map", polynomial_map, PolynomialMap, "a PolynomialMap")
        self._check_ring(polynomial_map.target(field=self.ring.field), "the target")
        relations = relations_over(polynomial_map, self.ring.field)
        images = images_over(polynomial_map, relations.ring)
        if images:
            pulled_back = tuple(substitute(generator, images) for generator in self.generators)
        else:  # the map goes to a point, and the generators are constants
            pulled_back = tuple(c.set_ring(relations.ring.sympy_ring) for c in self.generators)
        return Ideal.without_zeros(relations.ring, pulled_back + relations.generators)

    @computation
    def _ask_within(
        self, question: str, other: GeneratingSet, **options: Unpack[RunOptions]
    ) -> Answer:
        """What :meth:`_ask` returns, for methods that first try to decide without Macaulay2."""
        return self._ask(question, other)

    def _ask(self, question: str, other: GeneratingSet | None = None) -> Answer:
        """The answer to ``templates/<question>.m2.j2`` about this ideal, perhaps with a second."""
        ideals: dict[str, GeneratingSet] = {"givenIdeal": self}
        if other is not None:
            ideals["otherIdeal"] = other
        return ask(question, ideals)

    def _as_ideal(self, value: object) -> GeneratingSet:
        """The value if it is an ideal, of any ring; else the ideal of this ring that it generates,
        as a polynomial over the field, its prime field, QQ or ZZ, or as anything that
        :func:`element` reads.
        """
        if isinstance(value, GeneratingSet):
            return value
        check_field(value, self.ring.field)
        return GeneratingSet.without_zeros(self.ring, [element(self.ring, value)])

    def _check_ring(self, ring: PolynomialRing, owner: str) -> None:
        """Raise ConversionError unless this ring, of "the source" or "the target", is the ideal's
        ring.
        """
        if self.ring != ring:
            raise ConversionError(
                f"an ideal of {self.ring}, but {owner} of the map has the ring {ring}"
            )


def _free_module(ring: PolynomialRing, degrees: Iterable[int]) -> Module:
    """The free module over a ring whose basis has these degrees."""
    return Module(ring, tuple((degree,) for degree in degrees))


def _tidy_ideal(generators: GeneratingSet) -> Ideal:
    """The ideal with its generators in the form of :func:`tidy`."""
    return Ideal.of(tidy(generators))


class Decomposition(tuple[Ideal, ...]):
    """The ideals of a decomposition: a tuple that is printed with one component a line."""

    __slots__ = ()

    def __repr__(self) -> str:
        lines = ",\n ".join(map(repr, self))
        return f"({lines},)" if len(self) == 1 else f"({lines})"


def _sort_ideals(ideals: Iterable[GeneratingSet]) -> Decomposition:
    """The ideals in an order and with generators that do not depend on Macaulay2's version."""
    return Decomposition(sorted(map(_tidy_ideal, ideals), key=ideal_sort_key))
