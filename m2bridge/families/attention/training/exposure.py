"""Which types of weights are exposed, by ranks; nothing here knows what the theorem predicts.

With f the map from pairs (A, W) to functions, and J the differential of weights ↦ (A, W), the
differential of weights ↦ functions is F J, where F is that of f at (A, W). Targets are u, the loss
is ½|f − u|², and weights are critical for u exactly if ν = u − f vanishes on the image of F J.

*Exposed* is proved by Lemma 1 of docs/training.md: a type is exposed if at some of its weights, for
some ν, the form B(x, w) = ⟨FJx, FJw⟩ − ν(d²(x, w)) on tangent vectors x of the type and all w has
the rank of F J. *Not exposed* is proved in one of two ways. By Lemma 2 the functions of the type,
together with their tangent spaces, have at least the dimension rk F J if it is exposed. By Lemma 4
ranks of ν on A and on W, which are bounded where weights of the type are critical, are not larger
for general ν at the balanced type, if that has no more dimensions than there are targets.

Ranks over QQ are those at weights in the dense orbit of a type, which are those of general ones;
ranks modulo a prime, at random weights of the type, are lower bounds for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, product
from random import Random
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import SparseVector, sparse_rank
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training.types import TypedWeights, WeightType, representative
from m2bridge.limits import check_deadline_in
from m2bridge.statements.statement import IntegerMatrix

PRIME = 2**31 - 1
"""Ranks of the form B are found modulo this prime."""

IntegerEntries = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFacts:
    """What ranks say of one type.

    Parameters
    ----------
    kind : WeightType
    functions : int
        The dimension of the functions of the type.
    functions_with_spaces : int
        That of the functions with the row spaces of K and Q, and the column space of O and the row
        space of V where values are factorized; these determine the tangent space of each function.
    rank : int
        The rank of the differential of the parametrization, the same at all weights of the type.
    form_rank : int
        The rank of the form B of Lemma 1 modulo a prime: at most ``rank``.
    exposed : bool or None
        ``None`` where no lemma decides it.
    saddle : bool or None
        Whether the Hessian is proved to be indefinite for general ν, in the directions of
        docs/training.md#theorem-saddles; ``None`` where there are no such directions.
    """

    kind: WeightType
    functions: int
    functions_with_spaces: int
    rank: int
    form_rank: int
    exposed: bool | None
    saddle: bool | None

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``, and for certificates."""
        return {
            "type": list(self.kind.cells),
            "functions": self.functions,
            "functions_with_spaces": self.functions_with_spaces,
            "rank": self.rank,
            "form_rank": self.form_rank,
            "exposed": self.exposed,
            "saddle": self.saddle,
        }


def facts_of(
    kinds: Sequence[WeightType], shape: LayerSizes, head_dim: int | None = None
) -> Iterator[TypeFacts]:
    """Decide for each of these types whether it is exposed; TimeLimitError at the limit."""
    for kind in check_deadline_in(kinds):
        yield type_facts(kind, shape, head_dim)


def type_facts(kind: WeightType, shape: LayerSizes, head_dim: int | None = None) -> TypeFacts:
    """Decide whether one type is exposed, by ranks."""
    exact = Differentials(representative(kind, shape, head_dim), shape)
    rank = sparse_rank(exact.image)
    functions = sparse_rank(exact.along_type)
    with_spaces = sparse_rank(_with_moved_spaces(exact, kind))
    # numbers of its own for each type, the same in every run
    random = Random(f"{shape.key} {kind}")
    critical = CriticalWeights.random(kind, shape, random, head_dim)
    form_rank = critical.form_rank
    exposed: bool | None = None
    if form_rank == rank:
        exposed = True
    elif with_spaces < rank or _is_bounded(kind, shape, head_dim, random):
        exposed = False
    return TypeFacts(
        kind=kind,
        functions=functions,
        functions_with_spaces=with_spaces,
        rank=rank,
        form_rank=form_rank,
        exposed=exposed,
        saddle=critical.is_saddle(kind) if exposed else None,
    )


