"""Varieties of ideals: the singular locus of an affine variety, and projective schemes.

The locus is found by the Jacobian criterion for each component, and the intersections of two; the
theorem stands at :func:`singular_locus`. Projective varieties are studied by their affine cones.
``@computation`` applies the options ``engine`` and ``timeout`` to all that a function does, so that
its body does not use them. For the singular locus of a *closure* see ``maps/singular_locus``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Literal, TypeVar, Unpack

from m2bridge.algebra.differential import tangent_dimension
from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.modules import HilbertPolynomial
from m2bridge.algebra.ring import GeneratingSet, is_homogeneous
from m2bridge.convert.answers import answer_until_limit
from m2bridge.convert.printing import (
    generator_lines,
    generator_texts,
    ideal_latex,
    ideal_macaulay2,
    ideal_text,
    polynomial_text,
)
from m2bridge.engine import RunOptions, computation, current
from m2bridge.errors import MethodUnavailableError, check_choice
from m2bridge.ideals import MAX_MINORS_BY_AUTO, MAX_SHOWN_EQUATION_CHARS, MAX_SHOWN_EQUATIONS
from m2bridge.ideals.measured_primes import MeasuredPrime, measured_primes_in, proved_before_limit
from m2bridge.ideals.program import (
    ask,
    explain_factoring_errors,
    from_prime_field,
    hilbert_polynomial,
    hilbert_series,
    ideal_sort_key,
    is_unit,
    over_prime_field,
    question,
    tidy,
)
from m2bridge.limits import clock
from m2bridge.results.base import Result, result_json
from m2bridge.results.sheet import Block, Facts, Sheet, Table, computed_by, plural, printable

SomeIdeal = TypeVar("SomeIdeal", bound=GeneratingSet)
"""The class of ideals in a result, the same as the class of the ideal that was given."""

Minors = Literal["auto", "selected", "all"]


@dataclass(frozen=True, slots=True)
class IrreducibleComponent(Generic[SomeIdeal]):
    """A component of a variety that is irreducible over the field of its ring.

    Parameters
    ----------
    ideal : Ideal
        Its prime ideal.
    dimension, degree : int
        Affine dimension, or projective one in a projective scheme; degree of the closure in
        projective space.

    Examples
    --------
    >>> axes = ideal("x*y").singular_locus()
    >>> [(component.dimension, component.degree) for component in axes.variety]
    [(1, 1), (1, 1)]
    """

    ideal: SomeIdeal
    dimension: int
    degree: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IdealSingularLocus(Result, Generic[SomeIdeal]):
    """The singular locus of the variety V(I) of an ideal, as a set of points.

    Parameters
    ----------
    given : Ideal
        I.
    title : str
    variety : tuple of IrreducibleComponent, or None
        The irreducible components of V(I); ``None`` if they were not found within the limits.
    components : tuple of IrreducibleComponent, or None
        The irreducible components of the singular locus, empty if V(I) is smooth; ``None`` if they
        were not all found within the limits.
    ideal : Ideal or None
        The radical ideal of the singular locus, the unit ideal if V(I) is smooth; else ``None``.
    engine_version : str
    seconds : float
    unfinished : str
        Empty, or the limit that was reached.
    projective : bool
        Whether it is about the projective variety: then all dimensions are those of projective
        varieties.
    proved : tuple of IrreducibleComponent
        If a limit was reached: components of the singular locus, proved until then.
    rest_dimension : int or None
        If a limit was reached: an upper bound for the dimension of components of the singular locus
        that are not in ``proved``; −1 if there are none.

    Examples
    --------
    >>> locus = ideal("x^2 - y^2*z").singular_locus()
    >>> locus.variety_dimension, locus.dimension, locus.ideal.generators
    (2, 1, (x, y))
    """

    given: SomeIdeal
    title: str
    variety: tuple[IrreducibleComponent[SomeIdeal], ...] | None
    components: tuple[IrreducibleComponent[SomeIdeal], ...] | None
    ideal: SomeIdeal | None
    engine_version: str
    seconds: float
    unfinished: str = ""
    projective: bool = False
    proved: tuple[IrreducibleComponent[SomeIdeal], ...] = ()
    rest_dimension: int | None = None

    @property
    def variety_dimension(self) -> int | None:
        """The dimension of V(I); −1 if it is empty, ``None`` if it was not found."""
        return _largest_dimension(self.variety)

    @property
    def dimension(self) -> int | None:
        """The dimension of the singular locus; −1 if it is empty, ``None`` if it was not found."""
        return _largest_dimension(self.components)

    def to_json(self) -> dict[str, Any]:
        """The given ideal, the components of its variety, and those of the singular locus."""
        no_case = None  # an ideal is in no family of models
        return result_json(no_case, self.given.ring.field, self.engine_version, self.seconds) | {
            "title": self.title or None,
            "projective": self.projective,
            "coordinates": list(self.given.ring.variables),
            "given": _generator_texts(self.given),
            "variety_dimension": self.variety_dimension,
            "variety": _components_json(self.variety),
            "dimension": self.dimension,
            "components": _components_json(self.components),
            "generators": None if self.ideal is None else _generator_texts(self.ideal),
            "unfinished": self.unfinished or None,
            "proved": _components_json(self.proved),
            "rest_dimension": self.rest_dimension,
        }

    def to_sheet(self) -> Sheet:
        """Facts, a table of components, and the equations that are too long for the table.

        Components are those of the singular locus, or of the variety if none are known.
        """
        blocks: list[Block] = [Facts(_facts(self))]
        components = self.components or self.proved  # the latter is empty if no limit was reached
        if components:
            blocks.append(_table_of_components("component of the singular locus", components))
            for component in components:
                if not _fits_table(component):
                    caption = f"{_variety_text(component)}:"
                    blocks.append(generator_lines(component.ideal, caption))
        elif self.components is None and self.variety:
            blocks.append(_table_of_components("component of the variety", self.variety))
        variety = self.title or f"the variety of {ideal_text(self.given)}"
        title = f"Singular locus of {variety}, over {self.given.ring.field}"
        return Sheet(title, blocks, _formulas(self))

    def to_macaulay2(self) -> str:
        """A Macaulay2 program: the ring ``R`` and the radical ideal ``I`` of the singular locus."""
        if self.ideal is None:  # a comment
            return f"-- not finished: {printable(self.unfinished)}"
        return ideal_macaulay2(self.ideal)


@computation
def singular_locus(
    ideal: SomeIdeal, *, title: str = "", minors: Minors = "auto", **options: Unpack[RunOptions]
) -> IdealSingularLocus[SomeIdeal]:
    """The singular locus of V(I), where I is any ideal over the perfect field QQ or GF(p).

    With the minimal primes P_i of I, the reduced variety V(I) is singular at a point

    * of one V(P_i) only, if and only if the Jacobian matrix of P_i has rank below the codimension
      of P_i there: P_i is a prime ideal over a perfect field, so the Jacobian criterion applies;
    * of several V(P_i): the local ring has several minimal primes, so it is not a domain, and not
      regular.

    So the locus is the union of the V(P_i + minors) and the V(P_i + P_j). Of the minors of P_i some
    are enough: V(Q) is in the locus if the matrix has a rank below the codimension modulo the prime
    ideal Q; else a minor is not in Q, and cuts V(Q) down. See ``templates/_singular_locus.m2.j2``.

    Parameters
    ----------
    title : str
        What the result calls the variety; the ideal if left out.
    minors : {"auto", "selected", "all"}
        Whether all minors are taken at once; ``auto`` does so where there are at most
        :data:`m2bridge.ideals.MAX_MINORS_BY_AUTO`.

    Raises
    ------
    InvalidCaseError
        If there is no such choice of minors.

    Source: Hartshorne, *Algebraic Geometry*, Theorem I.5.1; Eisenbud, *Commutative Algebra*,
    Corollaries 10.14, 16.20.
    """
    if isinstance(ideal.ring.field, ExtensionField):
        return _locus_over_extension(ideal, title=title, minors=minors)
    values = {"most_minors": most_minors(minors)}
    script = question("ideal_singular_locus", {"givenIdeal": ideal}, values)
    with explain_factoring_errors(ideal):
        answer, reached_limit = answer_until_limit(script)
    # ``reached_limit`` is the message of a limit, or empty: then all components were found.
    proved, rest_dimension = proved_before_limit(answer) if reached_limit else ([], None)
    variety = components = radical = None  # ``None`` stays where a limit was reached before
    # The answer has only what the program printed before a limit.
    if "component_degrees" in answer:  # of the components of V(I)
        names = ("components", "component_dimensions", "component_degrees")
        variety = _sort_components(ideal, measured_primes_in(answer, *names))
    if "degrees" in answer:  # of the components of the singular locus
        primes = measured_primes_in(answer, "primes", "dimensions", "degrees")
        components = _sort_components(ideal, primes)
    if "singular_ideal" in answer:
        radical = _tidy_in_class_of(ideal, answer.ideal("singular_ideal"))
    return IdealSingularLocus(
        given=ideal,
        title=printable(title),
        variety=variety,
        components=components,
        ideal=radical,
        engine_version=current().version,
        seconds=clock().seconds,
        unfinished=reached_limit,
        proved=_sort_components(ideal, proved),
        rest_dimension=rest_dimension,
    )


def _locus_over_extension(
    ideal: SomeIdeal, *, title: str, minors: Minors
) -> IdealSingularLocus[SomeIdeal]:
    """The singular locus of V(I), and the components of both, for I over an extension field.

    Let X be the scheme of ``ideal``, and Y that of the ideal of :func:`over_prime_field`, for which
    the locus is computed. Where the extension is algebraic, X is Y. Where the field has parameters,
    X is the generic fibre of Y over the space of parameters, so the local rings of X are among
    those of Y, and dimensions differ by the number of parameters. Whether a local ring is regular
    does not depend on a field. Degrees are computed again.
    """
    field = ideal.ring.field
    assert isinstance(field, ExtensionField)
    over_prime = singular_locus(over_prime_field(ideal), minors=minors)
    to_extension = partial(_extended_components, ideal)
    rest_dimension = over_prime.rest_dimension
    if rest_dimension is not None:
        rest_dimension = max(rest_dimension - field.transcendence_degree, -1)
    radical = None
    if over_prime.ideal is not None:
        radical = _tidy_in_class_of(ideal, from_prime_field(over_prime.ideal, ring=ideal.ring))
    return IdealSingularLocus(
        given=ideal,
        title=printable(title),
        variety=to_extension(over_prime.variety),
        components=to_extension(over_prime.components),
        ideal=radical,
        engine_version=over_prime.engine_version,
        seconds=clock().seconds,
        unfinished=over_prime.unfinished,
        proved=to_extension(over_prime.proved) or (),
        rest_dimension=rest_dimension,
    )


def _extended_components(
    given: SomeIdeal, components: Sequence[IrreducibleComponent[Any]] | None
) -> tuple[IrreducibleComponent[SomeIdeal], ...] | None:
    """The components over the extension field of ``given`` from those over the prime field.

    Components on which parameters are related have no point over the field: they are left out.
    ``None``, for components that were not found, stays ``None``. Dimensions and degrees are
    computed again, since parameters are no coordinates over the field.
    """
    if components is None:
        return None
    measured_primes = []
    for component in components:
        prime = from_prime_field(component.ideal, ring=given.ring)
        if not is_unit(prime):  # else the component has no point over the field
            series = hilbert_series(prime)
            measured_primes.append((prime, series.dimension, series.degree))
    return _sort_components(given, measured_primes)


def most_minors(minors: Minors) -> str:
    """The number of minors up to which all of a component are taken at once, as Macaulay2 code.

    0 means that minors are always selected, ``infinity`` that all are always taken. Raises
    InvalidCaseError if there is no such choice of minors.
    """
    check_choice("minors", minors, Minors)
    return {"auto": str(MAX_MINORS_BY_AUTO), "selected": "0", "all": "infinity"}[minors]


def _sort_components(
    given: SomeIdeal, primes: Iterable[MeasuredPrime]
) -> tuple[IrreducibleComponent[SomeIdeal], ...]:
    """The components with these primes, as ideals of ``given``'s class, large dimensions first."""
    components = []
    for prime, dimension, degree in primes:
        ideal = _tidy_in_class_of(given, prime)
        components.append(IrreducibleComponent(ideal=ideal, dimension=dimension, degree=degree))
    return tuple(sorted(components, key=_sort_key))


