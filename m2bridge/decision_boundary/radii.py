"""The figure ``radii``: a histogram of the distances of many inputs to a decision boundary.

The file has the arrays of one layer and its readout, as for ``robustness``, and inputs X of shape
(n, d, t). Each input is asked about by itself; so each interval is proved to contain its radius.
Where the nearest point is proved, the interval is as narrow as floating-point numbers are. Where it
is not, the lower end stands for the radius, in a paler bar: no point of the boundary is nearer.

Order statistics grow with each radius. So the median lies between the medians of the lower and of
the upper ends, and likewise for the smallest and the largest radius.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Unpack

import numpy

from m2bridge.algebra.intervals import FloatInterval
from m2bridge.decision_boundary.options import OPTIONS, BoundaryOptions, LayerSource
from m2bridge.decision_boundary.reading import read_layer
from m2bridge.decision_boundary.result import Robustness, interval_text, robustness_of
from m2bridge.errors import InvalidCaseError
from m2bridge.families.base import CaseOption, Figure, integer
from m2bridge.limits import check_deadline_in, limited
from m2bridge.results.base import Proof, result_json
from m2bridge.results.markup import csv_text
from m2bridge.results.picture import BLUE, PictureResult, new_figure, styled
from m2bridge.results.sheet import Facts, Picture, Sheet, m2_list
from m2bridge.trained_weights.figure import picture_options

MAX_INPUTS = 100_000
"""The largest number of inputs."""

MAX_BARS = 1000
"""The largest number of bars."""

LIGHT_BLUE = "#9ccbe8"
"""The colour of lower ends."""

OF_AN_INPUT = (
    "value",
    "sign",
    "distance",
    "is_proved",
    "because",
    "critical_points",
    "real_critical_points",
)
"""The fields of ``robustness`` that are said of each input."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class RadiiOfInputs(PictureResult):
    """The distance of each of n inputs to one decision boundary."""

    inputs: tuple[Robustness, ...]  # without their nearest points
    bars: int
    seconds: float

    @property
    def proved(self) -> int:
        """The number of inputs whose nearest point is proved."""
        return sum(found.is_proved for found in self.inputs)

    def proof(self) -> Proof:
        """Whether it is for all inputs."""
        all_proved = self.proved == len(self.inputs)
        because = f"the nearest point is proved for {self.proved} of {len(self.inputs)} inputs"
        return Proof(all_proved, because)

    def distances(self, *, is_proved: bool | None = None) -> list[FloatInterval]:
        """The intervals of inputs for which there is a boundary: all, or where the nearest point is
        proved, or where it is not.
        """
        return [
            found.distance
            for found in self.inputs
            if found.distance is not None and is_proved in (None, found.is_proved)
        ]

    def to_sheet(self) -> Sheet:
        """How many are proved, the smallest, the median and the largest radius, and the picture."""
        facts: list[tuple[str, object]] = [
            ("inputs", len(self.inputs)),
            ("nearest point proved", f"{self.proved} of {len(self.inputs)}"),
        ]
        ends = numpy.array(self.distances()).reshape(-1, 2)
        if ends.size:
            # of an even number of radii the one below the middle, so that ∞ is no term of a sum
            places = {"smallest": 0, "median": (len(ends) - 1) // 2, "largest": len(ends) - 1}
            ends.sort(axis=0)
            facts += [(name, interval_text(tuple(ends[k].tolist()))) for name, k in places.items()]
        listed = Counter(
            found.critical_points for found in self.inputs if found.critical_points is not None
        )
        if listed:
            words = [f"{count} for {times} inputs" for count, times in sorted(listed.items())]
            facts.append(("complex critical points", ", ".join(words)))
        title = "Distances of inputs to a decision boundary"
        return Sheet(title, [Facts(facts), Picture(self.page_svg)])

    def to_json(self) -> dict[str, Any]:
        """The numbers for ``json.dumps``, in the order of the inputs."""
        case = self.inputs[0].case
        inputs = [found.to_json() for found in self.inputs]
        return result_json(case, "RR", None, self.seconds) | {
            "is_proved": self.is_proved,
            "because": self.because,
            "inputs": [{name: fields[name] for name in OF_AN_INPUT} for fields in inputs],
        }

    def to_csv(self) -> str:
        """A line for each input; an end that is not known is left out."""
        header = ("input", "value", "sign", "lower", "upper", "is_proved", "critical_points")
        lines = []
        for number, found in enumerate(self.inputs):
            ends = ["" if x in (None, inf) else x for x in found.distance or (None, None)]
            critical = "" if found.critical_points is None else found.critical_points
            proved = str(found.is_proved).lower()
            lines.append((number, found.value[0], found.sign, *ends, proved, critical))
        return csv_text(header, lines)

    def to_macaulay2(self) -> str:
        """The distances as intervals of Macaulay2; ``null`` where one is not bounded."""
        texts = ["null"] * len(self.inputs)
        for number, found in enumerate(self.inputs):
            if found.distance is not None and inf not in found.distance:
                low, high = found.distance
                texts[number] = f"interval({low!r}, {high!r})"
        return f"radii = {m2_list(texts)}"

    def figure(self) -> Any:
        """The histogram: radii, and on them lower ends."""
        proved, lower = (
            [low for low, _ in self.distances(is_proved=is_proved)] for is_proved in (True, False)
        )
        with styled():
            page = new_figure(5.2, 3.4, "Distances to a decision boundary")
            axes = page.subplots()
            largest = max([*proved, *lower], default=0.0) or 1.0
            axes.hist(
                [proved, lower],
                bins=numpy.linspace(0, largest, self.bars + 1),
                stacked=True,
                color=[BLUE, LIGHT_BLUE],
                edgecolor="white",
                linewidth=0.6,
                label=["exact", "lower bound"],
            )
            axes.set_xlim(0, largest)
            axes.locator_params(axis="y", integer=True)
            axes.set_xlabel("distance to the decision boundary")
            axes.set_ylabel("inputs")
            if lower:
                axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
            page.tight_layout()
            return page


def radii_of_inputs(
    source: LayerSource, *, bars: int = 20, **options: Unpack[BoundaryOptions]
) -> RadiiOfInputs:
    """The distances of the inputs X, of shape (n, d, t), with options of ``robustness``."""
    if not 1 <= bars <= MAX_BARS:
        raise InvalidCaseError("bars", f"must be from 1 to {MAX_BARS}")
    with limited(None) as running:
        layer = read_layer(source, **options)
        X = layer.arrays.get("X", numpy.zeros(0))
        if X.ndim != 3 or not 1 <= len(X) <= MAX_INPUTS:
            shape = f"(n, d, t), with n from 1 to {MAX_INPUTS}"
            raise InvalidCaseError("source", f"X must be there, and of the shape {shape}")
        problem = layer.problem(X[0])
        inputs = []
        for one in check_deadline_in(X):
            found = robustness_of(replace(problem, U=one))
            inputs.append(replace(found, nearest=None, proof_of_bounds=None))
        return RadiiOfInputs(inputs=tuple(inputs), bars=bars, seconds=running.seconds)


RADII = Figure(
    "radii",
    "Distances of many inputs to a decision boundary, as a histogram",
    (
        CaseOption("source", str, "a file as of robustness, X of shape (n, d, t)", positional=True),
        *picture_options(OPTIONS),
        CaseOption("bars", integer, "the number of bars", default="20"),
    ),
    radii_of_inputs,
)
