"""Which types of weights are exposed, by ranks; nothing here knows what the theorem predicts.

A is KᵀQ, and W is V, or OV where values are factorized. The type of weights has the ranks k, q, (o,
v,) r, s of K, Q, (O, V,) A, W, and a dimension m; the balanced type has k = q = r and o = v = s.
With f the map from pairs (A, W) to functions, and J the differential of weights ↦ (A, W), the
differential of weights ↦ functions is F J, where F is the differential of f at (A, W), and d² is
the second derivative. Targets are u, the loss is ½|f − u|², and weights are critical for u exactly
if ν = u − f vanishes on the image of F J.

*Exposed* is proved by Lemma 1 of docs/training.md: a type is exposed if at some of its weights, for
some ν, the form B(x, w) = ⟨FJx, FJw⟩ − ν(d²(x, w)) on tangent vectors x of the type and all w has
the rank of F J. *Not exposed* is proved in one of two ways. By Lemma 2 the functions of the type,
together with their tangent spaces, have at least the dimension rk F J if it is exposed. By Lemma 4
ranks of ν on A and on W, which are bounded where weights of the type are critical, are not larger
for general ν at the balanced type, if that has no more dimensions than there are targets.

Ranks over QQ are ranks at weights in the dense orbit of a type, and so at general weights;
ranks modulo a prime, at random weights of the type, are lower bounds for them. Where values are
factorized, ``head_dim`` is the number of columns of O and of rows of V.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, product
from random import Random
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.families.attention.orbits.coordinates import bilinear_terms
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training.differentials import (
    PRIME,
    Differentials,
    images_with_moved_spaces,
    matrix_modulo_prime,
    rows_of_integers,
)
from m2bridge.families.attention.training.types import TypedWeights, WeightType, representative


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFacts:
    """What ranks say of one type; None where no lemma decides."""

    kind: WeightType
    functions: int  # the dimension of the functions of the type
    functions_with_spaces: int  # with the spaces that determine their tangent spaces (Lemma 2)
    rank: int  # of the differential of the parametrization
    form_rank: int  # of the form B of Lemma 1 modulo a prime: at most ``rank``
    exposed: bool | None
    # whether directions prove the Hessian indefinite for general ν, where the type is exposed
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


def type_facts(kind: WeightType, shape: LayerSizes, head_dim: int | None = None) -> TypeFacts:
    """Return what ranks say of one type: whether it is exposed, and the numbers that decide it."""
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
        # Lemma 1: the rank of B is at most ``rank``, and at least its rank modulo a prime
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
    that are critical at the balanced type are an irreducible family. Its dimension less the
    dimension of the space of targets is δ, the dimension of the functions less the rank of the
    differential there. For δ < 0 general targets have no such pair; for δ = 0 the type is not
    exposed if a general ν has a larger rank; for δ > 0 the lemma says nothing.
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
    ranks_are_larger = (
        critical.form_on_a().rank() > largest_on_a or critical.form_on_w().rank() > largest_on_w
    )
    return bool(ranks_are_larger)


@dataclass(frozen=True, slots=True)
class CriticalWeights:
    """Random weights of a type modulo the prime, and a random ν for which they are critical."""

    differentials: Differentials
    nu: Sequence[int]  # the values of ν on the reduced coordinates, from 0 to PRIME − 1

    @classmethod
    def random(
        cls, kind: WeightType, shape: LayerSizes, random: Random, head_dim: int | None
    ) -> CriticalWeights:
        """Move the representative of a type by random changes of bases, and take a random ν.

        ν is a random combination of a basis of those that vanish on the image of the differential.
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
        """The rank of the form B(x, w) = ⟨FJx, FJw⟩ − ν(d²(x, w)) of Lemma 1, modulo the prime."""
        # d² has two parts, as f is bilinear in (A, W), and A is in (K, Q), W in (O, V): the form
        # ν(f(Ȧ, W')) + ν(f(A', Ẇ)) on the pairs that move with two weights, and ν of products of
        # two factors
        shape = self.differentials.shape
        entries_of_A = shape.d**2
        size = entries_of_A + shape.d_out * shape.d
        rows = [[0] * size for _ in range(size)]
        for number, of_A, of_W in bilinear_terms(shape):
            rows[of_A][entries_of_A + of_W] = self.nu[number]
            rows[entries_of_A + of_W][of_A] = self.nu[number]
        transposed_J = matrix_modulo_prime(self.differentials.pairs_of_weights)
        through_pairs = transposed_J * flint.nmod_mat(rows, PRIME) * transposed_J.transpose()
        second_derivative = through_pairs + self._form_on_factors()
        image = self.differentials.image_modulo  # F J, with a column for each weight
        tangents = matrix_modulo_prime(self.differentials.tangents)  # a row for each x
        gram = image.transpose() * image  # of ⟨FJw', FJw⟩ for all weights w' and w
        form = tangents * (gram - second_derivative)
        return int(form.rank())

    def form_on_a(self) -> flint.nmod_mat:
        """The linear form A' ↦ ν(f(A', W)) by its coefficients modulo the prime, a d×d matrix."""
        shape = self.differentials.shape
        entries_of_W = list(chain.from_iterable(self.differentials.W))
        form = [0] * shape.d**2
        for number, of_A, of_W in bilinear_terms(shape):
            form[of_A] += self.nu[number] * int(entries_of_W[of_W])
        return flint.nmod_mat(shape.d, shape.d, form, PRIME)

    def form_on_w(self) -> flint.nmod_mat:
        """The linear form W' ↦ ν(f(A, W')) by its coefficients modulo the prime, a d'×d matrix."""
        shape = self.differentials.shape
        entries_of_A = list(chain.from_iterable(self.differentials.A))
        form = [0] * (shape.d_out * shape.d)
        for number, of_A, of_W in bilinear_terms(shape):
            form[of_W] += self.nu[number] * int(entries_of_A[of_A])
        return flint.nmod_mat(shape.d_out, shape.d, form, PRIME)

    def _form_on_factors(self) -> flint.nmod_mat:
        """The form ν(f(K̇ᵀQ' + K'ᵀQ̇, W)), and for factorized values plus ν(f(A, ȮV' + O'V̇))."""
        shape, weights = self.differentials.shape, self.differentials.weights
        d, a = shape.d, shape.a
        size = len(self.differentials.pairs_of_weights)
        rows = [[0] * size for _ in range(size)]
        # as A_pi = Σ_b K_bp Q_bi, K_bp Q_bi has the coefficient of A_pi; Q comes after K
        form = self.form_on_a()
        for p, i, b in product(range(d), range(d), range(a)):
            of_k = b * d + p
            of_q = a * d + b * d + i
            rows[of_k][of_q] = rows[of_q][of_k] = int(form[p, i])
        if weights.O is not None:
            # W_kq = Σ_c O_kc V_cq: O_kc V_cq has the coefficient of W_kq; O comes after Q, then V
            inner = len(weights.V)
            first_o = 2 * a * d
            first_v = first_o + shape.d_out * inner
            form = self.form_on_w()
            for k, q, c in product(range(shape.d_out), range(d), range(inner)):
                of_o = first_o + k * inner + c
                of_v = first_v + c * d + q
                rows[of_o][of_v] = rows[of_v][of_o] = int(form[k, q])
        return flint.nmod_mat(rows, PRIME)

    def decide_saddle(self, kind: WeightType) -> bool | None:
        """Whether the Hessian takes both signs, for general ν at these critical weights; or
        ``None``.

        Where K and Q have the rank of A = KᵀQ, below a, no nonzero vector of the column space of Q
        is orthogonal to the column space of K. So there are e and e' in R^a with eᵀQ = 0, e'ᵀK = 0,
        e·e' ≠ 0. For K + εexᵀ and Q + εe'yᵀ A moves by ε² (e·e') xyᵀ, and the loss by −ε² (e·e')
        ν(f(xyᵀ, W)), whose sign changes with the sign of x. It is not zero for all x and y exactly
        if the form of ν on A is not. Likewise for O and V.
        """
        weights = self.differentials.weights
        K_and_Q_can_move = kind.k == kind.q == kind.r < self.differentials.shape.a
        if K_and_Q_can_move and self.form_on_a().rank() > 0:
            return True
        if weights.O is None:
            return None
        O_and_V_can_move = kind.o == kind.v == kind.s < len(weights.V)
        if O_and_V_can_move and self.form_on_w().rank() > 0:
            return True
        return None


def _change_bases(weights: TypedWeights, random: Random) -> TypedWeights:
    """The weights after a random change of each basis, modulo the prime."""
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