def _sort_key(component: IrreducibleComponent[Any]) -> tuple[int, int, tuple[int, list[str]]]:
    """A key by which large dimensions come first, then small degrees, then few generators."""
    return -component.dimension, component.degree, ideal_sort_key(component.ideal)


def _tidy_in_class_of(given: SomeIdeal, found: GeneratingSet) -> SomeIdeal:
    """The ideal ``found``, tidied, as an object of the class of ``given``, in the ring of that."""
    return replace(given, generators=tidy(found).generators)


def _largest_dimension(components: Sequence[IrreducibleComponent[Any]] | None) -> int | None:
    """The largest dimension of components, −1 if there are none; ``None`` if they are not known."""
    if components is None:
        return None
    return max((component.dimension for component in components), default=-1)


_PROJECTIVE = "dimensions of projective varieties; the irrelevant ideal is left out"
"""What a sheet says of a projective variety."""


def _generator_texts(ideal: GeneratingSet) -> list[str]:
    """The texts of the generators of an ideal."""
    return list(map(polynomial_text, ideal.generators))


def _components_json(
    components: tuple[IrreducibleComponent[Any], ...] | None,
) -> list[dict[str, Any]] | None:
    """Dimension, degree and generators of each component, for ``json.dumps``.

    ``None`` if the components are not known.
    """
    if components is None:
        return None
    listed = []
    for component in components:
        numbers = {"dimension": component.dimension, "degree": component.degree}
        listed.append({**numbers, "generators": generator_texts(component.ideal, most=None)})
    return listed


