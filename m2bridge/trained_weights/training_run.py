"""The weights of one layer during training: loss, effective ranks, and distances to exposed types.

A file of a run has arrays ``loss`` and ``step`` of n numbers, and the weights at these n steps: K
and Q of shape (n, a, d), or A of shape (n, d, d), and V of shape (n, d', d). A matrix has effective
rank i if i of its singular values are above the tolerance times the largest one of the whole run.
A *stage* is a sequence of steps with the same effective ranks: one type of docs/training.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, pairwise
from numbers import Real
from pathlib import Path
from typing import Any

import numpy

from m2bridge.errors import InvalidCaseError
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.results.base import result_json
from m2bridge.results.markup import csv_text
from m2bridge.results.picture import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    SOFT,
    VERMILION,
    PictureResult,
    new_figure,
    styled,
)
from m2bridge.results.sheet import Facts, Picture, Sheet, Table, m2_list, quoted, visible
from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.files import tensors

TOLERANCE = 0.05
"""The usual tolerance: singular values of a matrix of at most this part of its largest singular
value in the whole run count as zero.
"""

MAX_STEPS = 100_000
"""The largest number of steps of a run: each takes up to four singular value decompositions."""

BESIDE = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
"""Where a legend stands: beside its axes, so that it hides no line."""

ANSWER_WORDS = {True: "yes", False: "no", None: "–"}
"""The cells of the table for the answers to whether weights are exposed, or saddles; ``None`` is an
answer that is not known.
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """Steps, one after the other, with the same effective ranks."""

    first: int  # positions of the first and the last step among all steps, from 0 on
    last: int
    ranks: dict[str, int]  # the effective ranks of K, Q, A and V, or of A and V
    exposed: bool  # whether weights of such ranks, in general position, are critical
    saddle: bool  # whether these are proved to be saddles; false where that is not known


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class TrainingRun(PictureResult):
    """What is seen of the weights of one layer during training.

    Examples
    --------
    >>> n = numpy.array([0.0, 1.0, 2.0])
    >>> A = numpy.stack([numpy.diag([2.0, x]) for x in n])
    >>> run = training_run({"step": n, "loss": 2 - n, "A": A, "V": numpy.ones((3, 1, 2))})
    >>> [(stage.ranks["A"], stage.exposed) for stage in run.stages]
    [(1, False), (2, True)]
    """

    source: str  # the file; empty for a mapping
    shape: LayerSizes  # d, d' and a; a = d where A is one matrix
    tolerance: float
    steps: Any
    loss: Any
    singular_values: dict[str, Any]  # of K, Q, A and V, or A and V: a row for each step

    @property
    def factored(self) -> bool:
        """Whether K and Q are there, and not A alone."""
        return "K" in self.singular_values

    def effective_ranks(self, letter: str) -> Any:
        """Return the effective ranks of K, Q, A or V at all steps."""
        values = self.singular_values[letter]
        return (values > self.tolerance * values.max()).sum(axis=1)

    @property
    def stages(self) -> list[Stage]:
        """The stages of the run, in their order."""
        from m2bridge.families.attention.training.types import WeightType  # with SymPy

        names = tuple(self.singular_values)
        ranks_of_matrices = [self.effective_ranks(name).tolist() for name in names]
        # For each step a tuple with the rank of each matrix.
        ranks_at_steps = zip(*ranks_of_matrices, strict=True)
        stages = []
        position = 0
        # Equal tuples that follow one another are a stage.
        for ranks_of_stage, steps in groupby(ranks_at_steps):
            first = position
            position += len(list(steps))
            ranks = dict(zip(names, ranks_of_stage, strict=True))
            r, s = ranks["A"], ranks["V"]
            # The type of weights in general position. Where A is given as one matrix, it is KᵀQ
            # with the identity as K, of rank d. Two general subspaces of dimensions r and s of a
            # space of dimension d meet in as few dimensions as possible.
            kind = WeightType(
                k=ranks.get("K", self.shape.d),
                q=ranks.get("Q", r),
                r=r,
                s=s,
                m=max(0, r + s - self.shape.d),
            )
            # Where A is one matrix, nothing is known of saddles.
            saddle = self.factored and kind.is_saddle(self.shape)
            exposed = kind.is_exposed(self.shape)
            stages.append(Stage(first, position - 1, ranks, exposed=exposed, saddle=saddle))
        return stages

    @property
    def distances(self) -> Any:
        """The distances of (K, Q) to the pairs of matrices of rank at most r each, or of A to rank
        at most r, divided by the largest norm of (K, Q), or A, in the run: a row for each step and
        a column for each r = 0, 1, …, below the largest rank that they can have.

        Pairs K and Q of rank at most r each, with V of full rank, are the closure of an exposed
        type.
        """
        # K and Q have the same shape. The square of the norm of (K, Q) is the sum of the squares of
        # both norms, and so is the square of the distance.
        letters = "KQ" if self.factored else "A"
        largest = max(self.singular_values[letter].max() for letter in letters)
        # If all matrices of the run are 0, they are at the distance 0 from any rank.
        if largest == 0:
            return numpy.zeros_like(self.singular_values[letters[0]])
        # Divided by a power of two, which is exact, so that no value is above 1: then the squares
        # are not too large for floating-point numbers.
        _, exponent = numpy.frexp(largest)
        squares = sum(
            numpy.ldexp(self.singular_values[letter], -exponent) ** 2 for letter in letters
        )
        # The square of the distance to rank r is the sum of the squares of the singular values that
        # are left out, from the index r on (Eckart, Young 1936).
        sums_from_end = numpy.cumsum(numpy.flip(squares, axis=1), axis=1)
        squared_distances = numpy.flip(sums_from_end, axis=1)
        # The norm is the distance to rank 0, the largest of the distances.
        return numpy.sqrt(squared_distances / squared_distances.max())

    def distance_at(self, stage: Stage) -> float:
        """Return the smallest distance in a stage to rank at most the effective rank of A in this
        stage; 0 where that is the largest rank that A can have.
        """
        rank = stage.ranks["A"]
        # There is a row for each step, and a column for each rank below the largest.
        if rank >= self.distances.shape[1]:
            return 0.0
        return float(self.distances[stage.first : stage.last + 1, rank].min())

    def to_sheet(self) -> Sheet:
        """Return the sizes and the tolerance, a table of the stages, and the picture."""
        ranks = [f"rk {name}" for name in self.singular_values]
        header = ("steps", "loss", *ranks, "exposed", "saddle", "distance")
        rows = []
        for stage in self.stages:
            steps = f"{self.steps[stage.first]:g} to {self.steps[stage.last]:g}"
            loss = f"{self.loss[stage.first]:.3g} to {self.loss[stage.last]:.3g}"
            # Weights that the theorem does not show to be saddles may still be some: not known.
            saddle = True if stage.saddle else None
            words = (ANSWER_WORDS[stage.exposed], ANSWER_WORDS[saddle])
            distance = f"{self.distance_at(stage):.2g}"
            rows.append((steps, loss, *stage.ranks.values(), *words, distance))
        legend = (
            "Stages of equal effective ranks; whether weights of these ranks are critical for an"
            " open set of targets, and saddles; the smallest distance to weights of this rank of A"
        )
        where = f" in {visible(self.source)}" if self.source else ""
        size = f"({self.shape.d}, {self.shape.d_out}, {self.shape.a})"
        facts = [
            ("(d, d', a)", size),
            ("weights", "K, Q and V" if self.factored else "A as one matrix, and V"),
            ("effective ranks", f"singular values above {self.tolerance:g} of the largest"),
        ]
        title = f"Training run{where}"
        return Sheet(title, [Facts(facts), Table(header, rows, legend), Picture(self.page_svg)])

    def to_json(self) -> dict[str, Any]:
        """Return the stages, with the numbers of their steps as the file has them, and all numbers
        of each step, for ``json.dumps``.
        """
        stages = [
            {
                "first_step": float(self.steps[stage.first]),
                "last_step": float(self.steps[stage.last]),
                "ranks": stage.ranks,
                "exposed": stage.exposed,
                "saddle": stage.saddle,
                "distance": self.distance_at(stage),
            }
            for stage in self.stages
        ]
        # Nothing is computed by Macaulay2, and the time is not measured.
        common_fields = result_json(
            case={"source": self.source or None}, field="RR", engine=None, seconds=0.0
        )
        return common_fields | {
            "tolerance": self.tolerance,
            "stages": stages,
            "steps": self.steps.tolist(),
            "loss": self.loss.tolist(),
            "effective_ranks": {
                name: self.effective_ranks(name).tolist() for name in self.singular_values
            },
            "distances": self.distances.tolist(),
        }

    def to_macaulay2(self) -> str:
        """Return the effective ranks of A at all steps as a list of Macaulay2."""
        ranks = self.effective_ranks("A").tolist()
        return f"-- {quoted(self.source)}\nranksOfA = {m2_list(ranks)}"

    def to_csv(self) -> str:
        """Return a table of CSV with a line for each step."""
        names = tuple(self.singular_values)
        ranks = [self.effective_ranks(name).tolist() for name in names]
        # Each column is a list with a value for each step.
        columns = (self.steps.tolist(), self.loss.tolist(), *ranks, *self.distances.T.tolist())
        of_ranks = [f"rank_{name}" for name in names]
        of_distances = [f"distance_to_rank_{r}" for r in range(self.distances.shape[1])]
        lines = list(zip(*columns, strict=True))
        return csv_text(("step", "loss", *of_ranks, *of_distances), lines)

    def figure(self) -> Any:
        """Draw loss, effective ranks and distances, one below the other, over the steps."""
        weights = "K, Q and V" if self.factored else "A as one matrix"
        stages = self.stages
        with styled():
            page = new_figure(8.6, 7.4, f"Training run: {weights}")
            loss, ranks, distances = page.subplots(3, sharex=True)
            for axes in (loss, ranks, distances):
                axes.grid(color=FAINT, linewidth=0.7)
                axes.set_axisbelow(True)
                # Stages in which the effective rank of A is not the one of the stage before.
                for before, after in pairwise(stages):
                    if before.ranks["A"] != after.ranks["A"]:
                        step = self.steps[after.first]
                        axes.axvline(step, color=SOFT, linewidth=0.8, linestyle=":")
            loss.plot(self.steps, self.loss, color=INK, linewidth=1.8)
            if (self.loss > 0).all():
                loss.set_yscale("log")
            loss.set_ylabel("loss", style="italic")
            self._draw_ranks(ranks)
            self._draw_distances(distances)
            distances.set_xlabel("step", style="italic")
            size = f"({self.shape.d}, {self.shape.d_out}, {self.shape.a})"
            loss.set_title(f"Training of a layer (d, d′, a) = {size} by {weights}")
            page.align_ylabels()
            page.tight_layout()
            return page

    def _draw_ranks(self, axes: Any) -> None:
        """Draw the effective ranks of all matrices over the steps."""
        styles = {"K": (ORANGE, "--"), "Q": (SKY, ":"), "A": (BLUE, "-"), "V": (GREEN, "-.")}
        for name in self.singular_values:
            color, dashes = styles[name]
            style = {"color": color, "linestyle": dashes, "linewidth": 2, "label": f"rk {name}"}
            axes.step(self.steps, self.effective_ranks(name), where="post", **style)
        highest = max(values.shape[1] for values in self.singular_values.values())
        axes.set_yticks(range(highest + 1))
        axes.set_ylim(-0.2, highest + 0.3)
        axes.set_ylabel("effective rank", style="italic")
        axes.legend(**BESIDE)

    def _draw_distances(self, axes: Any) -> None:
        """Draw the distances to rank at most r over the steps, for r = 0, 1, …, at most 6."""
        colors = (INK, VERMILION, BLUE, PURPLE, GREEN, ORANGE, SKY)
        distances = self.distances
        matrices = "K, Q" if self.factored else "A"
        for r in range(min(distances.shape[1], len(colors))):
            axes.plot(
                self.steps,
                distances[:, r],
                color=colors[r],
                linewidth=1.6,
                label=f"to rk {matrices} ≤ {r}",
            )
        # Distances 0, as all are in a run of zeros, have no place on a logarithmic scale.
        positive = distances[distances > 0]
        if positive.size:
            axes.set_yscale("log")
            axes.set_ylim(max(positive.min() / 2, 1e-9), 2)
        axes.set_ylabel("relative distance", style="italic")
        axes.legend(**BESIDE)


