"""How many complex critical points a loss has, by Gröbner bases modulo random primes.

Each loss has primes of its own, and each prime has a chart of its own. Two primes have to give
the same number, and it is a result modulo these primes: they are part of it; a
MethodUnavailableError says that too few primes agree.

A chart gives one of the weights (A, V) with the same function, which are (λA, V/λ), or for a < d of
the (K, Q, V) with A = KᵀQ: a random linear form in their entries is 1. The functions of the dense
orbit are those with A and V of the largest ranks, in general position; a condition is a matrix
with its rank there, and where all conditions hold the function is one of these (:mod:`.gradient`).
For a ≥ d the loss is quadratic in A, which can be eliminated: then there are equations for V alone
(:mod:`.eliminated`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product
from random import Random

from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyElement

from m2bridge.algebra import numbers
from m2bridge.algebra.numbers import is_prime
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.engine.script import Script, render
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.attention.training_loss.eliminated import (
    eliminated_system,
    pays_to_eliminate,
)
from m2bridge.families.attention.training_loss.gradient import (
    ChartWeights,
    Entries,
    RankCondition,
    WeightChart,
    dense_orbit,
    gradient,
    random_chart,
    weights_in,
)
from m2bridge.families.attention.training_loss.loss import Loss
from m2bridge.limits import check
from m2bridge.maps.degrees.counting_primes import PRIME_BITS, count_modulo_primes
from m2bridge.results.sheet import m2_list

MOST_TRIED_PRIMES = 5
"""The largest number of primes that are tried until two give the same numbers."""


@dataclass(frozen=True, slots=True)
class Count:
    """The number of complex critical points modulo one prime, with multiplicity."""

    dense: int | None  # at functions of the dense orbit; None if they are not isolated
    elsewhere: int | None  # None if these points come in families, or were not counted
    # whether A was eliminated: complex points where V does not determine A are left out then
    eliminated: bool = False
    by_orbit: bool = True  # if points were not counted by orbits, ``dense`` is the number of all

    @property
    def all_points(self) -> int | None:
        """The number of all points; ``None`` if it is not known."""
        if self.dense is None or self.elsewhere is None:
            return None
        return self.dense + self.elsewhere


@dataclass(frozen=True, slots=True)
class Counts:
    """A count on which two primes agree."""

    count: Count
    primes: tuple[int, int]


def random_primes(seed: str) -> Iterator[int]:
    """Yield different primes between 2^14 and 2^15 (of 1612), the same for one seed."""
    # Macaulay2's F4 takes primes below 2^15. The larger a prime, the less likely a chart or a loss
    # is special modulo it.
    random = Random(f"primes {seed}")
    primes_so_far = set()
    while True:
        candidate = random.randrange(2**14 + 1, 2**15, 2)
        if candidate not in primes_so_far and is_prime(candidate):
            primes_so_far.add(candidate)
            yield candidate


def count_on_two_primes(loss: Loss, seed: str) -> Counts:
    """The number of critical points, on which two primes agree, with these primes, by a seed."""
    counts: dict[int, Count] = {}
    for prime in random_primes(seed):
        count = count_modulo(prime, loss)
        for earlier_prime, earlier_count in counts.items():
            if earlier_count == count:
                return Counts(count, (earlier_prime, prime))
        counts[prime] = count
        if len(counts) == MOST_TRIED_PRIMES:
            break
    listed = ", ".join(map(str, counts))
    raise MethodUnavailableError(
        f"modulo the primes {listed} no two have the same number of critical points: take another"
        " --seed"
    )


def compared_modulo_random_primes(loss: Loss, counts: Counts) -> Counts:
    """The counts, if primes that the system draws have the same numbers; else the numbers of these.

    The primes of ``counts`` follow from the loss, so a loss can be chosen for which both are
    unlucky. Random primes are drawn until the primes with the most frequent numbers are two more
    than the others; a MethodUnavailableError says that the primes, at most five, do not agree so.
    """
    outcomes = count_modulo_primes(
        lambda prime: count_modulo(prime, loss),
        islice(numbers.random_primes(PRIME_BITS), MOST_TRIED_PRIMES),
        value=lambda count: count,
        cheap_seconds=0.0,  # the primes of the loss are a further comparison
    )
    if outcomes.limit is not None:
        raise outcomes.limit
    first, second, *_ = outcomes.agreeing
    count = outcomes.by_prime[first]
    return counts if count == counts.count else Counts(count, (first, second))


def count_modulo(prime: int, loss: Loss) -> Count:
    """The number of critical points modulo a prime, from equations for V alone where that pays."""
    check()
    if pays_to_eliminate(loss):
        count = count_eliminated(prime, loss)
        if count is not None:  # otherwise A cannot be eliminated, and all unknowns are kept
            return count
    return count_in_chart(prime, loss, _chart_for(prime, loss))


def _chart_for(prime: int, loss: Loss) -> WeightChart:
    """A chart with random numbers from 1 to prime − 1, the same for equal primes and sizes."""
    return random_chart(loss.shape, prime - 1, Random(f"chart {prime}"))


def count_eliminated(prime: int, loss: Loss) -> Count | None:
    """The number of critical points modulo one prime, from equations for V alone, for a ≥ d.

    ``None`` where :func:`.eliminated_system` does not find them.
    """
    system = eliminated_system(loss, prime, Random(f"eliminated {prime}"))
    if system is None:
        return None
    answer = answer_to(count_script(system.equations, system.conditions, prime, str(loss.shape)))
    if system.conditions:
        return replace(_count_by_orbit(answer), eliminated=True)
    # without conditions the program counts all points together; the dimension is −1 for no points
    dimension, number = answer.integers("critical")
    are_isolated = dimension <= 0
    return Count(
        dense=number if are_isolated else None, elsewhere=None, eliminated=True, by_orbit=False
    )


def count_in_chart(prime: int, loss: Loss, chart: WeightChart) -> Count:
    """The number of critical points in a chart modulo one prime, by the whole gradient."""
    return _count_by_orbit(answer_to(_chart_script(prime, loss, chart)))


def count_of_rank(
    loss: Loss, weights: ChartWeights, prime: int, *, of_rank_at_most: RankCondition
) -> int | None:
    """The number of critical points in a chart, modulo a prime, where a matrix has at most the rank
    of a condition, with multiplicity; ``None`` if they come in families.
    """
    condition = of_rank_at_most
    minors = _minors(condition.matrix, condition.rank + 1)
    script = count_script([*gradient(loss, weights), *minors], (), prime, str(loss.shape))
    dimension, number = answer_to(script).integers("critical")
    return None if dimension > 0 else number


def _minors(matrix: Entries, size: int) -> list[PolyElement]:
    """The minors of a matrix of polynomials that are not zero."""
    rows = DomainMatrix(matrix, (len(matrix), len(matrix[0])), matrix[0][0].ring.to_domain())
    choices_of_rows = combinations(range(len(matrix)), size)
    choices_of_columns = combinations(range(len(matrix[0])), size)
    minors = []
    for chosen_rows, chosen_columns in product(choices_of_rows, choices_of_columns):
        # the determinant, but for its sign
        minor = rows.extract(chosen_rows, chosen_columns).charpoly()[-1]
        if minor:
            minors.append(minor)
    return minors


def _count_by_orbit(answer: Answer) -> Count:
    """The numbers of points at functions of the dense orbit, and elsewhere, as a program says.

    The answers "critical", about all points, and "dense" are each a pair: the dimension of the set
    of points, positive where they come in families and −1 where there are none; and, for dimension
    0, their number with multiplicities.
    """
    dimension, number = answer.integers("critical")
    dense_dimension, dense_number = answer.integers("dense")
    if dense_dimension > 0:  # then also all points together come in families
        return Count(dense=None, elsewhere=None)
    elsewhere = None if dimension > 0 else number - dense_number
    return Count(dense=dense_number, elsewhere=elsewhere)


def _chart_script(prime: int, loss: Loss, chart: WeightChart, *, suffix: str = "") -> Script:
    """The program that counts critical points in a chart; ``suffix`` ends the answers' names."""
    weights = weights_in(loss.shape, chart)
    conditions = dense_orbit(loss.shape, weights)
    equations = gradient(loss, weights)
    return count_script(equations, conditions, prime, str(loss.shape), suffix=suffix)


