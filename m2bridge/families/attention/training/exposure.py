"""Which types of weights are exposed, by ranks; nothing here knows what the theorem predicts.

A is KᵀQ, and W is V, or OV where values are factorized. The type of weights has the ranks k, q, (o,
v,) r, s of K, Q, (O, V,) A, W, and a dimension m; the balanced type has k = q = r and o = v = s.
With f the map from pairs (A, W) to functions, and J the differential of weights ↦ (A, W), the
differential of weights ↦ functions is F J, where F is that of f at (A, W), and d² is the second
derivative. Targets are u, the loss is ½|f − u|², and weights are critical for u exactly if ν = u −
f vanishes on the image of F J.

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

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
"""A matrix of integers, row by row."""


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
        Whether directions (docs/training.md#theorem-saddles) prove the Hessian indefinite for
        general ν; ``None`` where they do not, or the type is not proved to be exposed.
    """

    kind: WeightType
    functions: int
    functions_with_spaces: int
    rank: int
    form_rank: int
    exposed: bool | None
    saddle: bool | None

    def to_json(self) -> dict[str, Any]:
        """A dictionary for certificates: "type" has the ranks of the type, the others the facts."""
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
    """Yield for each of these types whether it is exposed, and the ranks that decide it.

    Where values are factorized, ``head_dim`` is the number of columns of O and of rows of V. Raises
    TimeLimitError at the limit.
    """
    for kind in check_deadline_in(kinds):
        yield type_facts(kind, shape, head_dim)


def type_facts(kind: WeightType, shape: LayerSizes, head_dim: int | None = None) -> TypeFacts:
    """Decide by ranks whether a type is exposed; factorized values have O with head_dim columns."""
    at_representative = Differentials(representative(kind, shape, head_dim), shape)
    rank = sparse_rank(at_representative.columns_of_FJ)
    functions_dimension = sparse_rank(at_representative.images_along_type)
    dimension_with_spaces = sparse_rank(_images_with_moved_spaces(at_representative, kind))
    # each type has random numbers of its own, which are the same in every run
    random = Random(f"{shape.key} {kind}")
    critical = CriticalWeights.random(kind, shape, random, head_dim)
    form_rank = critical.form_rank
    exposed: bool | None = None  # not decided
    if form_rank == rank:
        exposed = True  # Lemma 1: a rank modulo a prime is a lower bound, and B has at most this
    elif dimension_with_spaces < rank or _is_excluded_by_lemma_4(kind, shape, head_dim, random):
        exposed = False  # by Lemma 2, or by Lemma 4
    return TypeFacts(
        kind=kind,
        functions=functions_dimension,
        functions_with_spaces=dimension_with_spaces,
        rank=rank,
        form_rank=form_rank,
        exposed=exposed,
        # the question is asked only where weights of the type are proved to be critical
        saddle=critical.decide_saddle(kind) if exposed is True else None,
    )


def _is_excluded_by_lemma_4(
    kind: WeightType, shape: LayerSizes, head_dim: int | None, random: Random
) -> bool:
    """Whether Lemma 4 proves that a type with factorized values is not exposed; else False.

    Weights of the type are critical for u only if weights of the balanced type with the same A and
    W are, and ν has rank at most d − max(k, q) on A, and min(d' − o, d − v) on W. The pairs (f, ν)
    that are critical at the balanced type are an irreducible family. Its dimension less that of the
    space of targets is δ, the dimension of the functions less the rank of the differential there.

    * δ < 0: general targets have no such pair, so the type is not exposed.
    * δ = 0: it is not exposed if a general ν, chosen by ``random``, has a larger rank.
    * δ > 0: the lemma says nothing.
    """
    if head_dim is None or kind.o is None or kind.v is None:
        return False  # values are not factorized
    balanced = kind.balanced
    if balanced == kind:
        return False  # the lemma compares a type with another one
    at_representative = Differentials(representative(balanced, shape, head_dim), shape)
    functions_dimension = sparse_rank(at_representative.images_along_type)
    rank = sparse_rank(at_representative.columns_of_FJ)
    delta = functions_dimension - rank
    if delta != 0:
        return delta < 0
    critical = CriticalWeights.random(balanced, shape, random, head_dim)
    # the bounds for ranks of ν where weights of the type itself are critical
    largest_on_a = shape.d - max(kind.k, kind.q)
    largest_on_w = min(shape.d_out - kind.o, shape.d - kind.v)
    return critical.rank_on_a > largest_on_a or critical.rank_on_w > largest_on_w


