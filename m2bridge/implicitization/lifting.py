"""From residues modulo primes to QQ: relations and functionals, lifted with as many primes as they need, and proved.

Only what is asked for is lifted. A relation is eliminated again, modulo more primes, among the basis and few other
monomials; functionals that vanish on products are found again modulo one more prime after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from m2bridge.algebra.integers import chinese_remainder, integral
from m2bridge.clock import watched
from m2bridge.implicitization.generated_part import GeneratedPart, Products
from m2bridge.implicitization.relations import Echelon, ExactEchelon, ModularEchelon

if TYPE_CHECKING:
    from m2bridge.algebra.sparse_polynomial import Monomial, Terms
    from m2bridge.implicitization.elimination import ModularElimination
    from m2bridge.implicitization.relations import Substitution


def proved_relations(
    echelon: Echelon, columns: Sequence[int], eliminations: Sequence[ModularElimination], substitution: Substitution
) -> tuple[Terms, ...] | None:
    """The relations of some monomials outside the basis, each proved by substitution; ``None`` if there is none.

    Those whose coefficients are too large for the echelon form are eliminated again modulo several primes, then over
    QQ.
    """
    roads: tuple[Callable[[Sequence[Monomial]], Echelon], ...] = (
        lambda monomials: ModularEchelon.of(monomials, eliminations[1:2]),
        lambda monomials: ModularEchelon.of(monomials, eliminations),
        lambda monomials: ExactEchelon.of(monomials, substitution),
    )
    found = dict(_vanishing(echelon, columns, substitution))
    for eliminated in roads:
        missing = [column for column in columns if column not in found]
        if not missing:
            break
        kept = sorted({*echelon.pivots, *missing})
        again = eliminated([echelon.monomials[column] for column in kept])
        pivots = tuple(kept[i] for i in again.pivots)
        if _rank_and_pivots(pivots) < _rank_and_pivots(echelon.pivots):
            return None  # The echelon form, not these primes, is unlucky.
        if pivots == echelon.pivots:
            relations = _vanishing(again, [kept.index(column) for column in missing], substitution)
            found |= {kept[i]: relation for i, relation in relations}
    return tuple(found[column] for column in columns) if len(found) == len(columns) else None


def _rank_and_pivots(pivots: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Smaller where a prime is less unlucky: over QQ the rank is the largest and pivots are as far left as they can."""
    return -len(pivots), pivots


def _vanishing(echelon: Echelon, columns: Iterable[int], substitution: Substitution) -> Iterator[tuple[int, Terms]]:
    """The relations, with their columns, that are identically zero after substitution."""
    for column in columns:
        relation = echelon.relation(column)
        if substitution.vanishes(relation):
            yield column, relation


def has_no_larger_rank(
    generated: GeneratedPart, products: Products, places: Sequence[int], primes: Sequence[int]
) -> bool:
    """Whether the products span over QQ no more than modulo the prime, so that no new generator is among them.

    As many functionals as the span lacks dimensions, independent over QQ and zero on all products, prove it: those
    dual to a basis modulo the span, the monomials at the places. More primes are used as long as rational
    reconstruction does not find them, and where these are not enough the rank is computed.
    """
    known: list[tuple[int, list[list[int]]]] = []
    for part in _parts(generated, products, primes):
        if len(part.chosen) > len(generated.chosen):
            return False
        if len(part.chosen) == len(generated.chosen):
            known.append((part.prime, part.dual(places)))
            functionals = _lifted(known)
            if _are_independent(functionals, places) and generated.is_annihilated(functionals):
                return True
    return generated.rational_rank() <= len(generated.chosen)


def _parts(generated: GeneratedPart, products: Products, primes: Sequence[int]) -> Iterator[GeneratedPart]:
    yield generated
    for prime in primes:
        if prime != generated.prime:
            yield GeneratedPart.of(products, prime)


def _lifted(known: Sequence[tuple[int, list[list[int]]]]) -> list[list[int]]:
    """Integer vectors from their residues modulo primes, up to a factor for each vector."""
    primes, residues = zip(*known, strict=True)
    modulus, weights = chinese_remainder(primes)
    lifted = []
    for vectors in watched(zip(*residues, strict=True)):
        entries = zip(*vectors, strict=True)
        combined = [sum([w * r for w, r in zip(weights, entry, strict=True)]) % modulus for entry in entries]
        lifted.append(integral(combined, modulus)[1])
    return lifted


def _are_independent(functionals: Sequence[Sequence[int]], places: Sequence[int]) -> bool:
    """Whether the values at the places are those of a diagonal matrix without zeros on the diagonal."""
    return all(
        bool(functional[place]) == (i == j)
        for i, functional in enumerate(functionals)
        for j, place in enumerate(places)
    )
