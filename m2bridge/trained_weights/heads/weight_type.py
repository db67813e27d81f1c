"""The type of the weights of a head, and whether training by a squared loss stops at such weights.

A *type* is named by the ranks of K, Q, V, perhaps O, and A = KᵀQ, and by m, the dimension of the
intersection of the column space of A and the row space of V. A type is *exposed* if the targets for
which some of its weights are critical points of the loss contain an open set. Its weights are then
*saddles* if for almost all of these targets the Hessian takes both signs. The theorem about them is
docs/training.md#theorem-exposed, for a layer with this one head; the ranks are exact, or effective:
what floating-point numbers are near to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.trained_weights.heads.numerical import Numerical, Spectrum
from m2bridge.trained_weights.heads.ranks import OrbitNumbers, Ranks
from m2bridge.trained_weights.heads.shape import HeadShape


@dataclass(frozen=True, slots=True)
class HeadType:
    """The ranks of the matrices of a head, and what the theorem says of such weights."""

    ranks: dict[str, int]  # of K, Q, V, (O,) A and, where there is an O, OV
    exposed: bool | None  # None where the theorem says nothing: softmax, and A or V is zero
    saddle: bool  # whether they are saddles for almost all targets for which they are critical
    zero: bool = False  # whether A, V or OV is 0; false with softmax

    def to_json(self) -> dict[str, Any]:
        """Return the ranks and what follows from them for ``json.dumps``."""
        return {"ranks": self.ranks, "exposed": self.exposed, "saddle": self.saddle}

    @classmethod
    def of(cls, by_letter: Mapping[str, int], numbers: OrbitNumbers, shape: HeadShape) -> Self:
        """Return the type of weights with these ranks of K, Q, V and, if it is given, O."""
        from m2bridge.families.attention.training.types import WeightType  # with SymPy

        r, s, m = numbers
        ranks = dict(by_letter) | {"A": r}
        if shape.v is not None:
            ranks["OV"] = s
        is_zero = r == 0 or s == 0
        if shape.softmax:
            if is_zero:
                return cls(ranks=ranks, exposed=None, saddle=False)
            # The theorem for softmax is about ranks alone, and m is the number in general position.
            m = max(0, r + s - shape.d)
        factors = {}
        if shape.v is not None:
            factors = {"o": by_letter["O"], "v": by_letter["V"]}
        kind = WeightType(k=by_letter["K"], q=by_letter["Q"], r=r, s=s, m=m, **factors)
        sizes = LayerSizes(shape.d, shape.d_out, shape.a)
        exposed = kind.is_exposed(sizes)
        saddle = kind.is_saddle(sizes, shape.v)
        return cls(ranks=ranks, exposed=exposed, saddle=saddle, zero=is_zero)


@dataclass(frozen=True, slots=True)
class HeadTypes:
    """Two types of one head: of its exact ranks, and of its effective ranks."""

    exact: HeadType | None  # None where the ranks are not proved
    effective: HeadType

    @classmethod
    def of(
        cls, matrices: Mapping[str, Any], shape: HeadShape, ranks: Ranks, numerical: Numerical
    ) -> Self | None:
        """Return the types of a head by its matrices K, Q, V and perhaps O; ``None`` where A is
        given in place of K and Q, and with biases or a norm, which the theorem leaves out.
        """
        if not shape.factored or shape.coordinates is not None:
            return None
        effective_ranks = {}
        exact_ranks = {}  # those that are proved
        for letter in "KQVO":
            if letter not in matrices:
                continue
            rank = ranks.by_letter[letter]
            spectrum = Spectrum.of([matrices[letter]], rank)
            effective_ranks[letter] = spectrum.effective_rank(numerical.tolerance)
            if rank is not None:
                exact_ranks[letter] = rank
        r, s = numerical.effective_rank_A, numerical.effective_rank_V
        # An angle that rounding does not distinguish from 0, None, counts as 0.
        small_angles = sum((x or 0.0) <= numerical.tolerance for x in numerical.principal_angles)
        # Two subspaces of dimensions r and s meet in r + s − d dimensions at least, and in r or s
        # at most.
        m = min(max(small_angles, r + s - shape.d, 0), r, s)
        exact = None
        if ranks.proved and exact_ranks.keys() == effective_ranks.keys():
            exact = HeadType.of(exact_ranks, ranks.numbers, shape)
        return cls(exact, HeadType.of(effective_ranks, OrbitNumbers(r, s, m), shape))

    def words(self) -> str:
        """Return one line, such as ``rk K = 3 (2), rk Q = 3, …: such effective ranks are critical
        for almost no target``: exact ranks, with effective ones in parentheses where they differ,
        and what follows for the effective type.
        """
        parts = []
        for name, effective_rank in self.effective.ranks.items():
            shown = effective_rank if self.exact is None else self.exact.ranks[name]
            differs = f" ({effective_rank})" if effective_rank != shown else ""
            parts.append(f"rk {name} = {shown}{differs}")
        remark = " (effective ranks, not proved)" if self.exact is None else ""
        return f"{', '.join(parts)}{remark}: {self._conclusion()}"

    def _conclusion(self) -> str:
        """Return what the theorem says of the effective ranks, as a clause."""
        effective = self.effective
        if effective.exposed is None:
            return "nothing is known where A or the values are zero"
        are_exact = self.exact is not None and self.exact.ranks == effective.ranks
        subject = "such ranks" if are_exact else "such effective ranks"
        # an effective rank 0 of A or V, alone, does not prove that the function is zero
        if self.exact is not None and self.exact.zero:
            subject = f"the function is zero, and {subject}"
        if not effective.exposed:
            return f"{subject} are critical for almost no target"
        saddles = ", and saddles for almost all of them" if effective.saddle else ""
        return f"{subject} are critical for an open set of targets{saddles}"

    def to_json(self) -> dict[str, Any]:
        """Return both types for ``json.dumps``."""
        exact = None if self.exact is None else self.exact.to_json()
        return {"exact": exact, "effective": self.effective.to_json()}