def _facts(locus: IdealSingularLocus[Any]) -> list[tuple[str, object]]:
    """Names and values of facts about a singular locus; a value ``None`` is not shown.

    If a limit was reached, ``rest_dimension`` bounds the components that were not found.
    ``_dimension_and_number`` returns ``None`` for components that are not known.
    """
    meaning_of_irreducible = (
        f"means over {locus.given.ring.field}; over a larger field components can decompose"
    )
    dimension = _dimension_and_number(locus.components, "empty: the variety is smooth")
    return [
        ("singular locus", dimension or "not decided"),
        ("not decided", bound_text(locus.rest_dimension)),
        ("variety", _dimension_and_number(locus.variety, "empty")),
        ("projective", _PROJECTIVE if locus.projective else None),
        ("irreducible", meaning_of_irreducible),
        ("computed by", computed_by(locus.engine_version, locus.seconds, "Jacobian criterion")),
        ("not finished", locus.unfinished or None),
    ]


def _table_of_components(title: str, components: Iterable[IrreducibleComponent[Any]]) -> Table:
    """A table of components, their dimensions and degrees; ``title`` is above the first column."""
    rows = [(_variety_text(c), c.dimension, c.degree) for c in components]
    return Table((title, "dimension", "degree"), rows)


def bound_text(rest_dimension: int | None) -> str | None:
    """In words, an upper bound for the dimension of components that were not found before a limit.

    −1 says that there are no such components; ``None``, without a bound, is returned as it is.
    """
    if rest_dimension is None:
        return None
    if rest_dimension < 0:
        return "nothing: these are all components"
    return f"components of dimension ≤ {rest_dimension}"


