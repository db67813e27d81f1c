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
from typing import TYPE_CHECKING, Any, Self

from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.trained_weights.heads.numerical import Numerical
from m2bridge.trained_weights.heads.ranks import HeadShape, OrbitNumbers, Ranks
from m2bridge.trained_weights.heads.spectrum import Spectrum

if TYPE_CHECKING:
    from m2bridge.families.attention.training.types import WeightType


@dataclass(frozen=True, slots=True)
class HeadType:
    """The ranks of the matrices of a head, and what the theorem says of such weights.

    Parameters
    ----------
    ranks : dict of str to int
        Of K, Q, V, (O,) A and, where there is an O, OV.
    exposed : bool or None
        Whether such weights are critical for all targets in an open set; ``None`` with softmax
        where A or V (or OV) is zero, which the theorem leaves out.
    zero : bool
        Whether such weights have the zero function, as A, V or OV is 0; always false with softmax.
    saddle : bool
        Whether such weights are exposed and, by the theorem, saddles for almost all of the targets
        for which they are critical.
    """

    ranks: dict[str, int]
    exposed: bool | None
    saddle: bool
    zero: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the ranks, and whether such weights are exposed and saddles, as a dictionary for
        ``json.dumps``; ``zero`` is not in it.
        """
        return {"ranks": self.ranks, "exposed": self.exposed, "saddle": self.saddle}

    @classmethod
    def of(cls, by_letter: Mapping[str, int], numbers: OrbitNumbers, shape: HeadShape) -> Self:
        """Return what the theorem says of the ranks of the matrices of a head.

        ``by_letter`` has the ranks of K, Q, V and, if it is given, O. ``numbers`` are r = rk A,
        s = rk V (or OV), and m, the dimension of the intersection of the column space of A and the
        row space of V.
        """
        ranks = dict(by_letter) | {"A": numbers.r}
        if shape.v is not None:
            ranks["OV"] = numbers.s
        is_zero = numbers.r == 0 or numbers.s == 0
        if is_zero and shape.softmax:
            return cls(ranks=ranks, exposed=None, saddle=False)
        kind = _weight_type(by_letter, numbers, shape)
        sizes = LayerSizes(shape.d, shape.d_out, shape.a)
        exposed = kind.is_exposed(sizes)
        saddle = kind.is_saddle(sizes, shape.v)
        return cls(ranks=ranks, exposed=exposed, saddle=saddle, zero=is_zero)


def _weight_type(
    by_letter: Mapping[str, int], numbers: OrbitNumbers, shape: HeadShape
) -> WeightType:
    """Return the type of weights of a head.

    ``by_letter`` has the ranks of K, Q, V and, if it is given, O; ``numbers`` are r = rk A,
    s = rk V (or OV), and m, the dimension of the intersection of the column space of A and the
    row space of V; ``shape`` has d, and whether scores are normalized by softmax.
    """
    from m2bridge.families.attention.training.types import WeightType  # with SymPy

    r, s, m = numbers
    if shape.softmax:
        # The theorem for softmax is about ranks alone, and m is that of general position.
        m = max(0, r + s - shape.d)
    k, q = by_letter["K"], by_letter["Q"]
    if shape.v is None:
        return WeightType(k=k, q=q, r=r, s=s, m=m)
    return WeightType(k=k, q=q, r=r, s=s, m=m, o=by_letter["O"], v=by_letter["V"])


@dataclass(frozen=True, slots=True)
class HeadTypes:
    """Two types of one head: that of its exact ranks, and that of its effective ranks.

    Parameters
    ----------
    exact : HeadType or None
        ``None`` where the ranks are not proved.
    effective : HeadType
    """

    exact: HeadType | None
    effective: HeadType

    @classmethod
    def of(
        cls, matrices: Mapping[str, Any], shape: HeadShape, ranks: Ranks, numerical: Numerical
    ) -> Self | None:
        """Return the types of a head by its matrices K, Q, V and perhaps O; ``None`` where A is
        given in place of K and Q, and with biases or a norm, which the theorem leaves out.

        ``shape`` has the sizes of the head, ``ranks`` its exact ranks as far as they are proved,
        and ``numerical`` its effective ranks of A and V, their tolerance, and the principal angles
        between the column space of A and the row space of V.
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
        effective = HeadType.of(effective_ranks, _effective_numbers(numerical, shape.d), shape)
        exact = None
        if ranks.proved and exact_ranks.keys() == effective_ranks.keys():
            exact = HeadType.of(exact_ranks, ranks.numbers, shape)
        return cls(exact=exact, effective=effective)

    def words(self) -> str:
        """Return one line, such as ``rk K = 3 (2), rk Q = 3, …: such effective ranks are critical
        for almost no target``.

        It has the exact ranks, with effective ones in parentheses where they differ, or the
        effective ranks, with a remark, where exact ones are not proved; and what follows for the
        effective type.
        """
        parts = []
        for name, effective_rank in self.effective.ranks.items():
            shown = effective_rank if self.exact is None else self.exact.ranks[name]
            differs = f" ({effective_rank})" if effective_rank != shown else ""
            parts.append(f"rk {name} = {shown}{differs}")
        remark = " (effective ranks, not proved)" if self.exact is None else ""
        return f"{', '.join(parts)}{remark}: {self._conclusion()}"

    def _conclusion(self) -> str:
        """Return what the theorem says of the effective ranks, as a clause, in which they are
        called effective unless they are the exact ranks.
        """
        found = self.effective
        if found.exposed is None:
            return "nothing is known where A or the values are zero"
        are_exact = self.exact is not None and self.exact.ranks == found.ranks
        subject = "such ranks" if are_exact else "such effective ranks"
        # an effective rank 0 of A or V, alone, does not prove that the function is zero
        if self.exact is not None and self.exact.zero:
            subject = f"the function is zero, and {subject}"
        if not found.exposed:
            return f"{subject} are critical for almost no target"
        conclusion = f"{subject} are critical for an open set of targets"
        return f"{conclusion}, and saddles for almost all of them" if found.saddle else conclusion

    def to_json(self) -> dict[str, Any]:
        """Return both types for ``json.dumps``."""
        exact = None if self.exact is None else self.exact.to_json()
        return {"exact": exact, "effective": self.effective.to_json()}


def _effective_numbers(numerical: Numerical, d: int) -> OrbitNumbers:
    """Return the effective ranks r of A and s of V, and m, the effective dimension of the
    intersection of the column space of A and the row space of V, both in a space of dimension d:
    the number of principal angles up to the tolerance, within what r and s allow.
    """
    r, s = numerical.effective_rank_A, numerical.effective_rank_V
    # An angle that rounding does not distinguish from 0, None, counts as 0.
    angles = [0.0 if angle is None else angle for angle in numerical.principal_angles]
    small_angles = sum(angle <= numerical.tolerance for angle in angles)
    # Two subspaces of dimensions r and s meet in r + s − d dimensions at least, and in r or s at
    # most.
    m = min(max(small_angles, r + s - d, 0), r, s)
    return OrbitNumbers(r=r, s=s, m=m)
