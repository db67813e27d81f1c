"""The result of a computation of a singular locus, and how it is shown.

A ``MeasuredPrime`` is the triple of a prime ideal with its dimension and degree; the components of
the result are made from such primes by :func:`components_of_primes`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from m2bridge.algebra.field import CoefficientField
from m2bridge.convert.printing import (
    degree_summary,
    generator_lines,
    ideal_macaulay2,
    polynomial_text,
)
from m2bridge.errors import ContradictionError
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.measured_primes import MeasuredPrime
from m2bridge.ideals.singular_locus_result import bound_text
from m2bridge.maps.locus import ORIGIN, ZERO, Component, OrbitMethods, OrbitStatus
from m2bridge.maps.model import Model
from m2bridge.results import MAX_SHOWN_GENERATORS
from m2bridge.results.base import Result, result_json
from m2bridge.results.sheet import Block, Facts, Sheet, Table, computed_by, printable, value_text

MAX_SHOWN_EQUATION_CHARS = 60
"""The largest number of characters of equations in a table."""

SINGULAR = {True: "singular", False: "smooth", None: "undecided"}
"""The words for whether a point is singular."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SingularLocus(Result):
    """The singular locus of the Zariski closure.

    Parameters
    ----------
    model : Model
    field : CoefficientField
    method : str
        The names of the methods that finished; of all that ran if none did.
    variety_dimension : int or None
        Affine dimension of the closure itself.
    orbits : tuple of OrbitStatus
        Every orbit of nonzero points, or those that were done if the computation is ``unfinished``;
        empty for models whose orbits are not known.
    components : tuple of Component or None
        ``None`` when the computation did not finish or left orbits undecided; empty when the
        closure is smooth.
    remarks : tuple of str
        Which methods were compared, and which assumptions were made.
    engine_version : str
        Empty if no engine was asked.
    seconds : float
    unfinished : str
        Empty, or the limit that was reached, or the orbits that are undecided.
    proved : tuple of Component
        If the Jacobian criterion reached a limit: components that were proved until then.
    rest_dimension : int or None
        In that case an upper bound for the dimension of all further components; −1 if there are no
        further ones. ``None`` in all other cases, or if no bound is known.

    Examples
    --------
    >>> from sympy import symbols
    >>> u, v = symbols("u v")
    >>> umbrella = PolynomialMap.from_expressions([u, v], {"x": u * v, "y": u, "z": v**2})
    >>> locus = singular_locus(umbrella)
    >>> locus.variety_dimension, locus.dimension
    (2, 1)
    """

    model: Model
    field: CoefficientField
    method: str
    variety_dimension: int | None
    orbits: tuple[OrbitStatus, ...]
    components: tuple[Component, ...] | None
    remarks: tuple[str, ...]
    engine_version: str
    seconds: float
    unfinished: str = ""
    proved: tuple[Component, ...] = ()
    rest_dimension: int | None = None

    @property
    def dimension(self) -> int | None:
        """Affine dimension of the singular locus; −1 when it is empty, ``None`` if not known."""
        if self.components is None:
            return None
        return max((component.dimension for component in self.components), default=-1)

    @property
    def zero_tangent_dimension(self) -> int | None:
        """Tangent dimension of the closure at the zero function; ``None`` unless orbits are listed.

        It is the number of linearly independent coordinates, since the closure is a cone: at zero
        only linear equations have a differential that is not zero.
        """
        orbit_methods = self.model.orbit_methods()
        if orbit_methods is None or not self.orbits:
            return None
        return orbit_methods.independent_count

    def to_sheet(self) -> Sheet:
        """Return the dimensions, a table of the orbits, the components, and the ideals that were
        computed.
        """
        title = f"Singular locus of the Zariski closure of the {self.model.title}"
        blocks: list[Block] = [Facts(_facts(self))]
        if self.orbits:
            blocks.append(_orbit_table(self.orbits))
        components = self.components or self.proved
        if components:
            blocks += _component_blocks(components)
        return Sheet(f"{title}, over {self.field}", blocks, _formulas(self))

    def to_json(self) -> dict[str, Any]:
        """Return orbits, components, and the methods that were compared, for ``json.dumps``."""
        components = None
        if self.components is not None:
            components = [_component_json(component) for component in self.components]
        engine = self.engine_version or None
        return result_json(self.model.case, self.field, engine, self.seconds) | {
            "dimension": self.dimension,
            "variety_dimension": self.variety_dimension,
            "method": self.method,
            "orbits": [status.to_json() for status in self.orbits],
            "zero_tangent_dimension": self.zero_tangent_dimension,
            "components": components,
            "remarks": list(self.remarks),
            "unfinished": self.unfinished or None,
            "proved": [_component_json(c) for c in self.proved],
            "rest_dimension": self.rest_dimension,
        }

    def to_macaulay2(self) -> str:
        """Return Macaulay2 programs for the computed ideals of components; else a comment."""
        programs = []
        for component in self.components or ():
            if component.ideal is not None:
                comment = f"-- {printable(component.description)}"
                programs.append(f"{comment}\n{ideal_macaulay2(component.ideal)}")
        return "\n\n".join(programs) or "-- no ideals were computed; ask for them with --ideals"