def script_for_two_primes(loss: Loss, seed: str) -> Script:
    """The two programs of :func:`count_on_two_primes` for its first two primes, as one program.

    The answers are of :func:`count_script`; for the second prime their names end with ``_again``.
    """
    first_prime, second_prime = islice(random_primes(seed), 2)
    first = _script_for(first_prime, loss, suffix="")
    second = _script_for(second_prime, loss, suffix="_again")
    return replace(first, body=f"{first.body.rstrip()}\n\n{second.body}")


def _script_for(prime: int, loss: Loss, *, suffix: str) -> Script:
    """The program of :func:`count_modulo`; ``suffix`` ends the names of its answers."""
    if pays_to_eliminate(loss):
        # the same random numbers as in count_eliminated, so the same system
        system = eliminated_system(loss, prime, Random(f"eliminated {prime}"))
        if system is not None:
            equations, conditions = system
            return count_script(equations, conditions, prime, str(loss.shape), suffix=suffix)
    return _chart_script(prime, loss, _chart_for(prime, loss), suffix=suffix)


def count_script(
    equations: Sequence[PolyElement],
    conditions: Sequence[RankCondition],
    prime: int,
    title: str,
    *,
    suffix: str = "",
) -> Script:
    """The Macaulay2 program that counts the solutions of equations over ZZ modulo a prime.

    Its answer ``critical`` is the pair of the dimension of the set of solutions, −1 if it is empty,
    and of their number with multiplicities, 0 if it is infinite. With conditions for functions of
    the dense orbit another such pair ``dense`` counts points at these.
    """
    ring = equations[0].ring
    names = m2_syntax.all_to_macaulay2(tuple(map(str, ring.symbols)))

    def write(polynomial: PolyElement) -> str:
        residues = {}
        for monomial, coefficient in polynomial.terms():
            if residue := int(coefficient) % prime:
                residues[monomial] = residue
        return m2_syntax.polynomial(ring.from_dict(residues), names)

    fields = {
        "title": title,
        "prime": str(prime),
        "unknowns": ", ".join(names),
        "equations": m2_syntax.sequence(map(write, equations)),
        # the template calls the ring of the unknowns pointRing
        "conditions": conditions_text(conditions, "pointRing", write),
        "suffix": suffix,
    }
    return render("critical_points_count", libraries=("wire",), values=fields)


def conditions_text(
    conditions: Sequence[RankCondition], ring: str, write: Callable[[PolyElement], str]
) -> str:
    """The list of the pairs {matrix, rank} of conditions, as Macaulay2 reads it; perhaps empty."""
    if not conditions:
        return ""
    pairs = []
    for condition in conditions:
        matrix = matrix_text(condition.matrix, write)
        pairs.append(f"{{matrix({ring}, {matrix}), {condition.rank}}}")
    return "{" + ",\n    ".join(pairs) + "}"


def matrix_text(matrix: Entries, write: Callable[[PolyElement], str]) -> str:
    """The rows of a matrix of polynomials, as Macaulay2 reads them: {{x, y}, {0, 1}}."""
    return m2_list(m2_list(map(write, row)) for row in matrix)