def _is_bounded(kind: WeightType, shape: LayerSizes, head_dim: int | None, random: Random) -> bool:
    """Whether Lemma 4 proves that a type with factorized values is not exposed.

    Its weights are critical for u only if weights of the balanced type with the same A and W are,
    and ν has rank at most d − max(k, q) on A, and min(d' − o, d − v) on W. The critical pairs of
    the balanced type have the dimension of the targets if its functions have that of the rank.
    """
    balanced = kind.balanced
    if head_dim is None or kind.v is None or kind.o is None or balanced == kind:
        return False
    exact = Differentials(representative(balanced, shape, head_dim), shape)
    functions = sparse_rank(exact.along_type)
    rank = sparse_rank(exact.image)
    if functions < rank:
        # fewer critical pairs than targets, whatever the ranks of ν are
        return True
    if functions > rank:
        return False
    critical = CriticalWeights.random(balanced, shape, random, head_dim)
    most_on_a = shape.d - max(kind.k, kind.q)
    most_on_w = min(shape.d_out - kind.o, shape.d - kind.v)
    return critical.rank_on_a > most_on_a or critical.rank_on_w > most_on_w


class Differentials:
    """The differentials at some weights, which are integers, or meant modulo :data:`PRIME`.

    Weights stand in the order K, Q, (O,) V and row by row; functions have the reduced coordinates
    c_{k,i,{p,q}}. The tangent vectors span the tangent space of the type: they are the directions
    in which the group of changes of bases moves the weights.
    """

    def __init__(self, weights: TypedWeights, shape: LayerSizes) -> None:
        self.weights = weights
        self.shape = shape

    @cached_property
    def A(self) -> IntegerEntries:
        """The attention matrix KᵀQ, modulo the prime."""
        return _entries(_modulo(self.weights.K).transpose() * _modulo(self.weights.Q))

    @cached_property
    def W(self) -> IntegerEntries:
        """The values V or OV, modulo the prime."""
        if self.weights.O is None:
            return self.weights.V
        return _entries(_modulo(self.weights.O) * _modulo(self.weights.V))

    @cached_property
    def functions_of_pairs(self) -> list[list[int]]:
        """The differential F of (A, W) ↦ f, with columns A_pi and then W_kq, row by row."""
        d, d_out = self.shape.d, self.shape.d_out
        rows = []
        for k in range(d_out):
            for i in range(d):
                for p, q in combinations_with_replacement(range(d), 2):
                    row = [0] * (d * d + d_out * d)
                    # the coefficient of y_p y_q in (Σ A_pi y_p)(Σ W_kq y_q)
                    for first, second in {(p, q), (q, p)}:
                        row[first * d + i] += self.W[k][second]
                        row[d * d + k * d + second] += self.A[first][i]
                    rows.append(row)
        return rows

    @cached_property
    def pairs_of_weights(self) -> list[list[int]]:
        """The differential J of weights ↦ (A, W), transposed: a row for each weight."""
        d, d_out, a = self.shape.d, self.shape.d_out, self.shape.a
        K, Q, O, V = self.weights.K, self.weights.Q, self.weights.O, self.weights.V
        # K_bp is in A_pi with the coefficient Q_bi, and Q_bi with K_bp
        rows = [
            self._pair(of_a={(p, i): Q[b][i] for i in range(d)})
            for b, p in product(range(a), range(d))
        ]
        rows += [
            self._pair(of_a={(p, i): K[b][p] for p in range(d)})
            for b, i in product(range(a), range(d))
        ]
        if O is None:
            places = product(range(d_out), range(d))
            return rows + [self._pair(of_w={place: 1}) for place in places]
        inner = range(len(V))
        rows += [
            self._pair(of_w={(k, q): V[c][q] for q in range(d)})
            for k, c in product(range(d_out), inner)
        ]
        rows += [
            self._pair(of_w={(k, q): O[k][c] for k in range(d_out)})
            for c, q in product(inner, range(d))
        ]
        return rows

    def _pair(self, of_a: dict[Any, int] | None = None, of_w: dict[Any, int] | None = None) -> Any:
        d = self.shape.d
        entries = [0] * (d * d + self.shape.d_out * d)
        for (p, i), value in (of_a or {}).items():
            entries[p * d + i] = value
        for (k, q), value in (of_w or {}).items():
            entries[d * d + k * d + q] = value
        return entries

    @cached_property
    def image_modulo(self) -> Any:
        """The differential F J of weights ↦ functions, modulo the prime."""
        return _modulo(self.functions_of_pairs) * _modulo(self.pairs_of_weights).transpose()

    @cached_property
    def image(self) -> list[SparseVector]:
        """The same over ZZ: the image of each weight, by its nonzero coordinates."""
        columns = list(map(_nonzero, zip(*self.functions_of_pairs, strict=True)))
        return [_combined(_nonzero(row), columns) for row in self.pairs_of_weights]

    @cached_property
    def along_type(self) -> list[SparseVector]:
        """The images of the tangent vectors of the type, over ZZ."""
        return [_combined(_nonzero(move), self.image) for move in self.tangents]

    @cached_property
    def tangents(self) -> list[list[int]]:
        """Directions of the group of changes of bases: each a list of entries of all weights."""
        K, Q, O, V = self.weights.K, self.weights.Q, self.weights.O, self.weights.V
        moves = []
        for i, j in _units(self.shape.a):  # K ↦ gK, Q ↦ g⁻ᵀQ
            moves.append(self._move(K=_row_of(K, j, i), Q=_row_of(Q, i, j, -1)))
        for i, j in _units(self.shape.d):  # bases of the tokens that K and V see
            moves.append(self._move(K=_column_of(K, i, j), V=_column_of(V, i, j)))
        for i, j in _units(self.shape.d):
            moves.append(self._move(Q=_column_of(Q, i, j)))
        for i, j in _units(self.shape.d_out):
            if O is None:
                moves.append(self._move(V=_row_of(V, j, i)))
            else:
                moves.append(self._move(O=_row_of(O, j, i)))
        if O is not None:
            for i, j in _units(len(V)):  # O ↦ Og, V ↦ g⁻¹V
                moves.append(self._move(O=_column_of(O, i, j), V=_row_of(V, j, i, -1)))
        return moves

    def _move(self, **moved: IntegerEntries) -> list[int]:
        """The direction that moves some of the matrices, as a list of entries."""
        entries: list[int] = []
        for name in ("K", "Q", "O", "V"):
            matrix = getattr(self.weights, name)
            if matrix is None:
                continue
            for row in moved.get(name) or [[0] * len(row) for row in matrix]:
                entries += row
        return entries


