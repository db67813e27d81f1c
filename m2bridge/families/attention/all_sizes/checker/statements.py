"""The orbits, or sizes, for which something is true, as it follows from fibres and identities."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import islpy as isl

from m2bridge.certificates.schema import Certificate, Content
from m2bridge.certificates.wording import Words, wording
from m2bridge.checker.algebra import ring
from m2bridge.errors import CertificateError, ContradictionError
from m2bridge.families.attention.all_sizes.checker.fibres import (
    IS_ORBIT,
    IS_SIZE,
    SIZE,
    evidence,
    fibres,
    orbits,
    sizes,
)
from m2bridge.families.attention.checker.case import representative
from m2bridge.families.attention.checker.observations import identities, observe

ALL, NONE, EVERY_ORBIT = sizes(), sizes("1 = 0"), orbits()


@dataclass(frozen=True, slots=True)
class Seen:
    """The orbits, or sizes, for which something is true; the sizes where that is known; the orbits where it can be."""

    true: isl.Set
    known: isl.Set = ALL
    about: isl.Set = EVERY_ORBIT


@cache
def seen() -> Mapping[str, Seen]:
    """By observables; for ``degree``, where it is that of the source, and else half of it."""
    _check_identities()
    _, one, two, many = fibres()
    birational, double = some(generic().intersect(one)), some(generic().intersect(two))
    special = two.intersect(over(birational)).union(one.union(many).intersect(over(double)))
    return {
        "fibre_exchanged": Seen(two.union(orbits("r = 1 and s = 1 and m = 1"))),
        "fibre_itself": Seen(one.union(many)),
        "special_fibre_points": Seen(two, about=special),
        **dict.fromkeys(("critical", "boundary"), Seen(many)),
        "boundary_critical": Seen(EVERY_ORBIT),
        "singular": Seen(EVERY_ORBIT.subtract(one).union(orbits("r < a < d")), birational),
        "birational": Seen(birational),
        "degree": Seen(birational, birational.union(double)),
        "smooth_manifold": Seen(sizes("d = 1")),
        **dict.fromkeys(("zero_fibre", "closed", "products", "dimension"), Seen(ALL)),
    }


def generic() -> isl.Set:
    """The dense orbits: no orbit of the same size has a larger r, s or r + s − m."""
    other = IS_ORBIT.translate(str.maketrans("rsm", "RSM"))
    larger = orbits(f"{other} and (R > r or S > s or R + S - M > r + s - m)", ", R, S, M")
    return EVERY_ORBIT.subtract(larger.project_out(isl.dim_type.set, 6, 3))


def some(orbit_set: isl.Set) -> isl.Set:
    """The sizes with an orbit in the set."""
    return orbit_set.project_out(isl.dim_type.set, 3, 3)


def over(size_set: isl.Set) -> isl.Set:
    """All orbits of these sizes."""
    return size_set.insert_dims(isl.dim_type.set, 3, 3).intersect(EVERY_ORBIT)


def _check_identities() -> None:
    """Check identities of functions; and of numbers, with α = a: d² − (d − α)² + d·d' − 1 is the dimension."""
    d, dp, a = ring(3).gens()
    dimension = d**2 - (d - a) ** 2 + d * dp - 1
    formula = dimension == a * (2 * d - a) + d * dp - 1
    tangents = d**2 + d * dp - 1 - dimension == (d - a) ** 2  # what they span at rk A < α < d has more dimensions
    more = _more_coordinates(d + 2, dp + 1)  # for d ≥ 2 no coefficient is negative, and the constant is positive
    ambient = all(c > 0 for c in more.coeffs()) and more(0, 0, 0) > 0 and _more_coordinates(0 * d + 1, dp) == 0
    if not (all(identities()) and formula and tangents and ambient):
        raise ContradictionError("an identity behind the theorems for all sizes does not hold")


def _more_coordinates(d: Any, dp: Any) -> Any:
    """Twice what there are more coordinates than the dimension, for α = d, the largest one."""
    return dp * d**2 * (d + 1) - 2 * (d**2 + d * dp - 1)


FOLDER = Path(__file__).parents[1]
SAID, WORDS = wording(FOLDER.parent / "words.toml"), wording(FOLDER / "words.toml")
Json = dict[str, Any]

HYPOTHESES = {"not-degenerate": "dp >= 2 or (a >= 2 and d >= 2)", "two-dimensions": "d >= 2"}
EVERY = "1 = 1"
PHRASES = [(sizes(condition or EVERY), condition) for condition in WORDS.phrases.values()]
LOCUS = "(a >= d and r = 1 and s = 1) or (a = 1 and d >= 2 and s = 1) or (2 <= a < d and r < a)"

# What is stated: how many hypotheses there are, of what, for which orbits or sizes it is true, about which orbits.
STATED: dict[tuple[str, str], tuple[int, str, str, str]] = {
    ("3.2", "rank one"): (0, "fibre_exchanged", EVERY, "r = 1 and s = 1"),
    ("3.2", "zero"): (0, "zero_fibre", EVERY, ""),
    ("3.2", "otherwise"): (0, "fibre_itself", EVERY, "r + s >= 3"),
    ("3.3", ""): (1, "dimension", EVERY, ""),
    ("3.4", "i"): (1, "closed", EVERY, ""),
    ("3.4", "ii"): (2, "boundary", "r = 1 and s = 1 and m = 1", EVERY),
    ("3.4", "iii"): (2, "singular", "r = 1 and s = 1", EVERY),
    ("A.2", "birational"): (1, "birational", EVERY, ""),
    ("A.2", "special fibres"): (1, "special_fibre_points", EVERY, EVERY),
    ("A.3", ""): (2, "critical", "r = 1 and s = 1 and m = 1", EVERY),
    ("A.4", ""): (2, "singular", "r = 1 and s = 1", EVERY),
    ("A.5", ""): (0, "products", EVERY, ""),
    ("A.6", ""): (2, "boundary_critical", EVERY, EVERY),
    ("not-a-manifold", ""): (2, "smooth_manifold", "1 = 0", ""),
    ("degree", ""): (0, "degree", "d = 1 or dp >= 2 or a >= 2", ""),
    ("singular-locus", ""): (2, "singular", LOCUS, EVERY),
}


