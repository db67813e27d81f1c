"""Predictions of the statements about single-layer attention, and verdicts on them."""

from collections.abc import Callable
from functools import partial
from math import comb, factorial, prod
from pathlib import Path
from typing import Any

from m2bridge.certificates.schema import Certificate, Content, Difference
from m2bridge.certificates.wording import Words, wording
from m2bridge.checker import global_verdict, statements, verdict
from m2bridge.families.attention.checker.case import (
    Case,
    Orbit,
    matrices,
    observe,
    representative,
    unpaid,
)
from m2bridge.families.attention.checker.integrals import is_stated, stated_polar_degrees
from m2bridge.families.attention.checker.slices import counted_polar_degrees

WORDS = wording(Path(__file__).parents[1] / "words.toml")
Json = dict[str, Any]
_HYPOTHESES = ("several-tokens", "not-degenerate", "two-dimensions")


def dimension(case: Case) -> int:
    return case.alpha * (2 * case.d - case.alpha) + case.d * case.d_out - 1


def degree(case: Case) -> int:
    """The degree of P(D_α) × P^(dd'−1) under forms of bidegree (1, 1), or half of it where the map
    is two-to-one.
    """
    d, alpha, corank = case.d, case.alpha, range(case.d - case.alpha)
    top = prod(factorial(d + i) * factorial(i) for i in corank)
    determinantal = top // prod(factorial(alpha + i) * factorial(d - alpha + i) for i in corank)
    return (
        comb(dimension(case) - 1, d * case.d_out - 1)
        * determinantal
        // (1 + (alpha == case.d_out == 1 < d))
    )


def singular_locus(orbit: Orbit, case: Case) -> bool:
    r, s, _ = orbit
    return r == s == 1 if case.a >= case.d else s == 1 if case.a == 1 else r <= case.a - 1


def exchanged(orbit: Orbit, case: Case) -> list[Json]:
    """The weights k qᵀ, h vᵀ and v qᵀ, h kᵀ, with q and h the first unit vectors."""
    A, V = representative(orbit)
    swapped = {(p, 0): x for (_, p), x in V.items()}, {(0, p): x for (p, _), x in A.items()}
    return _points([(A, V)] if swapped == (A, V) else [(A, V), swapped], case)


# How many of the hypotheses a statement has, and what it predicts.
_GLOBAL: dict[tuple[str, str], tuple[int, Callable[[Case], int | list[int] | None]]] = {
    ("3.2", "zero"): (1, lambda case: True),
    ("3.3", ""): (2, dimension),
    ("3.4", "i"): (2, lambda case: True),
    ("A.2", "birational"): (2, lambda case: True),
    ("A.2", "special fibres"): (2, lambda case: 2),
    ("A.5", ""): (1, lambda case: True),
    ("not-a-manifold", ""): (3, lambda case: False),
    ("degree", ""): (1, degree),
    ("polar", ""): (3, stated_polar_degrees),
}
_AT_ORBITS: dict[tuple[str, str], tuple[int, Callable[[Orbit, Case], Any]]] = {
    ("3.2", "rank one"): (1, exchanged),
    ("3.2", "otherwise"): (1, lambda orbit, case: _points([representative(orbit)], case)),
    ("3.4", "ii"): (3, lambda orbit, case: orbit == (1, 1, 1)),
    ("3.4", "iii"): (3, lambda orbit, case: orbit[0] * orbit[1] <= 1),
    ("A.3", ""): (3, lambda orbit, case: orbit == (1, 1, 1)),
    ("A.4", ""): (3, lambda orbit, case: orbit[0] == orbit[1] == 1),
    ("A.6", ""): (3, lambda orbit, case: True),
    ("singular-locus", ""): (3, singular_locus),
}


def statement(key: str, certificate: Certificate) -> Content | Difference:
    """The content of a certificate on the statements with this key."""
    case = Case(**certificate.case)
    if case.t == 1:
        return statements(
            WORDS, key, [verdict(words, _failing(1, case), "") for words in WORDS.about(key)], {}
        )
    if failure := unpaid(certificate.evidence, case):
        return failure
    evidence, points = observe(case.d, case.d_out, case.alpha)
    fibres = (
        {orbit: _points(pairs, case) for orbit, pairs in points.items()} if key == "3.2" else {}
    )
    verdicts = [_verdict(words, case, evidence, fibres) for words in WORDS.about(key)]
    return statements(WORDS, key, verdicts, evidence)


QUESTIONS = {words.key: partial(statement, words.key) for words in WORDS.statements}


def _failing(number: int, case: Case) -> str | None:
    """The first of so many hypotheses that fails."""
    holds = zip(
        _HYPOTHESES[:number],
        (case.t >= 2, case.alpha > 1 or case.d_out > 1, case.d >= 2),
        strict=False,
    )
    return next((WORDS.hypotheses[name] for name, good in holds if not good), None)


