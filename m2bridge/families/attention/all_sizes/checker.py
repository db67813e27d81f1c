"""The checker of certificates for all sizes: fibre ideals, the orbits or sizes where something is
true, verdicts.

It trusts isl (Presburger arithmetic) besides what :mod:`m2bridge.checker` trusts, and shares no
more with the program that makes certificates: ideals are found by FLINT's Gröbner bases from the
coordinates of functions, and orbits are covered by the places where entries are those of a base
case, without a list of selections. Proofs: docs/all-sizes.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import Any

import islpy as isl

from m2bridge.certificates.schema import Content
from m2bridge.certificates.wording import Words, wording
from m2bridge.checker import FamilyChecker, only_case
from m2bridge.checker.algebra import groebner_basis, ring
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker import case as cases
from m2bridge.families.attention.checker.integrals import stated_polar_degrees
from m2bridge.families.attention.checker.representations import closures
from m2bridge.families.attention.checker.slices import DEGREES, counted

Base = tuple[cases.Orbit, int]  # an orbit, and d; d' = s and a = r
# polynomials as terms: exponents and coefficient, in decreasing order
Basis = list[list[list[Any]]]

POINT, TWO_POINTS, SQUARES = (
    "z = V_1",
    "z_2² − z_2 and the other unknowns",
    "all monomials of degree 2",
)
_SIZES = {(1, 1, 0): (2, 3, 4), (1, 1, 1): (2, 3), (1, 2, 0): (3, 4), (1, 2, 1): (2, 3)}
_SIZES |= {(2, 1, 0): (3, 4), (2, 1, 1): (2, 3)}
BASES: tuple[Base, ...] = tuple((orbit, d) for orbit, sizes in _SIZES.items() for d in sizes)


def label(base: Base) -> str:
    """The name, such as ``(1, 1, 0) at d = 3``."""
    return f"{base[0]} at d = {base[1]}"


def evidence() -> list[dict[str, Any]]:
    """All of them."""
    return [
        dict(zip("rsm", orbit, strict=True)) | {"d": d, "groebner_basis": ideal((orbit, d))}
        for orbit, d in BASES
    ]


@cache
def ideal(base: Base) -> Basis:
    """All (A', V') with A'_11 = V'_11 = 1, V'_1 = (1, z_2, …, z_d), and the function of the
    representative.
    """
    orbit, d = base
    context, c = ring(d - 1), cases.function(cases.representative(orbit))
    new = cases.function(
        cases.weights_with_first_row(c, (1, *context.gens()), cases.Case(d, orbit[1], orbit[0], 2))
    )
    return _reduced((new.get(at, 0) - c.get(at, 0) for at in new.keys() | c.keys()), context)


def is_ideal(base: Base, kind: str) -> bool:
    """Whether the ideal of a base case is the one of this kind."""
    orbit, d = base
    context, V = ring(d - 1), cases.representative(orbit)[1]
    z = context.gens()
    generators = {
        POINT: [z[q - 1] - V.get((0, q), 0) for q in range(1, d)],
        TWO_POINTS: [z[0] ** 2 - z[0], *z[1:]],
        SQUARES: [x * y for x in z for y in z],
    }
    return ideal(base) == _reduced(generators[kind], context)


def _reduced(polynomials: Iterable[Any], context: Any) -> Basis:
    """The reduced Gröbner basis, coefficients coprime integers, the leading ones positive; it names
    the ideal.
    """
    basis = groebner_basis((context.constant(1) * f for f in polynomials), context).autoreduction(
        groebner=True
    )
    listed = [[(list(map(int, exponents)), int(c)) for exponents, c in f.terms()] for f in basis]
    listed.sort(
        key=lambda terms: (sum(terms[0][0]), [-e for e in reversed(terms[0][0])]), reverse=True
    )
    return [[[at, str(c if terms[0][1] > 0 else -c)] for at, c in terms] for terms in listed]


SIZE, ORBIT = "d, dp, a", "d, dp, a, r, s, m"
IS_SIZE = "1 <= d and 1 <= dp and 1 <= a"
IS_ORBIT = (
    f"{IS_SIZE} and 1 <= r <= a and r <= d and 1 <= s <= dp and s <= d and 0 <= m <= r and m <= s"
    " <= d + m - r"
)

# Orbits, and the base cases that say what their fibres are, by the kinds of their ideals.
STRATA: dict[str, dict[Base, str]] = {
    "r >= 2": {((2, 1, 1), 2): POINT, ((2, 1, 1), 3): POINT, ((2, 1, 0), 3): POINT},
    "r = 1 and s >= 2": {((1, 2, 1), 2): POINT, ((1, 2, 1), 3): POINT, ((1, 2, 0), 3): POINT},
    "r = 1 and s = 1 and m = 1": {((1, 1, 1), 2): SQUARES, ((1, 1, 1), 3): SQUARES},
    "r = 1 and s = 1 and m = 0": {
        **dict.fromkeys([((1, 1, 0), 2), ((1, 1, 0), 3)], TWO_POINTS),
        **dict.fromkeys([((1, 1, 1), 2), ((1, 1, 1), 3)], SQUARES),
    },
}


def sizes(condition: str = "1 = 1") -> isl.Set:
    """The sizes with a property."""
    return isl.Set(f"{{ [{SIZE}] : {IS_SIZE} and ({condition}) }}")


def orbits(condition: str = "1 = 1", more: str = "") -> isl.Set:
    """The orbits of all sizes, perhaps with further numbers, with a property."""
    return isl.Set(f"{{ [{ORBIT}{more}] : {IS_ORBIT} and ({condition}) }}")


def entry(matrix: str, row: str, column: str) -> str:
    """The condition for an entry of the representative of (r, s, m) to be 1, with indices
    from 0.
    """
    if matrix == "A":
        return f"({row} = {column} and {row} < r)"
    further = f"m <= {row} and {row} < s and {column} = r + {row} - m"
    return (
        f"(({row} < m and {column} = {row}) or ({further}) or (m = 0 and {row} = 0 and {column}"
        " = 0))"
    )


@cache
def fibres() -> tuple[tuple[dict[str, Any], ...], isl.Set, isl.Set, isl.Set]:
    """The evidence about each stratum; orbits whose fibre is one reduced point, two, and one that
    is not reduced.
    """
    evidence = tuple(_stratum(condition, bases) for condition, bases in STRATA.items())
    first, second, alike, different = map(orbits, STRATA)
    one = first.union(second).union(alike.intersect(orbits("d = 1")))
    kinds = one, different, alike.intersect(orbits("d >= 2"))
    disjoint = all(x.intersect(y).is_empty() for x, y in combinations(kinds, 2))
    if not disjoint or not reduce(lambda x, y: x.union(y), kinds).is_equal(orbits()):
        raise ContradictionError(
            "the cases of the theorem about fibres are not all orbits, each once"
        )
    return evidence, *kinds


def _stratum(condition: str, bases: dict[Base, str]) -> dict[str, Any]:
    if wrong := [label(base) for base, kind in bases.items() if not is_ideal(base, kind)]:
        raise ContradictionError(
            f"the ideal of {wrong[0]} is not what the theorem about fibres needs"
        )
    found = {base: _places(condition, base) for base in bases}
    every, kinds = [some for places in found.values() for some in places], set(bases.values())
    one_place = orbits(f"{condition} and 0 < x < d", ", x")
    if kinds == {POINT}:  # each unknown is determined by one of the ideals
        _covered(one_place, [_kept(p, i) for p in every for i in range(p.n_dim() - 6)])
    else:  # each equation belongs to one place or two besides the first
        _covered(one_place, [p for p in every if p.n_dim() == 7])
        _covered(
            orbits(f"{condition} and 0 < x < y < d", ", x, y"), [p for p in every if p.n_dim() == 8]
        )
    # there is a place with z² = z; with it the other unknowns are 0, and all else is implied
    if TWO_POINTS in kinds:
        _covered(
            orbits(condition), [p.project_out(isl.dim_type.set, 6, 1) for p in found[(1, 1, 0), 2]]
        )
        _check_exchange()
    return {
        "orbits": condition,
        "length": "1" if kinds == {POINT} else "2" if TWO_POINTS in kinds else "d",
        "points": 2 if TWO_POINTS in kinds else 1,
        "patterns": len(every),
        "ideals": [label(base) for base in sorted(found) if found[base]],
    }


def _places(condition: str, base: Base) -> list[isl.Set]:
    """The cases by order of the places: orbits and increasing places 0 < x_1 < … with the entries
    of the base case.
    """
    (r, s, m), d = base
    A, V = cases.representative((r, s, m))
    x = ["0", *(f"x{i}" for i in range(1, d))]
    increasing = " and ".join(f"{before} < {after}" for before, after in pairwise([*x, "d"]))
    found = set()
    for order in permutations(range(1, d)):
        bits = {
            entry("A", x[j], str(i)): A.get((p, i), 0)
            for j, p in enumerate((0, *order))
            for i in range(r)
        }
        bits |= {
            entry("V", str(k), x[j]): V.get((k, p), 0)
            for j, p in enumerate((0, *order))
            for k in range(s)
        }
        found.add(" and ".join(at if bit else f"not {at}" for at, bit in bits.items()))
    inside = f"{condition} and {r} <= r and {s} <= s and {increasing}"
    places = [
        orbits(f"{inside} and {entries}", "".join(f", {name}" for name in x[1:]))
        for entries in sorted(found)
    ]
    return [some for some in places if not some.is_empty()]


def _kept(places: isl.Set, index: int) -> isl.Set:
    """The orbits together with one of the places."""
    last = places.project_out(isl.dim_type.set, 7 + index, places.n_dim() - 7 - index)
    return last.project_out(isl.dim_type.set, 6, index)


def _covered(every: isl.Set, parts: Iterable[isl.Set]) -> None:
    missing = reduce(lambda left, part: left.subtract(part), parts, every)
    if not missing.is_empty():
        raise ContradictionError(f"no base case is there for {missing}")


def _check_exchange() -> None:
    """The two points are the representative and the one with k and v exchanged: A = k qᵀ, V
    = h vᵀ.
    """
    A, V = cases.representative((1, 1, 0))
    exchanged = {(q, 0): x for (_, q), x in V.items()}, {(0, p): x for (p, _), x in A.items()}
    length, points = cases.fibre((1, 1, 0), cases.Case(2, 1, 1, 2))
    if length != 2 or any(pair not in points for pair in ((A, V), exchanged)):
        raise ContradictionError("the fibre over (1, 1, 0) is not that of exchanged weights")


ALL, NONE, EVERY_ORBIT = sizes(), sizes("1 = 0"), orbits()


@dataclass(frozen=True, slots=True)
class Seen:
    """The orbits, or sizes, for which something is true; the sizes where that is known; the orbits
    where it can be.
    """

    true: isl.Set
    known: isl.Set = ALL
    about: isl.Set = EVERY_ORBIT


@cache
def seen() -> Mapping[str, Seen]:
    """The sizes seen by observables; for ``degree``, where it is that of the source, and else half
    of it.
    """
    _check_identities()
    _, one, two, many = fibres()
    birational, double = some(generic().intersect(one)), some(generic().intersect(two))
    # More points than over the dense orbit: two where that has one. Where that has two no fibre has
    # more.
    special = two.intersect(over(birational))
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


@cache
def polar_degrees() -> Seen:
    """The sizes for which the counted polar degrees are the stated ones; known where they are
    counted.

    Slices are general where the map is birational and kernels are small.
    """
    _, one, _, many = fibres()
    general = some(generic().intersect(one)).subtract(
        some(many.subtract(orbits(_smaller_kernel())))
    )
    equal, known = NONE, NONE
    for (d_out, alpha), degree in DEGREES.items():
        alike = sizes(
            f"d = 2 and dp = {d_out} and {'a = 1' if alpha == 1 else 'a >= 2'}"
        ).intersect(general)
        known = known.union(alike)
        if list(counted(d_out, alpha, degree)) == stated_polar_degrees(
            cases.Case(2, d_out, alpha, 2)
        ):
            equal = equal.union(alike)
    return Seen(equal, known)


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
    """Check identities of functions; and of numbers, with α = a: d² − (d − α)² + d·d' − 1 is the
    dimension.
    """
    d, dp, a = ring(3).gens()
    dimension = d**2 - (d - a) ** 2 + d * dp - 1
    formula = dimension == a * (2 * d - a) + d * dp - 1
    # what they span at rk A < α < d has more dimensions
    tangents = d**2 + d * dp - 1 - dimension == (d - a) ** 2
    # for d ≥ 2 no coefficient is negative, and the constant is positive
    more = _more_coordinates(d + 2, dp + 1)
    ambient = (
        all(c > 0 for c in more.coeffs())
        and more(0, 0, 0) > 0
        and _more_coordinates(0 * d + 1, dp) == 0
    )
    identities = (
        cases.base_locus_is_empty()
        and cases.real_family_has_no_real_weights()
        and cases.products_determine_functions()
    )
    if not (identities and formula and tangents and ambient):
        raise ContradictionError("an identity behind the theorems for all sizes does not hold")


def _smaller_kernel() -> str:
    """Critical orbits where the kernel, of dimension d − 1 and along subspaces, is below the
    codimension.

    Elsewhere only subspaces W that contain the columns of A move, and the codimension is larger by
    (α − r)².
    """
    d, dp, a, r, s, m = ring(6).gens()
    orbit = r * d + s * dp + m * (d - m) + (r - m) * (d - r) + (s - m) * (d - s)
    more = d**2 - (d - a) ** 2 + d * dp - orbit - 2 * (a - r) * (d - a)
    spans = m + d - r - s  # the codimension of the span of both subspaces
    if (
        more != (a - r) ** 2 + (d - s) * (dp - s) + m * spans
        or not orbits("s > dp or r + s > d + m").is_empty()
    ):
        raise ContradictionError("the codimensions of orbits are other ones")
    # (α − 1)² + (d − 1)d' − (d − 1) > 0
    return "r = 1 and s = 1 and m = 1 and not (a = 1 and dp = 1)"


def _more_coordinates(d: Any, dp: Any) -> Any:
    """The codimension, doubled, for α = d, the largest one."""
    return dp * d**2 * (d + 1) - 2 * (d**2 + d * dp - 1)


FOLDER = Path(__file__).parent
SAID, WORDS = wording(FOLDER.parent / "words.toml"), wording(FOLDER / "words.toml")
Json = dict[str, Any]

HYPOTHESES = {"not-degenerate": "dp >= 2 or (a >= 2 and d >= 2)", "two-dimensions": "d >= 2"}
EVERY = "1 = 1"
PHRASES = [(sizes(condition or EVERY), condition) for condition in WORDS.phrases.values()]
LOCUS = "(a >= d and r = 1 and s = 1) or (a = 1 and d >= 2 and s = 1) or (2 <= a < d and r < a)"

# What is stated: how many hypotheses there are, of what, for which orbits or sizes it is true,
# about which orbits.
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
    ("polar", ""): (2, "polar_degrees", EVERY, ""),
}


@cache
def content(key: str) -> Content:
    """The content of a certificate on the statements with this key."""
    said = {
        "fibres": list(fibres()[0]),
        "ideals": evidence(),
        "base_locus_empty": True,
        "boundary_family": True,
    }
    verdicts = {
        words: _verdict(words) for words in SAID.about(key) if (words.key, words.part) in STATED
    }
    decided = [words for words, verdict in verdicts.items() if verdict["verdict"] != "UNDECIDED"]
    lemmas = [lemma for w in decided for lemma in WORDS.trusted[STATED[w.key, w.part][1]]]
    return Content({"verdicts": list(verdicts.values())}, said, tuple(dict.fromkeys(lemmas)))


KEYS = [key for key, _ in STATED]
CHECKER = FamilyChecker(
    "attention-all-sizes",
    only_case("attention-all-sizes"),
    dict.fromkeys(KEYS, lambda certificate: content(certificate.question)) | {"closures": closures},
)


def _verdict(words: Words) -> Json:
    number, observable, true, about = STATED[words.key, words.part]
    false, unknown, vacuous, wrong = _compared(observable, true, about)
    left, out = ALL, []
    for reason, condition in list(HYPOTHESES.items())[:number]:
        fails, left = left.subtract(sizes(condition)), left.intersect(sizes(condition))
        out.append(
            {"sizes": text(fails), "hypothesis": WORDS.hypotheses[reason]}
            | _parts(fails, false, unknown)
        )
    refuted, undecided = left.intersect(false), left.intersect(unknown)
    verdict = (
        "REFUTED"
        if not refuted.is_empty()
        else "CONFIRMED"
        if undecided.is_empty()
        else "UNDECIDED"
    )
    said: Json = {
        "part": words.part,
        "text": words.text,
        "source": words.source,
        "verdict": verdict,
    }
    said["vacuous_for"] = text(left.intersect(vacuous).subtract(refuted).subtract(undecided))
    said["counterexample"] = (
        _counterexample(refuted, wrong, observable) if verdict == "REFUTED" else None
    )
    return said | {"not_applicable": out} | _parts(left, false, unknown)


def _compared(
    observable: str, true: str, about: str
) -> tuple[isl.Set, isl.Set, isl.Set, isl.Set | None]:
    """Sizes for which it is false, is not known to be either, says nothing; and the orbits where it
    is false.
    """
    found = polar_degrees() if observable == "polar_degrees" else seen()[observable]
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
    """The first size, and of its orbits one of the largest dimension, with numbers of this case
    alone.
    """
    point = false.lexmin().sample_point()
    d, dp, a = (point.get_coordinate_val(isl.dim_type.set, i).to_python() for i in range(3))
    found: Json = {"d": d, "d_out": dp, "a": a, "orbit": None, "A": [], "V": [], "numbers": {}}
    if wrong is None:
        return found
    facts, _ = cases.observe(d, dp, min(a, d))
    points = [(isl.Set(f"{{ {[d, dp, a, *o['orbit']]} }}"), o) for o in facts["orbits"]]
    at = max(
        (o for p, o in points if p.is_subset(wrong)), key=lambda o: (o["dimension"], o["orbit"])
    )
    found["orbit"] = dict(zip("rsm", at["orbit"], strict=True))
    found |= cases.matrices(cases.representative(tuple(at["orbit"])), cases.Case(d, dp, a, 2))
    if observable == "singular":
        bound = at["tangent_lower_bound"]
        found["numbers"] = {"dimension": facts["dimension"], "tangent_dimension_at_least": bound}
    return found
