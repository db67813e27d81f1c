"""Symmetries by name: connected groups with their dimensions, finite ones with their orders.

A *redundant direction* of generic weights is one in which the function does not change, and there
are as many as parameters less the dimension of the functions. *Listed* symmetries are those that
have a name here; *others* are redundant directions that no listed symmetry explains. The
*dimension* of a connected group is the dimension of its orbits on generic weights: ``named`` are
pairs of a name and this number, ``finite`` the finite groups. Proofs are in
``docs/weights-mathematics.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial, prod
from typing import Any, Self

from m2bridge.results.known import UNKNOWN, Bounds
from m2bridge.results.sheet import enumeration, in_brackets, plural
from m2bridge.trained_weights.heads.shape import HeadGroup, HeadShape

Directions = tuple[tuple[str, int], ...]
"""Pairs of a name and a number of dimensions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteGroup:
    """A finite group by name.

    Examples
    --------
    >>> print(FiniteGroup.permutations("permutations of heads", 4))
    permutations of heads (S(4), order 4! = 24)
    """

    name: str  # what its elements do
    symbol: str  # such as ``S(4)``; a wreath product is ``S(3) wr S(2)``
    formula: str  # of the order, such as ``4!``
    order: int

    @classmethod
    def permutations(cls, name: str, number: int, block: int = 1) -> Self:
        """Return the group of permutations of ``number`` things that map blocks of ``block`` things
        to blocks: the wreath product of permutations inside a block with permutations of blocks.
        Blocks of one thing, or one block of all things, are no condition.

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
        # Short numbers are written next to the formula, as ``4! = 24``.
        if self.order <= 10**6 and str(self.order) != order:
            order = f"{order} = {self.order}"
        return f"{self.name} ({self.symbol}, order {order})"

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``; the order is ``None`` where it is too long."""
        # Longer orders, of a thousand digits and more, are formulas only: Python writes integers of
        # at most 4300 digits, and other readers take a few hundred.
        has_few_digits = self.order.bit_length() <= 3320
        return {
            "name": self.name,
            "dimension": 0,
            "group": self.symbol,
            "order": self.order if has_few_digits else None,
            "order_formula": self.formula,
        }


def products(groups: Iterable[FiniteGroup]) -> tuple[FiniteGroup, ...]:
    """Return for each name the product of the groups that have this name: equal factors are written
    as a power, as ``(S(4))^2`` of order ``(4!)^2``.
    """
    groups_by_name: dict[str, list[FiniteGroup]] = {}
    for group in groups:
        groups_by_name.setdefault(group.name, []).append(group)
    found = []
    for name, factors in groups_by_name.items():
        if len(factors) == 1:
            found += factors
            continue
        symbols, formulas = [], []
        for group, exponent in Counter(factors).items():
            power = f"^{exponent}" if exponent > 1 else ""
            # There are at least two factors, so a symbol stands in parentheses.
            symbols.append(f"({group.symbol}){power}")
            # A product of formulas needs none, a power does.
            formulas.append(f"({group.formula}){power}" if exponent > 1 else group.formula)
        order = prod(group.order for group in factors)
        symbol, formula = " × ".join(symbols), "·".join(formulas)
        found.append(FiniteGroup(name=name, symbol=symbol, formula=formula, order=order))
    return tuple(found)


