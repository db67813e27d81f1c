"""Critical points of the squared loss for standard normal tokens, counted by monodromy in NumPy.

    python benchmarks/learning_degrees.py 3 1 3            # (d, d', a): 25
    python benchmarks/learning_degrees.py 4 1 4 --t 2 --quiet-loops 8
    python benchmarks/learning_degrees.py 2 3 2 --form data      # random sequences: 92

This shares nothing with the Gröbner bases of ``m2bridge critical-points`` but the quadratic form
and the order of coordinates. The gradient is linear in b = Gu, so weights that are drawn at random
are critical for some b. From there Newton's method follows critical points along closed loops in
the space of all b: the pairs of a point of the dense orbit and a b for which it is critical are
irreducible, so loops lead from one critical point to all others. The number that no loop makes
larger any more is observed, not proved; it is never too large, as far as rounding does not make two
solutions of one.
"""

import argparse
import time
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from m2bridge.families.attention.orbits.coordinates import indices
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training_loss.loss import (
    gaussian,
    quadratic_of_samples,
    random_quadratic,
)

Array = np.ndarray[Any, Any]

SMALLEST_STEP = 1e-4
"""A path whose steps become smaller is given up; the next loops may find its end."""
CLOSE = 1e-7
"""The relative size of a Newton step at which a point on a path is good enough."""
CONVERGED = 1e-9
"""That of the last Newton step at the end of a path."""
SAME = 1e-6
"""Solutions that differ by less, relatively, are the same."""


@dataclass(frozen=True)
class System:
    """The gradient of ½ c(w)ᵀ G c(w) − bᵀ c(w) in a chart w = w_0 + S y of the weights.

    ``tensor`` has the coefficients of A_pi V_kq in each coordinate of c.
    """

    gram: Array
    tensor: Array
    start: Array
    slopes: Array
    d: int
    a: int

    @property
    def unknowns(self) -> int:
        """The number of coordinates y of the chart."""
        return int(self.slopes.shape[1])

    def derivatives(self, y: Array) -> tuple[Array, Array, Array]:
        """The function c, its first and its second derivatives, for a row y of each path."""
        w = self.start + y @ self.slopes.T
        d, a = self.d, self.a
        count, inner = len(y), 2 * a * d
        size = w.shape[1]
        V = w[:, inner:]
        K, Q = w[:, : a * d].reshape(-1, a, d), w[:, a * d : inner].reshape(-1, a, d)
        if a == d:
            # K is the identity matrix, which does not move: Q is A
            K = np.broadcast_to(np.eye(d), K.shape)
        A = np.einsum("zep,zei->zpi", K, Q).reshape(count, d * d)
        along_A = np.tensordot(V, self.tensor, (1, 2))
        along_V = np.tensordot(A, self.tensor, (1, 1))
        function = (along_A @ A[:, :, None])[:, :, 0]
        by_A = along_A.reshape(count, -1, d, d)
        first = np.zeros((count, function.shape[1], size), complex)
        first[:, :, : a * d] = np.einsum("znpi,zei->znep", by_A, Q).reshape(count, -1, a * d)
        first[:, :, a * d : inner] = np.einsum("znpi,zep->znei", by_A, K).reshape(count, -1, a * d)
        first[:, :, inner:] = along_V
        return function, first @ self.slopes, by_A

    def second(self, y: Array, error: Array, by_A: Array) -> Array:
        """Σ error_n ∂²c_n in the chart."""
        w = self.start + y @ self.slopes.T
        d, a = self.d, self.a
        count, inner = len(y), 2 * a * d
        K, Q = w[:, : a * d].reshape(-1, a, d), w[:, a * d : inner].reshape(-1, a, d)
        if a == d:
            K = np.broadcast_to(np.eye(d), K.shape)
        size = w.shape[1]
        found = np.zeros((count, size, size), complex)
        on_A = np.einsum("zn,znpi->zpi", error, by_A)
        for e in range(a):
            rows, columns = slice(e * d, e * d + d), slice((a + e) * d, (a + e) * d + d)
            found[:, rows, columns] += on_A
        mixed = np.tensordot(error, self.tensor, (1, 0)).reshape(count, d, d, -1)
        of_K = np.einsum("zpib,zei->zepb", mixed, Q).reshape(count, a * d, -1)
        of_Q = np.einsum("zpib,zep->zeib", mixed, K).reshape(count, a * d, -1)
        found[:, : a * d, inner:] = of_K
        found[:, a * d : inner, inner:] = of_Q
        found = found + found.transpose(0, 2, 1)
        in_chart: Array = self.slopes.T @ found @ self.slopes
        return in_chart

    def newton(self, y: Array, b: Array) -> tuple[Array, Array, Array]:
        """The Newton step, the Hessian and the first derivatives; ``b`` has a row for each path."""
        function, first, by_A = self.derivatives(y)
        error = function @ self.gram - b
        gradient = np.einsum("znj,zn->zj", first, error)
        hessian = first.transpose(0, 2, 1) @ (self.gram @ first) + self.second(y, error, by_A)
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        return step, hessian, first


