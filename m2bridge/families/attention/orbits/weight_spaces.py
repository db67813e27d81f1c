"""Ranks of tangent vectors at the representative of an orbit, by weights of a torus.

The torus of all diagonal matrices (t, u, v) in GL_d × GL_d × GL_d' acts on weights (A, V) and on
functions; a coordinate c_kipq has the weight v_k + u_i + t_p + t_q. Those elements that fix the
representative are a torus again, and a direction that is homogeneous for it is mapped to a
homogeneous function. Functions of different weights have no coordinate in common, so that a rank is
the sum of the ranks for all weights.

Permutations of indices that fix the representative permute the weights, and the directions of one
weight are mapped to those of another one: the ranks are equal. So one weight of each kind is
enough, and the number of weights of this kind.

Terms. A symbol is a basic character of the torus that fixes the representative, such as t_2; a
weight is a sum of symbols with coefficients. Symbols are in classes, within which those
permutations move them. Two symbols of each class are chosen: each kind has a weight with chosen
symbols only. A direction is a tangent vector of the source or of the group, which the differential
takes to its image, a function.
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
"""A basic character of the torus that fixes the representative: the name of its class, and a number
that distinguishes it from others of the class, such as ("L", 2) for t_2.

Permutations of indices that fix the representative permute the symbols of a class.
"""
TorusWeight = tuple[tuple[TorusSymbol, int], ...]
"""The symbols of a weight with their coefficients, which are not zero, in increasing order.