def training_run(source: Any, *, tolerance: float = TOLERANCE) -> TrainingRun:
    """Read the weights of a layer during training, and find the stages of equal effective ranks.

    ``source`` is a file of arrays, or a dictionary from names to arrays. InvalidCaseError if an
    array is missing, shapes do not fit, an entry is not finite, the steps fall, all of KᵀQ is too
    large or too small, or the tolerance is not between 0 and 1; ConversionError and TooLargeError
    as of files.
    """
    if not (isinstance(tolerance, Real) and 0 < tolerance < 1):
        raise InvalidCaseError("tolerance", f"must be between 0 and 1, not {tolerance!s:.60}")
    available = tensors(source)
    steps, loss = (_array_of_run(available, name, dimensions=1) for name in ("step", "loss"))
    letters = "KQV" if "K" in available or "Q" in available else "AV"
    matrices = {letter: _array_of_run(available, letter, dimensions=3) for letter in letters}
    _check_shapes(steps, loss, matrices)
    # The first index counts steps: V has the shape (steps, d', d), and K (steps, a, d).
    _, d_out, d = matrices["V"].shape
    # A as one matrix is KᵀQ with the identity as K, which has d rows.
    a = matrices["K"].shape[1] if "K" in matrices else d
    return TrainingRun(
        source=str(source) if isinstance(source, str | Path) else "",
        shape=LayerSizes(d, d_out, a),
        tolerance=tolerance,
        steps=steps,
        loss=loss,
        singular_values=_singular_values(matrices),
    )