def system_of(shape: LayerSizes, form: str, rng: np.random.Generator) -> System:
    """The system in a random complex chart."""
    d, a, outputs = shape.d, shape.alpha, shape.d_out
    if form == "gaussian":
        quadratic = gaussian(shape)
    elif form == "random":
        quadratic = random_quadratic(shape, 0)
    else:
        sequences = rng.integers(-9, 10, (4 * d**3, d, shape.t)).tolist()
        quadratic = quadratic_of_samples(shape, [_fractions(rows) for rows in sequences])
    gram = np.array([[float(x) for x in row] for row in quadratic.gram.tolist()])
    gram /= np.abs(gram).max()
    tensor = np.zeros((len(gram), d * d, outputs * d))
    for place, (k, i, p, q) in enumerate(indices(shape)):
        tensor[place, p * d + i, k * d + q] = 1
        tensor[place, q * d + i, k * d + p] = 1
    size = 2 * a * d + outputs * d
    # K = (1 | k) R for a < d, and a linear form in V is 1
    turn = complex_normal(rng, d, d)
    free_of_K: Array = np.zeros((size, a * (d - a)), complex)
    start: Array = np.zeros(size, complex)
    if a < d:
        for e in range(a):
            start[e * d : e * d + d] = turn[e]
            for j in range(d - a):
                free_of_K[e * d : e * d + d, e * (d - a) + j] = turn[a + j]
    of_Q: Array = np.zeros((size, a * d), complex)
    of_Q[a * d : 2 * a * d] = np.eye(a * d)
    form_in_V = complex_normal(rng, outputs * d)
    basis = np.linalg.svd(form_in_V[None, :])[2][1:].conj().T
    of_V: Array = np.zeros((size, outputs * d - 1), complex)
    of_V[2 * a * d :] = basis
    start[2 * a * d :] = form_in_V.conj() / np.vdot(form_in_V, form_in_V)
    return System(gram, tensor, start, np.hstack([free_of_K, of_Q, of_V]), d, a)


def _fractions(rows: list[list[int]]) -> list[list[Fraction]]:
    """The rows of a matrix, exactly."""
    return [list(map(Fraction, row)) for row in rows]


def complex_normal(rng: np.random.Generator, *shape: int) -> Array:
    """Random complex numbers."""
    found: Array = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) / np.sqrt(2)
    return found