def name(case: Mapping[str, Any]) -> str:
    """There is one case, which no number names."""
    if case:
        raise CertificateError("all sizes at once: no number names the case")
    return "attention-all-sizes"


@cache
def content(key: str) -> Content:
    """The content of a certificate on the statements with this key."""
    said = {"fibres": list(fibres()[0]), "ideals": evidence(), "base_locus_empty": True, "boundary_family": True}
    verdicts = {words: _verdict(words) for words in SAID.about(key) if (words.key, words.part) in STATED}
    decided = [words for words, verdict in verdicts.items() if verdict["verdict"] != "UNDECIDED"]
    lemmas = [lemma for w in decided for lemma in WORDS.trusted[STATED[w.key, w.part][1]]]
    return Content({"verdicts": list(verdicts.values())}, said, tuple(dict.fromkeys(lemmas)))


def _stored(key: str, certificate: Certificate) -> Content:
    return content(key)


QUESTIONS = {key: partial(_stored, key) for key, _ in STATED}


def _verdict(words: Words) -> Json:
    number, observable, true, about = STATED[words.key, words.part]
    false, unknown, vacuous, wrong = _compared(observable, true, about)
    left, out = ALL, []
    for reason, condition in list(HYPOTHESES.items())[:number]:
        fails, left = left.subtract(sizes(condition)), left.intersect(sizes(condition))
        out.append({"sizes": text(fails), "hypothesis": WORDS.hypotheses[reason]} | _parts(fails, false, unknown))
    refuted, undecided = left.intersect(false), left.intersect(unknown)
    verdict = "REFUTED" if not refuted.is_empty() else "CONFIRMED" if undecided.is_empty() else "UNDECIDED"
    said: Json = {"part": words.part, "text": words.text, "source": words.source, "verdict": verdict}
    said["vacuous_for"] = text(left.intersect(vacuous).subtract(refuted).subtract(undecided))
    said["counterexample"] = _counterexample(refuted, wrong, observable) if verdict == "REFUTED" else None
    return said | {"not_applicable": out} | _parts(left, false, unknown)


def _compared(observable: str, true: str, about: str) -> tuple[isl.Set, isl.Set, isl.Set, isl.Set | None]:
    """Sizes for which it is false, is not known to be either, says nothing; and the orbits where it is false."""
    found = seen()[observable]
    unknown = ALL.subtract(found.known)
    stated = orbits(true) if about else sizes(true)
    wrong = found.true.subtract(stated).union(stated.subtract(found.true))
    if not about:
        return wrong.intersect(found.known), unknown, NONE, None
    concerned = orbits(about).intersect(found.about)
    wrong = wrong.intersect(concerned).intersect(over(found.known))
    vacuous = ALL.subtract(some(concerned))
    return some(wrong), unknown.subtract(vacuous), vacuous, wrong


def _parts(where: isl.Set, false: isl.Set, unknown: isl.Set) -> Json:
    fails, undecided = where.intersect(false), where.intersect(unknown)
    holds = where.subtract(fails).subtract(undecided)
    return {"holds_for": text(holds), "fails_for": text(fails), "undecided_for": text(undecided)}


def text(found: isl.Set) -> str:
    """The canonical text: that of the phrase for this set."""
    for known, condition in PHRASES:
        if found.is_equal(known):
            return f"{{ [{SIZE}] : {IS_SIZE}{f' and ({condition})' if condition else ''} }}"
    return str(found)


def _counterexample(false: isl.Set, wrong: isl.Set | None, observable: str) -> Json:
    """The first size, and of its orbits one of the largest dimension, with numbers of this case alone."""
    point = false.lexmin().sample_point()
    d, dp, a = (point.get_coordinate_val(isl.dim_type.set, i).to_python() for i in range(3))
    found: Json = {"d": d, "d_out": dp, "a": a, "orbit": None, "A": [], "V": [], "numbers": {}}
    if wrong is None:
        return found
    facts, _ = observe(d, dp, min(a, d))
    points = [(isl.Set(f"{{ {[d, dp, a, *o['orbit']]} }}"), o) for o in facts["orbits"]]
    at = max((o for p, o in points if p.is_subset(wrong)), key=lambda o: (o["dimension"], o["orbit"]))
    A, V = representative(tuple(at["orbit"]))
    found["orbit"] = dict(zip("rsm", at["orbit"], strict=True))
    found |= {n: [[M.get((i, j), 0) for j in range(d)] for i in range(k)] for n, M, k in (("A", A, d), ("V", V, dp))}
    if observable == "singular":
        bound = at["tangent_lower_bound"]
        found["numbers"] = {"dimension": facts["dimension"], "tangent_dimension_at_least": bound}
    return found