def zero_text(tangent: int | None, dimension: int | None) -> str | None:
    """Return in words the tangent dimension at zero, and whether zero is singular.

    ``tangent`` is the tangent dimension at zero, and ``dimension`` the dimension of the closure.
    ``None`` is returned if one of these is ``None``, for not known.
    """
    if tangent is None or dimension is None:
        return None
    # The tangent space at a smooth point is as large as the variety, and nowhere smaller.
    kind = SINGULAR[tangent > dimension]  # "singular" or "smooth"
    return f"{kind}, with a tangent space of dimension {tangent}"


def _facts(locus: SingularLocus) -> list[tuple[str, object]]:
    """Return names and values of the results about the singular locus."""
    facts: list[tuple[str, object]] = []
    if locus.dimension == -1:
        facts.append(("singular locus", "empty: the closure is smooth"))
    elif locus.dimension is not None:
        facts.append(("singular locus", f"dimension {locus.dimension}"))
    if locus.variety_dimension is not None:
        facts.append(("closure", f"dimension {locus.variety_dimension}"))
    return [
        *facts,
        ("zero", zero_text(locus.zero_tangent_dimension, locus.variety_dimension)),
        ("computed by", computed_by(locus.engine_version, locus.seconds, locus.method)),
        *(("remark", remark) for remark in locus.remarks),
        ("not finished", locus.unfinished or None),
        # how large further components can be, which were not found
        ("not decided", bound_text(locus.rest_dimension)),
    ]


def _component_json(component: Component) -> dict[str, Any]:
    """Return a component for ``json.dumps``."""
    generators = None
    if component.ideal is not None:
        generators = [polynomial_text(generator) for generator in component.ideal.generators]
    return {
        "description": component.description,
        "orbit": None if component.orbit is None else component.orbit.to_json(),
        "dimension": component.dimension,
        "degree": component.degree,
        "generators": generators,
    }


def _orbit_table(statuses: Sequence[OrbitStatus]) -> Table:
    """Return a table with a row for each orbit. ``statuses`` is not empty."""
    orbit = statuses[0].orbit  # all orbits of a family have the same header and legend
    # the last column, without a name, says whether the orbit is singular
    header = (*orbit.HEADER, "dimension", "tangent dimension", "")
    return Table(header, [_orbit_row(status) for status in statuses], orbit.LEGEND)


def _component_blocks(components: Sequence[Component]) -> Iterator[Block]:
    """Yield a table of the components, then the generators of each ideal that was computed."""
    header = ("component of the singular locus", "dimension", "degree", "equations")
    # without ideals the last column, that of equations, would be empty
    has_ideals = any(component.ideal is not None for component in components)
    column_count = 4 if has_ideals else 3
    rows = [_component_row(component)[:column_count] for component in components]
    yield Table(header[:column_count], rows)
    for component in components:
        if component.ideal is not None:
            yield generator_lines(component.ideal, f"{component.description}:")


def _orbit_row(status: OrbitStatus) -> tuple[object, ...]:
    """Return the row of an orbit: its cells, dimension, tangent dimension, and its status."""
    return (*status.orbit.cells, status.dimension, status.tangent.cell, SINGULAR[status.singular])