@dataclass(frozen=True, slots=True)
class CriticalWeights:
    """Random weights of a type modulo the prime, and a random ν for which they are critical."""

    at: Differentials
    nu: Sequence[int]

    @classmethod
    def random(
        cls, kind: WeightType, shape: LayerSizes, random: Random, head_dim: int | None
    ) -> CriticalWeights:
        """Move the representative by random changes of bases, and combine all ν at random."""
        at = Differentials(_moved(representative(kind, shape, head_dim), random), shape)
        vanishing, count = at.image_modulo.transpose().nullspace()
        factors = [[random.randrange(PRIME)] for _ in range(vanishing.ncols())]
        if not count:
            return cls(at, [0] * vanishing.nrows())
        factors[count:] = [[0]] * (vanishing.ncols() - count)
        nu = vanishing * flint.nmod_mat(factors, PRIME)
        return cls(at, [int(nu[row, 0]) for row in range(nu.nrows())])

    @property
    def form_rank(self) -> int:
        """The rank of the form B of Lemma 1."""
        image, tangents = self.at.image_modulo, _modulo(self.at.tangents)
        gram = image.transpose() * image
        return int((tangents * (gram - self._second_derivative())).rank())

    def _second_derivative(self) -> Any:
        """The matrix of ν(d²(x, w)) in the entries of the weights.

        It has two parts: f is bilinear in (A, W), and these are so in (K, Q) and (O, V).
        """
        pairs = _modulo(self.at.pairs_of_weights)
        second = pairs * self._form_on_pairs() * pairs.transpose()
        return second + self._form_on_factors()

    def _form_on_pairs(self) -> Any:
        """ν(f(Ȧ, W')) + ν(f(A', Ẇ)) as a matrix in the entries of pairs."""
        d, d_out = self.at.shape.d, self.at.shape.d_out
        size = d * d + d_out * d
        rows = [[0] * size for _ in range(size)]
        for (k, i, p, q), value in self._by_index():
            of_a, of_w = p * d + i, d * d + k * d + q
            rows[of_a][of_w] = rows[of_w][of_a] = value
        return flint.nmod_mat(rows, PRIME)

    def _by_index(self) -> Iterator[tuple[tuple[int, int, int, int], int]]:
        """The value of ν for each product A_pi W_kq."""
        d, d_out = self.at.shape.d, self.at.shape.d_out
        position = 0
        for k in range(d_out):
            for i in range(d):
                for p, q in combinations_with_replacement(range(d), 2):
                    for first, second in {(p, q), (q, p)}:
                        yield (k, i, first, second), self.nu[position]
                    position += 1

    def on_a(self) -> IntegerEntries:
        """The form A' ↦ ν(f(A', W)) as a d×d matrix."""
        d, W = self.at.shape.d, self.at.W
        form = [[0] * d for _ in range(d)]
        for (k, i, p, q), value in self._by_index():
            form[p][i] += value * int(W[k][q])
        return form

    def on_w(self) -> IntegerEntries:
        """The form W' ↦ ν(f(A, W')) as a d'×d matrix."""
        d, d_out, A = self.at.shape.d, self.at.shape.d_out, self.at.A
        form = [[0] * d for _ in range(d_out)]
        for (k, i, p, q), value in self._by_index():
            form[k][q] += value * int(A[p][i])
        return form

    @property
    def rank_on_a(self) -> int:
        """The rank of :meth:`on_a`."""
        return int(_modulo(self.on_a()).rank())

    @property
    def rank_on_w(self) -> int:
        """The rank of :meth:`on_w`."""
        return int(_modulo(self.on_w()).rank())

    def _form_on_factors(self) -> Any:
        """ν of the products K̇ᵀQ' and ȮV', as a matrix in the entries of weights."""
        d, d_out, a = self.at.shape.d, self.at.shape.d_out, self.at.shape.a
        size = len(self.at.pairs_of_weights)
        rows = [[0] * size for _ in range(size)]
        for p, row in enumerate(self.on_a()):
            for i, value in enumerate(row):
                for b in range(a):
                    of_k, of_q = b * d + p, a * d + b * d + i
                    rows[of_k][of_q] = rows[of_q][of_k] = value
        if self.at.weights.O is not None:
            inner = len(self.at.weights.V)
            first_o = 2 * a * d
            first_v = first_o + d_out * inner
            for k, row in enumerate(self.on_w()):
                for q, value in enumerate(row):
                    for c in range(inner):
                        of_o, of_v = first_o + k * inner + c, first_v + c * d + q
                        rows[of_o][of_v] = rows[of_v][of_o] = value
        return flint.nmod_mat(rows, PRIME)

    def is_saddle(self, kind: WeightType) -> bool | None:
        """Whether the Hessian takes both signs, for general ν at these critical weights.

        Where K and Q have the rank of A, below a, there are e and e' in R^a with eᵀQ = 0, e'ᵀK = 0
        and e·e' ≠ 0. For K + εexᵀ and Q + εe'yᵀ only A moves, by ε² (e·e') xyᵀ, so the loss by
        −ε² (e·e') ν(f(xyᵀ, W)), whose sign is that of x. This is not zero for all x and y exactly
        if the form of ν on A is not zero. Likewise for O and V. ``None`` where there is no e.
        """
        if kind.k == kind.q == kind.r < self.at.shape.a and self.rank_on_a > 0:
            return True
        factored = self.at.weights.O is not None
        if factored and kind.o == kind.v == kind.s < len(self.at.weights.V) and self.rank_on_w > 0:
            return True
        return None


