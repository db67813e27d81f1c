"""What a cross-check for all sizes says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import islpy as isl

from m2bridge.decided import Decided
from m2bridge.families.attention.all_sizes.basis import Basis
from m2bridge.families.attention.all_sizes.fibre_theorem import Stratum
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import IntegerMatrix, Orbit
from m2bridge.presented import Presented

SCOPE = "all d, d', a ≥ 1 and all t ≥ 2, in characteristic 0"

Decision = Literal["CONFIRMED", "REFUTED", "UNDECIDED"]


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Sizes to which a statement does not apply, and whether what it says is so there all the same.

    Parameters
    ----------
    sizes : set of sizes
    reason : str
        Which hypothesis fails.
    holds_for, fails_for, undecided_for : sets of sizes
        Parts of them.
    """

    sizes: isl.Set
    reason: str
    holds_for: isl.Set
    fails_for: isl.Set
    undecided_for: isl.Set


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The first size for which a statement is false, and the largest orbit where it is.

    Parameters
    ----------
    model : SingleLayerAttention
    orbit : Orbit or None
        ``None`` if the statement is not about orbits.
    A, V : matrices of int
        Weights of a function in the orbit; empty without an orbit.
    numbers : dict of str to int
        What shows it: the dimension, the tangent dimension.
    """

    model: SingleLayerAttention
    orbit: Orbit | None = None
    A: IntegerMatrix = ()
    V: IntegerMatrix = ()
    numbers: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SizesVerdict:
    """The verdict on one statement for all sizes.

    Parameters
    ----------
    statement, part, text, source : str
        See :class:`m2bridge.families.attention.statements.OrbitStatement`.
    verdict : {"CONFIRMED", "REFUTED", "UNDECIDED"}
        REFUTED if it is false for some size to which it applies; else UNDECIDED if the facts leave some size open.
    holds_for, fails_for, undecided_for : sets of sizes
        Together all sizes to which it applies.
    vacuous_for : set of sizes
        Those among ``holds_for`` without any function that it is about.
    not_applicable : tuple of NotApplicable
    counterexample : Counterexample or None
    computed, trusted : tuple of str
        What was computed for this verdict, and the lemmas on which it rests, with their proofs or sources.
    """

    statement: str
    part: str
    text: str
    source: str
    verdict: Decision
    holds_for: isl.Set
    fails_for: isl.Set
    undecided_for: isl.Set
    vacuous_for: isl.Set
    not_applicable: tuple[NotApplicable, ...]
    counterexample: Counterexample | None
    computed: tuple[str, ...]
    trusted: tuple[str, ...]

    @property
    def name(self) -> str:
        """``3.4 (iii)``."""
        return f"{self.statement} ({self.part})" if self.part else self.statement


@dataclass(frozen=True, slots=True)
class AllSizes(Decided, Presented):
    """Verdicts on statements for all sizes, and the theorem about fibres on which they rest.

    Parameters
    ----------
    verdicts : tuple of SizesVerdict
    strata : tuple of Stratum
        The fibre over every orbit.
    basis : Basis
        What Macaulay2 computed.
    engine_version : str
        Empty if Macaulay2 was not used.
    seconds : float
    not_stated : tuple of str
        Names of the statements that were asked about and are not stated for all sizes.

    Examples
    --------
    >>> with Macaulay2() as engine:
    ...     found = cross_check_all_sizes(engine)
    >>> len(found.strata)
    4
    """

    presentation: ClassVar[str] = "m2bridge.families.attention.presentation.all_sizes"

    verdicts: tuple[SizesVerdict, ...]
    strata: tuple[Stratum, ...]
    basis: Basis
    engine_version: str
    seconds: float
    not_stated: tuple[str, ...] = ()

    @property
    def unfinished(self) -> str:
        """Always empty: a limit that is reached before all is computed is an error."""
        return ""
