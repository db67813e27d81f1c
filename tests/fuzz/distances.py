"""Random layers and inputs: the distance that is proved, against searches that know only g.

``python -m tests.fuzz distances --count 300 --seed 1``. g is written as a tensor of degree three in
all d·t variables, from the definition of the layer; nothing here is shared with m2bridge. Points of
the boundary are found by steps along the gradient from many starts, and on many lines through the
input, where g is a cubic polynomial of one variable. Of each case is asked:

* the interval starts at or below each point that is found, and is narrow where it is proved;
* where the list of all critical points is there, it has the same distance as Theorem R4;
* a certificate is accepted by its checker;
* in other units, up to 1e-150 and 1e150, everything is multiplied by the unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy

from m2bridge import Robustness, robustness
from m2bridge.decision_boundary.checker import check_distance
from m2bridge.decision_boundary.reading import read_problem
from m2bridge.decision_boundary.result import complete_list

Array = numpy.ndarray[Any, Any]

STARTS, LINES = 40, 4000
"""The numbers of searches and of lines for each case."""
NARROW = 1e-9
"""The largest relative width of an interval that is proved."""


@dataclass(frozen=True, eq=False)
class Case:
    """A layer with an input, and the options of ``robustness``."""

    layer: dict[str, Array]
    options: dict[str, Any]
    kind: str

    def tensors(self) -> tuple[Array, Array, float]:
        """g(x) = cubic·x³ + linear·x + bias in all entries of X, with a symmetric cubic tensor."""
        layer, X = self.layer, self.layer["X"]
        (d, t), one = X.shape, numpy.eye(X.shape[1])
        R = layer["R"]
        cubic: Array = numpy.zeros((d, t, d, t, d, t))
        for K, Q, V in zip(layer["K"], layer["Q"], layer["V"], strict=True):
            # Σ R[o, j] V[o, p] X[p, u] · X[q, u] (KᵀQ)[q, s] X[s, j]
            cubic += numpy.einsum("oj,op,qs,uv,jw->puqvsw", R, V, K.T @ Q, one, one)
        cubic = cubic.reshape([d * t] * 3)
        axes = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
        cubic = sum((cubic.transpose(order) for order in axes), 0 * cubic) / 6
        linear = R.ravel() if self.options["skip"] else numpy.zeros(d * t)
        return cubic, linear, self.options["bias"]


def cases(count: int, seed: int) -> Iterator[Case]:
    """Cases of each kind in turn."""
    kinds = ("generic", "zero", "rank one", "rows of R", "orthogonal to R", "integers", "β = K")
    for number in range(count):
        random = numpy.random.default_rng([seed, number])
        kind = kinds[number % len(kinds)]
        d, t = int(random.integers(1, 5)), int(random.integers(1, 5))
        heads, a, r = (int(random.integers(1, 3)) for _ in range(3))
        heads, a, r = (1, 1, 1) if number % 3 else (heads, a, r)
        skip = bool(random.integers(2))
        d_out = d if skip else 2

        draw = random, kind in ("integers", "β = K")
        rows = matrix(*draw, min(r, d_out, t), t)
        if len(rows) == 1:  # so that the product below has rank one exactly
            rows = numpy.rint(2 * rows)
        layer = {
            "K": matrix(*draw, heads, a, d),
            "Q": matrix(*draw, heads, a, d),
            "V": matrix(*draw, heads, d_out, d),
            "R": numpy.float32(matrix(*draw, d_out, len(rows))).astype(float) @ rows,
        }
        X = matrix(*draw, d, t)
        if kind == "zero":
            X = 0 * X
        elif kind == "rank one":
            X = numpy.outer(X[:, 0], X[0])
        elif kind == "rows of R":
            X = matrix(*draw, d, len(rows)) @ rows
        elif kind == "orthogonal to R":
            X = X - X @ numpy.linalg.pinv(rows) @ rows
        elif kind == "β = K":
            R = numpy.outer(matrix(*draw, d_out), rows[0])
            layer["R"] = R
            layer["K"] = (layer["V"].transpose(0, 2, 1) @ R[:, :1]).transpose(0, 2, 1)
            layer["Q"] = layer["Q"][:, :1]
        bias = float(random.choice([0, 0.1, 1, -3])) * float(random.choice([1, 20]))
        yield Case(layer | {"X": X}, {"skip": skip, "bias": bias}, kind)


def matrix(random: numpy.random.Generator, whole: bool, *shape: int) -> Array:
    """Random entries, which are small integers or not."""
    entries: Array = random.integers(-3, 4, shape) if whole else random.normal(size=shape)
    return entries.astype(float)


def least_found(case: Case, random: numpy.random.Generator) -> float:
    """The least distance of a point of the boundary that is found."""
    cubic, linear, bias = case.tensors()
    U = case.layer["X"].ravel()

    def derivatives(x: Array) -> tuple[Array, Array]:
        by_x = numpy.einsum("ijk,nj,nk->ni", cubic, x, x)
        return (by_x * x).sum(axis=1) + x @ linear + bias, 3 * by_x + linear

    size = max(1.0, float(numpy.abs(U).max()))
    spread = numpy.array([0.01, 0.1, 0.3, 1.0, 3.0])[numpy.arange(STARTS) % 5, None]
    x = U + size * spread * random.normal(size=(STARTS, len(U)))
    with numpy.errstate(all="ignore"):
        for number in range(300):
            value, gradient = derivatives(x)
            square = (gradient**2).sum(axis=1)
            slope = (gradient * (x - U)).sum(axis=1)
            target = U + ((slope - value) / square)[:, None] * gradient
            x = x + (0.5 if number > 100 else 0.8) * (target - x)
        value, gradient = derivatives(x)
        lengths = numpy.linalg.norm(x - U, axis=1)
        # a change of sign in this distance is certain where the error of g is far smaller
        error = numpy.abs(value) / numpy.linalg.norm(gradient, axis=1)
    is_near = numpy.isfinite(lengths) & (error < 1e-12 * (1 + lengths))
    best = min(lengths[is_near].tolist(), default=inf)
    # lines, most of them near the best directions that are known
    is_near &= lengths > 1e-12
    toward = (x - U)[is_near][numpy.argsort(lengths[is_near])[:5]]
    for _ in range(4):
        directions = random.normal(size=(LINES // 4, len(U)))
        if len(toward):
            scales = 10.0 ** -random.integers(0, 5, len(directions))
            chosen = toward[random.integers(len(toward), size=len(directions))]
            directions = chosen + (scales * numpy.linalg.norm(chosen, axis=1))[:, None] * directions
        directions /= numpy.linalg.norm(directions, axis=1)[:, None]
        third = numpy.einsum("ijk,ni,nj,nk->n", cubic, *[directions] * 3, optimize=True)
        second = 3 * numpy.einsum("ijk,ni,nj,k->n", cubic, directions, directions, U, optimize=True)
        (value,), (gradient,) = derivatives(U[None])
        first = directions @ gradient
        found = [
            min(_changes_of_sign(coefficients), default=inf)
            for coefficients in numpy.stack([third, second, first, 0 * first + value], axis=1)
        ]
        place = int(numpy.argmin(found))
        best = min(best, found[place])
        if 1e-12 < found[place] < inf:
            toward = numpy.vstack([toward[:4], found[place] * directions[[place]]])
    return best


def _changes_of_sign(coefficients: Array) -> Iterator[float]:
    """Sizes of real roots, up to a billionth, behind which a cubic polynomial has another sign than
    at 0; multiple roots are not accurate.
    """
    for root in numpy.roots(coefficients):
        beyond = root.real * (1 + 1e-9)
        if numpy.polyval(coefficients, beyond) * coefficients[-1] < 0:
            yield float(abs(root.real))


def problems_of(case: Case, random: numpy.random.Generator, seen: Counter[str]) -> list[str]:
    """What is wrong with the answer to a case, in words."""
    answer = robustness(case.layer, layout="heads-a-d", **case.options)
    if answer.distance is None:
        seen["no boundary"] += 1
        cubic, linear, _ = case.tensors()
        return [] if abs(cubic).max() < 1e-12 and not linear.any() else ["there is a boundary"]
    low, high = answer.distance
    wrong = []
    seen[answer.because] += 1
    found = least_found(case, random) if answer.sign else 0.0
    # g is known here up to errors of floats
    found = max(found, low) if low < 1e-12 else found
    if low > found * (1 + 1e-9):
        wrong.append(f"a point at {found!r} is nearer than {low!r}")
    if answer.is_proved and high > low * (1 + NARROW):
        wrong.append(f"the interval is wide: {low!r}, {high!r}")
    if answer.is_proved and found < inf and high > found * (1 + 1e-9):
        wrong.append(f"the upper end is {high!r}, and a point at {found!r}")
    if high == inf and found < inf:
        wrong.append(f"no point was found, and there is one at {found!r}")
    if answer.sign:
        wrong += _against_list(case, answer, seen)
    if answer.proof_of_bounds is not None:
        check_distance(answer.to_certificate().encode())
        seen["certificates"] += 1
    return wrong + _in_units(case, answer, random)


def _against_list(case: Case, answer: Robustness, seen: Counter[str]) -> list[str]:
    """The list of critical points, also where Theorem R4 has decided."""
    options = case.options | {"layout": "heads-a-d"}
    problem = read_problem(case.layer, **options)
    if not problem.heads or answer.distance is None or answer.directions == 0:
        return []
    units = problem.in_units()
    all_points = complete_list(problem, units)
    if all_points is None:
        return []
    seen["lists"] += 1
    distance = float(all_points.distances[0].mid()) * 2.0**units.size
    low, high = answer.distance
    if low * (1 - 1e-12) <= distance <= high * (1 + 1e-12):
        return []
    return [f"the list says {distance!r}, for {low!r}, {high!r}"]


def _in_units(case: Case, answer: Robustness, random: numpy.random.Generator) -> list[str]:
    """The input times a number, and weights and bias changed so that the boundary is that multiple."""
    assert answer.distance is not None
    exponent = int(random.choice([-498, -100, 100, 498]))  # 1e-150 and 1e150
    size = 2.0**exponent
    layer = case.layer | {"X": size * case.layer["X"], "K": case.layer["K"] / size}
    layer["Q"] = layer["Q"] / (1 if case.options["skip"] else size)
    bias = case.options["bias"] * size
    if case.options["skip"]:
        layer["V"] = layer["V"] / size
    other = robustness(layer, layout="heads-a-d", **(case.options | {"bias": bias}))
    if other.distance is None:
        return ["no boundary in other units"]
    ends = [end / size for end in other.distance]
    is_same = numpy.allclose(ends, answer.distance, rtol=1e-6, atol=0)
    return [] if is_same else [f"in units of 2^{exponent}: {ends}, for {answer.distance}"]


def run(count: int, seed: int) -> int:
    """Show what is wrong, and how many distances were proved by what."""
    failures = 0
    seen: Counter[str] = Counter()
    for number, case in enumerate(cases(count, seed)):
        random = numpy.random.default_rng([seed, number, 1])
        for words in problems_of(case, random, seen):
            failures += 1
            shape = case.layer["X"].shape
            print(f"{number}: {case.kind}, {shape}, {case.options}: {words}")
    for words, times in seen.most_common():
        print(f"{times:6}  {words}")
    return failures
