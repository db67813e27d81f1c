"""The projective scheme of a homogeneous ideal: dimension, degree, components, singular locus."""

from dataclasses import dataclass, replace
from typing import Generic

from m2bridge.algebra.linear_algebra import rank, rank_mod
from m2bridge.algebra.modules import HilbertPolynomial
from m2bridge.algebra.numbers import integer_coefficients
from m2bridge.algebra.ring import GeneratingSet, is_homogeneous, total_degree
from m2bridge.convert.notation import polynomial_text
from m2bridge.engine import Engine
from m2bridge.errors import MethodUnavailableError
from m2bridge.ideals.program import ask, hilbert_polynomial, hilbert_series, order, tidy
from m2bridge.ideals.singular_locus import IdealSingularLocus, IrreducibleComponent, Kind, Minors, singular_locus


@dataclass(frozen=True, slots=True)
class ProjectiveScheme(Generic[Kind]):
    """Proj of the quotient by a homogeneous ideal, in the projective space whose coordinates are the variables.

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
                f"{polynomial_text(mixed[0]):.60} is not homogeneous, so that it defines nothing in projective space; "
                "the reduced Gröbner basis of a homogeneous ideal has homogeneous elements"
            )

    def __str__(self) -> str:
        return f"Proj of the quotient by {self.ideal}"

    def dimension(self, *, engine: Engine | None = None, timeout: float | None = None) -> int:
        """The dimension, one less than that of the affine cone; −1 if the scheme is empty.

        >>> ideal("x^2", "y^2").projective().dimension()
        -1
        """
        return max(hilbert_series(self.ideal, engine=engine, timeout=timeout).dimension - 1, -1)

    def codimension(self, *, engine: Engine | None = None, timeout: float | None = None) -> int:
        """The dimension of the projective space less that of the scheme."""
        return len(self.ideal.ring.variables) - 1 - self.dimension(engine=engine, timeout=timeout)

    def degree(self, *, engine: Engine | None = None, timeout: float | None = None) -> int:
        """The degree, by the components of the largest dimension with their multiplicities; 0 if the scheme is empty.

        Source: Hartshorne, *Algebraic Geometry*, section I.7.
        """
        series = hilbert_series(self.ideal, engine=engine, timeout=timeout)
        return series.degree if series.dimension > 0 else 0

    def hilbert_polynomial(self, *, engine: Engine | None = None, timeout: float | None = None) -> HilbertPolynomial:
        """The Hilbert polynomial; zero if the scheme is empty.

        Source: Hartshorne, *Algebraic Geometry*, Theorem I.7.5.
        """
        return hilbert_polynomial(hilbert_series(self.ideal, engine=engine, timeout=timeout))

    def saturated_ideal(self, *, engine: Engine | None = None, timeout: float | None = None) -> Kind:
        """The largest ideal that defines the scheme: I : m^∞, with the irrelevant ideal m of all variables.

        Source: Hartshorne, *Algebraic Geometry*, Exercise II.5.10.

        >>> print(ideal("x^2", "x*y").projective().saturated_ideal())
        ideal(x) of QQ[x, y]
        """
        ideals: dict[str, GeneratingSet] = {"givenIdeal": self.ideal, "otherIdeal": self._irrelevant()}
        answer = ask("ideal_saturation", ideals, engine=engine, timeout=timeout)
        return replace(self.ideal, generators=tidy(answer.ideal("saturation")).generators)

    def minimal_primes(self, *, engine: Engine | None = None, timeout: float | None = None) -> tuple[Kind, ...]:
        """The homogeneous prime ideals of the components that are irreducible over the field of the ring.

        >>> ideal("x*y", "x*z", "x*w").projective().minimal_primes()
        (ideal(x) of QQ[w, x, y, z], ideal(w, y, z) of QQ[w, x, y, z])
        """
        answer = ask("ideal_minimal_primes", {"givenIdeal": self.ideal}, engine=engine, timeout=timeout)
        primes = [replace(self.ideal, generators=tidy(p).generators) for p in answer.ideals("minimal_primes")]
        return tuple(sorted((prime for prime in primes if not _is_irrelevant(prime)), key=order))

    def singular_locus(
        self, *, engine: Engine | None = None, timeout: float | None = None, title: str = "", minors: Minors = "auto"
    ) -> IdealSingularLocus[Kind]:
        """The singular locus of the projective variety X of the ideal, taken as reduced.

        The affine cone without its apex is locally a product of X and a line without a point, so that it is singular
        above the singular points of X and nowhere else: the locus of X is that of the cone, the apex left out.
        """
        cone = singular_locus(self.ideal, engine=engine, timeout=timeout, title=title, minors=minors)
        smooth = cone.components is not None and not _projective(cone.components)
        return replace(
            cone,
            variety=_projective(cone.variety),
            components=_projective(cone.components),
            ideal=replace(self.ideal, generators=(self.ideal.ring.sympy_ring.one,)) if smooth else cone.ideal,
            projective=True,
            proved=_projective(cone.proved) or (),
            rest_dimension=None if cone.rest_dimension is None else max(cone.rest_dimension - 1, -1),
        )

    def _irrelevant(self) -> GeneratingSet:
        ring = self.ideal.ring
        return GeneratingSet(ring, tuple(ring.sympy_ring.gens))


def _is_irrelevant(prime: GeneratingSet) -> bool:
    """Whether a homogeneous prime ideal is that of all variables: then its linear forms are independent enough."""
    domain, p = prime.ring.field.domain, prime.ring.field.characteristic
    linear = [g for g in prime.generators if total_degree(g) == 1]
    forms = [{m: domain.to_int(c) for m, c in g.items()} if p else integer_coefficients(g) for g in linear]
    rows = [[form.get(variable.LM, 0) for variable in prime.ring.sympy_ring.gens] for form in forms]
    return (rank_mod(rows, p) if p else rank(rows)) == len(prime.ring.variables)


def _projective(
    components: tuple[IrreducibleComponent[Kind], ...] | None,
) -> tuple[IrreducibleComponent[Kind], ...] | None:
    """The components with their projective dimensions, the apex of the cone left out."""
    return components and tuple(replace(c, dimension=c.dimension - 1) for c in components if c.dimension > 0)
