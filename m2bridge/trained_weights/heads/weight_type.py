"""The type of the weights of a head, and whether training by a squared loss stops at such weights.

A type is named by ranks. The theorem about them is docs/training.md#theorem-exposed, for a layer
with this one head; the ranks are exact, or effective: what floating-point numbers are near to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.trained_weights.heads.spectrum import Numerical, Spectrum

if TYPE_CHECKING:
    from m2bridge.families.attention.training.types import WeightType
    from m2bridge.trained_weights.heads.ranks import HeadShape, Ranks


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
        Whether the function is zero, without softmax.
    saddle : bool
        Whether they are then saddles for almost all of these targets, by the theorem.
    """

    ranks: dict[str, int]
    exposed: bool | None
    saddle: bool
    zero: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the ranks and both answers for ``json.dumps``."""
        return {"ranks": self.ranks, "exposed": self.exposed, "saddle": self.saddle}

    @classmethod
    def of(cls, each: Mapping[str, int], numbers: tuple[int, int, int], shape: HeadShape) -> Self:
        """Return what the theorem says of the ranks of the matrices of a head.

        The numbers are r = rk A, s = rk V (or OV), and m, the dimension of the intersection of the
        column space of A and the row space of V.
        """
        r, s, _ = numbers
        ranks = dict(each) | {"A": r}
        if shape.v is not None:
            ranks["OV"] = s
        zero = not (r and s)
        if zero and shape.softmax:
            return cls(ranks=ranks, exposed=None, saddle=False)
        kind = _kind(each, numbers, shape)
        sizes = LayerSizes(shape.d, shape.d_out, shape.a)
        exposed, saddle = kind.is_exposed(sizes), kind.is_saddle(sizes, shape.v)
        return cls(ranks=ranks, exposed=exposed, saddle=saddle, zero=zero)


def _kind(each: Mapping[str, int], numbers: tuple[int, int, int], shape: HeadShape) -> WeightType:
    """Return the type of weights of a head.

    ``each`` has the ranks of the matrices by their letters, and ``numbers`` are r, s and m: see
    :meth:`HeadType.of`.
    """
    from m2bridge.families.attention.training.types import WeightType  # with SymPy

    r, s, m = numbers
    if shape.softmax:
        # The theorem for softmax is about ranks alone, and m is that of general position.
        m = max(0, r + s - shape.d)
    if shape.v is None:
        return WeightType(k=each["K"], q=each["Q"], r=r, s=s, m=m)
    return WeightType(k=each["K"], q=each["Q"], r=r, s=s, m=m, o=each["O"], v=each["V"])


@dataclass(frozen=True, slots=True)
class HeadTypes:
    """The type of a head by exact ranks, and by effective ones.

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
        """Return the types of a head with K and Q; ``None`` with biases or a norm.

        A space is counted as common to the column space of A and the row space of V where the
        principal angle is at most the tolerance.
        """
        if not shape.factored or shape.coordinates is not None:
            return None
        tolerance = numerical.tolerance
        letters = [letter for letter in "KQVO" if letter in matrices]
        each = {}
        for letter in letters:
            spectrum = Spectrum.of([matrices[letter]], ranks.each[letter])
            each[letter] = spectrum.effective_rank(tolerance)
        r, s = numerical.effective_rank_A, numerical.effective_rank_V
        angles = [angle for angle in numerical.principal_angles if angle is not None]
        # An angle that rounding does not distinguish from 0 counts, too.
        separate = sum(angle > tolerance for angle in angles)
        m = max(len(numerical.principal_angles) - separate, r + s - shape.d, 0)
        effective = HeadType.of(each, (r, s, min(m, r, s)), shape)
        exact = None
        known = {letter: ranks.each[letter] for letter in letters}
        if ranks.proved and None not in known.values():
            proved = {letter: rank for letter, rank in known.items() if rank is not None}
            exact = HeadType.of(proved, ranks.numbers, shape)
        return cls(exact, effective)

    def words(self) -> str:
        """Return one line: the ranks, effective ones in parentheses where they differ, and what
        follows for the effective type.
        """
        parts = []
        for name, rank in self.effective.ranks.items():
            exact = self.exact.ranks[name] if self.exact is not None else rank
            differs = f" ({rank})" if rank != exact else ""
            parts.append(f"rk {name} = {exact}{differs}")
        effective = self.exact is None or self.exact.ranks != self.effective.ranks
        return f"{', '.join(parts)}: {self._conclusion('effective ' if effective else '')}"

    def _conclusion(self, which: str) -> str:
        """Return what the theorem says of the effective ranks, as a clause; ``which`` is
        ``effective`` with a space, or empty where exact ranks are the same.
        """
        found = self.effective
        if found.exposed is None:
            return "nothing is known where A or the values are zero"
        which = f"such {which}"
        if found.zero:
            which = f"the function is zero, and {which}"
        if not found.exposed:
            return f"{which}ranks are critical for almost no target"
        stop = f"{which}ranks are critical for an open set of targets"
        return f"{stop}, and saddles for almost all of them" if found.saddle else stop

    def to_json(self) -> dict[str, Any]:
        """Return both types for ``json.dumps``."""
        exact = None if self.exact is None else self.exact.to_json()
        return {"exact": exact, "effective": self.effective.to_json()}