def _component_row(component: Component) -> tuple[object, ...]:
    """Return the row of a component: description, dimension, degree and equations.

    For equations there are the generators of its ideal if they are few and short, else how many
    there are of each degree; a dash without an ideal.
    """
    equations, ideal = "–", component.ideal
    if ideal is not None:
        generators = ", ".join(map(polynomial_text, ideal.generators[:MAX_SHOWN_GENERATORS]))
        equations = f"V({generators})"
        too_many = len(ideal.generators) > MAX_SHOWN_GENERATORS
        if too_many or len(generators) > MAX_SHOWN_EQUATION_CHARS:
            equations = degree_summary(ideal.generator_degrees)
    degree = value_text(component.degree)
    return component.description, component.dimension, degree, equations


def _formulas(locus: SingularLocus) -> list[str]:
    """Return one formula in LaTeX: the singular locus as the union of its components, each with its
    dimension and degree; those without a name of their own are C_1, C_2, …, by their places.

    The list is empty if the components are not known.
    """
    if locus.components is None:
        return []
    components = []
    for number, component in enumerate(locus.components, 1):
        components.append(_component_latex(component, f"C_{{{number}}}"))
    union = r" \;\cup\; ".join(components) or r"\varnothing"
    return [rf"\operatorname{{Sing}} = {union}"]


def _component_latex(component: Component, name: str) -> str:
    """Return a component with its dimension and degree, in LaTeX.

    ``name``, such as ``C_{1}``, is used for a component that is neither an orbit closure nor zero.
    """
    if component.orbit is not None:
        name = rf"\overline{{\mathcal O_{{({','.join(map(str, component.orbit.cells))})}}}}"
    elif component.description in (ZERO, ORIGIN):
        name = r"\{0\}"
    degree = "" if component.degree is None else rf",\ \deg {component.degree}"
    return rf"{name}\;(\dim {component.dimension}{degree})"


def components_of_primes(model: Model, primes: Iterable[MeasuredPrime]) -> tuple[Component, ...]:
    """Return the components with these prime ideals, by decreasing dimension.

    Each prime is given with its dimension and degree; components of the same dimension are in the
    order of their descriptions.
    """
    components = []
    for prime, dimension, degree in primes:
        components.append(_component_of_prime(model, Ideal.of(prime), dimension, degree))
    components.sort(key=lambda component: (-component.dimension, component.description))
    return tuple(components)


def _component_of_prime(model: Model, prime: Ideal, dimension: int, degree: int) -> Component:
    """Return the variety of a prime ideal, over a perfect field, as a component of the singular
    locus, with its orbit if the model knows orbits and the variety is not the point zero.

    The point zero has no orbit, and only its description says what it is: in a model that knows
    orbits the zero function, since coordinates are coefficients of functions there; in any other
    model the origin of the space of the coordinates.

    Raises
    ------
    ContradictionError
        If the model knows orbits, and the variety is neither zero nor the closure of an orbit.
    """
    # A prime ideal of dimension 0 that is generated by monomials is generated by all variables: its
    # point is zero.
    is_zero = dimension == 0 and all(len(generator) == 1 for generator in prime.generators)
    orbit_methods = model.orbit_methods()
    orbit = None
    if orbit_methods is None:
        description = ORIGIN if is_zero else _variety_in_words(prime, dimension, degree)
    elif is_zero:
        description = ZERO
    else:
        orbit = _orbit_of_component(orbit_methods, prime, dimension, degree)
        description = f"closure of the orbit {orbit}"
    return Component(
        description=description, orbit=orbit, dimension=dimension, degree=degree, ideal=prime
    )


def _orbit_of_component(
    orbit_methods: OrbitMethods, prime: Ideal, dimension: int, degree: int
) -> Any:
    """Return the orbit whose closure is a component of the singular locus, the variety of a prime
    ideal of this dimension and degree.

    Raises
    ------
    ContradictionError
        If there is no such orbit, although the singular locus is invariant under the group.
    """
    orbit = orbit_methods.identify(prime, dimension)
    if orbit is None:
        raise ContradictionError(
            f"a minimal prime of dimension {dimension} and degree {degree} of the singular"
            " locus is not an orbit closure, although the singular locus is invariant under the"
            " group"
        )
    return orbit


def _variety_in_words(prime: Ideal, dimension: int, degree: int) -> str:
    """Return what the variety of a prime ideal is: of positive dimension, a point, or points.

    Over a perfect field the degree of a finite variety is its number of points over the algebraic
    closure.
    """
    if dimension > 0:
        return f"irreducible component of dimension {dimension}"
    if degree == 1:
        return "a point"
    return f"{degree} points, conjugate over {prime.ring.field}"