class Differentials:
    """The differentials at some weights, which are integers, or meant modulo :data:`PRIME`.

    J is that of weights ↦ (A, W), and F that of (A, W) ↦ f. Weights stand in the order K, Q, (O,) V
    and row by row; pairs in the order A, W; functions have the reduced coordinates c_{k,i,{p,q}}.
    The tangent vectors span the tangent space of the type: they are the directions in which the
    group of changes of bases moves the weights.
    """

    def __init__(self, weights: TypedWeights, shape: LayerSizes) -> None:
        """Take the weights of a layer of this shape; all else is computed when it is used."""
        self.weights = weights
        self.shape = shape

    @cached_property
    def A(self) -> IntegerEntries:
        """The attention matrix KᵀQ modulo the prime, by integers from 0 on."""
        K, Q = _matrix_modulo_prime(self.weights.K), _matrix_modulo_prime(self.weights.Q)
        return _rows_of_integers(K.transpose() * Q)

    @cached_property
    def W(self) -> IntegerEntries:
        """The values V as they are; or OV modulo the prime, by integers from 0 on."""
        if self.weights.O is None:
            return self.weights.V
        O, V = _matrix_modulo_prime(self.weights.O), _matrix_modulo_prime(self.weights.V)
        return _rows_of_integers(O * V)

    @cached_property
    def functions_of_pairs(self) -> list[list[int]]:
        """The differential F of (A, W) ↦ f: columns A_pi and then W_kq, rows c_{k,i,{p,q}}."""
        d, d_out = self.shape.d, self.shape.d_out
        rows = []
        for k in range(d_out):
            for i in range(d):
                for p, q in combinations_with_replacement(range(d), 2):
                    row = [0] * (d * d + d_out * d)
                    # y_p y_q has in (Σ A_pi y_p)(Σ W_kq y_q) the coefficient A_pi W_kq + A_qi W_kp,
                    # or A_pi W_kp for p = q: the set has then one element
                    for first, second in {(p, q), (q, p)}:
                        row[first * d + i] += self.W[k][second]
                        row[d * d + k * d + second] += self.A[first][i]
                    rows.append(row)
        return rows

    @cached_property
    def pairs_of_weights(self) -> list[list[int]]:
        """The differential J of weights ↦ (A, W), transposed.

        It has a row for each weight, with the entries of the pair (A, W) that moves with it.
        """
        d, d_out, a = self.shape.d, self.shape.d_out, self.shape.a
        K, Q, O, V = self.weights.K, self.weights.Q, self.weights.O, self.weights.V
        # A_pi = Σ_b K_bp Q_bi: along K_bp row p of A moves by row b of Q, along Q_bi its column i
        along_k = [
            self._pair_as_list(of_a={(p, i): Q[b][i] for i in range(d)})
            for b, p in product(range(a), range(d))
        ]
        along_q = [
            self._pair_as_list(of_a={(p, i): K[b][p] for p in range(d)})
            for b, i in product(range(a), range(d))
        ]
        if O is None:
            places = product(range(d_out), range(d))
            return along_k + along_q + [self._pair_as_list(of_w={place: 1}) for place in places]
        # W_kq = Σ_c O_kc V_cq, in the same way
        inner = range(len(V))
        along_o = [
            self._pair_as_list(of_w={(k, q): V[c][q] for q in range(d)})
            for k, c in product(range(d_out), inner)
        ]
        along_v = [
            self._pair_as_list(of_w={(k, q): O[k][c] for k in range(d_out)})
            for c, q in product(inner, range(d))
        ]
        return along_k + along_q + along_o + along_v

    def _pair_as_list(
        self,
        of_a: Mapping[tuple[int, int], int] | None = None,
        of_w: Mapping[tuple[int, int], int] | None = None,
    ) -> list[int]:
        """A pair (A', W') as the list of its entries, from ``of_a`` and ``of_w``.

        These have the entries that are not zero by row and column; ``None`` stands for a matrix of
        zeros. The entries of A' come first, row by row.
        """
        d = self.shape.d
        entries = [0] * (d * d + self.shape.d_out * d)
        for (p, i), value in (of_a or {}).items():
            entries[p * d + i] = value
        for (k, q), value in (of_w or {}).items():
            entries[d * d + k * d + q] = value
        return entries

    @cached_property
    def image_modulo(self) -> flint.nmod_mat:
        """The differential F J of weights ↦ functions, modulo the prime, in columns by weights."""
        F = _matrix_modulo_prime(self.functions_of_pairs)
        transposed_J = _matrix_modulo_prime(self.pairs_of_weights)
        return F * transposed_J.transpose()

    @cached_property
    def columns_of_FJ(self) -> list[SparseVector]:
        """The columns of the differential F J over ZZ, one for each weight, by nonzero entries."""
        columns_of_F = list(map(_nonzero_entries, zip(*self.functions_of_pairs, strict=True)))
        columns_of_J = map(_nonzero_entries, self.pairs_of_weights)
        return [_linear_combination(column, columns_of_F) for column in columns_of_J]

    @cached_property
    def images_along_type(self) -> list[SparseVector]:
        """The image F J x of each tangent vector x of the type, over ZZ."""
        tangents = map(_nonzero_entries, self.tangents)
        return [_linear_combination(tangent, self.columns_of_FJ) for tangent in tangents]

    @cached_property
    def tangents(self) -> list[list[int]]:
        """The directions in which changes of bases move the weights, by the entries of all weights.

        There is one for each unit matrix E_ij in the Lie algebra of each of the groups GL: E_ij K
        has row j of K as its row i, and K E_ij has column i of K as its column j.
        """
        K, Q, O, V = self.weights.K, self.weights.Q, self.weights.O, self.weights.V
        moves = []
        # K ↦ gK, Q ↦ g⁻ᵀQ: for g = 1 + εE_ij they move by E_ij K and −E_ji Q
        for i, j in product(range(self.shape.a), repeat=2):
            of_K, of_Q = _move_row(K, j, i), _move_row(Q, i, j, factor=-1)
            moves.append(self._direction_as_list(K=of_K, Q=of_Q))
        for i, j in product(range(self.shape.d), repeat=2):  # bases of tokens that K and V see
            moves.append(self._direction_as_list(K=_move_column(K, i, j), V=_move_column(V, i, j)))
        for i, j in product(range(self.shape.d), repeat=2):  # bases of the tokens that Q sees
            moves.append(self._direction_as_list(Q=_move_column(Q, i, j)))
        for i, j in product(range(self.shape.d_out), repeat=2):  # bases of outputs
            if O is None:
                moves.append(self._direction_as_list(V=_move_row(V, j, i)))
            else:
                moves.append(self._direction_as_list(O=_move_row(O, j, i)))
        if O is not None:
            # O ↦ Og, V ↦ g⁻¹V: for g = 1 + εE_ij they move by O E_ij and −E_ij V
            for i, j in product(range(len(V)), repeat=2):
                of_O, of_V = _move_column(O, i, j), _move_row(V, j, i, factor=-1)
                moves.append(self._direction_as_list(O=of_O, V=of_V))
        return moves

    def _direction_as_list(self, **moved: IntegerEntries) -> list[int]:
        """A direction of weights, as the list of its entries in the order K, Q, (O,) V.

        ``moved`` has the derivatives of some matrices by their names; the others do not move.
        """
        entries: list[int] = []
        for name in ("K", "Q", "O", "V"):
            matrix = getattr(self.weights, name)
            if matrix is None:
                continue
            zero = [[0] * len(row) for row in matrix]
            for row in moved.get(name, zero):
                entries += row
        return entries


