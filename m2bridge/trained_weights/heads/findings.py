"""The function of a single head at its weights: its orbit, and what follows from the orbit.

Notation and sizes are those of ``shape``; V stands for OV where there is an output matrix. The
orbit is named by (r, s, m): r = rk A, s = rk V, and m, the dimension of the intersection of the
column space of A with the row space of V. The differential belongs to the map from the weights of
the head to its function; weights are *regular* where its rank is the dimension of all functions.
``None`` is what is not known: where ranks are not proved, where A has a larger rank than the model
allows (the head is *outside*), and of softmax attention, on whose orbits there are no theorems. The
statements are those of docs/weights-mathematics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from m2bridge.algebra.determinantal import determinantal_dimension
from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import in_brackets
from m2bridge.trained_weights.checkpoints.arrays import PRECISIONS
from m2bridge.trained_weights.heads.numerical import Numerical
from m2bridge.trained_weights.heads.ranks import (
    Ranks,
    exact_ranks,
    rank_of_product_map,
    sum_or_none,
    words_on_excess_rank,
)
from m2bridge.trained_weights.heads.shape import HeadShape
from m2bridge.trained_weights.heads.token_space import ReducedHead
from m2bridge.trained_weights.heads.truncation import (
    SingularVectors,
    TruncatedHead,
    singular_vectors,
    truncated_head,
)
from m2bridge.trained_weights.heads.weight_type import HeadTypes

if TYPE_CHECKING:
    from m2bridge.families.attention.orbits.orbits import Orbit


@cache
def _thread_pools() -> Any:
    """Return the controller of threadpoolctl, made once, as it searches this process for libraries
    of linear algebra.
    """
    from threadpoolctl import ThreadpoolController  # slow to import

    return ThreadpoolController()


@dataclass(frozen=True, slots=True, eq=False)
class HeadWeights:
    """The weights of one head: what is known of them."""

    layer: int  # counted from 1, as the head
    head: int
    shape: HeadShape
    ranks: Ranks
    numerical: Numerical
    types: HeadTypes | None = None  # None where K and Q are not given, or with biases or a norm
    # Reads the head from its source, as matrices of a whole file may not fit into memory.
    read: Callable[[], ReducedHead] | None = None

    def __repr__(self) -> str:
        return in_brackets(self, "layer", "head", "orbit", "singular", "boundary")

    @classmethod
    def of(
        cls,
        head: ReducedHead,
        *,
        a: int | None,
        softmax: bool,
        tolerance: float | None,
        read: Callable[[], ReducedHead],
    ) -> Self:
        """Return all that is found about a head: sizes, exact ranks, types, singular values.

        ``a`` is the largest rank of a given A, and ``tolerance`` the part of the largest singular
        value above which the others count; ``None`` for d, and the precision of the stored type.
        """
        shape = HeadShape.of(head.matrices, a=a, softmax=softmax, coordinates=head.coordinates)
        ranks = exact_ranks(head.matrices)
        # For small matrices several threads take longer than they save. None is as many threads as
        # the libraries take.
        threads = 1 if max(shape.alpha, shape.beta) < 2000 else None
        with _thread_pools().limit(limits=threads):
            numerical = Numerical.of(head, shape, ranks, tolerance)
            types = HeadTypes.of(head.arrays.matrices, shape, ranks, numerical)
        return cls(
            layer=head.arrays.layer,
            head=head.arrays.head,
            shape=shape,
            ranks=ranks,
            numerical=numerical,
            types=types,
            read=read,
        )

    def _again(self) -> ReducedHead:
        """Return the head, read now."""
        if self.read is None:
            raise InvalidCaseError("weights", "the matrices of this head are not known any more")
        return self.read()

    @property
    def matrices(self) -> dict[str, Any]:
        """The matrices of the head as they are stored, read now: arrays K and Q of shape (a, d), or
        A (d, d), V (v, d), and O (d', v) if there is one, by these letters.
        """
        return dict(self._again().arrays.matrices)

    def singular_vectors(self, letter: str) -> SingularVectors:
        """Return the singular values and vectors of A = KᵀQ, or, for V, of V or OV: ``left``,
        ``values`` and ``right`` with left · diag(values) · rightᵀ.

        Parameters
        ----------
        letter : str
            ``A`` or ``V``.

        Returns
        -------
        SingularVectors
            Arrays of the shapes (rows, k), (k,) and (columns, k) in double precision; A is (d, d)
            and OV is (d', d), with d + 1 where a bias counts as a coordinate of tokens. Neither is
            multiplied out. A sign common to a left and a right vector is not determined.

        Raises
        ------
        InvalidCaseError
            For any other letter.

        Examples
        --------
        >>> from m2bridge import weights
        >>> head = weights(K=[[3, 0]], Q=[[0, 2]], V=[[1, 0], [0, 1]]).heads[0]
        >>> abs(head.singular_vectors("A").left).tolist(), head.singular_vectors("A").values
        ([[1.0], [0.0]], array([6.]))
        """
        if letter not in ("A", "V"):
            raise InvalidCaseError("letter", f"must be A or V, not {letter!r:.60}")
        return singular_vectors(self._again(), letter)

    def truncated(self, *, rank_A: int | None = None, rank_V: int | None = None) -> TruncatedHead:
        """Return the nearest head of lower rank, as matrices of the same shapes to put back.

        Q and O alone are changed, as no other head has them: so this can be put back for heads
        that share keys and values, too. Without O the matrix V is changed, which shared heads
        cannot do alone.

        Parameters
        ----------
        rank_A, rank_V : int, optional
            The largest rank of A = KᵀQ, and of V or OV, afterwards; unchanged when left out.
            With rotary positions A is the matrix for two tokens at the same place; for all others
            the rank is at most ``rank_A``, too, but not the nearest one.

        Raises
        ------
        InvalidCaseError
            For a negative rank, a V without O that heads share, and an A that is given in place of
            K and Q behind a norm.

        Examples
        --------
        >>> from m2bridge import weights
        >>> V = [[2, 0, 0], [0, 1, 0]]
        >>> head = weights(K=[[1, 0, 1]], Q=[[0, 1, 0]], V=V).heads[0].truncated(rank_V=1)
        >>> head.V.round(12).tolist(), head.changed
        ([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]], ('V',))
        """
        return truncated_head(self._again(), rank_A=rank_A, rank_V=rank_V)

    def rank_within(self, letter: str, distance: float) -> int | None:
        """Return the smallest rank of a matrix at this relative distance from A or V, or nearer;
        None where the matrix is lost in rounding.
        """
        numbers = self.numerical.numbers_of(letter)
        if numbers.effective_rank == 0 and not self.ranks.proved:
            return None
        # A distance of None is hidden by rounding, and counts as 0.
        near = ((to_rank or 0.0) <= distance for to_rank in numbers.distances)
        return next((rank for rank, is_near in enumerate(near) if is_near), None)

    @property
    def orbit(self) -> Orbit | None:
        """The orbit (r, s, m) of the function; ``None`` for the zero function, which has none.

        Where ranks are not proved, it is the orbit of the lower bounds. For softmax it is the
        triple alone, and r = 0 for A = 0.
        """
        from m2bridge.families.attention.orbits.orbits import Orbit  # needs SymPy, slow to import

        return None if self._has_no_orbit else Orbit(*self.ranks.numbers)

    @property
    def _has_no_orbit(self) -> bool:
        """Whether r and s, which may be lower bounds, are those of the zero function."""
        return self.ranks.s == 0 or (self.ranks.r == 0 and not self.shape.softmax)

    @property
    def is_zero(self) -> bool:
        """Whether the function is proved to be zero: V is 0, or, in lightning attention, A is."""
        return self.ranks.proved and self._has_no_orbit

    @property
    def is_outside(self) -> bool:
        """Whether A has a larger rank than the model allows, by r, which may be a lower bound."""
        return self.ranks.r > self.shape.alpha

    def _holds(self, predicate: Callable[[int, int, int], bool | None]) -> bool | None:
        """Return whether a predicate of (r, s, m) holds of the orbit of the function."""
        if not self.ranks.proved or self.is_outside or self.shape.softmax:
            return None
        return predicate(*self.ranks.numbers)

    @property
    def singular(self) -> bool | None:
        """Whether the function is a singular point of the Zariski closure."""
        return self._holds(self.shape.is_singular)

    @property
    def boundary(self) -> bool | None:
        """Whether the function is a boundary point of the neuromanifold."""
        return self._holds(self.shape.is_boundary)

    @property
    def regular(self) -> bool | None:
        """Whether the rank of the differential at these weights is the dimension of the functions.

        Weights of the zero function are not regular: at A = 0 changes of V do not change the
        function, and at V = 0 changes of A do not. Only for d = 1 the other matrix alone may give
        all functions, so that the rank has to be compared with the dimension.
        """
        if not self.ranks.proved or self.is_outside:
            return None
        lightning = not self.shape.softmax
        if self.is_zero and self.shape.common == 1 and lightning:
            rank = self._rank_at_zero_function
            return None if rank is None else rank == self.shape.dimension
        # Lemma A.3: the critical points of the map from (A, V), not 0, to the function are the
        # A = v qᵀ, V = h vᵀ. For d = 1 all are of this form, and none is critical.
        critical = lightning and self.ranks.numbers == (1, 1, 1) and self.shape.common > 1
        if self.is_zero or critical:
            return False
        return self._products_are_onto

    @property
    def _products_are_onto(self) -> bool | None:
        """Whether changes of K and Q reach all matrices of rank ≤ α near A, and changes of O and V
        all of rank ≤ β near OV; then weights are regular unless their function is critical.

        That is so for a product of the largest rank, α or β; of a product of smaller rank, if the
        rank of its differential is the dimension of the set of all matrices of rank ≤ α, or ≤ β.
        """
        shape = self.shape
        are_onto: bool | None = True
        for rank, largest_rank, rank_of_differential, rows, columns in (
            (self.ranks.r, shape.alpha, self._rank_of_A, shape.keys, shape.queries),
            (self.ranks.s, shape.beta, self._rank_of_V, shape.d_out, shape.values),
        ):
            if rank == largest_rank:
                continue
            if rank_of_differential is None:
                # The other product may still show that the answer is no.
                are_onto = None
            # Where A is given, its factors count as of full rank, and the number is too large for
            # factors of an A of rank below α: the two numbers differ, and False is right.
            elif rank_of_differential != determinantal_dimension(rows, columns, largest_rank):
                return False
        return are_onto

    @property
    def most_rank(self) -> int | None:
        """An upper bound for the rank of the differential at these weights, of this head alone.

        One bound is the dimension of the functions, less 1 where the weights are not regular.
        Another is the sum of the ranks of the differentials of (K, Q) ↦ KᵀQ and of (O, V) ↦ OV,
        less 1 for the rescaling of A against V in lightning attention.
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
        """A lower bound for the rank of the differential at these weights, of this head alone.

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
        """The rank of the differential of (K, Q) ↦ KᵀQ; where an A of bounded rank is given, an
        upper bound: factors that are not given count as of full rank.
        """
        rows, columns = self.shape.keys, self.shape.queries
        ranks = self.ranks.by_letter
        return rank_of_product_map(ranks.get("K", rows), ranks.get("Q", columns), rows, columns)

    @property
    def _rank_of_V(self) -> int | None:
        """The rank of the differential of (O, V) ↦ OV; without O all changes of V are seen."""
        rows, columns = self.shape.d_out, self.shape.values
        ranks = self.ranks.by_letter
        return rank_of_product_map(ranks.get("O", rows), ranks.get("V", columns), rows, columns)

    @property
    def _rank_at_zero_function(self) -> int | None:
        """The rank of the differential at weights whose function φ(A, V) is zero, for t ≥ 2 tokens.

        In lightning attention φ is bilinear, and zero only where A or V is.
        """
        # The derivative φ(A, V̇) is injective in V̇; in softmax attention it is, also for A = 0.
        if self.ranks.s == 0 and (self.ranks.r > 0 or self.shape.softmax):
            return self._rank_of_V
        # A = 0 and V ≠ 0: the derivative φ(Ȧ, V) is injective in Ȧ.
        if self.ranks.s > 0:
            return self._rank_of_A
        # The derivative of a bilinear map at (0, 0) is 0.
        return 0

    @property
    def point(self) -> str:
        """What kind of point of the Zariski closure the function is, in words: which of ``zero``,
        ``singular``, ``smooth`` and ``boundary`` that hold, or why none is known.
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
            most = self.shape.alpha
            return words_on_excess_rank(
                self.ranks.r,
                most=most,
                size=self.shape.d,
                distance=self.numerical.distances_to_lower_rank_A[most],
                precision=PRECISIONS[self.numerical.kind],
            )
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

    def _words_on_A_and_V(self) -> str:
        """Return to what extent the function determines A and V (Theorem 3.2; Theorem S)."""
        pair = f"A and {'V' if self.shape.v is None else 'OV'} are determined by the function"
        if self.shape.softmax:
            return f"{pair} (t ≥ 2)"
        scaling = "(A, V) → (λA, V/λ)"
        common = self.shape.common
        are_exchanged = self.ranks.numbers == (1, 1, 0) and common > 1
        if are_exchanged and self.shape.keys != self.shape.values:
            # The one that has a bias can be exchanged only if its own entry there is 0.
            return (
                f"{pair} up to the scaling {scaling}; for A = kqᵀ, V = hvᵀ with k and v zero at"
                " the coordinate 1 also up to the exchange of k and v"
            )
        if are_exchanged:
            classes = "A = kqᵀ, V = hvᵀ, and A = vqᵀ, V = hkᵀ"
            return f"two classes of weights up to {scaling}: {classes}"
        # The fibre of A = v qᵀ, V = h vᵀ modulo scaling is one point, with the tangent vectors
        # (−m qᵀ, h mᵀ) for the vectors m modulo v: d − 1 dimensions, and so the length d.
        length = ""
        if self.ranks.numbers == (1, 1, 1) and common > 1:
            length = f"; the fibre is one point of length {common}, and not reduced"
        return f"{pair} up to the scaling {scaling}{length}"

    def _clauses_on_factors(self) -> Iterator[str]:
        """Yield to what extent given factors K and Q are determined by A, and O and V by OV."""
        shape = self.shape
        factors = []
        if shape.factored:
            factors.append(("K and Q", "A", shape.a, self.ranks.r))
        if shape.v is not None:
            factors.append(("O and V", "OV", shape.v, self.ranks.s))
        for names, product, size, rank in factors:
            # All pairs of factors of a product of the rank ``size`` are one orbit of GL(size).
            if rank == size:
                yield f"{names} by {product} up to GL({size})"
            else:
                yield f"{names} up to more than GL({size})"

    def to_json(self) -> dict[str, Any]:
        """Return the findings for ``json.dumps``."""
        shape, (r, s, m) = self.shape, self.ranks.numbers
        proved = self.ranks.proved
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
            "ranks": {
                "rank_A": "proved" if proved else "lower bound",
                "rank_V": "proved" if proved else "lower bound",
                "dim_intersection": "proved" if proved else "not decided",
                "method": self.ranks.method or None,
            },
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