def _dimension_and_number(
    components: tuple[IrreducibleComponent[Any], ...] | None, if_empty: str
) -> str | None:
    """The dimension of a variety and the number of its components in words.

    ``if_empty`` if there are no components; ``None`` if they are not known.
    """
    if components is None:
        return None
    if not components:
        return if_empty
    number = plural(len(components), "irreducible component")
    return f"dimension {components[0].dimension}, {number}"  # the largest ones come first


def _variety_text(component: IrreducibleComponent[Any]) -> str:
    """The text of a component as ``V(x, y)``, with the equations that a table shows."""
    return f"V({', '.join(_shown_equations(component))})"


def _shown_equations(component: IrreducibleComponent[Any]) -> list[str]:
    """The texts of the first equations of a component, each shortened, as a table shows them."""
    return generator_texts(component.ideal, MAX_SHOWN_EQUATIONS, MAX_SHOWN_EQUATION_CHARS)


def _fits_table(component: IrreducibleComponent[Any]) -> bool:
    """Whether a table shows all equations of a component, and in full."""
    return generator_texts(component.ideal) == _shown_equations(component)


def _formulas(locus: IdealSingularLocus[Any]) -> list[str]:
    """The singular locus as the union of its components, one formula in LaTeX, if they are known.

    Components with long equations are named V_1, V_2, … by their places.
    """
    if locus.components is None:
        return []
    varieties = []
    for number, component in enumerate(locus.components, 1):
        name = rf"V_{{{number}}}"
        if _fits_table(component):
            name = rf"V{ideal_latex(component.ideal)}"
        varieties.append(name)
    union = r" \;\cup\; ".join(varieties) or r"\varnothing"
    return [rf"\operatorname{{Sing}} = {union}"]