def _with_moved_spaces(at: Differentials, kind: WeightType) -> list[SparseVector]:
    """The images of the tangent vectors of a type, with how they move the spaces of the factors.

    These are the row spaces of K and Q, and for factorized values the column space of O and the row
    space of V. At the representative they are spanned by unit vectors. They move as the matrices do
    modulo the space itself: in the columns of K, Q and V, and the rows of O, that are zero there.
    """
    places = _places_outside(at.weights, kind)
    extended = []
    for image, move in zip(at.along_type, at.tangents, strict=True):
        moved = {("space", place): move[place] for place in places if move[place]}
        extended.append(image | moved)
    return extended


def _places_outside(weights: TypedWeights, kind: WeightType) -> list[int]:
    """The places, among all weights, of the entries in those columns, and rows, that are zero."""
    places = []
    start = 0
    for name in ("K", "Q", "O", "V"):
        matrix = getattr(weights, name)
        if matrix is None:
            continue
        columns = list(zip(*matrix, strict=True))
        for i, j in product(range(len(matrix)), range(len(columns))):
            outside = not any(matrix[i] if name == "O" else columns[j])
            if outside and (name != "V" or kind.v is not None):
                places.append(start + i * len(columns) + j)
        start += len(matrix) * len(columns)
    return places


def _nonzero(entries: Iterable[int]) -> SparseVector:
    return {place: entry for place, entry in enumerate(entries) if entry}