def finite_symmetries(
    shapes: Sequence[HeadShape], *, sharing: int = 1, rotary: bool = False, are_added: bool = True
) -> tuple[FiniteGroup, ...]:
    """Return the finite symmetries of a layer of heads of equal shapes.

    ``sharing`` heads in a row have the same K and V, ``rotary`` positions rotate queries and keys,
    and outputs of heads are added, or each has its place.
    """
    first, heads = shapes[0], len(shapes)
    found = []
    # Whether sharing K and V restricts nothing, as any A_h and V_h are those of such a group.
    is_free = HeadGroup(shape=first, heads=sharing, rotary=rotary).is_free
    # Where any A_h and V_h are those of heads, all H heads can be mixed, and permutations are in
    # GL(H), which is listed already. With rotations a head has special matrices KᵀRQ for all R.
    are_mixed = first.can_be_mixed and is_free and not rotary
    # Permutations map groups to groups, unless sharing restricts nothing.
    if heads > 1 and are_added and not are_mixed:
        block = 1 if is_free else sharing
        found.append(FiniteGroup.permutations("permutations of heads", heads, block=block))
    # The exchanged weights are those of a group, too, only if its heads have one k and one v: they
    # share K, and so k, and they have one v if V has one row.
    if first.can_be_exchanged and (sharing == 1 or first.v in (None, 1)):
        name = "exchange of k and v in A = k qᵀ, V = h vᵀ"
        found.append(FiniteGroup.exchanges(name, heads // sharing))
    return tuple(found)


def nonzero_directions(named: Mapping[str, int]) -> Directions:
    """Return the pairs of a name and a number of redundant directions, without numbers 0."""
    return tuple((name, size) for name, size in named.items() if size)


def symmetry_names(named: Directions, finite: Sequence[FiniteGroup]) -> str:
    """Return the parts of a symmetry group in one line: connected ones as ``name (dimension)``,
    then finite ones with their orders.
    """
    parts = [f"{name} ({size})" for name, size in named]
    return ", ".join([*parts, *map(str, finite)])


def symmetries_json(named: Directions, finite: Sequence[FiniteGroup]) -> list[dict[str, Any]]:
    """Return the parts of a symmetry group for ``json.dumps``; finite ones have dimension 0."""
    parts: list[dict[str, Any]] = [{"name": name, "dimension": size} for name, size in named]
    return parts + [group.to_json() for group in finite]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraParameters:
    """The parameters that layers have in addition to those of heads, an output bias, and γ and β of
    a norm; and the finite symmetries of heads and these.
    """

    parameters: int = 0
    dimension: int = 0  # by how much they make the dimension of the functions larger
    named: Directions = ()  # the redundant directions that come with them
    finite: tuple[FiniteGroup, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Symmetries:
    """The redundant directions of generic weights, compared with the orbits of the symmetries."""

    parameters: int
    dimension: Bounds  # of the functions
    named: Directions  # each with the dimension of its orbits, or an upper bound
    # The dimension of an orbit of the whole group. Its part on each head has orbits of a known
    # dimension; those of changes of base between layers may be smaller unless they act freely.
    listed: Bounds
    finite: tuple[FiniteGroup, ...] = ()
    # Whether it is proved, as for one layer of softmax, that the generic fibre is one orbit of the
    # listed symmetries, and not several, if it has the dimension of the orbit.
    complete: bool = False
    why: str = ""  # the dimension is not known, where it is not
    # Whether the outputs of heads are concatenated, so that the function of each head is known.
    side_by_side: bool = False

    def __repr__(self) -> str:
        return in_brackets(self, "parameters", "redundant", "names")

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
        """Whether there are redundant directions that the listed symmetries do not explain, so that
        infinitely many orbits of generic weights have the same function; ``None`` if that is not
        decided.
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
        """The number of redundant directions that no listed symmetry explains, if it is known."""
        # It is proved that there are none, perhaps without both numbers being known.
        if self.others is False:
            return 0
        if self.redundant.exact is None or self.listed.exact is None:
            return None
        return self.redundant.exact - self.listed.exact

    @property
    def least_unnamed(self) -> int:
        """A lower bound for this number where there are others."""
        return self.redundant.value - int(self.listed.most)

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
            unnamed = f"at least {self.least_unnamed} of them are"
            if self.unnamed is not None:
                verb = "is" if self.unnamed == 1 else "are"
                unnamed = f"{plural(self.unnamed, 'further direction')} {verb}"
            return (
                f"{redundant}, {listed}: there are others, and weights are not determined up to the"
                f" listed ones; {unnamed} not named"
            )
        why = f" ({self.why})" if self.why else ""
        return f"{redundant}, {listed}: whether there are others is not decided{why}"

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


def summary_sentence(what: str, symmetries: Symmetries) -> str:
    """Return one sentence on whether generic weights are determined by their function, up to the
    listed symmetries, which can be quoted; ``what`` is its subject, as ``The network of 4 layers``.
    """
    if symmetries.others is False:
        known = _words_on_ambiguity(symmetries)
        return f"{what} is determined by its function {known}, at generic weights: proved."
    if symmetries.others:
        more = symmetries.least_unnamed
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
    return f"up to {enumeration(parts)}" if parts else "uniquely"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerThenNorm:
    """A layer with the LayerNorm after it, which has the functions of a layer of d' − 1 outputs."""

    dimension: int  # of the functions of layer and norm together
    hidden: Directions  # those that change the function of the layer, but not of both together

    @classmethod
    def of(
        cls, dimension_of_layer: int, dimension_without_mean: int, has_output_bias: bool
    ) -> Self:
        """Return the dimension and the hidden directions, from the dimensions of the functions of
        the layer and of the layer whose outputs are the d' − 1 differences to the last one.
        """
        # Of all hidden directions one is the output bias along 1, and the others are of O.
        hidden_of_bias = int(has_output_bias)
        hidden_of_O = dimension_of_layer - dimension_without_mean - hidden_of_bias
        hidden = [("O + 1·uᵀ before LayerNorm", hidden_of_O)]
        if has_output_bias:
            hidden.append(("output bias + c·1 before LayerNorm", hidden_of_bias))
        return cls(dimension=dimension_without_mean, hidden=tuple(hidden))

    def words(self) -> str:
        """Return the dimension, and the directions that the norm hides, in words."""
        names = symmetry_names(self.hidden, ())
        return f"dimension {self.dimension}: the norm after the layer also hides {names}"

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``."""
        return {"dimension": self.dimension, "hidden": symmetries_json(self.hidden, ())}
