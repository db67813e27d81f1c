"""Varieties of ideals: the singular locus of an affine variety, and projective schemes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar, Unpack

from m2bridge.algebra.modules import HilbertPolynomial
from m2bridge.algebra.polynomial_map import tangent_dimension
from m2bridge.algebra.ring import GeneratingSet, is_homogeneous
from m2bridge.convert.answers import Answer, answer_until_limit
from m2bridge.convert.notation import (
    generator_lines,
    generator_texts,
    ideal_latex,
    ideal_macaulay2,
    ideal_text,
    polynomial_text,
)
from m2bridge.engine import RunOptions, computation, current
from m2bridge.errors import MethodUnavailableError, check_choice
from m2bridge.ideals.program import ask, hilbert_polynomial, hilbert_series, order, question, tidy
from m2bridge.limits import clock
from m2bridge.results.base import Result, result_json
from m2bridge.results.sheet import Block, Facts, Sheet, Table, computed_by, plural, printable

Kind = TypeVar("Kind", bound=GeneratingSet)
"""The class of ideals in a result, that of the given one."""

Minors = Literal["auto", "selected", "all"]
FEW_MINORS = 60
"""``auto`` takes all minors of the Jacobian matrix of a component if there are at most so many."""


@dataclass(frozen=True, slots=True)
class IrreducibleComponent(Generic[Kind]):
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

    ideal: Kind
    dimension: int
    degree: int


@dataclass(frozen=True, slots=True)
class IdealSingularLocus(Result, Generic[Kind]):
    """The singular locus of the variety V(I) of an ideal, as a set of points.

    Parameters
    ----------
    given : Ideal
        I.
    title : str
    variety : tuple of IrreducibleComponent, or None
        The irreducible components of V(I); ``None`` if they were not found within the limits.
    components : tuple of IrreducibleComponent, or None
        Those of the singular locus; none of them if V(I) is smooth.
    ideal : Ideal or None
        The radical ideal of the singular locus; the unit ideal if V(I) is smooth.
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
        If a limit was reached: an upper bound for the dimension of the others, −1 if there are
        none.

    Examples
    --------
    >>> locus = ideal("x^2 - y^2*z").singular_locus()
    >>> locus.variety_dimension, locus.dimension, locus.ideal.generators
    (2, 1, (x, y))
    """

    given: Kind
    title: str
    variety: tuple[IrreducibleComponent[Kind], ...] | None
    components: tuple[IrreducibleComponent[Kind], ...] | None
    ideal: Kind | None
    engine_version: str
    seconds: float
    unfinished: str = ""
    projective: bool = False
    proved: tuple[IrreducibleComponent[Kind], ...] = ()
    rest_dimension: int | None = None

    @property
    def variety_dimension(self) -> int | None:
        """The dimension of V(I); −1 if it is empty."""
        return _dimension(self.variety)

    @property
    def dimension(self) -> int | None:
        """The dimension of the singular locus; −1 if it is empty."""
        return _dimension(self.components)

    def to_json(self) -> dict[str, Any]:
        """The given ideal, the components of its variety, and those of the singular locus."""
        return result_json(None, self.given.ring.field, self.engine_version, self.seconds) | {
            "title": self.title or None,
            "projective": self.projective,
            "coordinates": list(self.given.ring.variables),
            "given": [polynomial_text(generator) for generator in self.given.generators],
            "variety_dimension": self.variety_dimension,
            "variety": _components_json(self.variety),
            "dimension": self.dimension,
            "components": _components_json(self.components),
            "generators": (
                None if self.ideal is None else [polynomial_text(g) for g in self.ideal.generators]
            ),
            "unfinished": self.unfinished or None,
            "proved": _components_json(self.proved),
            "rest_dimension": self.rest_dimension,
        }

    def to_sheet(self) -> Sheet:
        """Dimensions, a table of the components, and their equations where the table has not all of
        them.
        """
        field = self.given.ring.field
        blocks: list[Block] = [Facts(_facts(self))]
        if components := self.components or self.proved:
            columns = ("component of the singular locus", "dimension", "degree")
            blocks.append(
                Table(columns, [(_variety(c), c.dimension, c.degree) for c in components])
            )
            blocks += [
                generator_lines(c.ideal, f"{_variety(c)}:")
                for c in components
                if generator_texts(c.ideal) != _short(c)
            ]
        elif self.components is None and self.variety:
            rows = [(_variety(c), c.dimension, c.degree) for c in self.variety]
            blocks.append(Table(("component of the variety", "dimension", "degree"), rows))
        return Sheet(
            f"Singular locus of {self.title or f'the variety of {ideal_text(self.given)}'}, over"
            f" {field}",
            blocks,
            _formulas(self),
        )

    def to_macaulay2(self) -> str:
        """A Macaulay2 program that defines the ring ``R`` and the radical ideal ``I`` of the
        singular locus.
        """
        if self.ideal is None:
            return f"-- not finished: {printable(self.unfinished)}"
        return ideal_macaulay2(self.ideal)


@computation
def singular_locus(
    ideal: Kind, *, title: str = "", minors: Minors = "auto", **options: Unpack[RunOptions]
) -> IdealSingularLocus[Kind]:
    """The singular locus of V(I), where I is any ideal over the perfect field QQ or GF(p).

    With the minimal primes P_i of I, the reduced variety V(I) is singular at a point

    * of one V(P_i) only, if and only if the Jacobian matrix of P_i has rank below the codimension
      of P_i there: P_i is a prime ideal over a perfect field, so the Jacobian criterion applies;
    * of several V(P_i): the local ring has several minimal primes, so it is no domain, and not
      regular.

    So the locus is the union of the V(P_i + minors) and the V(P_i + P_j). Of the minors of P_i some
    are enough: V(Q) is in the locus if the matrix has a rank below the codimension modulo the prime
    ideal Q; else a minor is not in Q, and cuts V(Q) down. See ``templates/_singular_locus.m2.j2``.

    Parameters
    ----------
    minors : {"auto", "selected", "all"}
        Whether all minors are taken at once; ``auto`` does so where there are at most
        :data:`FEW_MINORS`.

    Raises
    ------
    InvalidCaseError
        If there is no such choice of minors.

    Source: Hartshorne, *Algebraic Geometry*, Theorem I.5.1; Eisenbud, *Commutative Algebra*,
    Corollaries 10.14, 16.20.
    """
    values = {"most_minors": most_minors(minors)}
    script = question("ideal_singular_locus", {"givenIdeal": ideal}, values)
    answer, late = answer_until_limit(script)
    proved, rest = proved_until(answer) if late else ((), None)
    return IdealSingularLocus(
        ideal,
        printable(title),
        _components(ideal, answer, "components", "component_dimensions", "component_degrees"),
        _components(ideal, answer, "primes", "dimensions", "degrees"),
        _of_kind(ideal, answer.ideal("singular_ideal")) if "singular_ideal" in answer else None,
        current().version,
        clock().seconds,
        late,
        proved=_sorted(ideal, proved),
        rest_dimension=rest,
    )


def most_minors(minors: Minors) -> str:
    """The number up to which all minors of a component are taken at once, for Macaulay2."""
    check_choice("minors", minors, Minors)
    return {"auto": str(FEW_MINORS), "selected": "0", "all": "infinity"}[minors]


Measured = tuple[GeneratingSet, int, int]
"""A prime ideal with the dimension and the degree of its variety."""


def measured(answer: Answer, primes: str, dimensions: str, degrees: str) -> list[Measured]:
    """The prime ideals in an answer, with dimensions and degrees."""
    return list(
        zip(
            answer.ideals(primes),
            answer.integers(dimensions),
            answer.integers(degrees),
            strict=True,
        )
    )


def proved_until(answer: Answer) -> tuple[list[Measured], int | None]:
    """Components of the locus that were proved before a limit, and a bound for the dimension of the
    others.
    """
    steps = 0
    proved: list[Measured] = []
    while f"bound_{steps}" in answer:
        if f"proved_{steps}" in answer:
            proved = measured(
                answer,
                *(f"{name}_{steps}" for name in ("proved", "proved_dimensions", "proved_degrees")),
            )
        steps += 1
    return proved, answer.integer(f"bound_{steps - 1}") if steps else None


def _components(
    given: Kind, answer: Answer, *names: str
) -> tuple[IrreducibleComponent[Kind], ...] | None:
    """The components whose primes, dimensions and degrees have these names, the largest first."""
    if names[-1] not in answer:
        return None
    return _sorted(given, measured(answer, *names))


def _sorted(given: Kind, primes: Iterable[Measured]) -> tuple[IrreducibleComponent[Kind], ...]:
    listed = [
        IrreducibleComponent(_of_kind(given, prime), dimension, degree)
        for prime, dimension, degree in primes
    ]
    return tuple(
        sorted(
            listed,
            key=lambda component: (-component.dimension, component.degree, order(component.ideal)),
        )
    )


def _of_kind(given: Kind, generators: GeneratingSet) -> Kind:
    """The ideal that was found in the ring of the given one, in its class."""
    return replace(given, generators=tidy(generators).generators)


def _dimension(components: Sequence[IrreducibleComponent[Any]] | None) -> int | None:
    return (
        None
        if components is None
        else max((component.dimension for component in components), default=-1)
    )


_PROJECTIVE = "dimensions of projective varieties; the irrelevant ideal is left out"
FEW, SHORT = 6, 60
"""Equations of a component that a table shows, and characters of each."""


def _components_json(
    components: tuple[IrreducibleComponent[Any], ...] | None,
) -> list[dict[str, Any]] | None:
    if components is None:
        return None
    equations = (generator_texts(component.ideal, None) for component in components)
    pairs = zip(components, equations, strict=True)
    return [
        {"dimension": c.dimension, "degree": c.degree, "generators": texts} for c, texts in pairs
    ]


def _facts(locus: IdealSingularLocus[Any]) -> list[tuple[str, object]]:
    return [
        (
            "singular locus",
            _shape(locus.components, "empty: the variety is smooth") or "not decided",
        ),
        ("not decided", bound_text(locus.rest_dimension)),
        ("variety", _shape(locus.variety, "empty")),
        ("projective", _PROJECTIVE if locus.projective else None),
        (
            "irreducible",
            f"means over {locus.given.ring.field}; over a larger field components can decompose",
        ),
        ("computed by", computed_by(locus.engine_version, locus.seconds, "Jacobian criterion")),
        ("not finished", locus.unfinished or None),
    ]


def bound_text(rest_dimension: int | None) -> str | None:
    """The bound for components that were not found until a limit, in words."""
    if rest_dimension is None:
        return None
    return (
        f"components of dimension ≤ {rest_dimension}"
        if rest_dimension >= 0
        else "nothing: these are all components"
    )


def _shape(components: tuple[IrreducibleComponent[Any], ...] | None, empty: str) -> str | None:
    if components is None:
        return None
    if not components:
        return empty
    return (
        f"dimension {components[0].dimension}, {plural(len(components), 'irreducible component')}"
    )


def _variety(component: IrreducibleComponent[Any]) -> str:
    return f"V({', '.join(_short(component))})"


def _short(component: IrreducibleComponent[Any]) -> list[str]:
    return generator_texts(component.ideal, FEW, SHORT)


def _formulas(locus: IdealSingularLocus[Any]) -> list[str]:
    if locus.components is None:
        return []
    varieties = [
        rf"V{ideal_latex(c.ideal)}" if generator_texts(c.ideal) == _short(c) else rf"V_{{{n}}}"
        for n, c in enumerate(locus.components, 1)
    ]
    return [r"\operatorname{Sing} = " + (r" \;\cup\; ".join(varieties) or r"\varnothing")]


@dataclass(frozen=True, slots=True)
class ProjectiveScheme(Generic[Kind]):
    """Proj of the quotient by a homogeneous ideal, in the projective space whose coordinates are
    the variables.

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

    ideal: Kind

    def __post_init__(self) -> None:
        if mixed := [g for g in self.ideal.generators if not is_homogeneous(g)]:
            raise MethodUnavailableError(
                f"{polynomial_text(mixed[0]):.60} is not homogeneous, so that it defines nothing in"
                " projective space; the reduced Gröbner basis of a homogeneous ideal has"
                " homogeneous elements"
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
        """The degree, by the components of the largest dimension with their multiplicities; 0 if
        the scheme is empty.

        Source: Hartshorne, *Algebraic Geometry*, section I.7.
        """
        series = hilbert_series(self.ideal)
        return series.degree if series.dimension > 0 else 0

    @computation
    def hilbert_polynomial(self, **options: Unpack[RunOptions]) -> HilbertPolynomial:
        """The Hilbert polynomial; zero if the scheme is empty.

        Source: Hartshorne, *Algebraic Geometry*, Theorem I.7.5.
        """
        return hilbert_polynomial(hilbert_series(self.ideal))

    @computation
    def saturated_ideal(self, **options: Unpack[RunOptions]) -> Kind:
        """The largest ideal that defines the scheme: I : m^∞, with the irrelevant ideal m of all
        variables.

        Source: Hartshorne, *Algebraic Geometry*, Exercise II.5.10.

        >>> print(ideal("x^2", "x*y").projective().saturated_ideal())
        ideal(x) of QQ[x, y]
        """
        irrelevant = GeneratingSet(self.ideal.ring, tuple(self.ideal.ring.sympy_ring.gens))
        ideals: dict[str, GeneratingSet] = {"givenIdeal": self.ideal, "otherIdeal": irrelevant}
        answer = ask("ideal_saturation", ideals)
        return _of_kind(self.ideal, answer.ideal("saturation"))

    @computation
    def minimal_primes(self, **options: Unpack[RunOptions]) -> tuple[Kind, ...]:
        """The homogeneous prime ideals of the components that are irreducible over the field of the
        ring.

        >>> ideal("x*y", "x*z", "x*w").projective().minimal_primes()
        (ideal(x) of QQ[w, x, y, z], ideal(w, y, z) of QQ[w, x, y, z])
        """
        answer = ask("ideal_minimal_primes", {"givenIdeal": self.ideal})
        primes = [
            _of_kind(self.ideal, prime)
            for prime in answer.ideals("minimal_primes")
            if not _is_irrelevant(prime)
        ]
        return tuple(sorted(primes, key=order))

    @computation
    def singular_locus(
        self, *, title: str = "", minors: Minors = "auto", **options: Unpack[RunOptions]
    ) -> IdealSingularLocus[Kind]:
        """The singular locus of the projective variety X of the ideal, taken as reduced.

        The affine cone without its apex is locally a product of X and a line without a point, so
        that it is singular above the singular points of X and nowhere else: the locus of X is that
        of the cone, the apex left out.
        """
        cone = singular_locus(self.ideal, title=title, minors=minors)
        smooth = cone.components is not None and not _projective(cone.components)
        return replace(
            cone,
            variety=_projective(cone.variety),
            components=_projective(cone.components),
            ideal=(
                replace(self.ideal, generators=(self.ideal.ring.sympy_ring.one,))
                if smooth
                else cone.ideal
            ),
            projective=True,
            proved=_projective(cone.proved) or (),
            rest_dimension=(
                None if cone.rest_dimension is None else max(cone.rest_dimension - 1, -1)
            ),
        )


def _is_irrelevant(prime: GeneratingSet) -> bool:
    """Whether a homogeneous prime ideal is that of all variables: then the tangent space at zero is
    a point.
    """
    origin = (0,) * len(prime.ring.variables)
    return tangent_dimension(prime.generators, origin, field=prime.ring.field) == 0


def _projective(
    components: tuple[IrreducibleComponent[Kind], ...] | None,
) -> tuple[IrreducibleComponent[Kind], ...] | None:
    """The components with their projective dimensions, the apex of the cone left out."""
    return components and tuple(
        replace(c, dimension=c.dimension - 1) for c in components if c.dimension > 0
    )
