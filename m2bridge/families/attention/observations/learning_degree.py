"""Observations of the number of critical points of training, for standard normal tokens.

The target, a function, has random integers as coordinates. The squared loss with
this target is a function of the weights (A, V), whose complex critical points are counted. Their
number is computed modulo two primes that agree, which follow from the case, and modulo two that the
system draws, since a case can be chosen for which the others are unlucky. Where that is done from
the whole gradient, they are counted again with A eliminated: for fixed V the loss is quadratic in
A, so that only V is left.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from m2bridge.engine import current
from m2bridge.engine.script import Script
from m2bridge.errors import ContradictionError, MethodUnavailableError, TimeLimitError
from m2bridge.families.attention.hypotheses import why_not_several_tokens
from m2bridge.families.attention.observations.separate import ObservedSeparately
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training_loss.counting import (
    Counts,
    compared_modulo_random_primes,
    count_eliminated,
    count_on_two_primes,
    script_for_two_primes,
)
from m2bridge.families.attention.training_loss.loss import Loss, gaussian, random_function
from m2bridge.limits import clock
from m2bridge.statements.statement import Value

SEED = 0
"""The seed of the random target function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedLearningDegree(ObservedSeparately):
    """The observed number of critical points of training; without counts if nothing was counted."""

    counts: Counts | None = None
    target: tuple[int, ...] = ()  # the coordinates of the target function

    def value(self, observable: str) -> Value | None:
        """Return the number of critical points at the dense orbit; ``None`` if not isolated."""
        return None if self.counts is None else self.counts.count.dense

    def unknown(self, observable: str) -> str:
        """Return why there is no number: the limit, one token, or points that are not isolated."""
        if self.counts is None:
            return self.limit or "nothing is counted for one token"
        return "no number was counted, as critical points come in families"

    def facts(self) -> list[tuple[str, str | None]]:
        """Return a line with the primes modulo which points were counted; none if none were."""
        if self.counts is None:
            return []
        return [("counted modulo", " and ".join(map(str, self.counts.primes)))]

    def to_json(self) -> dict[str, Any]:
        """Return the number, the primes modulo which it was counted, and the target."""
        number = self.value("learning_degree")
        primes: list[int] = []
        if self.counts is not None:
            primes = list(self.counts.primes)
        return {"learning_degree": number, "primes": primes, "target": list(self.target)}

    def evidence(self) -> dict[str, Any]:
        """Return what :meth:`to_json` returns, as evidence of a certificate."""
        return self.to_json()

    def to_macaulay2(self) -> str:
        """Return a Macaulay2 assignment of the number, or of ``null`` if it is not known."""
        number = self.value("learning_degree")
        return f"learningDegree = {'null' if number is None else number}"


def observe_learning_degree(
    model: LayerSizes, observables: Collection[str]
) -> ObservedLearningDegree:
    """Count the critical points of training for a random target; nothing for one token."""
    if set(observables) != {"learning_degree"}:
        raise MethodUnavailableError(
            "the learning degree is observed separately: cross-check 'learning-degree' alone"
        )
    if why_not_several_tokens(model):  # the reason why this hypothesis fails; empty if it holds
        return ObservedLearningDegree(model=model)
    loss = loss_of_random_target(model)
    try:
        of_the_program = count_on_two_primes(loss, prime_seed_text(loss))
        counts = compared_modulo_random_primes(loss, of_the_program)
        remarks = _compare_with_elimination(loss, counts)
    except TimeLimitError as limit:
        return ObservedLearningDegree(model=model, limit=str(limit), seconds=clock().seconds)
    # the target of this loss
    target = random_function(loss.shape, SEED)
    return ObservedLearningDegree(
        model=model,
        counts=counts,
        target=tuple(map(int, target)),
        remarks=remarks,
        engine_version=current().version,
        seconds=clock().seconds,
    )


def loss_of_random_target(model: LayerSizes) -> Loss:
    """Return the loss of a case: each call has the same random target."""
    shape = LayerSizes(model.d, model.d_out, model.a, model.t)
    return gaussian(shape).towards(random_function(shape, SEED), target="")  # without a name


def prime_seed_text(loss: Loss) -> str:
    """Return the seed of the random primes of a case, a text."""
    return f"learning degree {loss.shape}"


def counting_program(model: LayerSizes) -> Script:
    """Return the program that counts modulo the first two primes."""
    loss = loss_of_random_target(model)
    return script_for_two_primes(loss, prime_seed_text(loss))


def _compare_with_elimination(loss: Loss, counts: Counts) -> tuple[str, ...]:
    """Count again with A eliminated, where it can be and was not, and return a remark on it."""
    shape = loss.shape
    # A can be eliminated for one output and arbitrary A
    if counts.count.eliminated or shape.d_out > 1 or shape.alpha < shape.d:
        return ()
    prime = counts.primes[0]
    again = count_eliminated(prime, loss)
    if again is None:
        return ()
    if again.dense != counts.count.dense:
        raise ContradictionError(
            f"{shape}: {counts.count.dense} critical points by the whole gradient, {again.dense}"
            f" with A eliminated, modulo {prime}"
        )
    return (f"with A eliminated there are as many critical points, modulo {prime}",)
