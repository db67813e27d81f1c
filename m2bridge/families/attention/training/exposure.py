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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations_with_replacement, product
from random import Random
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training.differentials import (
    PRIME,
    Differentials,
    IntegerEntries,
    images_with_moved_spaces,
    matrix_modulo_prime,
    rows_of_integers,
)
from m2bridge.families.attention.training.types import TypedWeights, WeightType, representative
from m2bridge.limits import check_deadline_in


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFacts:
    """What ranks say of one type.

    Parameters
    ----------
    kind : WeightType
    functions : int
        The dimension of the functions of the type.
    functions_with_spaces : int
        The dimension of all (f, spaces): the functions f of the type with the row spaces of K and
        Q, and the column space of O and the row space of V where values are factorized; these
        spaces determine the tangent space of each function.
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

    Where values are factorized, ``head_dim`` is the number of columns of O and of rows of V;
    ``None`` where they are not. At the limit the iterator raises TimeLimitError when it is
    advanced.
    """
    for kind in check_deadline_in(kinds):
        yield type_facts(kind, shape, head_dim)


def type_facts(kind: WeightType, shape: LayerSizes, head_dim: int | None = None) -> TypeFacts:
    """Return what ranks say of one type: whether it is exposed, and the numbers that decide it.

    Where values are factorized, ``head_dim`` is the number of columns of O and of rows of V;
    ``None`` where they are not.
    """
    at_representative = Differentials(representative(kind, shape, head_dim), shape)
    rank = sparse_rank(at_representative.columns_of_FJ)
    functions_dimension = sparse_rank(at_representative.images_along_type)
    dimension_with_spaces = sparse_rank(images_with_moved_spaces(at_representative, kind))
    # each type has random numbers of its own, which are the same in every run
    random = Random(f"{shape.key} {kind}")
    critical = CriticalWeights.random(kind, shape, random, head_dim)
    form_rank = critical.form_rank
    # None: not decided
    exposed: bool | None = None
    saddle: bool | None = None
    if form_rank == rank:
        # Lemma 1: a rank modulo a prime is a lower bound for that of B, which is at most ``rank``
        exposed = True
        # asked only here, where weights of the type are proved to be critical
        saddle = critical.decide_saddle(kind)
    elif dimension_with_spaces < rank:
        # Lemma 2
        exposed = False
    elif _is_excluded_by_lemma_4(kind, shape, head_dim, random):
        exposed = False
    return TypeFacts(
        kind=kind,
        functions=functions_dimension,
        functions_with_spaces=dimension_with_spaces,
        rank=rank,
        form_rank=form_rank,
        exposed=exposed,
        saddle=saddle,
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


@dataclass(frozen=True, slots=True)
class CriticalWeights:
    """Random weights of a type modulo the prime, and a random ν for which they are critical.

    Parameters
    ----------
    differentials : Differentials
        The differentials at these weights.
    nu : sequence of int
        The values of ν on the reduced coordinates of functions, from 0 to PRIME − 1.
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
        tangents = matrix_modulo_prime(self.differentials.tangents)  # a row for each x
        gram = image.transpose() * image  # of ⟨FJw', FJw⟩ for all weights w' and w
        form = tangents * (gram - self._second_derivative())
        return int(form.rank())

    def _second_derivative(self) -> flint.nmod_mat:
        """The matrix of ν(d²(x, w)) in the entries of the weights, modulo the prime.

        It has two parts, as f is bilinear in (A, W), and A is in (K, Q), W in (O, V): the form of ν
        on the pairs (A, W) that move with two weights, and ν of the products of two factors.
        """
        transposed_J = matrix_modulo_prime(self.differentials.pairs_of_weights)
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
        """Yield ((k, i, p, q), value of ν on c_{k,i,{p,q}}) for all k, i and ordered pairs p, q.

        The product A_pi W_kq is a term of this coordinate, and of no other one. The values are to
        be read modulo the prime.
        """
        d, d_out = self.differentials.shape.d, self.differentials.shape.d_out
        position = 0
        for k in range(d_out):
            for i in range(d):
                for p, q in combinations_with_replacement(range(d), 2):
                    for first, second in {(p, q), (q, p)}:
                        yield (k, i, first, second), self.nu[position]
                    position += 1

    def form_on_a(self) -> IntegerEntries:
        """The linear form A' ↦ ν(f(A', W)) by its coefficients, a d×d matrix as A' is.

        The entries are integers to be read modulo the prime.
        """
        d, W = self.differentials.shape.d, self.differentials.W
        form = [[0] * d for _ in range(d)]
        for (k, i, p, q), value in self._values_on_products():
            form[p][i] += value * int(W[k][q])
        return form

    def form_on_w(self) -> IntegerEntries:
        """The linear form W' ↦ ν(f(A, W')) by its coefficients, a d'×d matrix as W' is.

        The entries are integers to be read modulo the prime.
        """
        d, d_out = self.differentials.shape.d, self.differentials.shape.d_out
        A = self.differentials.A
        form = [[0] * d for _ in range(d_out)]
        for (k, i, p, q), value in self._values_on_products():
            form[k][q] += value * int(A[p][i])
        return form

    @property
    def rank_on_a(self) -> int:
        """The rank of the matrix :meth:`form_on_a` modulo the prime."""
        return int(matrix_modulo_prime(self.form_on_a()).rank())

    @property
    def rank_on_w(self) -> int:
        """The rank of the matrix :meth:`form_on_w` modulo the prime."""
        return int(matrix_modulo_prime(self.form_on_w()).rank())

    def _form_on_factors(self) -> flint.nmod_mat:
        """The form ν(f(K̇ᵀQ' + K'ᵀQ̇, W)), for factorized values plus ν(f(A, ȮV' + O'V̇)).

        It is bilinear in two directions of weights, the dotted and the primed one, and returned as
        a symmetric matrix with a row and a column for each entry of weights, modulo the prime.
        """
        size = len(self.differentials.pairs_of_weights)
        rows = [[0] * size for _ in range(size)]
        entries = chain(self._form_on_K_and_Q(), self._form_on_O_and_V())
        for (first, second), value in entries:
            rows[first][second] = value
            rows[second][first] = value
        return flint.nmod_mat(rows, PRIME)

    def _form_on_K_and_Q(self) -> Iterator[tuple[tuple[int, int], int]]:
        """Yield ((position of K_bp, position of Q_bi), coefficient of A_pi in ν(f(A, W))).

        The position is that among the entries of all weights. As A_pi = Σ_b K_bp Q_bi, this is the
        coefficient of the product K_bp Q_bi.
        """
        d, a = self.differentials.shape.d, self.differentials.shape.a
        form = self.form_on_a()
        for p, i, b in product(range(d), range(d), range(a)):
            of_k = b * d + p
            of_q = a * d + b * d + i
            yield (of_k, of_q), form[p][i]

    def _form_on_O_and_V(self) -> Iterator[tuple[tuple[int, int], int]]:
        """Yield ((position of O_kc, position of V_cq), coefficient of W_kq in ν(f(A, W))).

        The position is that among the entries of all weights. As W_kq = Σ_c O_kc V_cq, this is the
        coefficient of the product O_kc V_cq. Nothing is yielded where values are not factorized.
        """
        shape, weights = self.differentials.shape, self.differentials.weights
        if weights.O is None:
            return
        inner = len(weights.V)
        # the entries of O come after those of K and Q, and the entries of V after those of O
        first_o = 2 * shape.a * shape.d
        first_v = first_o + shape.d_out * inner
        form = self.form_on_w()
        for k, q, c in product(range(shape.d_out), range(shape.d), range(inner)):
            of_o = first_o + k * inner + c
            of_v = first_v + c * shape.d + q
            yield (of_o, of_v), form[k][q]

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


def _change_bases(weights: TypedWeights, random: Random) -> TypedWeights:
    """The weights after a random change of each basis, modulo the prime.

    The bases are those of queries and keys, of the tokens that K and V see, of the tokens that Q
    sees, of outputs, and, where values are factorized, of the space between O and V.
    """
    K, Q, V = map(matrix_modulo_prime, (weights.K, weights.Q, weights.V))
    a, d = K.nrows(), K.ncols()
    keys = _random_invertible(a, random)
    tokens = _random_invertible(d, random)
    K = keys * K * tokens
    # inverse and transposed, so that the change of queries and keys leaves A = KᵀQ as it is
    Q = keys.inv().transpose() * Q * _random_invertible(d, random)
    if weights.O is None:
        # V has a row for each output
        O = None
        V = _random_invertible(V.nrows(), random) * V * tokens
    else:
        O = matrix_modulo_prime(weights.O)
        inner = _random_invertible(V.nrows(), random)
        O = rows_of_integers(_random_invertible(O.nrows(), random) * O * inner)
        V = inner.inv() * V * tokens
    return TypedWeights(K=rows_of_integers(K), Q=rows_of_integers(Q), V=rows_of_integers(V), O=O)


def _random_invertible(size: int, random: Random) -> flint.nmod_mat:
    """A random invertible matrix of this size modulo the prime."""
    # a random matrix is singular with a probability of about 1/PRIME: the loop ends at once
    while True:
        entries = [random.randrange(PRIME) for _ in range(size * size)]
        candidate = flint.nmod_mat(size, size, entries, PRIME)
        if candidate.rank() == size:
            return candidate