The weight t_2 − t_3 is ((("L", 2), 1), (("L", 3), −1)); the weight zero is ().
"""
WeightedDirection = tuple[TorusWeight, Callable[[], FunctionCoordinates]]
"""A direction at the representative: its weight, and a function that computes its image."""
IndexPair = tuple[int, int]
"""The row and the column of a matrix entry, from 0 on."""


def _sum_of_symbols(*multiples: tuple[TorusSymbol, int]) -> TorusWeight:
    """Return the weight that is the sum of these multiples, pairs of a symbol and its factor."""
    total: Counter[TorusSymbol] = Counter()
    for symbol, coefficient in multiples:
        total[symbol] += coefficient
    return tuple(sorted((symbol, c) for symbol, c in total.items() if c))


def _diagonal_pairs(symbols: Sequence[TorusSymbol]) -> list[IndexPair]:
    """Return the pairs (i, i) for the positions i of a list of symbols, from 0 on."""
    return [(i, i) for i in range(len(symbols))]


def _symbol_class(p: int, orbit: Orbit) -> str:
    """Return the class of the symbol t_p: the name of the spaces L and U that contain e_p.

    At the representative the column space L of A is spanned by the first r unit vectors, and the
    row space U of V by the first m and those with positions from r to r + s − m − 1, counted from
    0. (For m = 0, where e_0 + e_r is in U in place of e_r, ``of`` gives t_0 and t_r a class of
    their own.)
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

    Indices begin with 0. All entries of the representative are 0 or 1. The entries 1 are A_pp for
    p < r, and V_kq for k < s with one q for each k; but for m = 0 the row k = 0 has two, V_00 and
    V_0r. The torus elements that fix A_pp = 1 have u_p = −t_p, and those that fix V_kq = 1 have
    v_k = −t_q; so t_0 = t_r for m = 0. All other characters are free.

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
    chosen_symbols : set of TorusSymbol
        Two symbols of each class, or the only one. Each weight has at most two symbols; so some
        permutation of the symbols within classes maps it to a weight of chosen symbols.
    """

    variables: tuple[TorusSymbol, ...]
    inputs: tuple[tuple[TorusSymbol, int], ...]
    outputs: tuple[tuple[TorusSymbol, int], ...]
    places: tuple[IndexPair, ...]
    class_sizes: Counter[str] = field(init=False)
    chosen_symbols: set[TorusSymbol] = field(init=False)

    def __post_init__(self) -> None:
        symbols = set(self.variables)
        for symbol, _ in (*self.inputs, *self.outputs):
            symbols.add(symbol)
        by_class: dict[str, list[TorusSymbol]] = {}
        for symbol in sorted(symbols):
            by_class.setdefault(symbol[0], []).append(symbol)
        chosen_symbols = {symbol for members in by_class.values() for symbol in members[:2]}
        # the only way to set a field of a frozen value
        object.__setattr__(self, "class_sizes", Counter(name for name, _ in symbols))
        object.__setattr__(self, "chosen_symbols", chosen_symbols)

    @classmethod
    def of(cls, orbit: Orbit, shape: LayerSizes) -> "WeightSpaces":
        """Return the characters at the representative of an orbit."""
        r, s, m = orbit.cells
        # row k of V is the unit vector e_k of L for k < m, then the unit vectors after those of L
        places = [(k, k) for k in range(m)]
        places += [(k, r + k - m) for k in range(m, s)]
        variables: list[TorusSymbol] = [(_symbol_class(p, orbit), p) for p in range(shape.d)]
        if m == 0:
            # V_00 = V_0r = 1: t_0 and t_r are one symbol, in a class of its own
            places.append((0, 0))
            variables[0] = variables[r] = ("twice", 0)
        # u_i = −t_i for i < r, where A_ii = 1
        inputs = [(variables[i], -1) for i in range(r)]
        inputs += [(("free input", i), 1) for i in range(r, shape.d)]
        outputs = [(("free output", k), 1) for k in range(shape.d_out)]
        for k, q in places:
            # v_k = −t_q, where V_kq = 1
            outputs[k] = variables[q], -1
        return cls(tuple(variables), tuple(inputs), tuple(outputs), tuple(places))

    def unit_matrices(self) -> Iterator[tuple[str, IndexPair, TorusWeight]]:
        """Yield unit matrices E_ij of gl_d × gl_d × gl_d' as (factor, (i, j), weight).

        The factor "X", "Y" or "Z" is the one to which E_ij belongs; (X, Y, Z) moves (A, V) to
        (XA + AY, V Xᵀ + ZV). All E_ij with weight zero are yielded, and all with a weight of chosen
        symbols only.
        """
        variables = self.variables
        # In each factor the E_ii have weight zero. For i ≠ j a weight zero can occur only where
        # both have one symbol; it is chosen, as it is the only one of the class "twice".
        for i, j in self._pairs_of_chosen_symbols(variables, variables, _diagonal_pairs(variables)):
            # E_ij·A moves row j of A to row i, and V·E_ji column j of V to column i: the weight in
            # "X" is t_i − t_j
            yield "X", (i, j), _sum_of_symbols((variables[i], 1), (variables[j], -1))
        for factor, characters in (("Y", self.inputs), ("Z", self.outputs)):
            symbols = [symbol for symbol, _ in characters]
            for i, j in self._pairs_of_chosen_symbols(symbols, symbols, _diagonal_pairs(symbols)):
                # A·E_ij moves column i of A to column j: the weight in "Y" is u_j − u_i. But E_ij·V
                # moves row j of V to row i: the weight in "Z" is v_i − v_j.
                source, target = (i, j) if factor == "Y" else (j, i)
                source_symbol, coefficient = characters[source]
                weight = _sum_of_symbols(characters[target], (source_symbol, -coefficient))
                yield factor, (i, j), weight

    def entries_of_a(self) -> Iterator[tuple[IndexPair, TorusWeight]]:
        """Yield entries (p, i) of A with their weights t_p + u_i.

        All with weight zero are yielded, and all with a weight of chosen symbols only.
        """
        symbols = [symbol for symbol, _ in self.inputs]
        # u_p = −t_p for p < r: the weight of A_pp is zero. (For p ≥ r it is not, and ``rank`` skips
        # the entry unless its symbols are chosen.) Another entry has weight zero only for m = 0,
        # where t_0 and t_r are one symbol: the only one of its class, and so a chosen one.
        for p, i in self._pairs_of_chosen_symbols(
            self.variables, symbols, _diagonal_pairs(self.variables)
        ):
            yield (p, i), _sum_of_symbols((self.variables[p], 1), self.inputs[i])

    def entries_of_v(self) -> Iterator[tuple[IndexPair, TorusWeight]]:
        """Yield entries (k, q) of V with their weights v_k + t_q.

        All with weight zero are yielded, and all with a weight of chosen symbols only.
        """
        symbols = [symbol for symbol, _ in self.outputs]
        # v_k = −t_q where V_kq = 1: these entries, ``places``, have weight zero
        for k, q in self._pairs_of_chosen_symbols(symbols, self.variables, self.places):
            yield (k, q), _sum_of_symbols(self.outputs[k], (self.variables[q], 1))

    def _pairs_of_chosen_symbols(
        self,
        rows: Iterable[TorusSymbol],
        columns: Iterable[TorusSymbol],
        of_weight_zero: Iterable[IndexPair],
    ) -> list[IndexPair]:
        """Return all pairs (row, column) with chosen symbols, and those ``of_weight_zero``, sorted.

        ``rows`` and ``columns`` have the symbol of each row and column, in their order.
        """
        chosen_rows = [i for i, symbol in enumerate(rows) if symbol in self.chosen_symbols]
        chosen_columns = [j for j, symbol in enumerate(columns) if symbol in self.chosen_symbols]
        return sorted({*product(chosen_rows, chosen_columns), *of_weight_zero})

    def rank(self, directions: Iterable[WeightedDirection]) -> int:
        """Return the rank of the images of all directions, from those of chosen symbols.

        Two weights are of the same kind if a permutation of the symbols within their classes maps
        one to the other. Such a permutation fixes the representative, so the images of directions
        of both weights have the same rank. It is computed for one weight of each kind.

        Parameters
        ----------
        directions : iterable of WeightedDirection
            Directions from a set that those permutations map to itself: all of the set with weight
            zero, and all with a weight of chosen symbols only. Others are skipped.
        """
        # weight_of_kind[kind] = the first weight of this kind, whose images are images[weight]
        weight_of_kind: dict[tuple[tuple[str, int], ...], TorusWeight] = {}
        images: dict[TorusWeight, list[FunctionCoordinates]] = {}
        for weight, image in directions:
            if not all(symbol in self.chosen_symbols for symbol, _ in weight):
                continue  # some weight of chosen symbols is of the same kind
            # the classes of the symbols, with their coefficients; () for the weight zero
            kind = tuple(sorted((name, c) for (name, _), c in weight))
            # ``setdefault`` takes this weight for the kind if there is none before it
            if weight_of_kind.setdefault(kind, weight) == weight:
                images.setdefault(weight, []).append(image())
        total = 0
        for kind, weight in weight_of_kind.items():
            total += _number_of_weights(kind, self.class_sizes) * sparse_rank(images[weight])
        return total


def _number_of_weights(kind: Iterable[tuple[str, int]], class_sizes: Counter[str]) -> int:
    """Return the number of weights of a kind: of ways to choose a symbol for each coefficient.

    The symbols have to be different, each in the class that belongs to its coefficient. Where two
    coefficients of one class are equal, as in t_p + t_q, the order of the symbols does not matter:
    for a class of n symbols there are n(n − 1)/2 such weights, and n(n − 1) weights t_p − t_q.

    Parameters
    ----------
    kind : iterable of (str, int)
        Names of classes with coefficients.
    class_sizes : Counter
        The number of symbols of each class.
    """
    # how many symbols of each class are chosen, and how many with each coefficient
    chosen_of_class: Counter[str] = Counter()
    with_coefficient: Counter[tuple[str, int]] = Counter()
    number = 1
    for name, coefficient in kind:
        with_coefficient[name, coefficient] += 1
        # a binomial coefficient for equal coefficients, factor by factor
        free_symbols = class_sizes[name] - chosen_of_class[name]
        number = number * free_symbols // with_coefficient[name, coefficient]
        chosen_of_class[name] += 1
    return number
