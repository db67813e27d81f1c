"""Varieties of ideals: the singular locus of an affine variety, and projective schemes.

The locus is found by the Jacobian criterion for each component, and the intersections of two; the
theorem stands at :func:`singular_locus`. Projective varieties are studied by their affine cones.
``@computation`` applies the options ``engine`` and ``timeout`` to all that a function does, so that
its body does not use them. For the singular locus of a *closure* see ``maps/singular_locus``.

``given`` is the ideal I that was asked about, whose class and ring all results have; ``None``
stands for what was not found before a limit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, Unpack

from m2bridge.algebra.differential import tangent_dimension
from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.modules import HilbertPolynomial
from m2bridge.algebra.ring import GeneratingSet, is_homogeneous
from m2bridge.convert.answers import answer_until_limit
from m2bridge.convert.printing import polynomial_text
from m2bridge.engine import RunOptions, computation, current
from m2bridge.errors import MethodUnavailableError, check_choice, check_kind
from m2bridge.ideals import MAX_MINORS_BY_AUTO
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
from m2bridge.ideals.singular_locus_result import (
    IdealSingularLocus,
    IrreducibleComponent,
    SomeIdeal,
)
from m2bridge.limits import clock
from m2bridge.results.sheet import printable

Minors = Literal["auto", "selected", "all"]


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
    check_kind("title", title, str, "a text")
    if isinstance(ideal.ring.field, ExtensionField):
        return _locus_over_extension(ideal, title=title, minors=minors)
    values = {"most_minors": most_minors(minors)}
    script = question("ideal_singular_locus", {"givenIdeal": ideal}, values)
    with explain_factoring_errors(ideal):
        answer, reached_limit = answer_until_limit(script)
    # ``reached_limit`` is the message of a limit, or empty: then all components were found.
    proved_primes, rest_dimension = proved_before_limit(answer) if reached_limit else ([], None)
    # The answer has what was printed before a limit; the degrees of components are printed last.
    variety, components, radical = None, None, None
    if "component_degrees" in answer:
        names = ("components", "component_dimensions", "component_degrees")
        variety = _sort_components(ideal, measured_primes_in(answer, *names))
    if "degrees" in answer:
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
        proved=_sort_components(ideal, proved_primes),
        rest_dimension=rest_dimension,
    )


def _locus_over_extension(
    ideal: SomeIdeal, *, title: str, minors: Minors
) -> IdealSingularLocus[SomeIdeal]:
    """The singular locus of V(I) for I over an extension field, by the ideal of
    :func:`over_prime_field`.

    Let X be the scheme of I, and Y the scheme of that ideal. Where the extension is algebraic, X is
    Y. Where the field has parameters, X is the generic fibre of Y over the space of parameters, so
    the local rings of X are among the local rings of Y, and dimensions differ by the number of
    parameters. Whether a local ring is regular does not depend on a field. Degrees are computed
    again.
    """
    field = ideal.ring.field
    assert isinstance(field, ExtensionField)
    over_prime = singular_locus(over_prime_field(ideal), minors=minors)
    rest_dimension = over_prime.rest_dimension
    if rest_dimension is not None:
        rest_dimension = max(rest_dimension - field.transcendence_degree, -1)
    radical = None
    if over_prime.ideal is not None:
        radical = _tidy_in_class_of(ideal, from_prime_field(over_prime.ideal, ring=ideal.ring))
    return IdealSingularLocus(
        given=ideal,
        title=printable(title),
        variety=_extended_components(ideal, over_prime.variety),
        components=_extended_components(ideal, over_prime.components),
        ideal=radical,
        engine_version=over_prime.engine_version,
        seconds=clock().seconds,
        unfinished=over_prime.unfinished,
        proved=_extended_components(ideal, over_prime.proved) or (),
        rest_dimension=rest_dimension,
    )


def _extended_components(
    ideal: SomeIdeal, components: Sequence[IrreducibleComponent[Any]] | None
) -> tuple[IrreducibleComponent[SomeIdeal], ...] | None:
    """The components over the extension field from the components over the prime field. Where
    parameters are related there is no point over the field, and parameters are no coordinates, so
    that dimensions and degrees are computed again.
    """
    if components is None:
        return None
    measured_primes = []
    for component in components:
        prime = from_prime_field(component.ideal, ring=ideal.ring)
        if not is_unit(prime):  # else the component has no point over the field
            series = hilbert_series(prime)
            measured_primes.append((prime, series.dimension, series.degree))
    return _sort_components(ideal, measured_primes)


def most_minors(minors: Minors) -> str:
    """The number of minors up to which all of a component are taken at once, as Macaulay2 code: 0
    if they are always selected, ``infinity`` if all are always taken.
    """
    check_choice("minors", minors, Minors)
    return {"auto": str(MAX_MINORS_BY_AUTO), "selected": "0", "all": "infinity"}[minors]


def _sort_components(
    ideal: SomeIdeal, primes: Iterable[MeasuredPrime]
) -> tuple[IrreducibleComponent[SomeIdeal], ...]:
    """The components with these primes, as ideals like ``ideal``, large dimensions first."""
    components = []
    for prime, dimension, degree in primes:
        tidied = _tidy_in_class_of(ideal, prime)
        components.append(IrreducibleComponent(ideal=tidied, dimension=dimension, degree=degree))
    # of one dimension small degrees come first, then few generators
    components.sort(key=lambda c: (-c.dimension, c.degree, ideal_sort_key(c.ideal)))
    return tuple(components)


def _tidy_in_class_of(ideal: SomeIdeal, other: GeneratingSet) -> SomeIdeal:
    """The ideal ``other``, of the ring of ``ideal``, tidied and as an object of its class."""
    return replace(ideal, generators=tidy(other).generators)


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
        check_kind("ideal", self.ideal, GeneratingSet, "an Ideal")
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
        """The dimension, one less than the dimension of the affine cone; −1 if the scheme is empty.

        >>> ideal("x^2", "y^2").projective().dimension()
        -1
        """
        return max(hilbert_series(self.ideal).dimension - 1, -1)

    @computation
    def codimension(self, **options: Unpack[RunOptions]) -> int:
        """The dimension of the projective space less the dimension of the scheme."""
        return len(self.ideal.ring.variables) - 1 - self.dimension()

    @computation
    def degree(self, **options: Unpack[RunOptions]) -> int:
        """The degree of the components of the largest dimension, with multiplicities.

        It is 0 if the scheme is empty.
        Source: Hartshorne, *Algebraic Geometry*, section I.7.
        """
        series = hilbert_series(self.ideal)
        # The series has the dimension of the cone. A cone of dimension 0 is its apex, which is not
        # a point of the scheme.
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
        components = _projective_components(cone.components)
        radical = cone.ideal
        if components == ():  # the cone is singular at most at its apex, and X is smooth
            radical = replace(self.ideal, generators=(self.ideal.ring.sympy_ring.one,))
        rest_dimension = cone.rest_dimension
        if rest_dimension is not None:
            rest_dimension = max(rest_dimension - 1, -1)
        return replace(
            cone,
            variety=_projective_components(cone.variety),
            components=components,
            ideal=radical,
            projective=True,
            proved=_projective_components(cone.proved) or (),
            rest_dimension=rest_dimension,
        )


def _is_irrelevant(prime: GeneratingSet) -> bool:
    """Whether a homogeneous prime ideal, over an extension field given by its reduced Gröbner
    basis, is the irrelevant one, which all variables generate.
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
    components: Iterable[IrreducibleComponent[SomeIdeal]] | None,
) -> tuple[IrreducibleComponent[SomeIdeal], ...] | None:
    """The components of a projective variety from its affine cone's, of dimensions one less,
    without the apex, of dimension 0, which is not a point of projective space.
    """
    if components is None:
        return None
    cones = [component for component in components if component.dimension > 0]
    return tuple(replace(cone, dimension=cone.dimension - 1) for cone in cones)
