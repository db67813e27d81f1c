"""The singular locus of the variety of an ideal as a result: its components, how it is shown.

``None`` stands for what was not found within the limits; a fact with this value is not shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from m2bridge.algebra.ring import GeneratingSet
from m2bridge.convert.printing import (
    generator_lines,
    generator_texts,
    ideal_latex,
    ideal_macaulay2,
    variety_text,
)
from m2bridge.ideals import MAX_SHOWN_EQUATION_CHARS, MAX_SHOWN_EQUATIONS
from m2bridge.results.base import Proof, Result, result_json
from m2bridge.results.sheet import (
    Block,
    Facts,
    Sheet,
    Table,
    computed_by,
    in_brackets,
    plural,
    printable,
)

SomeIdeal = TypeVar("SomeIdeal", bound=GeneratingSet)
"""The class of ideals in a result, the same as the class of the ideal that was given."""


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
        What the variety is called; empty if it has no name.
    variety : tuple of IrreducibleComponent, or None
        The irreducible components of V(I); ``None`` if they were not found within the limits.
    components : tuple of IrreducibleComponent, or None
        The irreducible components of the singular locus, empty if V(I) is smooth; ``None`` if they
        were not all found within the limits.
    ideal : Ideal or None
        The radical ideal of the singular locus, the unit ideal if V(I) is smooth; ``None`` if it
        was not found within the limits.
    engine_version : str
        The version of Macaulay2.
    seconds : float
        The time of the computation.
    unfinished : str
        The limit that was reached; empty if none was.
    projective : bool
        Whether it is about the projective variety: then all dimensions are
        projective.
    proved : tuple of IrreducibleComponent
        If a limit was reached: components of the singular locus, proved until then.
    rest_dimension : int or None
        If a limit was reached: an upper bound for the dimension of components of the singular locus
        that are not in ``proved``; −1 if there are none, ``None`` if no bound is known. ``None``
        without a limit, too.
    method : str
        How it was found, in words.

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
    method: str = "Jacobian criterion"

    @property
    def variety_dimension(self) -> int | None:
        """The dimension of V(I); −1 if it is empty, ``None`` if it was not found."""
        return _largest_dimension(self.variety)

    @property
    def dimension(self) -> int | None:
        """The dimension of the singular locus; −1 if it is empty, ``None`` if it was not found."""
        return _largest_dimension(self.components)

    def proof(self) -> Proof:
        """Return whether all components of the singular locus are known."""
        if self.components is None:
            return Proof(False, self.unfinished)
        return Proof(True, f"by the {self.method}, over {self.given.ring.field}")

    def __repr__(self) -> str:
        return in_brackets(self, "given", "variety_dimension", "dimension")

    def to_json(self) -> dict[str, Any]:
        """The given ideal, and the components of its variety and of the singular locus."""
        no_case = None  # an ideal is in no family of models
        return result_json(no_case, self.given.ring.field, self.engine_version, self.seconds) | {
            "title": self.title or None,
            "projective": self.projective,
            "coordinates": list(self.given.ring.variables),
            "given": generator_texts(self.given, most=None),  # all, in full
            "variety_dimension": self.variety_dimension,
            "variety": _components_json(self.variety),
            "dimension": self.dimension,
            "components": _components_json(self.components),
            "generators": None if self.ideal is None else generator_texts(self.ideal, most=None),
            "unfinished": self.unfinished or None,
            "proved": _components_json(self.proved),
            "rest_dimension": self.rest_dimension,
            "method": self.method,
            **self.proof()._asdict(),
        }

    def to_sheet(self) -> Sheet:
        """Facts, a table of components, and the equations that are too long for the table.

        The table has the components of the singular locus, after a limit those that were proved; if
        a limit was reached before any was, it has the components of the variety.
        """
        dimension = _dimension_and_number(self.components, "empty: the variety is smooth")
        facts = [
            ("singular locus", dimension or "not decided"),
            ("not decided", bound_text(self.rest_dimension)),
            ("variety", _dimension_and_number(self.variety, "empty")),
            ("projective", _PROJECTIVE if self.projective else None),
            (
                "components",
                f"are irreducible over {self.given.ring.field}; over a larger field they can"
                " decompose",
            ),
            ("computed by", computed_by(self.engine_version, self.seconds, self.method)),
            ("not finished", self.unfinished or None),
        ]
        blocks: list[Block] = [Facts(facts)]
        components = self.components or self.proved  # the latter is empty if no limit was reached
        if components:
            blocks.append(_table_of_components("component of the singular locus", components))
            for component in components:
                if not _fits_table(component):
                    caption = f"{_variety_text(component)}:"
                    blocks.append(generator_lines(component.ideal, caption))
        elif self.components is None and self.variety:
            blocks.append(_table_of_components("component of the variety", self.variety))
        variety = self.title or variety_text(self.given)
        title = f"Singular locus of {variety}, over {self.given.ring.field}"
        return Sheet(title, blocks, _formulas(self))

    def to_macaulay2(self) -> str:
        """A Macaulay2 program: the ring ``R`` and the radical ideal ``I`` of the singular locus.

        If a limit was reached before the ideal was found, it is a comment that names the limit.
        """
        if self.ideal is None:  # a comment
            return f"-- not finished: {printable(self.unfinished)}"
        return ideal_macaulay2(self.ideal)


def _largest_dimension(components: Sequence[IrreducibleComponent[Any]] | None) -> int | None:
    """The largest dimension of components, −1 if there are none; ``None`` if they are not known."""
    if components is None:
        return None
    return max((component.dimension for component in components), default=-1)


_PROJECTIVE = "dimensions of projective varieties; the irrelevant ideal is left out"
"""What a sheet says of a projective variety."""


def _components_json(
    components: tuple[IrreducibleComponent[Any], ...] | None,
) -> list[dict[str, Any]] | None:
    """Dimension, degree and generators of each component, for ``json.dumps``."""
    if components is None:
        return None
    listed = []
    for component in components:
        numbers = {"dimension": component.dimension, "degree": component.degree}
        listed.append({**numbers, "generators": generator_texts(component.ideal, most=None)})
    return listed


def _table_of_components(title: str, components: Iterable[IrreducibleComponent[Any]]) -> Table:
    """A table of components, their dimensions and degrees; ``title`` is above the first column."""
    rows = [(_variety_text(c), c.dimension, c.degree) for c in components]
    return Table((title, "dimension", "degree"), rows)


def bound_text(rest_dimension: int | None) -> str | None:
    """In words, an upper bound for the dimension of components that were not found."""
    if rest_dimension is None:
        return None
    if rest_dimension < 0:
        return "nothing: these are all components"
    return f"components of dimension ≤ {rest_dimension}"


def _dimension_and_number(
    components: tuple[IrreducibleComponent[Any], ...] | None, if_empty: str
) -> str | None:
    """The dimension of a variety and the number of its components in words."""
    if components is None:
        return None
    if not components:
        return if_empty
    number = plural(len(components), "irreducible component")
    return f"dimension {components[0].dimension}, {number}"  # the largest ones come first


def _variety_text(component: IrreducibleComponent[Any]) -> str:
    """The text of a component as ``V(x, y)``, with the equations that a table shows."""
    return variety_text(component.ideal, MAX_SHOWN_EQUATIONS, MAX_SHOWN_EQUATION_CHARS)


def _fits_table(component: IrreducibleComponent[Any]) -> bool:
    """Whether a table shows all equations of a component, and in full."""
    texts = generator_texts(component.ideal, MAX_SHOWN_EQUATIONS, MAX_SHOWN_EQUATION_CHARS)
    return generator_texts(component.ideal) == texts


def _formulas(locus: IdealSingularLocus[Any]) -> list[str]:
    """The singular locus as the union of its components, one formula in LaTeX, where components
    with long equations are named V_1, V_2, … by their places.
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
