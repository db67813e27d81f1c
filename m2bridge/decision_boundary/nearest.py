"""The nearest point of a boundary: found in floats, proved in balls.

``distance_to`` searches for a point X̃ of the boundary that is near U, and then asks Theorem R4.
Its multipliers λ, θ, κ are chosen with floats; with balls any choice of them gives a proof or none:

1. if λ − q is positive definite at X̃ for a radius ρ ≥ ‖Ẽ‖ + D, where Ẽ = X̃ − U and D is at least
   the distance, X̃ is near the nearest point;
2. if it is for a smaller ρ only, and no point of the boundary is at most D from U and at least ρ
   from X̃, likewise;
3. otherwise there is a ball around U without points of the boundary, and a change of sign.

In the first two cases the distance is known to nearly all digits of a float, by a change of sign on
the line from U through X̃, and by the following bound. Let λ' < λ, with λ' − q positive definite,
and ε = ‖∇g(X̃) − 2λẼ‖. For a point X̃ + δ of the boundary with ‖δ‖ ≤ ρ

    0 ≤ g(X̃) + 2λ⟨Ẽ, δ⟩ + ε‖δ‖ + λ'‖δ‖²,   so   ‖Ẽ + δ‖² ≥ ‖Ẽ‖² − (|g(X̃)| + ε²/(4(λ − λ')))/λ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import flint
import numpy

from m2bridge.decision_boundary.balls import (
    AnyMatrix,
    BallMatrix,
    Floats,
    identity,
    inner,
    root,
    stacked,
)
from m2bridge.decision_boundary.boundary import Boundary, BoundaryProblem, Units, in_balls
from m2bridge.decision_boundary.estimates import Away, Expansion, Multipliers
from m2bridge.decision_boundary.search import (
    SHORTER,
    corrected,
    nearest_crossing,
    nearest_found,
    shorter_than,
)
from m2bridge.limits import check_deadline_in

PART_OF_MULTIPLIER = 2e-4
"""λ' is λ less this part of it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The multipliers with which Theorem R4 proves what is said of a distance."""

    multipliers: Multipliers
    part: float | None = None  # ρ/‖Ẽ‖ where X̃ is near the nearest point, at most 2, else None
    away: tuple[Multipliers, float] | None = None  # in part 3, with κ


@dataclass(frozen=True, slots=True, eq=False)
class Enclosure:
    """What is proved of the distance in the units of a problem: it lies between two balls."""

    lower: flint.arb
    upper: flint.arb | None  # None if no point of the boundary was found
    step: Floats | None  # Ẽ
    is_proved: bool  # whether the nearest point is proved to be near X̃
    because: str
    directions: int  # n
    evidence: Evidence | None  # None if nothing is proved of the lower end


def distance_to(
    problem: BoundaryProblem, units: Units, sign: int, known_step: Floats | None = None
) -> Enclosure:
    """The distance of U, where g has this sign, in these units, by balls of FLINT's present
    precision; with the step to a point of the boundary that is known, no other is searched for.
    """
    floats = problem.in_floats(units).with_sign(-sign)
    balls = problem.in_balls(units).with_sign(-sign)
    rows = _independent_directions(problem, floats)
    if rows is None:
        basis = identity(balls.U, floats.U.shape[0])
        space = numpy.eye(floats.U.shape[0])
    else:
        all_rows = _directions(balls).rows()
        basis = BallMatrix.of_rows([all_rows[number] for number in rows])
        space = numpy.linalg.qr(_directions(floats)[rows].T)[0]
    proof = _Proof(floats.on(space), space, balls, basis)
    return proof.enclosure(floats, known_step)


def _directions(boundary: Boundary) -> AnyMatrix:
    """Rows that span T, which contains the columns of all A, Aᵀ, B and S: what is orthogonal to T
    changes g nowhere (Theorem R1).
    """
    rows = []
    for head in boundary.heads:
        rows += [head.K, head.Q, head.beta.T]
    if boundary.omega is not None:
        rows.append(boundary.omega.T)
    return stacked(rows)


