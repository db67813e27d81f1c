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

TorusCharacter = tuple[str, int]
"""A character of the torus that fixes the representative, with the name of its class first."""
TorusWeight = tuple[tuple[TorusCharacter, int], ...]
"""The characters of a weight with their coefficients, which are not zero, in increasing order."""
WeightedDirection = tuple[TorusWeight, Callable[[], FunctionCoordinates]]
"""A direction at the representative: its weight, and how its image is computed."""
IndexPair = tuple[int, int]


def _sum(*characters: tuple[TorusCharacter, int]) -> TorusWeight:
    total: Counter[TorusCharacter] = Counter()
    for symbol, coefficient in characters:
        total[symbol] += coefficient
    return tuple(sorted((symbol, c) for symbol, c in total.items() if c))


def _diagonal(symbols: Sequence[TorusCharacter]) -> list[IndexPair]:
    """The pairs (i, i) of indices of a list."""
    return [(i, i) for i in range(len(symbols))]


@dataclass(frozen=True, slots=True)
class WeightSpaces:
    """The characters of all indices at the representative of an orbit, and their symmetries.

    The representative has A_pp = 1 for p < r, and V_kq = 1 for k < s and the places q of row k: one
    place, but two for m = 0 and k = 0, the places 0 and r. So the torus that fixes it has
    u_p = −t_p and v_k = −t_q, and t_0 = t_r where both are in one row. All other characters are
    free.

    Parameters
    ----------
    tokens : tuple of TorusCharacter
        t_p for each p.
    inputs, outputs : tuple of (TorusCharacter, int)
        u_i for each i and v_k for each k, each plus or minus a symbol.
    places : tuple of pair of int
        The pairs (k, q) with V_kq = 1.

    Attributes
    ----------
    sizes : collections.Counter
        The number of symbols of each class, by the name of the class.
    few : set of TorusCharacter
        Two symbols of each class, or the only one.
    """

    tokens: tuple[TorusCharacter, ...]
    inputs: tuple[tuple[TorusCharacter, int], ...]
    outputs: tuple[tuple[TorusCharacter, int], ...]
    places: tuple[IndexPair, ...]
    sizes: Counter[str] = field(init=False)
    few: set[TorusCharacter] = field(init=False)

    def __post_init__(self) -> None:
        symbols = set(self.tokens)
        for symbol, _ in (*self.inputs, *self.outputs):
            symbols.add(symbol)
        by_class: dict[str, list[TorusCharacter]] = {}
        for symbol in sorted(symbols):
            by_class.setdefault(symbol[0], []).append(symbol)
        few = {symbol for members in by_class.values() for symbol in members[:2]}
        object.__setattr__(self, "sizes", Counter(name for name, _ in symbols))
        object.__setattr__(self, "few", few)

    @classmethod
    def of(cls, orbit: Orbit, shape: LayerSizes) -> "WeightSpaces":
        """The characters at the representative of an orbit."""
        r, s, m = orbit.cells
        in_rows = [(k, k if k < m else r + k - m) for k in range(s)]
        tokens: list[TorusCharacter] = []
        for p in range(shape.d):
            name = "L and U" if p < m else "L" if p < r else "U" if p < r + s - m else "neither"
            tokens.append((name, p))
        if m == 0:
            in_rows.append((0, 0))
            tokens[0] = tokens[r] = ("twice", 0)
        inputs = [(tokens[i], -1) if i < r else (("free input", i), 1) for i in range(shape.d)]
        outputs = [(("free output", k), 1) for k in range(shape.d_out)]
        for k, q in in_rows:
            outputs[k] = tokens[q], -1
        return cls(tuple(tokens), tuple(inputs), tuple(outputs), tuple(in_rows))

    def action(self) -> Iterator[tuple[str, IndexPair, TorusWeight]]:
        """The elements E_ij of gl_d, gl_d and gl_d' as X_ij, Y_ij and Z_ij, with their weights.

        All that have weight zero, or a weight of few symbols only, are among them.
        """
        tokens = self.tokens
        for i, j in self._pairs(tokens, tokens, _diagonal(tokens)):
            yield "X", (i, j), _sum((tokens[i], 1), (tokens[j], -1))
        for name, characters in (("Y", self.inputs), ("Z", self.outputs)):
            # Y moves column i to place j, and Z moves row j to place i
            sign = -1 if name == "Y" else 1
            symbols = [symbol for symbol, _ in characters]
            for i, j in self._pairs(symbols, symbols, _diagonal(symbols)):
                left, factor_of_left = characters[i]
                right, factor_of_right = characters[j]
                weight = _sum((left, sign * factor_of_left), (right, -sign * factor_of_right))
                yield name, (i, j), weight

    def entries_of_a(self) -> Iterator[tuple[IndexPair, TorusWeight]]:
        """The entries (p, i) of A, as in :meth:`action`."""
        symbols = [symbol for symbol, _ in self.inputs]
        for p, i in self._pairs(self.tokens, symbols, enumerate(range(len(self.tokens)))):
            yield (p, i), _sum((self.tokens[p], 1), self.inputs[i])

    def entries_of_v(self) -> Iterator[tuple[IndexPair, TorusWeight]]:
        """The entries (k, q) of V, as in :meth:`action`."""
        symbols = [symbol for symbol, _ in self.outputs]
        for k, q in self._pairs(symbols, self.tokens, self.places):
            yield (k, q), _sum(self.outputs[k], (self.tokens[q], 1))

    def _pairs(
        self,
        rows: Iterable[TorusCharacter],
        columns: Iterable[TorusCharacter],
        matched: Iterable[IndexPair],
    ) -> list[IndexPair]:
        """The pairs of indices with few symbols only, and those that match."""
        chosen_rows = [i for i, symbol in enumerate(rows) if symbol in self.few]
        chosen_columns = [j for j, symbol in enumerate(columns) if symbol in self.few]
        return sorted({*product(chosen_rows, chosen_columns), *matched})

    def rank(self, directions: Iterable[WeightedDirection]) -> int:
        """The rank of the images of all directions of a kind, from those that are listed.

        Two weights are of the same kind if a permutation of the symbols within their classes maps
        one to the other: these permutations fix the representative. A weight has at most two
        symbols, so one of few symbols only is of each kind.
        """
        first: dict[tuple[tuple[str, int], ...], TorusWeight] = {}
        images: dict[TorusWeight, list[FunctionCoordinates]] = {}
        for weight, image in directions:
            if not all(symbol in self.few for symbol, _ in weight):
                continue
            kind = tuple(sorted((name, c) for (name, _), c in weight))
            if first.setdefault(kind, weight) == weight:
                images.setdefault(weight, []).append(image())
        total = 0
        for kind, weight in first.items():
            total += _number_of_weights(kind, self.sizes) * sparse_rank(images[weight])
        return total


def _number_of_weights(kind: Iterable[tuple[str, int]], sizes: Counter[str]) -> int:
    """The number of weights of a kind: ways to choose a different symbol for each coefficient.

    Two equal coefficients of symbols of one class, as in t_p + t_q, are exchanged by a permutation
    and count once.
    """
    taken: Counter[str] = Counter()
    equal: Counter[tuple[str, int]] = Counter()
    number = 1
    for name, coefficient in kind:
        equal[name, coefficient] += 1
        number = number * (sizes[name] - taken[name]) // equal[name, coefficient]
        taken[name] += 1
    return number
