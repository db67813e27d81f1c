"""Groups of symmetries by name: connected ones with their dimensions, finite ones with orders.

They are compared with the redundant directions of parameters (:class:`Symmetries`): a *redundant
direction* of generic weights is one in which the function does not change, and there are as many as
parameters less the dimension of the functions. *Listed* symmetries are those that have a name here;
*others* are redundant directions that no listed symmetry explains. The *dimension* of a group is
that of its orbits on generic weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial, prod
from typing import Any, Self

from m2bridge.results.known import UNKNOWN, Bounds
from m2bridge.results.sheet import plural

_LARGEST_SHOWN = 10**6
"""Up to this order a group is written with the number beside the formula, as ``4! = 24``."""
_MOST_BITS = 3320
"""Larger orders, of a thousand digits and more, are in JSON as formulas only: Python
writes integers of at most 4300 digits, and other readers take a few hundred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteGroup:
    """A finite group by name.

    Parameters
    ----------
    name : str
        What its elements do.
    symbol : str
        The group, such as ``S(4)``; a wreath product is ``S(3) wr S(2)``.
    formula : str
        A formula for the order, such as ``4!``.
    order : int
        The number of its elements.

    Examples
    --------
    >>> print(FiniteGroup.permutations("permutations of heads", 4))
    permutations of heads (S(4), order 4! = 24)
    """

    name: str
    symbol: str
    formula: str
    order: int

    @classmethod
    def permutations(cls, name: str, number: int, block: int = 1) -> Self:
        """Return the group of permutations of ``number`` things that map blocks of ``block`` things
        to blocks; ``block`` divides ``number``.

        It is the wreath product of the permutations inside a block with those of the blocks. Blocks
        of one thing, or one block of all things, are no condition.

        Examples
        --------
        >>> FiniteGroup.permutations("permutations of heads", 6, block=3).order
        72
        """
        if block in (1, number):
            return cls(
                name=name, symbol=f"S({number})", formula=f"{number}!", order=factorial(number)
            )
        blocks = number // block
        return cls(
            name=name,
            symbol=f"S({block}) wr S({blocks})",
            formula=f"({block}!)^{blocks}·{blocks}!",
            order=factorial(block) ** blocks * factorial(blocks),
        )

    @classmethod
    def exchanges(cls, name: str, number: int) -> Self:
        """Return the group that ``number`` independent exchanges of two things generate."""
        if number == 1:
            return cls(name=name, symbol="S(2)", formula="2", order=2)
        return cls(name=name, symbol=f"S(2)^{number}", formula=f"2^{number}", order=2**number)

    def __str__(self) -> str:
        order = self.formula
        if self.order <= _LARGEST_SHOWN and str(self.order) != order:
            order = f"{order} = {self.order}"
        return f"{self.name} ({self.symbol}, order {order})"

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``; the order is ``None`` where it is too long."""
        has_few_digits = self.order.bit_length() <= _MOST_BITS
        return {
            "name": self.name,
            "dimension": 0,
            "group": self.symbol,
            "order": self.order if has_few_digits else None,
            "order_formula": self.formula,
        }


def products(groups: Iterable[FiniteGroup]) -> tuple[FiniteGroup, ...]:
    """Return for each name the product of the groups that have this name."""
    groups_by_name: dict[str, list[FiniteGroup]] = {}
    for group in groups:
        groups_by_name.setdefault(group.name, []).append(group)
    return tuple(_product(same_name) for same_name in groups_by_name.values())


def _product(groups: list[FiniteGroup]) -> FiniteGroup:
    """Return the product of one or more groups with the same name: equal factors are written as a
    power, as ``(S(4))^2`` of order ``(4!)^2``.
    """
    if len(groups) == 1:
        return groups[0]
    symbols = []
    formulas = []
    for group, exponent in Counter(groups).items():
        power = f"^{exponent}" if exponent > 1 else ""
        # There are at least two factors, so a symbol stands in parentheses.
        symbols.append(f"({group.symbol}){power}")
        # A product of formulas needs none, a power does.
        formulas.append(f"({group.formula}){power}" if exponent > 1 else group.formula)
    return FiniteGroup(
        name=groups[0].name,
        symbol=" × ".join(symbols),
        formula="·".join(formulas),
        order=prod(group.order for group in groups),
    )


def nonzero_directions(named: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Return the pairs of a name and a number of redundant directions, without those of none."""
    return tuple((name, size) for name, size in named.items() if size)