def followed(system: System, y: Array, b_from: Array, b_to: Array) -> Array:
    """The ends of the paths of critical points from one b to another; lost paths are left out."""
    y = y.copy()
    count = len(y)
    at, step = np.zeros(count), np.full(count, 0.05)
    alive: Array = np.ones(count, bool)
    move = b_to - b_from
    while True:
        active = np.flatnonzero(alive & (at < 1))
        if not len(active):
            return refined(system, y[alive], b_to)
        now, h = y[active], np.minimum(step[active], 1 - at[active])
        here = b_from + at[active, None] * move
        slope = tangent(system, now, here, move)
        middle = now + h[:, None] / 2 * slope
        half = here + h[:, None] / 2 * move
        guess = now + h[:, None] * tangent(system, middle, half, move)
        there = here + h[:, None] * move
        good: Array = np.zeros(len(active), bool)
        with np.errstate(all="ignore"):
            for _ in range(3):
                delta = system.newton(guess, there)[0]
                guess = guess - delta
                size = np.abs(delta).max(axis=1) / (1 + np.abs(guess).max(axis=1))
                good |= size < CLOSE
        good &= np.isfinite(guess).all(axis=1) & (size < CLOSE)
        y[active[good]] = guess[good]
        at[active[good]] += h[good]
        at[active[good & (at[active] > 1 - 1e-12)]] = 1
        step[active[good]] *= 1.6
        step[active[~good]] = h[~good] / 3
        alive[active[step[active] < SMALLEST_STEP]] = False


def refined(system: System, y: Array, b: Array) -> Array:
    """The points after some Newton steps, without those that do not converge."""
    everywhere = np.broadcast_to(b, (len(y), len(b)))
    for _ in range(4):
        delta = system.newton(y, everywhere)[0]
        y = y - delta
    size = np.abs(delta).max(axis=1) / (1 + np.abs(y).max(axis=1))
    kept: Array = y[size < CONVERGED]
    return kept


def tangent(system: System, y: Array, b: Array, move: Array) -> Array:
    """The derivative of critical points along a direction of b: H y' = Jᵀ b'."""
    _, hessian, first = system.newton(y, b)
    right = np.einsum("znj,n->zj", first, move)
    found: Array = np.linalg.solve(hessian, right[:, :, None])[:, :, 0]
    return found


def start_of(system: System, rng: np.random.Generator) -> tuple[Array, Array]:
    """Random weights, and a random b for which they are critical: Jᵀ b = Jᵀ G c."""
    y = complex_normal(rng, 1, system.unknowns)
    function, first, _ = system.derivatives(y)
    J = first[0]
    b = complex_normal(rng, len(J))
    wrong = J.T @ (function[0] @ system.gram - b)
    b = b + np.linalg.lstsq(J.T, wrong, rcond=None)[0]
    return y, b


def counted(system: System, rng: np.random.Generator, quiet_loops: int) -> int:
    """The number of critical points that loops find from one."""
    found, b = start_of(system, rng)
    known = {key(y) for y in found}
    quiet = 0
    loops = 0
    began = time.time()
    while quiet < quiet_loops:
        loops += 1
        corners = [b, complex_normal(rng, len(b)), complex_normal(rng, len(b)), b]
        ends = found
        for start, end in pairwise(corners):
            ends = followed(system, ends, start, end)
        new = []
        for y in ends:
            if key(y) not in known and not any(same(y, other) for other in found):
                known.add(key(y))
                new.append(y)
        quiet = 0 if new else quiet + 1
        if new:
            found = np.vstack([found, new])
        print(f"loop {loops}: {len(found)} points, {time.time() - began:.0f} s", flush=True)
    return len(found)


def key(y: Array) -> tuple[complex, ...]:
    """Rounded coordinates, which most often agree for equal points."""
    return tuple(y.round(6).ravel().tolist())


def same(one: Array, other: Array) -> bool:
    """Whether two points are equal up to rounding."""
    return bool(np.abs(one - other).max() < SAME * (1 + np.abs(one).max()))


def main() -> None:
    """Print the number for one size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("sizes", nargs=3, type=int, metavar=("d", "d'", "a"))
    parser.add_argument("--t", type=int, default=3)
    parser.add_argument("--form", choices=("gaussian", "data", "random"), default="gaussian")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quiet-loops", type=int, default=6)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    d, d_out, a = given.sizes
    system = system_of(LayerSizes(d, d_out, a, given.t), given.form, rng)
    number = counted(system, rng, given.quiet_loops)
    print(f"{number} critical points, observed")


if __name__ == "__main__":
    main()
