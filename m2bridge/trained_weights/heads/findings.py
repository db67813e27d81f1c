"""The function of a single head at its weights: its orbit, and what follows from the orbit.

A head has K and Q, of which A = KᵀQ is the product, or A alone; and V, or O and V, where OV stands
for V in all that follows. Tokens have d coordinates, outputs d'. α and β are the largest ranks that
A and V may have in the model. The orbit is named by the triple (r, s, m) of ``Ranks.numbers``:
r = rk A, s = rk V, and m, the dimension of the intersection of the column space of A with the row
space of V. The differential is that of the map from the weights of the head to its function;
weights are *regular* where its rank is the dimension of all functions. The statements are
those of docs/weights-mathematics.md. Layers and networks are in ``networks/``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from m2bridge.algebra.determinantal import determinantal_dimension
from m2bridge.trained_weights.checkpoints.arrays import PRECISIONS
from m2bridge.trained_weights.heads.numerical import Numerical
from m2bridge.trained_weights.heads.ranks import HeadShape, Ranks, exact_ranks, words_on_excess_rank
from m2bridge.trained_weights.heads.reduced_head import ReducedHead
from m2bridge.trained_weights.heads.weight_type import HeadTypes

if TYPE_CHECKING:
    from m2bridge.families.attention.orbits.orbits import Orbit

_LARGE = 2000
"""Matrices of this rank are decomposed by several threads; for smaller ones these take longer than
they save.
"""


@cache
def _thread_pools() -> Any:
    """Return the controller of threadpoolctl, whose ``limit`` sets how many threads the libraries
    of linear algebra use. It is made once, as it searches this process for these libraries.
    """
    from threadpoolctl import ThreadpoolController  # slow to import

    return ThreadpoolController()


@dataclass(frozen=True, slots=True, eq=False)
class HeadWeights:
    """The weights of one head.

    Parameters
    ----------
    layer, head : int
        Counted from 1.
    shape : HeadShape
        The sizes d, d', a and v, the largest ranks α and β, and whether there is softmax.
    ranks : Ranks
        The triple (r, s, m), whether it is proved (else r and s are lower bounds), and the ranks of
        the single matrices by their letters.
    numerical : Numerical
        Singular values, effective ranks and distances, in floating point.
    types : HeadTypes or None
        The type of the weights; ``None`` where K and Q are not given, or with biases or a norm.
    """

    layer: int
    head: int
    shape: HeadShape
    ranks: Ranks
    numerical: Numerical
    types: HeadTypes | None = None

    @classmethod
    def of(cls, head: ReducedHead, a: int | None, softmax: bool, tolerance: float | None) -> Self:
        """Return all that is found about a head: sizes, exact ranks, types, and singular values and
        distances in floating point.

        Parameters
        ----------
        head : ReducedHead
            The head, with its matrices on the coordinates of tokens that it sees.
        a : int or None
            The largest rank of A where A, not K and Q, is given; ``None`` for d.
        softmax : bool
            Whether scores are normalized by softmax.
        tolerance : float or None
            Singular values above it, times the largest, count for effective ranks; ``None`` for the
            precision of the stored type.
        """
        shape = HeadShape.of(head.matrices, a=a, softmax=softmax, coordinates=head.coordinates)
        ranks = exact_ranks(head.matrices)
        threads = None  # as many as the libraries take
        # For small matrices starting threads costs more than it saves.
        if max(shape.alpha, shape.beta) < _LARGE:
            threads = 1
        with _thread_pools().limit(limits=threads):
            numerical = Numerical.of(head, shape, ranks, tolerance)
            types = HeadTypes.of(head.given, shape, ranks, numerical)
        return cls(
            layer=head.layer,
            head=head.head,
            shape=shape,
            ranks=ranks,
            numerical=numerical,
            types=types,
        )

    @property
    def orbit(self) -> Orbit | None:
        """The orbit (r, s, m) of the function; ``None`` for the zero function, which has none.

        Where ranks are not proved, it is that of the lower bounds. For softmax, of which there are
        no theorems about orbits, it is the triple alone, and r = 0 for A = 0.
        """
        from m2bridge.families.attention.orbits.orbits import (
            Orbit,  # needs SymPy, which is slow to import
        )

        return None if self._has_no_orbit else Orbit(*self.ranks.numbers)

    @property
    def _has_no_orbit(self) -> bool:
        """Whether r and s, which may be lower bounds, are those of the zero function."""
        A_is_zero, V_is_zero = self.ranks.r == 0, self.ranks.s == 0
        return V_is_zero or (A_is_zero and not self.shape.softmax)

    @property
    def is_zero(self) -> bool:
        """Whether the function is proved to be zero: V is 0, or, in lightning attention, A is."""
        return self.ranks.proved and self._has_no_orbit

    @property
    def is_outside(self) -> bool:
        """Whether A has a larger rank than the model allows, by r, which may be a lower bound."""
        return self.ranks.r > self.shape.alpha

    def _holds(self, predicate: Callable[[int, int, int], bool]) -> bool | None:
        """Return whether a predicate of the triple (r, s, m) holds of the orbit of the function.

        ``None``, for not known, where the ranks are not proved, where A has a larger rank than the
        model allows, and for softmax attention, on which there are no theorems about orbits.
        """
        if not self.ranks.proved or self.is_outside or self.shape.softmax:
            return None
        return predicate(*self.ranks.numbers)

    @property
    def singular(self) -> bool | None:
        """Whether the function is a singular point of the Zariski closure; ``None`` if it is not
        known.
        """
        return self._holds(self.shape.is_singular)

    @property
    def boundary(self) -> bool | None:
        """Whether the function is a boundary point of the neuromanifold; ``None`` if it is not
        known.
        """
        return self._holds(self.shape.is_boundary)

    @property
    def regular(self) -> bool | None:
        """Whether the rank of the differential at these weights is the dimension of the functions.

        ``None`` if the ranks that decide it are not known, or A has a larger rank than the model
        allows. Weights of the zero function are not regular: at A = 0 changes of V do not change
        the function, and at V = 0 changes of A do not. Only for d = 1 the other matrix alone may
        give all functions, so that the rank has to be compared with the dimension.
        """
        if not self.ranks.proved or self.is_outside:
            return None
        lightning = not self.shape.softmax
        if self.is_zero and self.shape.d == 1 and lightning:
            rank = self._rank_at_zero_function
            return None if rank is None else rank == self.shape.dimension
        # Lemma A.3: the critical points of the map from (A, V), not 0, to the function are the
        # A = v qᵀ, V = h vᵀ. For d = 1 all are of this form, and none is critical.
        critical = lightning and self.ranks.numbers == (1, 1, 1) and self.shape.d > 1
        if self.is_zero or critical:
            return False
        return _products_are_onto(self.shape, self.ranks)

    @property
    def most_rank(self) -> int | None:
        """An upper bound for the rank of the differential at these weights, of this head alone;
        ``None`` where the ranks are not proved, or A has a larger rank than the model allows.

        One bound is the dimension of the functions, less 1 where the weights are not regular.
        Another is the sum of the ranks of the differentials of (K, Q) ↦ KᵀQ and of (O, V) ↦ OV,
        less 1 for the rescaling of A against V in lightning attention. Where A or V is 0, of these
        two ranks that of the matrix counts whose changes change the function.
        """
        if not self.ranks.proved or self.is_outside:
            return None
        most = self.shape.dimension
        if self.regular is False:
            most -= 1
        if self.is_zero:
            of_products = self._rank_at_zero_function
        else:
            of_products = sum_or_none([self._rank_of_A, self._rank_of_V])
        if of_products is None:
            return most
        rescalings = 0 if self.shape.softmax or self.is_zero else 1
        return min(most, of_products - rescalings)

    @property
    def least_rank(self) -> int | None:
        """A lower bound for the rank of the differential at these weights, of this head alone;
        ``None`` if none is known.

        At regular weights it is the dimension. In softmax attention the differential in A and V is
        injective where V is not 0, so that the ranks of (K, Q) ↦ KᵀQ and (O, V) ↦ OV are added.
        """
        if self.regular:
            return self.shape.dimension
        shape = self.shape
        # Where an A of bounded rank is given, the ranks of its factors K and Q are not known.
        ranks_are_exact = shape.factored or not shape.has_factors
        if shape.softmax and self.ranks.proved and ranks_are_exact and not self.is_zero:
            return sum_or_none([self._rank_of_A, self._rank_of_V])
        return None

    @property
    def _rank_of_A(self) -> int | None:
        """The rank of the differential of (K, Q) ↦ KᵀQ; ``None`` if it is not known.

        Where an A of bounded rank is given, and not K and Q, it is an upper bound.
        """
        return _rank_of_differential(self.ranks, "KQ", self.shape.d, self.shape.queries)

    @property
    def _rank_of_V(self) -> int | None:
        """The rank of the differential of (O, V) ↦ OV; ``None`` if it is not known."""
        return _rank_of_differential(self.ranks, "OV", self.shape.d_out, self.shape.d)

    @property
    def _rank_at_zero_function(self) -> int | None:
        """The rank of the differential at weights whose function is zero, for t ≥ 2 tokens;
        ``None`` if it is not known. At A = 0 it is an upper bound where an A of bounded rank is
        given, and not K and Q.

        In lightning attention the function φ(A, V) is bilinear, and zero only where A or V is.
        """
        # The derivative φ(A, V̇) is injective in V̇; that of softmax attention is, also for A = 0.
        if self.ranks.s == 0 and (self.ranks.r > 0 or self.shape.softmax):
            return self._rank_of_V
        # A = 0 and V ≠ 0: the derivative φ(Ȧ, V) is injective in Ȧ.
        if self.ranks.s > 0:
            return self._rank_of_A
        # The derivative of a bilinear map at (0, 0) is 0.
        return 0

    @property
    def point(self) -> str:
        """What kind of point of the Zariski closure the function is, in words.

        ``outside`` if A has a larger rank than the model allows; ``softmax``, of which no singular
        points are known; ``undecided`` where ranks are not proved; else those of ``zero``,
        ``singular``, ``smooth`` and ``boundary`` that hold, as ``singular, boundary``.
        """
        if self.is_outside:
            return "outside"
        if self.shape.softmax:
            return "softmax"
        if self.singular is None:
            return "undecided"
        kinds = {
            "zero": self.is_zero,
            "singular": self.singular,
            "smooth": not self.singular,
            "boundary": self.boundary,
        }
        return ", ".join(kind for kind, holds in kinds.items() if holds)

    def words(self) -> str:
        """Return what the function of the head says about its weights, or why nothing is said."""
        if self.is_outside:
            return self._words_on_excess_rank()
        if self.is_zero:
            either = "" if self.shape.softmax else "A = 0 or "
            return f"the zero function: all weights with {either}V = 0 have it"
        if not self.ranks.proved:
            return (
                "not decided: exact ranks take too long here, and a generic function of these ranks"
                " is not assumed"
            )
        on_A_and_V, on_factors = self._words_on_A_and_V(), ", ".join(self._clauses_on_factors())
        return f"{on_A_and_V}; {on_factors}" if on_factors else on_A_and_V

    def _words_on_excess_rank(self) -> str:
        """Return the words about an A whose rank is larger than α, the largest that is allowed."""
        most = self.shape.alpha
        # The list has the distances of A to rank at most 0, 1, 2, ….
        distance = self.numerical.distances_to_lower_rank_A[most]
        return words_on_excess_rank(
            self.ranks.r,
            most=most,
            size=self.shape.d,
            distance=distance,
            precision=PRECISIONS[self.numerical.kind],
        )

    def _words_on_A_and_V(self) -> str:
        """Return to what extent the function determines A and V, as a clause (Theorem 3.2; Theorem
        S for softmax).
        """
        pair = f"A and {'V' if self.shape.v is None else 'OV'} are determined by the function"
        if self.shape.softmax:
            return f"{pair} (t ≥ 2)"
        scaling = "(A, V) → (λA, V/λ)"
        if self.ranks.numbers == (1, 1, 0):
            classes = "A = kqᵀ, V = hvᵀ, and A = vqᵀ, V = hkᵀ"
            return f"two classes of weights up to {scaling}: {classes}"
        # The fibre of A = v qᵀ, V = h vᵀ modulo scaling is one point, with the tangent vectors
        # (−m qᵀ, h mᵀ) for the vectors m modulo v: d − 1 dimensions, and so the length d.
        length = ""
        if self.ranks.numbers == (1, 1, 1) and self.shape.d > 1:
            length = f"; the fibre is one point of length {self.shape.d}, and not reduced"
        return f"{pair} up to the scaling {scaling}{length}"

    def _clauses_on_factors(self) -> Iterator[str]:
        """Yield to what extent A determines K and Q, and OV determines O and V, as clauses; nothing
        for a product whose factors are not given.
        """
        shape = self.shape
        factors = []
        if shape.factored:
            factors.append(("K and Q", "A", shape.a, self.ranks.r))
        if shape.v is not None:
            factors.append(("O and V", "OV", shape.v, self.ranks.s))
        for names, product, size, rank in factors:
            # Where the product has the rank ``size``, a for KᵀQ and v for OV, all pairs of factors
            # with the same product are one orbit of GL(size).
            if rank == size:
                yield f"{names} by {product} up to GL({size})"
            else:
                yield f"{names} up to more than GL({size})"

    def to_json(self) -> dict[str, Any]:
        """Return the findings for ``json.dumps``."""
        shape, (r, s, m) = self.shape, self.ranks.numbers
        return {
            "layer": self.layer,
            "head": self.head,
            "d": shape.width,
            "token_dimension": shape.token_dimension,
            "d_out": shape.d_out,
            "a": shape.a,
            "v": shape.v,
            "rank_A": r,
            "rank_V": s,
            "dim_intersection": m,
            "ranks": self._how_ranks_are_known(),
            "orbit": None if self._has_no_orbit else {"r": r, "s": s, "m": m},
            "singular": self.singular,
            "boundary": self.boundary,
            "regular": self.regular,
            "fibre": self.words(),
            "parameters": shape.parameters,
            "dimension": shape.dimension,
            "redundant": shape.parameters - shape.dimension,
            "redundant_directions": [
                {"name": name, "dimension": size} for name, size in shape.redundant()
            ],
            "type": None if self.types is None else self.types.to_json(),
            "numerical": asdict(self.numerical),
        }

    def _how_ranks_are_known(self) -> dict[str, str | None]:
        """Return for the ranks r and s and for m, by their names in JSON, whether they are proved,
        and the method; ``None`` for the method where they are not.
        """
        proved = self.ranks.proved
        return {
            "rank_A": "proved" if proved else "lower bound",
            "rank_V": "proved" if proved else "lower bound",
            "dim_intersection": "proved" if proved else "not decided",
            "method": self.ranks.method or None,
        }


def sum_or_none(numbers: Iterable[int | None]) -> int | None:
    """Return the sum of numbers; ``None`` if one of them is ``None``, for a number that is not
    known. The sum of none is 0.
    """
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


def _products_are_onto(shape: HeadShape, ranks: Ranks) -> bool | None:
    """Return whether changes of K and Q reach all matrices of rank ≤ α near A = KᵀQ, and changes of
    O and V all of rank ≤ β near OV; ``None`` if it is not known.

    That is so for a product that has the largest rank, α or β. Of a product of smaller rank it is
    so if the rank of its differential is the dimension of the set of all matrices of rank ≤ α, or ≤
    β. Then the weights are a regular point unless their function is critical
    (docs/weights-mathematics.md).
    """
    if not ranks.proved:
        return None
    are_onto: bool | None = True
    for letters, rank, largest_rank, rows, columns in (
        ("KQ", ranks.r, shape.alpha, shape.d, shape.queries),
        ("OV", ranks.s, shape.beta, shape.d_out, shape.d),
    ):
        if rank == largest_rank:
            continue
        rank_of_differential = _rank_of_differential(ranks, letters, rows, columns)
        if rank_of_differential is None:
            # The other product may still show that the answer is no.
            are_onto = None
        # Where A is given, its factors count as of full rank, and the number is too large for the
        # factors of an A of smaller rank than α: the two numbers differ, and False is right.
        elif rank_of_differential != determinantal_dimension(rows, columns, largest_rank):
            return False
    return are_onto


def _rank_of_differential(ranks: Ranks, letters: str, rows: int, columns: int) -> int | None:
    """Return the rank of the differential of (L, R) ↦ LᵀR for K and Q, or (L, R) ↦ LR for O and V;
    ``None`` where it is not known.

    ``letters`` are those of L and R, of which ``ranks`` has the ranks; the product has ``rows``
    rows and ``columns`` columns. The image of the differential has rows·columns − (rows − rk L) ·
    (columns − rk R) dimensions. A factor that was not given, because A or no O is, counts as of
    rank ``rows`` or ``columns``, and the result is rows·columns: with a given A this is an upper
    bound, and without O all changes of V are seen.
    """
    rank_left = ranks.by_letter.get(letters[0], rows)
    rank_right = ranks.by_letter.get(letters[1], columns)
    if rank_left is None or rank_right is None:
        return None
    return columns * rank_left + rows * rank_right - rank_left * rank_right