@dataclass(frozen=True, slots=True)
class ProjectiveScheme(Generic[SomeIdeal]):
    """Proj of the quotient by a homogeneous ideal: the variables are coordinates of its space.

    Parameters
    ----------
    ideal : Ideal
        With homogeneous generators.

    Raises
    ------
    MethodUnavailableError
        If a generator is not homogeneous.

    Examples
    --------
    >>> cubic = ideal("x*z - y^2", "y*w - z^2", "x*w - y*z").projective()
    >>> cubic.dimension(), cubic.degree(), cubic.singular_locus().dimension
    (1, 3, -1)
    """

    ideal: SomeIdeal

    def __post_init__(self) -> None:
        """Raise MethodUnavailableError if a generator is not homogeneous."""
        for generator in self.ideal.generators:
            if not is_homogeneous(generator):
                raise MethodUnavailableError(
                    f"{polynomial_text(generator):.60} is not homogeneous, so that it defines"
                    " nothing in projective space; the reduced Gröbner basis of a homogeneous ideal"
                    " has homogeneous elements"
                )

    def __str__(self) -> str:
        return f"Proj of the quotient by {self.ideal}"

    @computation
    def dimension(self, **options: Unpack[RunOptions]) -> int:
        """The dimension, one less than that of the affine cone; −1 if the scheme is empty.

        >>> ideal("x^2", "y^2").projective().dimension()
        -1
        """
        return max(hilbert_series(self.ideal).dimension - 1, -1)

    @computation
    def codimension(self, **options: Unpack[RunOptions]) -> int:
        """The dimension of the projective space less that of the scheme."""
        return len(self.ideal.ring.variables) - 1 - self.dimension()

    @computation
    def degree(self, **options: Unpack[RunOptions]) -> int:
        """The degree: that of components of the largest dimension, with multiplicities.

        It is 0 if the scheme is empty.
        Source: Hartshorne, *Algebraic Geometry*, section I.7.
        """
        series = hilbert_series(self.ideal)
        # The dimension is that of the cone. A cone of dimension 0 is its apex, which is no point of
        # the scheme.
        return series.degree if series.dimension > 0 else 0

    @computation
    def hilbert_polynomial(self, **options: Unpack[RunOptions]) -> HilbertPolynomial:
        """The Hilbert polynomial; zero if the scheme is empty.

        Source: Hartshorne, *Algebraic Geometry*, Theorem I.7.5.
        """
        return hilbert_polynomial(hilbert_series(self.ideal))

    @computation
    def saturated_ideal(self, **options: Unpack[RunOptions]) -> SomeIdeal:
        """The largest ideal that defines the scheme: I : m^∞, with the irrelevant ideal m of all
        variables.

        Source: Hartshorne, *Algebraic Geometry*, Exercise II.5.10.

        >>> print(ideal("x^2", "x*y").projective().saturated_ideal())
        ideal(x) of QQ[x, y]
        """
        irrelevant = replace(self.ideal, generators=tuple(self.ideal.ring.sympy_ring.gens))
        answer = ask("ideal_saturation", {"givenIdeal": self.ideal, "otherIdeal": irrelevant})
        return _tidy_in_class_of(self.ideal, answer.ideal("saturation"))

    @computation
    def minimal_primes(self, **options: Unpack[RunOptions]) -> tuple[SomeIdeal, ...]:
        """The homogeneous prime ideals of the components, irreducible over the field of the ring;
        without the irrelevant ideal, of all variables, which has no points in projective space.

        >>> ideal("x*y", "x*z", "x*w").projective().minimal_primes()
        (ideal(x) of QQ[w, x, y, z], ideal(w, y, z) of QQ[w, x, y, z])
        """
        answer = ask("ideal_minimal_primes", {"givenIdeal": self.ideal})
        primes = [prime for prime in answer.ideals("minimal_primes") if not _is_irrelevant(prime)]
        tidy_primes = [_tidy_in_class_of(self.ideal, prime) for prime in primes]
        return tuple(sorted(tidy_primes, key=ideal_sort_key))

    @computation
    def singular_locus(
        self, *, title: str = "", minors: Minors = "auto", **options: Unpack[RunOptions]
    ) -> IdealSingularLocus[SomeIdeal]:
        """The singular locus of the projective variety X of the ideal, taken as reduced.

        The affine cone without its apex is locally a product of X and a line without a point, so
        that it is singular above the singular points of X and nowhere else: the locus of X is that
        of the cone, the apex left out.
        """
        cone = singular_locus(self.ideal, title=title, minors=minors)
        components = None if cone.components is None else _projective_components(cone.components)
        rest_dimension = cone.rest_dimension
        if rest_dimension is not None:
            rest_dimension = max(rest_dimension - 1, -1)
        radical = cone.ideal
        if components == ():  # the cone is singular at most at its apex, and X is smooth
            radical = replace(self.ideal, generators=(self.ideal.ring.sympy_ring.one,))
        return replace(
            cone,
            variety=None if cone.variety is None else _projective_components(cone.variety),
            components=components,
            ideal=radical,
            projective=True,
            proved=_projective_components(cone.proved),
            rest_dimension=rest_dimension,
        )