@dataclass(frozen=True, slots=True)
class CriticalWeights:
    """Random weights of a type modulo the prime, and a random ν for which they are critical.

    Parameters
    ----------
    differentials : Differentials
        Those at the weights.
    nu : sequence of int
        The values of ν on the reduced coordinates of functions.
    """

    differentials: Differentials
    nu: Sequence[int]

    @classmethod
    def random(
        cls, kind: WeightType, shape: LayerSizes, random: Random, head_dim: int | None
    ) -> CriticalWeights:
        """Move the representative of a type by random changes of bases, and take a random ν.

        ν is a combination, with random factors, of a basis of those that vanish on the image of the
        differential; zero if there is none but zero.
        """
        weights = _change_bases(representative(kind, shape, head_dim), random)
        differentials = Differentials(weights, shape)
        # ν as a column of its values: (F J)ᵀ ν = 0. FLINT's matrix has a basis of this kernel in
        # its first ``dimension`` columns, and zeros in the others.
        kernel, dimension = differentials.image_modulo.transpose().nullspace()
        # drawn in any case, so that what ``random`` gives next does not depend on the dimension
        factors = [[random.randrange(PRIME)] for _ in range(kernel.ncols())]
        if dimension == 0:
            return cls(differentials, [0] * kernel.nrows())
        factors[dimension:] = [[0]] * (kernel.ncols() - dimension)
        nu = kernel * flint.nmod_mat(factors, PRIME)
        return cls(differentials, [int(nu[row, 0]) for row in range(nu.nrows())])

    @property
    def form_rank(self) -> int:
        """The rank of the form B(x, w) = ⟨FJx, FJw⟩ − ν(d²(x, w)) of Lemma 1, modulo the prime.

        x are the tangent vectors of the type, and w all directions of weights.
        """
        image = self.differentials.image_modulo  # F J, with a column for each weight
        tangents = _matrix_modulo_prime(self.differentials.tangents)  # a row for each x
        gram = image.transpose() * image  # of ⟨FJw', FJw⟩ for all weights w' and w
        form = tangents * (gram - self._second_derivative())
        return int(form.rank())

    def _second_derivative(self) -> flint.nmod_mat:
        """The matrix of ν(d²(x, w)) in the entries of the weights, modulo the prime.

        It has two parts, as f is bilinear in (A, W), and A is in (K, Q), W in (O, V): the form of ν
        on the pairs (A, W) that move with two weights, and ν of the products of two factors.
        """
        transposed_J = _matrix_modulo_prime(self.differentials.pairs_of_weights)
        through_pairs = transposed_J * self._form_on_pairs() * transposed_J.transpose()
        return through_pairs + self._form_on_factors()

    def _form_on_pairs(self) -> flint.nmod_mat:
        """The form ν(f(Ȧ, W')) + ν(f(A', Ẇ)) on two pairs (Ȧ, Ẇ) and (A', W'), as a matrix.

        The matrix is symmetric, with a row and a column for each entry of a pair, modulo the prime.
        A_pi is entry p d + i of a pair (A, W), and W_kq entry d² + k d + q.
        """
        d, d_out = self.differentials.shape.d, self.differentials.shape.d_out
        size = d * d + d_out * d
        rows = [[0] * size for _ in range(size)]
        for (k, i, p, q), value in self._values_on_products():
            of_a = p * d + i
            of_w = d * d + k * d + q
            rows[of_a][of_w] = rows[of_w][of_a] = value
        return flint.nmod_mat(rows, PRIME)

    def _values_on_products(self) -> Iterator[tuple[tuple[int, int, int, int], int]]:
        """Yield ((k, i, p, q), value of ν on c_{k,i,{p,q}}), as A_pi W_kq is in no other one."""
        d, d_out = self.differentials.shape.d, self.differentials.shape.d_out
        position = 0
        for k in range(d_out):
            for i in range(d):
                for p, q in combinations_with_replacement(range(d), 2):
                    for first, second in {(p, q), (q, p)}:
                        yield (k, i, first, second), self.nu[position]
                    position += 1

    def form_on_a(self) -> IntegerEntries:
        """The linear form A' ↦ ν(f(A', W)) by its coefficients, a d×d matrix as A' is."""
        d, W = self.differentials.shape.d, self.differentials.W
        form = [[0] * d for _ in range(d)]
        for (k, i, p, q), value in self._values_on_products():
            form[p][i] += value * int(W[k][q])
        return form

    def form_on_w(self) -> IntegerEntries:
        """The linear form W' ↦ ν(f(A, W')) by its coefficients, a d'×d matrix as W' is."""
        d, d_out = self.differentials.shape.d, self.differentials.shape.d_out
        A = self.differentials.A
        form = [[0] * d for _ in range(d_out)]
        for (k, i, p, q), value in self._values_on_products():
            form[k][q] += value * int(A[p][i])
        return form

    @property
    def rank_on_a(self) -> int:
        """The rank of :meth:`form_on_a`."""
        return int(_matrix_modulo_prime(self.form_on_a()).rank())

    @property
    def rank_on_w(self) -> int:
        """The rank of :meth:`form_on_w`."""
        return int(_matrix_modulo_prime(self.form_on_w()).rank())

    def _form_on_factors(self) -> flint.nmod_mat:
        """The form ν(f(K̇ᵀQ' + K'ᵀQ̇, W)), for factorized values plus ν(f(A, ȮV' + O'V̇)).

        It is bilinear in two directions of weights, the dotted and the primed one, and returned as
        a symmetric matrix with a row and a column for each entry of weights, modulo the prime. K_bp
        is entry b d + p of weights, and Q_bi entry a d + b d + i; then come those of O and V.
        """
        shape, weights = self.differentials.shape, self.differentials.weights
        d, d_out, a = shape.d, shape.d_out, shape.a
        size = len(self.differentials.pairs_of_weights)
        rows = [[0] * size for _ in range(size)]
        for p, row in enumerate(self.form_on_a()):
            for i, value in enumerate(row):
                for b in range(a):
                    of_k = b * d + p
                    of_q = a * d + b * d + i
                    rows[of_k][of_q] = rows[of_q][of_k] = value
        if weights.O is not None:
            inner = len(weights.V)
            first_o = 2 * a * d
            first_v = first_o + d_out * inner
            for k, row in enumerate(self.form_on_w()):
                for q, value in enumerate(row):
                    for c in range(inner):
                        of_o = first_o + k * inner + c
                        of_v = first_v + c * d + q
                        rows[of_o][of_v] = rows[of_v][of_o] = value
        return flint.nmod_mat(rows, PRIME)

    def decide_saddle(self, kind: WeightType) -> bool | None:
        """Whether the Hessian takes both signs, for general ν at these critical weights.

        Where K and Q have the rank of A = KᵀQ, below a, no nonzero vector of the column space of Q
        is orthogonal to that of K. So there are e and e' in R^a with eᵀQ = 0, e'ᵀK = 0, e·e' ≠ 0.
        For K + εexᵀ and Q + εe'yᵀ A moves by ε² (e·e') xyᵀ, and the loss by −ε² (e·e') ν(f(xyᵀ,
        W)), whose sign changes with that of x. It is not zero for all x and y exactly if the form
        of ν on A is not. Likewise for O and V. ``None``, never False, where that shows nothing.
        """
        weights = self.differentials.weights
        K_and_Q_can_move = kind.k == kind.q == kind.r < self.differentials.shape.a
        if K_and_Q_can_move and self.rank_on_a > 0:
            return True
        if weights.O is None:
            return None
        O_and_V_can_move = kind.o == kind.v == kind.s < len(weights.V)
        if O_and_V_can_move and self.rank_on_w > 0:
            return True
        return None