def _independent_directions(problem: BoundaryProblem, floats: Boundary) -> list[int] | None:
    """The numbers of the rows of ``_directions`` without those that stand there before, if they
    are independent as far as floats show, and fewer than d; else None, for all of ℝᵈ, which
    contains T.
    """
    rows = _directions(floats)
    given: list[bytes | None] = []
    for head in problem.heads:
        given += [row.tobytes() for row in head.K] + [row.tobytes() for row in head.Q]
        given += [None] * floats.gamma.shape[1]
    given += [None] * (len(rows) - len(given))
    kept = [
        number
        for number, text in enumerate(given)
        if text is None or (text.strip(b"\0") and text not in given[:number])
    ]
    if len(kept) >= rows.shape[1]:
        return None
    lengths = numpy.linalg.norm(rows[kept], axis=1)
    if not lengths.all():
        return None
    singular_values = numpy.linalg.svd(rows[kept] / lengths[:, None], compute_uv=False)
    # rows with a smaller one are taken for dependent
    return kept if singular_values[-1] > 1e-9 else None


@dataclass(frozen=True, slots=True)
class _Near:
    """λ − q is positive definite for a ball around X̃ whose radius is a part of ‖Ẽ‖, at most 2."""

    part: float
    multipliers: Multipliers


@dataclass(frozen=True, slots=True, eq=False)
class _Proof:
    """A boundary with g(U) < 0: in floats on the space T, in balls with a basis of T."""

    floats: Boundary
    space: Floats  # d×n: its columns are an orthonormal basis of T
    balls: Boundary
    basis: BallMatrix

    def enclosure(self, whole: Boundary, known_step: Floats | None) -> Enclosure:
        """What is proved of the distance; ``whole`` is the boundary in floats on ℝᵈ."""
        if known_step is None:
            reduced_step = nearest_found(self.floats)
        else:
            reduced_step = self.space.T @ known_step
        if reduced_step is None:
            lower, evidence = self._free_ball(numpy.inf)
            because = "no point of the boundary was found"
            return self._result(lower, None, None, because, evidence=evidence)
        for step in self._steps(self.space @ reduced_step, whole):
            exact_step = in_balls(step, 0)
            square = inner(exact_step, exact_step)
            upper = self._change_of_sign(exact_step, square)
            if upper is not None:
                break
        reduced_step = self.space.T @ step
        near = self._near(reduced_step)
        if upper is not None and near is not None:
            bound = self._lower_bound_at(exact_step, square, reduced_step, near, upper)
            if bound is not None:
                because = "Theorem R4, 2" if near.part >= 2 else "Theorem R4, 2 and 3"
                return self._result(bound[0], upper, step, because, evidence=bound[1])
        if known_step is None:
            shorter = shorter_than(self.floats, float(numpy.linalg.norm(step)))
            if shorter is not None:
                return self.enclosure(whole, self.space @ shorter)
        lower, evidence = self._free_ball(float(numpy.linalg.norm(step)))
        because = "bounds by Theorem R4, 1"
        return self._result(lower, upper, step, because, evidence=evidence)

    def _steps(self, step: Floats, whole: Boundary) -> Iterator[Floats]:
        """A step that was found, with all digits; as it is, since a point on a line through U is
        not critical, and is moved too far; and one behind which g has another sign, which is not so
        where g is a square.
        """
        yield self._refined(step, whole)
        yield step
        crossing = nearest_crossing(self.floats)
        if crossing is not None:
            yield self.space @ crossing

    def _refined(self, step: Floats, whole: Boundary) -> Floats:
        """A step that is corrected by values of g with all digits."""
        for _ in range(2):
            value = float(self.balls.value(self.balls.U + in_balls(step, 0)).mid())
            better = corrected(step, value, whole.gradient(whole.U + step))
            if better is None or not numpy.isfinite(better).all():
                break
            # where the boundary is curved, a step that is not quite critical is led away
            if numpy.linalg.norm(better) * SHORTER > numpy.linalg.norm(step):
                break
            step = better
        return step

    def _result(
        self,
        lower: flint.arb,
        upper: flint.arb | None,
        step: Floats | None,
        because: str,
        *,
        evidence: Evidence | None,
    ) -> Enclosure:
        return Enclosure(
            lower=lower,
            upper=upper,
            step=step,
            is_proved=evidence is not None and evidence.part is not None,
            because=because,
            directions=self.basis.shape[0],
            evidence=evidence,
        )

    def _change_of_sign(self, step: BallMatrix, square: flint.arb) -> flint.arb | None:
        """A distance from U at which g is proved to be positive, on the line through a point, by
        the square of its distance.
        """
        U = self.balls.U
        for part in (1e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4):
            factor = 1 + flint.arb(part)
            if self.balls.value(U + factor * step) > 0:
                return factor * root(square)
        return None

    def _near(self, step: Floats) -> _Near | None:
        """The largest ball around X̃ for which λ − q is positive definite, in floats, up to twice
        the distance from U, with its multipliers.
        """
        point = self.floats.U + step
        length = float(numpy.linalg.norm(step))
        if length == 0:
            return None
        multiplier = float(numpy.linalg.norm(self.floats.gradient(point))) / (2 * length)
        expansion = Expansion(self.floats, point, numpy.eye(len(point)))
        best: _Near | None = None
        for weights in check_deadline_in(self._weights(step)):
            multipliers = Multipliers(multiplier * (1 - PART_OF_MULTIPLIER), weights)
            low, high = (0.0 if best is None else best.part), 2.0
            if expansion.is_positive(high * (1 + 1e-6) * length, multipliers):
                return _Near(high, multipliers)
            while high - low > 0.01:
                part = (low + high) / 2
                if expansion.is_positive(part * length, multipliers):
                    low, best = part, _Near(part, multipliers)
                else:
                    high = part
        return best

    def _weights(self, step: Floats) -> Iterator[tuple[float, ...]]:
        """Choices of θ, around the one with which both terms of the estimate of c₃ are equal."""
        base = []
        for head in self.floats.heads:
            by_beta = numpy.linalg.norm(step.T @ head.beta)
            by_A = numpy.linalg.norm(head.K.T @ (head.Q @ (step @ self.floats.gamma)))
            base.append(max(float(by_A), 1e-9) / max(float(by_beta), 1e-9))
        for power in sorted(range(-6, 7), key=abs):
            yield tuple(theta * float(numpy.exp(power / 2)) for theta in base)

    def _lower_bound_at(
        self,
        step: BallMatrix,
        square: flint.arb,
        reduced_step: Floats,
        near: _Near,
        upper: flint.arb,
    ) -> tuple[flint.arb, Evidence] | None:
        """A proved lower bound for the distance, where X̃ is near the nearest point; None if that
        is not proved. The distance is at most D, which is ``upper``, and ``square`` is ‖Ẽ‖².
        """
        X = self.balls.U + step
        length = root(square)
        expansion = Expansion(self.balls, X, self.basis)
        radius = near.part * length if near.part < 2 else length + upper
        if not expansion.is_positive(radius, near.multipliers):
            return None
        away = None
        if near.part < 2:
            away = self._nothing_far_from(step, reduced_step, upper, radius)
            if away is None:
                return None
        # λ and λ', in the notation above
        smaller = flint.arb(near.multipliers.multiplier)
        larger = smaller / (1 - flint.arb(PART_OF_MULTIPLIER))
        # ε² by scalar products of few rows, as ∇g(X̃) = LR
        left, right = self.balls.factors_of_gradient(X)
        with_step = 2 * larger * inner(left.T @ step, right)
        square_of_gradient = inner(left.T @ left, right @ right.T)
        square_of_error = square_of_gradient - 2 * with_step + 4 * larger * larger * square
        loss = abs(expansion.value) + square_of_error / (4 * (larger - smaller))
        bound = square - loss / larger
        evidence = Evidence(near.multipliers, near.part, away)
        return (root(bound), evidence) if bound > 0 else None

    def _nothing_far_from(
        self, step: BallMatrix, reduced_step: Floats, upper: flint.arb, radius: flint.arb
    ) -> tuple[Multipliers, float] | None:
        """Multipliers, and κ, which prove that no point of the boundary is at most D from U and at
        least the radius from X̃; None if there is no proof.
        """
        floats = Expansion(self.floats, self.floats.U, numpy.eye(len(reduced_step)))
        most = float(numpy.linalg.norm(reduced_step))
        away = Away(reduced_step, most**2 - float(radius.mid()) ** 2 / 2, 0.0, 0.0)
        multiplier = float(numpy.linalg.norm(self.floats.gradient(self.floats.U + reduced_step)))
        multiplier /= 2 * most
        best, weight = self._search_away(floats, most, away, multiplier, reduced_step)
        if best is None:
            return None
        on_basis = self.basis @ step
        inside = inner(on_basis, BallMatrix((self.basis @ self.basis.T).entries.inv()) @ on_basis)
        outside = flint.arb(0).union(abs(inner(step, step) - inside))
        slack = (upper * upper + inner(step, step) - radius * radius) / 2
        away_in_balls = Away(step, slack, outside, weight)
        balls = Expansion(self.balls, self.balls.U, self.basis)
        value = balls.largest_value(upper, best, away_in_balls)
        return (best, weight) if value is not None and value < 0 else None

    def _search_away(
        self, expansion: Expansion, radius: float, away: Away, multiplier: float, step: Floats
    ) -> tuple[Multipliers | None, float]:
        """Multipliers, and a weight κ, with which g is negative on the points of the ball that are
        away from X̃, in floats.
        """

        def value(multipliers: Multipliers, weight: float) -> float:
            largest = expansion.largest_value(radius, multipliers, replace(away, weight=weight))
            return numpy.inf if largest is None else largest

        weights = next(self._weights(step))
        most = 2 * multiplier
        starts: list[tuple[float, int, tuple[Multipliers, float]]] = []
        for factor in (1.0, 1.5, 2.5, 5.0):
            for part in (0.0, 0.2, 0.5, 1.0):
                start = (Multipliers(factor * multiplier, weights), part * most)
                starts.append((value(*start), len(starts), start))
        lowest, _, (best, weight) = min(starts)
        size = 0.5
        while size > 0.003 and lowest >= 0:
            moved = False
            for candidate, change in _neighbours_away(best, size):
                other_weight = max(0.0, weight + change * most)
                reached = value(candidate, other_weight)
                if reached < lowest:
                    best, weight, lowest, moved = candidate, other_weight, reached, True
            if not moved:
                size /= 2
        return (best, weight) if lowest < 0 else (None, 0.0)

    def _free_ball(self, most: float) -> tuple[flint.arb, Evidence | None]:
        """The radius of a ball around U that is proved to have no point of the boundary."""
        floats = Expansion(self.floats, self.floats.U, numpy.eye(len(self.floats.U)))
        slope = float(numpy.linalg.norm(self.floats.gradient(self.floats.U)))
        if most == 0:  # smaller than floats
            return flint.arb(0), None
        low, high = 0.0, most
        if high == numpy.inf:
            high = max(1.0, float(numpy.linalg.norm(self.floats.U)))
        found: Multipliers | None = None
        for number in check_deadline_in(range(50)):
            # more steps where the bound is nearly attained
            if number >= 12 and low < 0.999 * most:
                break
            radius = (low + high) / 2
            multipliers = self._best_multipliers(floats, radius, slope, found)
            if multipliers is None:
                high = radius
            else:
                low, found = radius, multipliers
        if found is None:
            return flint.arb(0), None
        balls = Expansion(self.balls, self.balls.U, self.basis)
        for part in (1e-13, 1e-10, 1e-7, 1e-5, 1e-3, 1e-2, 0.1):
            radius_in_balls = flint.arb(low * (1 - part))
            value = balls.largest_value(radius_in_balls, found)
            if value is not None and value < 0:
                return radius_in_balls, Evidence(found)
        return flint.arb(0), None

    def _best_multipliers(
        self, expansion: Expansion, radius: float, slope: float, start: Multipliers | None
    ) -> Multipliers | None:
        """λ and θ with which g is negative on the ball of a radius around U, by a search in their
        logarithms, or None; in floats.
        """
        if start is None:
            # the slope is zero where U is a critical point of g; λρ² has to be below |g(U)|
            least = max(1e-3 * abs(expansion.value) / radius**2, 1e-12)
            multiplier = max(slope / (2 * radius), least)
            start = Multipliers(multiplier, (1.0,) * len(self.floats.heads))

        def value(multipliers: Multipliers) -> float:
            largest = expansion.largest_value(radius, multipliers)
            return numpy.inf if largest is None else largest

        best, lowest = start, value(start)
        for _ in range(60):  # a first λ that is large enough
            if lowest < numpy.inf:
                break
            best = replace(best, multiplier=1.2 * best.multiplier)
            lowest = value(best)
        step = 0.7
        while step > 0.01 and lowest >= 0:
            moved = False
            for candidate in _neighbours(best, float(numpy.exp(step))):
                reached = value(candidate)
                if reached < lowest:
                    best, lowest, moved = candidate, reached, True
            if not moved:
                step /= 2
        return best if lowest < 0 else None


def _neighbours(multipliers: Multipliers, factor: float) -> Iterator[Multipliers]:
    """Multipliers with a larger and a smaller λ, and with larger and smaller θ."""
    for one in (factor, 1 / factor):
        yield replace(multipliers, multiplier=one * multipliers.multiplier)
        yield replace(multipliers, weights=tuple(one * theta for theta in multipliers.weights))


def _neighbours_away(multipliers: Multipliers, size: float) -> Iterator[tuple[Multipliers, float]]:
    """The same, and changes of κ, with λ fixed or in the other direction."""
    factor = float(numpy.exp(size))
    for neighbour in _neighbours(multipliers, factor):
        yield neighbour, 0.0
    for one, change in ((1.0, size), (1.0, -size), (factor, -size), (1 / factor, size)):
        yield replace(multipliers, multiplier=one * multipliers.multiplier), change
