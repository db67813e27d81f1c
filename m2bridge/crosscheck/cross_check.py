"""The cross-check of one case: a table of orbits and a verdict on each statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from m2bridge.algebra.field import QQ
from m2bridge.clock import clock, limited
from m2bridge.crosscheck.compare import compare, not_applicable, undecided
from m2bridge.crosscheck.verdict import Outcome, Verdict
from m2bridge.engine import Engine, given_or_own
from m2bridge.errors import EngineMemoryError, EngineTimeoutError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.observation import Observations, OrbitFacts, observe
from m2bridge.families.attention.statements import REGISTRY, OrbitStatement, Statement
from m2bridge.families.attention.tangents import zero_tangent_dimension
from m2bridge.layout import duration, facts, matrix_text, table
from m2bridge.maps.singular_locus_result import zero_text
from m2bridge.presented import result_json


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """What was observed and decided for one case.

    Parameters
    ----------
    model : SingleLayerAttention
    verdicts : tuple of Verdict
    observations : Observations or None
        ``None`` when no statement applies, or a limit was reached before the dimension was known; those of some
        orbits, or of none, when it was reached later.
    engine_version : str
    seconds : float
    unfinished : str
        Empty, or the limit that was reached.
    """

    model: SingleLayerAttention
    verdicts: tuple[Verdict, ...]
    observations: Observations | None
    engine_version: str
    seconds: float
    unfinished: str = ""

    @property
    def refuted(self) -> bool:
        """Whether some statement was refuted."""
        return any(verdict.verdict is Outcome.REFUTED for verdict in self.verdicts)

    @property
    def undecided(self) -> bool:
        """Whether some statement was left undecided."""
        return any(verdict.verdict is Outcome.UNDECIDED for verdict in self.verdicts)

    @property
    def zero_tangent_dimension(self) -> int | None:
        """Tangent dimension of the closure at the zero function, where orbits are listed."""
        return None if self.observations is None else zero_tangent_dimension(self.model)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        seen = self.observations
        return result_json(self.model.to_json(), QQ, self.engine_version, self.seconds) | {
            "dimension": None if seen is None else seen.dimension,
            "degree": None if seen is None else seen.degree,
            "orbits": [] if seen is None else [_orbit_json(fact) for fact in seen.orbits],
            "zero_tangent_dimension": self.zero_tangent_dimension,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "remarks": [] if seen is None else list(seen.remarks),
            "unfinished": self.unfinished or None,
        }

    def to_text(self) -> str:
        """For a person at a terminal."""
        seen = self.observations
        parts = [f"Cross-check of lightning self-attention, {self.model}, over QQ"]
        parts.append(
            facts(
                [
                    ("dimension", None if seen is None else f"{seen.dimension} affine"),
                    ("degree", None if seen is None else seen.degree),
                    ("at zero", None if seen is None else zero_text(self.zero_tangent_dimension, seen.dimension)),
                    ("computed by", f"Macaulay2 {self.engine_version}, {duration(self.seconds)}"),
                    *(("agreement", remark) for remark in (() if seen is None else seen.remarks)),
                    ("not finished", self.unfinished or None),
                ]
            )
        )
        if seen is not None and seen.orbits:
            parts += ["", "  Orbits (L = column space of A, U = row space of V)", self._orbit_table(seen)]
        parts.append("")
        parts += [self._verdict_text(verdict) for verdict in self.verdicts]
        return "\n".join(parts)

    def _orbit_table(self, seen: Observations) -> str:
        predictions = [s for s in REGISTRY if isinstance(s, OrbitStatement) and (s.key, s.part) == ("3.4", "iii")]
        header = ("rk A", "rk V", "dim L∩U", "dimension", "fibre", "points", "tangent", "", "critical", "boundary")
        rows = []
        for fact in seen.orbits:
            tangent = fact.tangent_dimension
            rows.append(
                (
                    fact.orbit.r,
                    fact.orbit.s,
                    fact.orbit.m,
                    fact.dimension,
                    fact.fibre.length,
                    fact.fibre.points,
                    f"≥ {fact.tangent_lower}" if tangent is None else f"= {tangent}",
                    SAID[fact.singular],
                    "critical" if fact.critical else "",
                    "boundary" if fact.boundary else "",
                    *("singular" if s.predict(fact.orbit, seen.model) else "smooth" for s in predictions),
                )
            )
        return table((*header, *(f"Theorem {s.key} ({s.part}) says" for s in predictions)), rows)

    def _verdict_text(self, verdict: Verdict) -> str:
        lines = [f"  {verdict.verdict:<14}  {verdict.name}: {verdict.text}", f"  {'':14}  → {verdict.reason}"]
        if verdict.witness is not None and verdict.witness.orbit is not None:
            witness = verdict.witness
            lines.append(f"  {'':14}  witness: A = {matrix_text(witness.A)}, V = {matrix_text(witness.V)}")
            numbers = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in witness.numbers.items())
            lines.append(f"  {'':14}  {numbers}")
        return "\n".join(lines)

    def to_latex(self) -> str:
        """A table of the verdicts."""
        rows = " \\\\\n".join(f"{v.name} & {v.verdict.replace('_', ' ').lower()}" for v in self.verdicts)
        return f"\\begin{{tabular}}{{ll}}\n{rows}\n\\end{{tabular}}"

    def to_macaulay2(self) -> str:
        """The verdicts as a Macaulay2 hash table."""
        entries = ", ".join(f'"{v.name}" => "{v.verdict}"' for v in self.verdicts)
        return f"verdicts = hashTable {{{entries}}}"

    def _repr_latex_(self) -> str:
        return self.to_latex()


def cross_check(
    model: SingleLayerAttention,
    engine: Engine | None = None,
    statements: Sequence[Statement] = REGISTRY,
    timeout: float | None = None,
) -> CrossCheck:
    """Decide statements for one case, assuming none of them.

    Parameters
    ----------
    model : SingleLayerAttention
    engine : Engine, optional
        A Macaulay2 of its own is started, and ended, where none is given.
    statements : sequence of Statement
    timeout : float, optional
        Seconds for the whole computation.

    Raises
    ------
    ContradictionError
        If independent methods disagree.
    EngineError
        If Macaulay2 failed in another way than by reaching a limit.
    """
    with limited(timeout), given_or_own(engine) as engine:
        return _cross_check(model, engine, statements)


def _cross_check(model: SingleLayerAttention, engine: Engine, statements: Sequence[Statement]) -> CrossCheck:
    running = clock()
    if model.t == 1:
        verdicts = tuple(not_applicable(statement, statement.hypotheses(model)) for statement in statements)
        return CrossCheck(model, verdicts, None, engine.version, running.seconds)
    try:
        seen = observe(model, engine)
    except (EngineTimeoutError, EngineMemoryError) as limit:
        verdicts = tuple(_without_observations(statement, model, str(limit)) for statement in statements)
        return CrossCheck(model, verdicts, None, engine.version, running.seconds, str(limit))
    verdicts = tuple(compare(statement, seen) for statement in statements)
    return CrossCheck(model, verdicts, seen, engine.version, running.seconds, seen.unfinished)


def _without_observations(statement: Statement, model: SingleLayerAttention, limit: str) -> Verdict:
    reason = statement.hypotheses(model)
    return not_applicable(statement, reason) if reason else undecided(statement, limit)


def _orbit_json(fact: OrbitFacts) -> dict[str, Any]:
    return {
        "r": fact.orbit.r,
        "s": fact.orbit.s,
        "m": fact.orbit.m,
        "dimension": fact.dimension,
        "fibre_length": fact.fibre.length,
        "fibre_points": fact.fibre.points,
        "singular": fact.singular,
        "critical": fact.critical,
        "boundary": fact.boundary,
        "source_smooth": fact.source_smooth,
        "tangent_dimension": fact.tangent_dimension,
        "tangent_lower_bound": fact.tangent_lower,
        "tangent_upper_bound": fact.tangent_upper,
    }


SAID = {True: "singular", False: "smooth", None: "undecided"}