def _is_irrelevant(prime: GeneratingSet) -> bool:
    """Whether a homogeneous prime ideal is the irrelevant one, which all variables generate.

    Parameters
    ----------
    prime : GeneratingSet
        With homogeneous generators; over an extension field its reduced Gröbner basis.
    """
    if isinstance(prime.ring.field, ExtensionField):
        # The variables are the reduced Gröbner basis of the irrelevant ideal.
        return set(prime.generators) == set(prime.ring.sympy_ring.gens)
    # Any generators are given. The tangent space at 0 is the set of zeros of all linear forms in
    # the ideal, because generators of higher degrees have the differential 0 there. So it is the
    # point 0 if and only if all variables are in the ideal.
    origin = (0,) * len(prime.ring.variables)
    return tangent_dimension(prime.generators, origin, field=prime.ring.field) == 0


def _projective_components(
    components: Iterable[IrreducibleComponent[SomeIdeal]],
) -> tuple[IrreducibleComponent[SomeIdeal], ...]:
    """The components of a projective variety, of dimensions one less than those of its affine cone.

    The apex, of dimension 0, is left out: it is no point of projective space.
    """
    cones = [component for component in components if component.dimension > 0]
    return tuple(replace(cone, dimension=cone.dimension - 1) for cone in cones)