def _images_with_moved_spaces(
    at_representative: Differentials, kind: WeightType
) -> list[SparseVector]:
    """For each tangent vector of a type its image, together with how it moves some spaces.

    The spaces are the row spaces of K and Q, and for factorized values also the column space of O
    and the row space of V. The rank of the returned vectors is the dimension of Lemma 2, that of
    the functions of the type with these spaces. A space moves as the rows, or columns, that span it
    do modulo the space. At the representative the spaces are spanned by unit vectors, so only
    entries in zero columns of K, Q and V, and in zero rows of O, move them.

    A returned vector is {position of a coordinate of functions, or ("space", place): entry}, where
    the place is that of a moving entry among the entries of all weights.
    """
    places = _places_outside_spaces(at_representative.weights, kind)
    extended = []
    images = at_representative.images_along_type
    for tangent, image in zip(at_representative.tangents, images, strict=True):
        moves = {("space", place): tangent[place] for place in places if tangent[place]}
        extended.append(image | moves)
    return extended


def _places_outside_spaces(weights: TypedWeights, kind: WeightType) -> list[int]:
    """The places of the entries in zero columns of K, Q and V, and in zero rows of O.

    A place is the position in the list of the entries of all weights, in the order K, Q, (O,) V and
    row by row. V counts only where values are factorized, which is where ``kind.v`` is not None:
    else its row space is not among the spaces of Lemma 2.
    """
    places = []
    start = 0  # the place of the first entry of the matrix
    for name in ("K", "Q", "O", "V"):
        matrix = getattr(weights, name)
        if matrix is None:
            continue
        columns = list(zip(*matrix, strict=True))
        has_space = name != "V" or kind.v is not None
        for i, j in product(range(len(matrix)), range(len(columns))):
            row_or_column = matrix[i] if name == "O" else columns[j]
            if has_space and not any(row_or_column):
                places.append(start + i * len(columns) + j)
        start += len(matrix) * len(columns)
    return places