def _singular_values(matrices: dict[str, Any]) -> dict[str, Any]:
    """Return the singular values of K, Q, A = KᵀQ and V, or of A and V, by these letters: arrays
    with a row for each step, the largest value first.
    """
    if "K" not in matrices:
        return {name: numpy.linalg.svd(A, compute_uv=False) for name, A in matrices.items()}
    K, Q, V = matrices["K"], matrices["Q"], matrices["V"]
    A = _product(K, Q)
    of_K, of_Q, of_A, of_V = (numpy.linalg.svd(M, compute_uv=False) for M in (K, Q, A, V))
    # K and Q have a rows and d columns. A = KᵀQ has rank at most a and d: its other singular values
    # are rounding.
    _, a, d = K.shape
    return {"K": of_K, "Q": of_Q, "A": of_A[:, : min(a, d)], "V": of_V}


def _product(K: Any, Q: Any) -> Any:
    """Return A = KᵀQ at each step; InvalidCaseError if its entries are too large, or all are too
    small, for floating-point numbers.
    """
    # Divided by powers of two, which is exact, the largest entries of K and Q are about 1: so the
    # product does not become zero or infinite.
    _, exponent_of_K = numpy.frexp(abs(K).max())
    _, exponent_of_Q = numpy.frexp(abs(Q).max())
    scaled_A = numpy.ldexp(K, -exponent_of_K).transpose(0, 2, 1) @ numpy.ldexp(Q, -exponent_of_Q)
    # An overflow is seen in the result.
    with numpy.errstate(over="ignore", under="ignore"):
        A = numpy.ldexp(scaled_A, exponent_of_K + exponent_of_Q)
    problem = ""
    if not numpy.isfinite(A).all():
        problem = "large"
    # Below 2^−1022 floating-point numbers lose digits, and then are 0.
    elif scaled_A.any() and abs(A).max() < 2.0**-960:
        problem = "small"
    if problem:
        reason = (
            f"the entries of A = KᵀQ are too {problem} for floating-point numbers: multiply K or Q"
            " by a power of two, the same at all steps"
        )
        raise InvalidCaseError("source", reason)
    return A


