"""Predictions of the statements about single-layer attention, and verdicts on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import comb, factorial, prod
from pathlib import Path
from typing import Any

from m2bridge.certificate.difference import Difference
from m2bridge.certificate.schema import Certificate, Content
from m2bridge.certificate.wording import Wording, Words, wording
from m2bridge.checker.verdicts import content, global_verdict, verdict
from m2bridge.families.attention.checker.case import Case, Orbit, dense, representative
from m2bridge.families.attention.checker.observations import Observations, observe, unpaid

WORDS: Wording = wording(Path(__file__).parents[1] / "words.toml")
_RANK_ONE = ("3.2", "rank one"), ("3.2", "otherwise")


def dimension(case: Case) -> int:
    """Corollary 3.3."""
    return case.alpha * (2 * case.d - case.alpha) + case.d * case.d_out - 1


def degree(case: Case) -> int:
    """The degree of P(D_α) × P^(dd'−1) under forms of bidegree (1, 1), where the map is not two-to-one."""
    d, alpha, n = case.d, case.alpha, case.d * case.d_out
    corank = range(d - alpha)
    top = prod(factorial(d + i) * factorial(i) for i in corank)
    determinantal = top // prod(factorial(alpha + i) * factorial(d - alpha + i) for i in corank)
    return comb(dimension(case) - 1, n - 1) * determinantal // (2 if alpha == case.d_out == 1 < d else 1)


def _singular_locus(orbit: Orbit, case: Case) -> bool:
    r, s, _ = orbit
    if case.a >= case.d:
        return r == s == 1
    return s == 1 if case.a == 1 else r <= case.a - 1


def _exchanged(orbit: Orbit, case: Case) -> frozenset[Any]:
    """The weights k qᵀ, h vᵀ and v qᵀ, h kᵀ, with q and h the first unit vectors."""
    A, V = representative(orbit, case)
    swapped = {(p, 0): x for (_, p), x in V.items()}, {(0, p): x for (p, _), x in A.items()}
    return _itself(orbit, case) | {(dense(swapped[0], case.d, case.d), dense(swapped[1], case.d_out, case.d))}


def _itself(orbit: Orbit, case: Case) -> frozenset[Any]:
    A, V = representative(orbit, case)
    return frozenset({(dense(A, case.d, case.d), dense(V, case.d_out, case.d))})


_HYPOTHESES: dict[str, Callable[[Case], bool]] = {
    "several-tokens": lambda case: case.t >= 2,
    "not-degenerate": lambda case: case.alpha > 1 or case.d_out > 1,
    "two-dimensions": lambda case: case.d >= 2,
}
_GLOBAL: dict[tuple[str, str], tuple[int, Callable[[Case], int]]] = {
    ("3.2", "zero"): (1, lambda case: True),
    ("3.3", ""): (2, dimension),
    ("3.4", "i"): (2, lambda case: True),
    ("A.2", "birational"): (2, lambda case: True),
    ("A.2", "special fibres"): (2, lambda case: 2),
    ("A.5", ""): (1, lambda case: True),
    ("not-a-manifold", ""): (3, lambda case: False),
    ("degree", ""): (1, degree),
}
"""How many of the hypotheses a statement has, and what it predicts."""
_AT_ORBITS: dict[tuple[str, str], tuple[int, Callable[[Orbit, Case], Any]]] = {
    ("3.2", "rank one"): (1, _exchanged),
    ("3.2", "otherwise"): (1, _itself),
    ("3.4", "ii"): (3, lambda orbit, case: orbit == (1, 1, 1)),
    ("3.4", "iii"): (3, lambda orbit, case: orbit[0] * orbit[1] <= 1),
    ("A.3", ""): (3, lambda orbit, case: orbit == (1, 1, 1)),
    ("A.4", ""): (3, lambda orbit, case: orbit[:2] == (1, 1)),
    ("A.6", ""): (3, lambda orbit, case: True),
    ("singular-locus", ""): (3, _singular_locus),
}


def statement(key: str, certificate: Certificate) -> Content | Difference:
    """The content of a certificate on the statements with this key."""
    case = Case.read(certificate.case)
    if case.t == 1:
        first = WORDS.hypotheses["several-tokens"]
        return content(WORDS, key, [verdict(words, first, "") for words in WORDS.about(key)], {})
    if failure := unpaid(certificate.evidence, case):
        return failure
    seen = observe(case)
    return content(WORDS, key, [_verdict(words, case, seen) for words in WORDS.about(key)], seen.evidence)


QUESTIONS = {words.key: partial(statement, words.key) for words in WORDS.statements}


def _failing_hypothesis(number: int, case: Case) -> str | None:
    names = list(_HYPOTHESES)[:number]
    return next((WORDS.hypotheses[name] for name in names if not _HYPOTHESES[name](case)), None)


def _verdict(words: Words, case: Case, seen: Observations) -> dict[str, Any]:
    at = words.key, words.part
    if at in _GLOBAL:
        number, predict = _GLOBAL[at]
        observed = _observed(words.observable, case, seen.evidence)
        return global_verdict(words, _failing_hypothesis(number, case), predict(case), observed)
    return _at_orbits(words, case, seen)


def _observed(observable: str, case: Case, evidence: dict[str, Any]) -> int | None:
    """The value of an observable of the neuromanifold; ``None`` if it is not decided."""
    generic = evidence["generic_fibre"]
    counts = {facts["fibre_points"] for facts in evidence["orbits"]}
    linear = True if case.d == 1 else None
    return {  # type: ignore[no-any-return]
        "closed": evidence["base_locus_empty"] or None,
        "zero_fibre": evidence["base_locus_empty"],
        "products": evidence["products_determine_functions"],
        "dimension": evidence["dimension"],
        "birational": generic["length"] == 1,
        "special_fibre_points": max(counts - {generic["points"]}, default=0),
        "degree": evidence["degree"],
        "smooth_manifold": False if evidence["dimension"] < case.coordinate_count else linear,
    }[observable]


def _at_orbits(words: Words, case: Case, seen: Observations) -> dict[str, Any]:
    number, predict = _AT_ORBITS[words.key, words.part]
    about = [facts for facts in seen.evidence["orbits"] if _concerned(words, tuple(facts["orbit"]))]
    pairs = [(facts, _at_orbit(words.observable, facts, seen), predict(tuple(facts["orbit"]), case)) for facts in about]
    failing = [facts for facts, observed, predicted in pairs if observed is not None and observed != predicted]
    undecided = [facts["orbit"] for facts, observed, _ in pairs if observed is None]
    hypothesis = _failing_hypothesis(number, case)
    outcome = "REFUTED" if failing else "UNDECIDED" if undecided else "CONFIRMED"
    witness = None
    if failing and not hypothesis:
        worst = max(failing, key=lambda facts: (facts["dimension"], facts["orbit"]))
        witness = _witness(*next(pair for pair in pairs if pair[0] is worst), case, seen)
    orbits = {"failing": [facts["orbit"] for facts in failing], "undecided": undecided}
    return verdict(words, hypothesis, outcome, concerned=len(about), witness=witness, **orbits)


def _concerned(words: Words, orbit: Orbit) -> bool:
    """The two parts of Theorem 3.2 on fibres share the orbits, the other statements are about all of them."""
    return (words.key, words.part) not in _RANK_ONE or (orbit[:2] == (1, 1)) == (words.part == "rank one")


def _at_orbit(observable: str, facts: dict[str, Any], seen: Observations) -> Any:
    """The value at an orbit; ``None`` if it is not decided.

    Boundary points need a family that tends to them; others a fibre of at most two points (a lemma).
    """
    if observable == "fibre":
        return seen.points[tuple(facts["orbit"])]
    if not observable.startswith("boundary"):
        return facts[observable]
    family = seen.evidence["boundary_family"] and facts["orbit"] == [1, 1, 1]
    if not (family if facts["boundary"] else facts["fibre_points"] <= 2):
        return None
    return facts["boundary"] if observable == "boundary" else facts["boundary"] == facts["critical"]


def _witness(facts: dict[str, Any], observed: Any, predicted: Any, case: Case, seen: Observations) -> dict[str, Any]:
    ((A, V),) = _itself(tuple(facts["orbit"]), case)
    return {
        "orbit": facts["orbit"],
        "A": _rows(A),
        "V": _rows(V),
        "predicted": _json(predicted),
        "observed": _json(observed),
        "numbers": {
            "dimension": seen.evidence["dimension"],
            "tangent_dimension_at_least": facts["tangent_lower_bound"],
            "fibre_length": facts["fibre_length"],
            "fibre_points": facts["fibre_points"],
            "rank_A": facts["orbit"][0],
            "generic_rank_A": case.alpha,
        },
    }


def _rows(matrix: Any) -> list[list[int]]:
    return [list(row) for row in matrix]


def _json(value: Any) -> Any:
    if not isinstance(value, frozenset):
        return value
    return [{"A": _rows(A), "V": _rows(V)} for A, V in sorted(value)]