def _verdict(words: Words, case: Case, evidence: Json, fibres: dict[Orbit, list[Json]]) -> Json:
    if (words.key, words.part) in _AT_ORBITS:
        return _at_orbits(words, case, evidence, fibres)
    number, predict = _GLOBAL[words.key, words.part]
    generic = evidence["generic_fibre"]
    # Special fibres have more points than the generic one; where there are none the statement is
    # vacuous.
    special = [
        facts["fibre_points"]
        for facts in evidence["orbits"]
        if facts["fibre_points"] > generic["points"]
    ]
    observed: dict[str, int | list[int | None] | None] = {
        "closed": evidence["base_locus_empty"] or None,
        "zero_fibre": evidence["base_locus_empty"],
        "products": evidence["products_determine_functions"],
        "birational": generic["length"] == 1,
        "polar_degrees": _polar_degrees(case, evidence) if words.key == "polar" else None,
        "special_fibre_points": max(special, default=0),
        "smooth_manifold": (
            False
            if evidence["dimension"] < case.coordinate_count
            else True
            if case.d == 1
            else None
        ),
    }
    return global_verdict(
        words, _failing(number, case), predict(case), (evidence | observed)[words.observable]
    )


def _polar_degrees(case: Case, evidence: Json) -> list[int | None] | None:
    """The polar degrees, where they are counted; else the first alone, which is the degree.

    General slices have no other points where the map is birational and kernels are small
    (docs/polar-degrees.md).
    """
    if evidence["degree"] is None or not _small_kernels(case, evidence) or not is_stated(case):
        return None
    counted = counted_polar_degrees(case)
    return counted or [evidence["degree"], *[None] * (evidence["dimension"] - 1)]


def _small_kernels(case: Case, evidence: Json) -> bool:
    """Whether the map is birational, and the kernel of the differential zero or below the
    codimension, at all orbits.

    The kernel on a fibre is counted by its length beyond its points; A of rank r lies in many
    subspaces.
    """
    for facts in evidence["orbits"]:
        moving = (case.alpha - facts["orbit"][0]) * (case.d - case.alpha)
        kernel = facts["fibre_length"] - facts["fibre_points"] + moving
        if kernel and facts["dimension"] + moving + kernel >= evidence["dimension"]:
            return False
    return bool(evidence["base_locus_empty"] and evidence["generic_fibre"]["length"] == 1)


def _at_orbits(words: Words, case: Case, evidence: Json, fibres: dict[Orbit, list[Json]]) -> Json:
    number, predict = _AT_ORBITS[words.key, words.part]
    found = []
    for facts in evidence["orbits"]:
        orbit = tuple(facts["orbit"])
        if words.key != "3.2" or (orbit[:2] == (1, 1)) == (words.part == "rank one"):
            observed = (
                fibres[orbit]
                if fibres
                else _observed(words.observable, facts, evidence["boundary_family"])
            )
            found.append((facts, observed, predict(orbit, case)))
    failing = [triple for triple in found if triple[1] not in (None, triple[2])]
    undecided = [facts["orbit"] for facts, observed, _ in found if observed is None]
    hypothesis = _failing(number, case)
    worst = max(
        failing, key=lambda triple: (triple[0]["dimension"], triple[0]["orbit"]), default=None
    )
    witness = _witness(*worst, case, evidence["dimension"]) if worst and not hypothesis else None
    outcome = "REFUTED" if failing else "UNDECIDED" if undecided else "CONFIRMED"
    orbits = {"failing": [facts["orbit"] for facts, *_ in failing], "undecided": undecided}
    return verdict(words, hypothesis, outcome, concerned=len(found), witness=witness, **orbits)


def _observed(observable: str, facts: Json, family: bool) -> bool | int | None:
    """The facts at an orbit; boundary points need a family that tends to them, others at most two
    points (a lemma).
    """
    if not observable.startswith("boundary"):
        return facts[observable]  # type: ignore[no-any-return]
    if not (
        family and facts["orbit"] == [1, 1, 1] if facts["boundary"] else facts["fibre_points"] <= 2
    ):
        return None
    return bool(
        facts["boundary"] if observable == "boundary" else facts["boundary"] == facts["critical"]
    )


def _points(pairs: list[Any], case: Case) -> list[Json]:
    """Weights as a certificate has them, in increasing order."""
    return sorted(
        (matrices(pair, case) for pair in pairs), key=lambda weights: list(weights.values())
    )


def _witness(facts: Json, observed: Any, predicted: Any, case: Case, dimension: int) -> Json:
    numbers = {"dimension": dimension, "tangent_dimension_at_least": facts["tangent_lower_bound"]}
    numbers |= {name: facts[name] for name in ("fibre_length", "fibre_points")}
    numbers |= {"rank_A": facts["orbit"][0], "generic_rank_A": case.alpha}
    weights = matrices(representative(tuple(facts["orbit"])), case)
    return {
        "orbit": facts["orbit"],
        **weights,
        "predicted": predicted,
        "observed": observed,
        "numbers": numbers,
    }