def _nonzero_entries(entries: Iterable[int]) -> SparseVector:
    """The sparse vector {position: entry} of the entries that are not zero."""
    return {position: entry for position, entry in enumerate(entries) if entry}


def _linear_combination(
    coefficients: SparseVector, vectors: Sequence[SparseVector]
) -> SparseVector:
    """The sum of factor · vector; ``coefficients`` has {position in ``vectors``: factor}."""
    total: SparseVector = {}
    for position, coefficient in coefficients.items():
        for place, entry in vectors[position].items():
            total[place] = total.get(place, 0) + coefficient * entry
    return {place: entry for place, entry in total.items() if entry}


def _change_bases(weights: TypedWeights, random: Random) -> TypedWeights:
    """The weights after a random change of each basis, modulo the prime.

    The bases are those of queries and keys, of the tokens that K and V see, of the tokens that Q
    sees, of outputs, and, where values are factorized, of the space between O and V.
    """
    K, Q, V = map(_matrix_modulo_prime, (weights.K, weights.Q, weights.V))
    a, d = K.nrows(), K.ncols()
    keys = _random_invertible(a, random)
    tokens = _random_invertible(d, random)
    K = keys * K * tokens
    # inverse and transposed, so that the change of queries and keys leaves A = KᵀQ as it is
    Q = keys.inv().transpose() * Q * _random_invertible(d, random)
    if weights.O is None:
        V = _random_invertible(V.nrows(), random) * V * tokens
        return TypedWeights(_rows_of_integers(K), _rows_of_integers(Q), _rows_of_integers(V))
    O = _matrix_modulo_prime(weights.O)
    inner = _random_invertible(V.nrows(), random)
    O = _random_invertible(O.nrows(), random) * O * inner
    V = inner.inv() * V * tokens
    return TypedWeights(
        _rows_of_integers(K), _rows_of_integers(Q), _rows_of_integers(V), _rows_of_integers(O)
    )