def symmetry_names(connected: Iterable[tuple[str, int]], finite: Sequence[FiniteGroup]) -> str:
    """Return the parts of a symmetry group in one line: connected ones as ``name (dimension)``,
    then finite ones with their orders. ``connected`` has pairs of a name and a dimension.
    """
    parts = [f"{name} ({size})" for name, size in connected]
    return ", ".join([*parts, *map(str, finite)])


def symmetries_json(
    connected: Iterable[tuple[str, int]], finite: Sequence[FiniteGroup]
) -> list[dict[str, Any]]:
    """Return the parts of a symmetry group for ``json.dumps``; finite ones have dimension 0 and an
    order. ``connected`` has pairs of a name and a dimension.
    """
    parts: list[dict[str, Any]] = [{"name": name, "dimension": size} for name, size in connected]
    return parts + [group.to_json() for group in finite]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraParameters:
    """The parameters that layers have in addition to those of heads, an output bias, and γ and β of
    a norm; and the finite symmetries of heads and these.

    Parameters
    ----------
    parameters : int
        Their number.
    dimension : int
        By how much these parameters make the dimension of the functions larger.
    named : tuple
        The redundant directions that come with them, as pairs of a name and a number.
    finite : tuple of FiniteGroup
        The finite symmetries of the layers, such as permutations of heads.
    """

    parameters: int = 0
    dimension: int = 0
    named: tuple[tuple[str, int], ...] = ()
    finite: tuple[FiniteGroup, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Symmetries:
    """The redundant directions of generic weights, compared with the orbits of the gauge group.

    Parameters
    ----------
    parameters : int
    dimension : Bounds
        Bounds for the dimension of the functions.
    named : tuple
        The parts of the group by name, each with the dimension of its orbits, or an upper bound.
    listed : Bounds
        The dimension of an orbit of the whole group. Its part on each head has orbits of a known
        dimension; those of changes of base between layers are known where these act freely, and
        else may be smaller.
    finite : tuple of FiniteGroup
    complete : bool
        Whether it is proved, as for one layer of softmax, that the generic fibre is one orbit of
        the listed symmetries, and not several, if it has the dimension of the orbit.
    why : str
        Why the dimension is not known, where it is not.
    side_by_side : bool
        Whether the outputs of heads are not added but concatenated, so that the function of
        each head is known by that of the layer.
    """

    parameters: int
    dimension: Bounds
    named: tuple[tuple[str, int], ...]
    listed: Bounds
    finite: tuple[FiniteGroup, ...] = ()
    complete: bool = False
    why: str = ""
    side_by_side: bool = False

    @property
    def redundant(self) -> Bounds:
        """The number of redundant directions, the parameters less the dimension: known exactly, or
        a lower bound, or nothing if the dimension has no upper bound.
        """
        if self.dimension.upper is None:
            return UNKNOWN
        # With fewer functions more directions are redundant: an upper bound becomes a lower one.
        fewest = self.parameters - self.dimension.upper
        if self.dimension.exact is not None:
            return Bounds.exactly(fewest)
        return Bounds.at_least(fewest)

    @property
    def others(self) -> bool | None:
        """True if there are redundant directions that the listed symmetries do not explain, so that
        infinitely many orbits of generic weights have the same function; False if there are none;
        ``None`` if that is not decided.
        """
        if self.redundant.least > self.listed.most:
            return True
        # An orbit is a part of the fibre, all weights with the same function. If it has as many
        # dimensions, the fibre is finitely many orbits.
        if self.redundant.exact == self.listed.lower:
            return False
        return None

    @property
    def unnamed(self) -> int | None:
        """The number of redundant directions that no listed symmetry explains; ``None`` if it is
        not known: the redundant ones less the dimension of the orbits of the listed symmetries.
        """
        # It is proved that there are none, perhaps without both numbers being known.
        if self.others is False:
            return 0
        if self.redundant.exact is None or self.listed.exact is None:
            return None
        return self.redundant.exact - self.listed.exact

    def words(self) -> str:
        """Return what the function determines of generic weights, in words."""
        if self.side_by_side:
            return (
                "without an output matrix the outputs of its heads are concatenated, so the"
                " function of each is known"
            )
        # ``value`` is the number of redundant directions, or else a lower bound for it.
        redundant = plural(self.redundant.value, "redundant direction")
        if self.redundant.exact is None:
            redundant = f"at least {redundant}"
        if self.others is False:
            these = "these" if self.complete else "these and finitely many others"
            determined = f"up to {these}, generic weights are determined"
            return f"{redundant}, all of the listed symmetries: {determined}"
        listed = f"{self.listed.upper} of the listed symmetries"
        if self.listed.exact is None:
            listed = f"at most {listed}"
        if self.others:
            return (
                f"{redundant}, {listed}: there are others, and weights are not determined up to the"
                f" listed ones; {self._words_on_unnamed()} not named"
            )
        why = f" ({self.why})" if self.why else ""
        return f"{redundant}, {listed}: whether there are others is not decided{why}"

    def _words_on_unnamed(self) -> str:
        """Return how many redundant directions no listed symmetry explains, with the verb; there is
        at least one.
        """
        # ``unnamed`` is the exact number, if it is known.
        if self.unnamed is None:
            return f"at least {self.redundant.value - int(self.listed.most)} of them are"
        verb = "is" if self.unnamed == 1 else "are"
        return f"{plural(self.unnamed, 'further direction')} {verb}"

    @property
    def names(self) -> str:
        """The parts of the group in one line: ``name (dimension)``, and finite ones with orders."""
        return symmetry_names(self.named, self.finite)

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``."""
        return {
            "parameters": self.parameters,
            "dimension": self.dimension.exact,
            "redundant": self.redundant.exact,
            "redundant_at_least": self.redundant.lower,
            "listed_symmetries": self.listed.upper,
            "other_symmetries": self.others,
            "symmetries": symmetries_json(self.named, self.finite),
            "unnamed": self.unnamed,
        }


def _joined_by_and(parts: Sequence[str]) -> str:
    """Return one or more texts with commas between them, and ``and`` before the last."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def summary_sentence(what: str, symmetries: Symmetries) -> str:
    """Return one sentence on whether generic weights are determined by their function, up to the
    listed symmetries, which can be quoted.

    Parameters
    ----------
    what : str
        The subject of the sentence, as ``The network of 4 layers``.
    symmetries : Symmetries
        The symmetries of its generic weights.
    """
    # ``others`` says whether there are redundant directions besides the listed symmetries: it is
    # True, False, or ``None`` if that is not decided.
    if symmetries.others is False:
        known = _words_on_ambiguity(symmetries)
        return f"{what} is determined by its function {known}, at generic weights: proved."
    if symmetries.others:
        more = symmetries.redundant.value - int(symmetries.listed.most)
        verb = "does" if more == 1 else "do"
        return (
            f"{what} is not determined by its function up to the listed symmetries: at least"
            f" {plural(more, 'further direction')} {verb} not change it, proved."
        )
    return (
        f"Whether {what[0].lower()}{what[1:]} is determined by its function up to the listed"
        f" symmetries is not decided; the dimension is {symmetries.dimension}."
    )


def _words_on_ambiguity(symmetries: Symmetries) -> str:
    """Return up to what generic weights are determined, where the listed symmetries are all but
    finitely many: ``up to GL(2) on K and Q (4 dimensions) and a finite ambiguity``, or
    ``uniquely``.
    """
    parts = []
    names = ", ".join(name for name, _ in symmetries.named)
    if names:
        parts.append(f"{names} ({plural(symmetries.listed.value, 'dimension')})")
    parts += [f"{group.name} ({group.symbol})" for group in symmetries.finite]
    if not symmetries.complete:
        further = "further " if symmetries.finite else ""
        parts.append(f"a {further}finite ambiguity")
    return f"up to {_joined_by_and(parts)}" if parts else "uniquely"
