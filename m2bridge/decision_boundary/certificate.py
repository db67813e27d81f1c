"""The certificate of a distance: what was asked, the claim, and the multipliers that prove it.

All numbers are in hexadecimal digits, which are exact, and in the units of the layer; the units of
the search are powers of two. ``checker`` reads certificates, and shares nothing with this module
but the name of the form and the digest.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy

from m2bridge._version import __version__
from m2bridge.decision_boundary.balls import Floats
from m2bridge.decision_boundary.boundary import BoundaryProblem, GivenHead, Units, exponent
from m2bridge.decision_boundary.checker import FORM, digest_of
from m2bridge.decision_boundary.estimates import Multipliers
from m2bridge.decision_boundary.nearest import Evidence


@dataclass(frozen=True, slots=True, eq=False)
class ProvedDistance:
    """What proves a distance, and of which problem."""

    problem: BoundaryProblem
    units: Units
    step: Floats | None  # Ẽ
    evidence: Evidence

    def certificate(self, distance: tuple[float, float]) -> str:
        """The certificate of this interval, as JSON."""
        problem, evidence, size = self.problem, self.evidence, self.units.size
        low, high = distance
        proof = self._multipliers(evidence.multipliers)
        if evidence.part is None:
            proof["radius"] = _text(low)
        else:
            proof["part"] = _text(evidence.part)
            proof["away"] = None
            if evidence.away is not None:
                multipliers, weight = evidence.away
                by_weight = {"weight": _text(weight, self.units.value - 2 * size)}
                proof["away"] = self._multipliers(multipliers) | by_weight
        step = self.step if isfinite(high) else None
        fields: dict[str, Any] = {
            "form": FORM,
            "version": __version__,
            "claim": "bounds" if evidence.part is None else "nearest",
            "distance": [_text(low), None if step is None else _text(high)],
            "layer": {
                "heads": [_head(head) for head in problem.heads],
                "skip": problem.skip,
                "scores_over_root_of": problem.scores_over,
            },
            "readout": _readout(problem),
            "bias": _text(problem.bias),
            "input": _rows(problem.U),
            "step": None if step is None else _rows(step, size),
            "proof": proof,
        }
        return json.dumps(fields | {"digest": digest_of(fields)}) + "\n"

    def _multipliers(self, multipliers: Multipliers) -> dict[str, Any]:
        """λ and θ in the units of the layer."""
        size, value = self.units.size, self.units.value
        texts = []
        for head, theta in zip(self.problem.heads, multipliers.weights, strict=True):
            # weights are scaled too, so that θ is for other A and β
            shift = 2 * (exponent(head.K) + exponent(head.Q)) + 3 * size - value
            texts.append(_text(theta, shift))
        return {"multiplier": _text(multipliers.multiplier, value - 2 * size), "weights": texts}


def _head(head: GivenHead) -> dict[str, Any]:
    is_one = head.O.shape[0] == head.O.shape[1] and (numpy.eye(len(head.O)) == head.O).all()
    O = None if is_one else _rows(head.O)
    return {"K": _rows(head.K), "Q": _rows(head.Q), "V": _rows(head.V), "O": O}


def _readout(problem: BoundaryProblem) -> dict[str, Any]:
    """R with independent rows that span all, or w with a pool."""
    if problem.W.shape[1] == 1:
        place = int(problem.C.argmax())
        pool = place if problem.readout_over == 1 else "mean"
        return {"w": [_text(x) for x in problem.W[:, 0].tolist()], "pool": pool}
    given = [row.tobytes() for row in problem.W]
    rows = [given.index(column.tobytes()) for column in problem.row_space.T]
    return {"R": _rows(problem.W), "rows": rows}


def _rows(array: Floats, shift: int = 0) -> list[list[str]]:
    return [[_text(x, shift) for x in row] for row in array.tolist()]


def _text(number: float, shift: int = 0) -> str:
    """A number times 2^shift, in hexadecimal digits."""
    mantissa, power = float(number).hex().split("p")
    return f"{mantissa}p{int(power) + shift:+d}"