def _array_of_run(available: dict[str, Tensor], name: str, dimensions: int) -> Any:
    """Return the array of this name with as many indices, read now, as floats of 64 bits."""
    if name not in available:
        there = ", ".join(sorted(available)) or "no arrays"
        raise InvalidCaseError(
            "source",
            f"a run has arrays step, loss, V, and K and Q or A: no '{name}' in {there:.200}",
        )
    found = available[name]
    if len(found.shape) != dimensions:
        raise InvalidCaseError(
            "source",
            f"'{name}' is {found.size_text}: it needs {dimensions} indices, the step first",
        )
    try:
        return numpy.asarray(found.array(), dtype=float)
    except OverflowError:
        # An integer or a fraction may be any number.
        reason = f"an entry of '{name}' is too large for a floating-point number"
        raise InvalidCaseError("source", reason) from None


def _check_shapes(steps: Any, loss: Any, matrices: dict[str, Any]) -> None:
    """Check that all arrays have as many steps as ``steps``, which do not fall, and that the shapes
    of the matrices fit.
    """
    count = len(steps)
    if not 1 <= count <= MAX_STEPS:
        raise InvalidCaseError("source", f"a run has from 1 to {MAX_STEPS} steps, not {count}")
    falls = numpy.flatnonzero(numpy.diff(steps) < 0)
    if falls.size:
        before, after = steps[falls[0]], steps[falls[0] + 1]
        raise InvalidCaseError(
            "source",
            f"'step' falls from {before:.17g} to {after:.17g}: sort the arrays by their steps",
        )
    for name, array in ("loss", loss), *matrices.items():
        if len(array) != count:
            raise InvalidCaseError("source", f"'{name}' has {len(array)} steps, and 'step' {count}")
    d = matrices["V"].shape[2]
    problems = []
    for name, array in matrices.items():
        if 0 in array.shape:
            problems.append(f"'{name}' is empty")
        if array.shape[2] != d:
            problems.append(f"'{name}' has {array.shape[2]} columns, and V {d}")
    if "K" in matrices and matrices["K"].shape != matrices["Q"].shape:
        problems.append("'Q' has another shape than K")
    if "A" in matrices and matrices["A"].shape[1] != d:
        problems.append("'A' is not square")
    if problems:
        raise InvalidCaseError("source", problems[0])
