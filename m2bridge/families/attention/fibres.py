"""The method of fibres: the fibre scheme of the parametrization at one point of each orbit, in Macaulay2 over QQ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from m2bridge.clock import clock, watched
from m2bridge.engine import Engine, given_or_own
from m2bridge.engine.answer import Answer, parse
from m2bridge.errors import EngineError, EngineMemoryError, EngineTimeoutError, ParseError, TooLargeError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import (
    IntegerMatrix,
    Orbit,
    dense_first,
    generic_orbit,
    orbit_count,
    orbits,
    representative,
)
from m2bridge.render import Script, render

MOST_ORBITS = 20_000
"""More orbits take Macaulay2 weeks."""


@dataclass(frozen=True, slots=True)
class Fibre:
    """The fibre of the projective parametrization {rk A ≤ α} × {V} over a function, as a finite scheme.

    Parameters
    ----------
    length : int
        Length (degree) of the scheme.
    points : int
        Number of its geometric points.

    Examples
    --------
    >>> Fibre(length=2, points=1).reduced
    False
    """

    length: int
    points: int

    @property
    def reduced(self) -> bool:
        """Whether no point is multiple."""
        return self.length == self.points


@dataclass(frozen=True, slots=True)
class Fibres:
    """What the fibres of a case tell.

    Parameters
    ----------
    at : dict of Orbit to Fibre
        Over all orbits, or over some of them if there is a ``limit``; over the dense one in any case.
    base_locus_empty : bool
        Whether φ(A, V) = 0 only for A = 0 or V = 0.
    boundary_family : bool
        Whether the functions with k = e_1 + iεe_2, v = k̄ are real, have no real weights for ε ≠ 0, and tend to the
        representative of (1, 1, 1) for ε → 0; there is no such family for d = 1.
    limit : EngineError or None
        The limit on time or memory that was reached before all fibres were computed.
    """

    at: dict[Orbit, Fibre]
    base_locus_empty: bool
    boundary_family: bool
    limit: EngineError | None = None


def check_orbits(model: SingleLayerAttention) -> None:
    """Raise TooLargeError if there are too many orbits to be observed one after the other."""
    if (count := orbit_count(model)) > MOST_ORBITS:
        raise TooLargeError(
            f"this case has {count} orbits; at most {MOST_ORBITS} can be observed: take smaller numbers"
        )


def fibres(model: SingleLayerAttention, engine: Engine | None = None, wanted: Sequence[Orbit] | None = None) -> Fibres:
    """Compute the fibres at representatives of orbits, in one run.

    Hypothesis: t ≥ 2.

    Parameters
    ----------
    engine : Engine, optional
        A Macaulay2 of its own is started, and ended, where none is given.
    wanted : sequence of Orbit, optional
        Some of the orbits, beginning with the dense one; all when left out.

    Returns
    -------
    Fibres
        With ``limit`` set, and the fibres that were computed until then, if a limit was reached.

    Raises
    ------
    EngineError
        If Macaulay2 failed in another way, or reached a limit before the fibre over the dense orbit was computed.

    Examples
    --------
    >>> found = fibres(SingleLayerAttention(d=2, d_out=1))
    >>> found.at[Orbit(1, 1, 1)]
    Fibre(length=2, points=1)
    """
    every = orbits(model) if wanted is None else tuple(sorted(wanted))
    try:
        with given_or_own(engine) as engine:
            records = engine.run(fibres_script(model, wanted), clock().remaining).records
        return _read(parse(records), model, every)
    except (EngineTimeoutError, EngineMemoryError) as limit:
        answer = parse(limit.records)
        done = tuple(orbit for orbit in every if str(orbit) in answer)
        if generic_orbit(model) not in done:
            raise
        if done == every:  # reached after the last fibre, it took nothing away
            return _read(answer, model, every)
        limit.progress = f"{len(done)} of {orbit_count(model)} orbits were done"
        return _read(answer, model, done, limit)


def _read(
    answer: Answer, model: SingleLayerAttention, done: tuple[Orbit, ...], limit: EngineError | None = None
) -> Fibres:
    return Fibres(
        {orbit: _fibre(answer, orbit) for orbit in done},
        answer.boolean("base_locus_empty"),
        model.d > 1 and answer.boolean("family_without_real_points") and answer.boolean("family_tends_to_the_orbit"),
        limit,
    )


def _fibre(answer: Answer, orbit: Orbit) -> Fibre:
    length, points = answer.integers(str(orbit))
    if not 0 < points <= length:
        raise ParseError(f"a fibre of length {length} with {points} points at orbit {orbit}")
    return Fibre(length, points)


def fibres_script(model: SingleLayerAttention, wanted: Sequence[Orbit] | None = None) -> Script:
    """The Macaulay2 program: first what all the rest builds on, then one orbit after the other.

    Raises
    ------
    TooLargeError
        If there are too many.
    """
    check_orbits(model)
    listed = dense_first(model) if wanted is None else wanted
    return render(
        "fibres",
        ("wire", "fibres"),
        {
            "title": str(model),
            "d": model.d,
            "alpha": model.alpha,
            "unknowns": ", ".join(f"z_{q}" for q in range(2, model.d + 1)),
            "orbits": [(orbit, *nonzero_part(orbit, model)) for orbit in watched(listed)],
            "boundary": nonzero_part(Orbit(1, 1, 1), model),
            "charts": "{(1,1)}" if model.d == 1 else "{(1,1), (1,2)}",
            "zeros": "{" + ", ".join(["0"] * (model.d - 2)) + "}",
        },
    )


def nonzero_part(orbit: Orbit, model: SingleLayerAttention) -> tuple[str, str]:
    """The nonzero columns of A and the nonzero rows of V of the representative, in Macaulay2."""
    A, V = representative(orbit, model)
    return _matrix(tuple(row[: orbit.r] for row in A)), _matrix(V[: orbit.s])


def _matrix(rows: IntegerMatrix) -> str:
    return "matrix(QQ, {" + ", ".join("{" + ", ".join(map(str, row)) + "}" for row in rows) + "})"