def _combined(coefficients: SparseVector, vectors: Sequence[SparseVector]) -> SparseVector:
    """The sum of multiples of vectors, which are given by their positions."""
    total: SparseVector = {}
    for position, coefficient in coefficients.items():
        for place, entry in vectors[position].items():
            total[place] = total.get(place, 0) + coefficient * entry
    return {place: entry for place, entry in total.items() if entry}


def _moved(weights: TypedWeights, random: Random) -> TypedWeights:
    """The weights after random changes of all bases, modulo the prime."""
    K, Q, V = map(_modulo, (weights.K, weights.Q, weights.V))
    a, d = K.nrows(), K.ncols()
    heads = _invertible(a, random)
    tokens = _invertible(d, random)
    K = heads * K * tokens
    Q = heads.inv().transpose() * Q * _invertible(d, random)
    if weights.O is None:
        V = _invertible(V.nrows(), random) * V * tokens
        return TypedWeights(_entries(K), _entries(Q), _entries(V))
    O = _modulo(weights.O)
    inner = _invertible(V.nrows(), random)
    O = _invertible(O.nrows(), random) * O * inner
    V = inner.inv() * V * tokens
    return TypedWeights(_entries(K), _entries(Q), _entries(V), _entries(O))


def _modulo(matrix: IntegerEntries) -> Any:
    return flint.nmod_mat([list(row) for row in matrix], PRIME)


def _entries(matrix: Any) -> IntegerMatrix:
    return tuple(tuple(map(int, row)) for row in matrix.tolist())


def _invertible(size: int, random: Random) -> Any:
    while True:
        entries = [random.randrange(PRIME) for _ in range(size * size)]
        found = flint.nmod_mat(size, size, entries, PRIME)
        if found.rank() == size:
            return found


def _units(size: int) -> Iterator[tuple[int, int]]:
    """The places of the entries of a square matrix."""
    for i in range(size):
        for j in range(size):
            yield i, j


def _row_of(matrix: IntegerEntries, source: int, target: int, factor: int = 1) -> IntegerEntries:
    """A matrix whose row ``target`` is a multiple of the row ``source``, and zero elsewhere."""
    moved = [[0] * len(row) for row in matrix]
    moved[target] = [factor * entry for entry in matrix[source]]
    return moved


def _column_of(matrix: IntegerEntries, source: int, target: int) -> IntegerEntries:
    """A matrix whose column ``target`` is the column ``source``, and zero elsewhere."""
    moved = [[0] * len(row) for row in matrix]
    for row, given in zip(moved, matrix, strict=True):
        row[target] = given[source]
    return moved