def _matrix_modulo_prime(matrix: IntegerEntries) -> flint.nmod_mat:
    """A matrix of integers as FLINT's matrix modulo the prime."""
    return flint.nmod_mat([list(row) for row in matrix], PRIME)


def _rows_of_integers(matrix: flint.nmod_mat) -> IntegerMatrix:
    """The rows of FLINT's matrix, with integers from 0 to PRIME − 1 as entries."""
    return tuple(tuple(map(int, row)) for row in matrix.tolist())


def _random_invertible(size: int, random: Random) -> flint.nmod_mat:
    """A random invertible matrix of this size modulo the prime."""
    while True:
        entries = [random.randrange(PRIME) for _ in range(size * size)]
        candidate = flint.nmod_mat(size, size, entries, PRIME)
        if candidate.rank() == size:
            return candidate


def _move_row(matrix: IntegerEntries, source: int, target: int, factor: int = 1) -> IntegerEntries:
    """Zeros but for the row ``target``: ``factor`` times the row ``source`` of ``matrix``."""
    moved = [[0] * len(row) for row in matrix]
    moved[target] = [factor * entry for entry in matrix[source]]
    return moved


def _move_column(matrix: IntegerEntries, source: int, target: int) -> IntegerEntries:
    """A matrix of zeros but for its column ``target``: the column ``source`` of ``matrix``."""
    moved = [[0] * len(row) for row in matrix]
    for moved_row, row in zip(moved, matrix, strict=True):
        moved_row[target] = row[source]
    return moved
