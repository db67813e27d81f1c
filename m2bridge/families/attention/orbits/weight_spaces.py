"""Ranks of tangent vectors at the representative of an orbit, by weights of a torus.

The torus of all diagonal matrices (t, u, v) in GL_d × GL_d × GL_d' acts on weights (A, V) and on
functions; a coordinate c_kipq has the weight v_k + u_i + t_p + t_q. Those elements that fix the
representative are a torus again, and a direction that is homogeneous for it is mapped to a
homogeneous function. Functions of different weights have no coordinate in common, so that a rank is
the sum of the ranks for all weights.

Permutations of indices that fix the representative permute the weights, and the directions of one
weight are mapped to those of another one: the ranks are equal. So one weight of each kind is
enough, and the number of weights of this kind.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.families.attention.orbits.orbits import Orbit
from m2bridge.families.attention.orbits.parametrization import FunctionCoordinates
from m2bridge.families.attention.sizes import LayerSizes

TorusSymbol = tuple[str, int]
"""A basic character of the torus that fixes the representative: the name of its class, a number.

Permutations of indices that fix the representative permute the symbols of a class.
"""
TorusWeight = tuple[tuple[TorusSymbol, int], ...]
"""The symbols of a weight with their coefficients, which are not zero, in increasing order."""
WeightedDirection = tuple[TorusWeight, Callable[[], FunctionCoordinates]]
"""A direction at the representative: its weight, and how its image is computed."""
IndexPair = tuple[int, int]


def _sum(*multiples: tuple[TorusSymbol, int]) -> TorusWeight:
    """Return the weight that is the sum of these multiples of symbols."""
    total: Counter[TorusSymbol] = Counter()
    for symbol, coefficient in multiples:
        total[symbol] += coefficient
    return tuple(sorted((symbol, c) for symbol, c in total.items() if c))


def _diagonal(symbols: Sequence[TorusSymbol]) -> list[IndexPair]:
    """Return the pairs (i, i) for the positions i of a list."""
    return [(i, i) for i in range(len(symbols))]


def _class_of(p: int, orbit: Orbit) -> str:
    """Return the class of the symbol t_p: which of L and U contain the unit vector e_p.

    At the representative L is spanned by the first r unit vectors, and U by the first m and those
    from position r to r + s − m − 1 (for m = 0 see :class:`WeightSpaces`).
    """
    r, s, m = orbit.cells
    if p < m:
        return "L and U"
    if p < r:
        return "L"
    if p < r + s - m:
        return "U"
    return "neither"


@dataclass(frozen=True, slots=True)
class WeightSpaces:
    """The characters of all indices at the representative of an orbit, and their symmetries.

    Indices begin with 0. The representative has A_pp = 1 for p < r, and V_kq = 1 for k < s and one
    place q in row k; but two places, 0 and r, for m = 0 and k = 0. So the torus that fixes it has
    u_p = −t_p and v_k = −t_q, and t_0 = t_r where both places are in one row. All other characters
    are free.

    Parameters
    ----------
    variables : tuple of TorusSymbol
        The symbol t_p for each p, an index of rows of A and of columns of V.
    inputs, outputs : tuple of (TorusSymbol, int)
        The characters u_i for each column i of A, and v_k for each row k of V. Each is a symbol
        with the factor 1 or −1.
    places : tuple of pair of int
        The pairs (k, q) with V_kq = 1.

    Attributes
    ----------
    class_sizes : collections.Counter
        The number of symbols of each class, by the name of the class.
    chosen : set of TorusSymbol
        Two symbols of each class, or the only one. A weight has at most two symbols; so the chosen
        ones suffice for one weight of each kind.
    """

    variables: tuple[TorusSymbol, ...]
    inputs: tuple[tuple[TorusSymbol, int], ...]
    outputs: tuple[tuple[TorusSymbol, int], ...]
    places: tuple[IndexPair, ...]
    class_sizes: Counter[str] = field(init=False)
    chosen: set[TorusSymbol] = field(init=False)

    def __post_init__(self) -> None:
        symbols = set(self.variables)
        for symbol, _ in (*self.inputs, *self.outputs):
            symbols.add(symbol)
        by_class: dict[str, list[TorusSymbol]] = {}
        for symbol in sorted(symbols):
            by_class.setdefault(symbol[0], []).append(symbol)
        chosen = {symbol for members in by_class.values() for symbol in members[:2]}
        # the only way to set a field of a frozen value
        object.__setattr__(self, "class_sizes", Counter(name for name, _ in symbols))
        object.__setattr__(self, "chosen", chosen)

    @classmethod
    def of(cls, orbit: Orbit, shape: LayerSizes) -> "WeightSpaces":
        """Return the characters at the representative of an orbit."""
        r, s, m = orbit.cells
        # row k of V is the unit vector e_k of L for k < m, then the unit vectors after those of L
        places = [(k, k if k < m else r + k - m) for k in range(s)]
        variables: list[TorusSymbol] = [(_class_of(p, orbit), p) for p in range(shape.d)]
        if m == 0:
            # V_00 = V_0r = 1: both places have one symbol, in a class of its own
            places.append((0, 0))
            variables[0] = variables[r] = ("twice", 0)
        # u_i = −t_i for i < r, where A_ii = 1
        inputs = [(variables[i], -1) if i < r else (("free input", i), 1) for i in range(shape.d)]
        outputs = [(("free output", k), 1) for k in range(shape.d_out)]
        for k, q in places:
            # v_k = −t_q, where V_kq = 1
            outputs[k] = variables[q], -1
        return cls(tuple(variables), tuple(inputs), tuple(outputs), tuple(places))

    def action(self) -> Iterator[tuple[str, IndexPair, TorusWeight]]:
        """Yield unit matrices E_ij of gl_d × gl_d × gl_d', with their weights.

        Each is the name "X", "Y" or "Z" of the factor in which E_ij is, the pair (i, j), and the
        weight; (X, Y, Z) moves (A, V) to (XA + AY, V Xᵀ + ZV). All E_ij with weight zero are
        yielded, and all with a weight of chosen symbols only.
        """
        variables = self.variables
        for i, j in self._pairs(variables, variables, _diagonal(variables)):
            yield "X", (i, j), _sum((variables[i], 1), (variables[j], -1))
        for factor, characters in (("Y", self.inputs), ("Z", self.outputs)):
            # A·E_ij moves column i of A to place j, but E_ij·V moves row j of V to place i
            sign = -1 if factor == "Y" else 1
            symbols = [symbol for symbol, _ in characters]
            for i, j in self._pairs(symbols, symbols, _diagonal(symbols)):
                symbol_i, factor_i = characters[i]
                symbol_j, factor_j = characters[j]
                weight = _sum((symbol_i, sign * factor_i), (symbol_j, -sign * factor_j))
                yield factor, (i, j), weight

    def entries_of_a(self) -> Iterator[tuple[IndexPair, TorusWeight]]:
        """Yield entries (p, i) of A with their weights t_p + u_i.

        All with weight zero are yielded, and all with a weight of chosen symbols only.
        """
        symbols = [symbol for symbol, _ in self.inputs]
        # u_p = −t_p for p < r: the weight of A_pp is zero
        for p, i in self._pairs(self.variables, symbols, _diagonal(self.variables)):
            yield (p, i), _sum((self.variables[p], 1), self.inputs[i])

    def entries_of_v(self) -> Iterator[tuple[IndexPair, TorusWeight]]:
        """Yield entries (k, q) of V with their weights v_k + t_q.

        All with weight zero are yielded, and all with a weight of chosen symbols only.
        """
        symbols = [symbol for symbol, _ in self.outputs]
        # v_k = −t_q where V_kq = 1
        for k, q in self._pairs(symbols, self.variables, self.places):
            yield (k, q), _sum(self.outputs[k], (self.variables[q], 1))

    def _pairs(
        self,
        rows: Iterable[TorusSymbol],
        columns: Iterable[TorusSymbol],
        of_weight_zero: Iterable[IndexPair],
    ) -> list[IndexPair]:
        """Return the pairs of a row and a column with chosen symbols, and the given pairs.

        ``rows`` and ``columns`` have the symbol of each row and column.
        """
        chosen_rows = [i for i, symbol in enumerate(rows) if symbol in self.chosen]
        chosen_columns = [j for j, symbol in enumerate(columns) if symbol in self.chosen]
        return sorted({*product(chosen_rows, chosen_columns), *of_weight_zero})

    def rank(self, directions: Iterable[WeightedDirection]) -> int:
        """Return the rank of the images of all directions, from those of chosen symbols.

        Two weights are of the same kind if a permutation of the symbols within their classes maps
        one to the other. Such a permutation fixes the representative, so the images of directions
        of both weights have the same rank. It is computed for one weight of each kind.

        Parameters
        ----------
        directions : iterable of WeightedDirection
            All directions with weight zero, or with a weight of chosen symbols only, of a set that
            those permutations map to itself. Others are skipped.
        """
        weight_of_kind: dict[tuple[tuple[str, int], ...], TorusWeight] = {}
        images: dict[TorusWeight, list[FunctionCoordinates]] = {}
        for weight, image in directions:
            if not all(symbol in self.chosen for symbol, _ in weight):
                continue
            # the classes of the symbols, with their coefficients
            kind = tuple(sorted((name, c) for (name, _), c in weight))
            # the first weight of a kind stands for all of them
            if weight_of_kind.setdefault(kind, weight) == weight:
                images.setdefault(weight, []).append(image())
        total = 0
        for kind, weight in weight_of_kind.items():
            total += _number_of_weights(kind, self.class_sizes) * sparse_rank(images[weight])
        return total


def _number_of_weights(kind: Iterable[tuple[str, int]], class_sizes: Counter[str]) -> int:
    """Return the number of weights of a kind: ways to choose a symbol for each coefficient.

    The symbols are different ones of the class that the kind has with each coefficient. Two equal
    coefficients of symbols of one class, as in t_p + t_q, are exchanged by a permutation and count
    once.

    Parameters
    ----------
    kind : iterable of (str, int)
        Names of classes with coefficients.
    class_sizes : Counter
        The number of symbols of each class.
    """
    taken: Counter[str] = Counter()
    equal: Counter[tuple[str, int]] = Counter()
    number = 1
    for name, coefficient in kind:
        equal[name, coefficient] += 1
        # the binomial coefficients of equal coefficients, factor by factor
        number = number * (class_sizes[name] - taken[name]) // equal[name, coefficient]
        taken[name] += 1
    return number
