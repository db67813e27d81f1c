"""The checker that stands alone: what it accepts, what it refuses and under which name, without the
rest.
"""

import ast
import re
import subprocess
import sys
from dataclasses import replace
from itertools import combinations, product
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import flint
import pytest

import m2bridge
from m2bridge import SingleLayerAttention
from m2bridge.certificates.form import Certificate, read, write
from m2bridge.certificates.wording import Words
from m2bridge.certification.make import question_of
from m2bridge.certification.verify import verify_path as verify_with_program
from m2bridge.checker import algebra, global_verdict, statements as content_of_statements, verdict
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker import (
    closure,
    degree as degrees,
    evidence as observations,
    statements,
)
from m2bridge.families.attention.checker.case import Case, function, representative
from m2bridge.families.registry import checker
from tests.changing import changed, leaves, recheck, with_formulas
from tests.checking import verify, verify_path

FOLDER = Path(__file__).parents[2] / "certificates" / "accepted"
NETWORKS = FOLDER.parent / "networks"
ALL_SIZES = FOLDER.parent / "all-sizes"
ON_TRUST = FOLDER.parent / "accepted-on-trust"
SAMPLES = [
    path
    for folder in (FOLDER, ON_TRUST, NETWORKS, ALL_SIZES)
    for path in sorted(folder.glob("*.json"))
]
PACKAGE = Path(m2bridge.__file__).parent
ALONE = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))

class Missing:
    def find_spec(self, name, *rest):
        own = name.startswith("m2bridge.families.attention.all_sizes.") and ".checker" not in name
        if own or name.split(".")[0] in ("sympy", "pexpect", "jinja2", "click", "numpy", "rich", "psutil"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())

from m2bridge.checker.verify import verify_path
from m2bridge.families.registry import checker
for path in map(Path, sys.argv[2:]):
    result = verify_path(path, checker)
    assert result.accepted, result
"""


def alone(*paths: Path, memory: int = 2**31) -> None:
    """Verify in a process where most of what m2bridge needs is missing."""
    command = [sys.executable, "-c", ALONE, str(memory), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_it_needs_python_flint_and_isl_only() -> None:
    """For all sizes isl, and none of the modules that make the certificates."""
    alone(ALL_SIZES / "attention-all-sizes-3.4.json")
    kinds = (
        "d3-dout2-a2-t2-3.4",
        "d2-dout2-a2-t1-3.4",
        "d2-dout2-a1-t2-closure",
        "d2-dout2-a2-t1-closure",
    )
    alone(FOLDER / "d4-dout2-a2-t2-equations.json")
    alone(
        *(FOLDER / f"{name}.json" for name in kinds),
        NETWORKS / "polynomial-network-2-2-1-r2-expected-dimension.json",
    )


ROOMS = """
import sys
from pathlib import Path
from m2bridge.checker.verify import verify_path
from m2bridge.families.registry import checker
for path in map(Path, sys.argv[1:]):
    result = verify_path(path, checker)
    assert result.accepted, result
print(*sys.modules)
"""
SHARED = re.compile(
    r"m2bridge(\.(errors|limits|reading|_version|system|families(\.registry)?|convert(\.bounded_io)?|certificates(\.(form|wording|conditions))?"
    r"|checker(\.\w+)?|families(\.\w+)+\.checker(\.\w+)*|families\.\w+(\.all_sizes)?))?"
)
"""What is loaded of m2bridge: the checker, the form of certificates and how files are read, errors,
the registry.
"""


def test_it_loads_nothing_of_what_makes_certificates() -> None:
    """Of m2bridge and of others; however many lines it has."""
    paths = [
        *(
            FOLDER / f"{name}.json"
            for name in ("d3-dout2-a2-t2-3.4", "d2-dout2-a1-t2-closure", "d2-dout2-a2-t1-3.4")
        ),
        FOLDER / "d4-dout2-a2-t2-equations.json",
        NETWORKS / "polynomial-network-2-2-1-r2-expected-dimension.json",
        ALL_SIZES / "attention-all-sizes-3.4.json",
        sorted((FOLDER.parent / "deep").glob("*.json"))[0],
    ]
    done = subprocess.run(
        [sys.executable, "-c", ROOMS, *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    own = [name for name in loaded if name.split(".")[0] == "m2bridge"]
    assert [name for name in own if not SHARED.fullmatch(name)] == []
    assert {
        "m2bridge.families.attention.checker.closure",
        "m2bridge.families.deep_attention.checker.predictions",
    } <= set(own)
    others = {name.split(".")[0] for name in loaded}
    assert others.isdisjoint(
        {"sympy", "pexpect", "jinja2", "click", "numpy", "rich", "psutil", "mpmath"}
    )
    assert {"flint", "islpy"} <= others


@pytest.mark.parametrize(
    "package", ["families", "families/attention", "families/attention/all_sizes"]
)
def test_packages_around_the_checker_hold_nothing(package: str) -> None:
    """A package is loaded before a module in it: that of a family has a docstring only."""
    body = ast.parse((PACKAGE / package / "__init__.py").read_text(encoding="utf-8")).body
    assert package == "families" or all(isinstance(node, ast.Expr) for node in body)


def near(place: tuple[Any, ...], value: int | None) -> int:
    """Another number; a lower degree, since one more takes long to compute."""
    return (value or 0) + (-1 if place[-1] == "max_degree" else 1)


@pytest.mark.slow
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_accepted_and_every_number_of_it_compared(path: Path) -> None:
    """One after the other, with a digest that fits.

    Closures of all sizes take seconds; what is computed for them is kept, so those of former
    releases are verified here, by the same checks as the others in ``test_former_words``.
    """
    assert verify_path(path).accepted
    if path.stem == "attention-all-sizes-closures":
        kept = sorted(FOLDER.parent.glob(f"[0-9]*/{path.name}"))
        assert "1.0" in {one.parent.name for one in kept}
        assert all(verify_with_program(one).content_right for one in kept)
    certificate = read(path)
    data = certificate.to_json()
    for name in ("answer", "evidence"):
        for place, value in leaves(data[name], (name,)):
            if value is None or isinstance(value, int):
                for other in (not value,) if isinstance(value, bool) else (near(place, value),):
                    result = verify(changed(certificate, place, other))
                    assert (result.outcome, bool(result.check)) == ("rejected", True), place


def sample(name: str) -> Certificate:
    return read(FOLDER / f"{name}.json")


def with_generators(*texts: str, name: str = "d2-dout2-a1-t2-closure") -> Certificate:
    return of_generators(sample(name), *texts)


def of_generators(certificate: Certificate, *texts: str) -> Certificate:
    return replace(
        certificate, evidence=certificate.evidence | {"generators": list(texts)}
    ).sealed()


GENERATORS = sample("d2-dout2-a1-t2-closure").evidence["generators"]
THREE_OUTPUTS = read(ON_TRUST / "d2-dout3-a1-t1-closure.json")
(QUARTIC,) = sample("d2-dout1-a2-t2-closure").evidence["generators"]
IDEALS = {
    "generator on the parametrization": with_generators("c_1_1_1_1**2", *GENERATORS[1:]),
    "form of the closure": with_generators(*GENERATORS[1:], "__import__('os')"),
    "homogeneous generators": with_generators(
        *GENERATORS[:-1], f"{GENERATORS[-1]} + {GENERATORS[0]}"
    ),
    "minimal generators.2": with_generators(*GENERATORS, GENERATORS[0]),
    "evidence.generators": with_generators(*GENERATORS[:15]),
    "generators": with_generators(*GENERATORS[1:]),
    # the dimension and the degree of the closure, and one quartic less
    "ideal in degree 4": of_generators(THREE_OUTPUTS, *THREE_OUTPUTS.evidence["generators"][:-1]),
}


@pytest.mark.parametrize("check", IDEALS)
def test_generators_of_another_ideal(check: str) -> None:
    result = verify(IDEALS[check])
    assert (result.outcome, result.check) == ("rejected", check)


@pytest.mark.parametrize("place", range(len(GENERATORS)))
def test_each_generator_is_expanded_at_generic_weights(place: int) -> None:
    """The proof, after the check at a random point, which refuses the same generators."""
    texts = list(GENERATORS)
    texts[place] = "c_1_1_1_1**2"
    candidate = closure.candidate_of(Case(2, 2, 1, 2), texts)
    assert isinstance(candidate, closure.Candidate)
    assert closure._check_identically(candidate) is closure.NOT_ON_CLOSURE


# For (2, 1, a): polynomials that vanish on the functions A = v qᵀ, V = h vᵀ, where c_1_i_p_q is q_i
# times the coefficient of y_p y_q in v²; they generate the ideal of these functions.
SQUARES = [
    "c_1_1_1_2*c_1_2_1_1 - c_1_1_1_1*c_1_2_1_2",
    "c_1_1_2_2*c_1_2_1_1 - c_1_1_1_1*c_1_2_2_2",
    "c_1_1_2_2*c_1_2_1_2 - c_1_1_1_2*c_1_2_2_2",
    "c_1_1_1_2**2 - 4*c_1_1_1_1*c_1_1_2_2",
    "c_1_2_1_2**2 - 4*c_1_2_1_1*c_1_2_2_2",
    "c_1_1_1_2*c_1_2_1_2 - 4*c_1_1_1_1*c_1_2_2_2",
]


def test_an_ideal_that_is_too_small_only_on_a_slice_is_refused() -> None:
    """The equation F of (2, 1, 2) times the ideal of an orbit closure on which it is zero.

    That has the same zeros, the same degree, the same symmetries, and c_1_1_1_1 is no zero divisor
    modulo it.
    """
    names = sample("d2-dout1-a2-t2-closure").evidence["coordinates"]
    ring = flint.fmpq_mpoly_ctx.get(tuple(names), flint.Ordering.degrevlex)
    quartic, *squares = (
        flint.fmpq_mpoly(text.replace("**", "^"), ring) for text in (QUARTIC, *SQUARES)
    )
    texts = [str(quartic * square).replace("^", "**") for square in squares]
    result = verify(with_generators(*texts, name="d2-dout1-a2-t2-closure"))
    assert (result.outcome, result.check) == ("rejected", "generators")
    assert result.found == "all functions that vanish on a slice"


@pytest.mark.parametrize(("a", "is_whole"), [(1, False), (2, True)])
def test_the_slice_knows_the_rank_of_a(a: int, is_whole: bool) -> None:
    """The equation for all matrices is not the only one for those of rank one."""
    candidate = closure.candidate_of(Case(2, 1, a, 2), [QUARTIC])
    assert isinstance(candidate, closure.Candidate)
    assert (closure.check_complete_on_slice(candidate) is None) == is_whole


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("c_1_1_2_2", "an ideal that is not stable under the group U"),
        ("c_1_1_1_1", "c_1_1_1_1 is a zero divisor modulo them"),
    ],
)
def test_each_condition_on_an_ideal_is_looked_at(text: str, condition: str) -> None:
    """For ideals that fail nothing but this condition before the slice."""
    candidate = closure.candidate_of(Case(2, 1, 2, 2), [text])
    assert isinstance(candidate, closure.Candidate)
    basis = algebra.groebner_basis(candidate.generators, candidate.ring)
    leading = [g.monoms()[0] for g in basis]
    failures = [closure.check_zero_divisor(leading), closure.check_stable(candidate, basis)]
    assert [failure.stored for failure in failures if failure] == [condition]


@pytest.mark.parametrize(
    "check",
    [
        "c_1_1_1_1**9999",
        "-c_1_1_1_1**2 + c_1_1_1_1**2",
        "c_1_1_1_1*c_1_1_1_1",
        "1/0",
        "",
        "2*x",
        "c_1_1_1_1^2",
    ],
)
def test_texts_that_are_no_generators(check: str) -> None:
    assert verify(with_generators(check)).check in ("form of the closure", "degree of a generator")


def test_every_missing_generator_is_missed() -> None:
    """None of them follows from the others, and what is left is never taken for the whole ideal."""
    for i in range(len(GENERATORS)):
        assert verify(with_generators(*GENERATORS[:i], *GENERATORS[i + 1 :])).outcome == "rejected"


@pytest.mark.parametrize("power", [5, 6, 10])
def test_a_multiple_of_the_equation_is_refused_by_its_degree(power: int) -> None:
    """Powers have the same zeros, and are stable under the group."""
    names = sample("d2-dout1-a2-t2-closure").evidence["coordinates"]
    (terms,) = algebra.read([QUARTIC], names)
    ring = flint.fmpz_mpoly_ctx.get(tuple(names), flint.Ordering.degrevlex)
    text = str(ring.from_dict(terms) ** power).replace("^", "**")
    result = verify(with_generators(text, name="d2-dout1-a2-t2-closure"))
    assert (result.outcome, result.check) == ("rejected", "evidence.generators")


def test_a_closure_with_large_a_takes_no_more_than_with_a_equal_to_d(tmp_path: Path) -> None:
    small = sample("d2-dout1-a2-t2-closure")
    large = replace(small, case=small.case | {"a": 20_000}, name="d2-dout1-a20000-t2").sealed()
    alone(write(large, tmp_path), memory=400 * 2**20)


PLANTED: dict[str, tuple[str, tuple[str, str], dict[str, str]]] = {
    "degree": ("d3-dout2-a1-t2-degree", ("degree", ""), {"value": "1638"}),
    "degree of low rank": ("d3-dout2-a2-t2-degree", ("degree", ""), {"value": "792"}),
    "dimension": ("d3-dout2-a2-t2-3.3", ("3.3", ""), {"value": "d"}),
    "singular": ("d3-dout2-a2-t2-3.4", ("3.4", "iii"), {"value": "r < 2"}),
    "fibre": ("d2-dout1-a1-t2-3.2", ("3.2", "rank one"), {"as_property": "fibre_itself"}),
}
"""Formulas, by the certificate of a case in which they are wrong, and by the statement."""


@pytest.mark.parametrize("what", PLANTED)
def test_a_wrong_prediction_of_the_checker_is_noticed(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, key, wrong = PLANTED[what]
    assert verify(sample(name)).accepted
    monkeypatch.setattr(statements, "WORDS", with_formulas(statements.WORDS, key, **wrong))
    assert verify(sample(name)).check.startswith("answer.verdicts")
    found = statements.statement(key[0], sample(name))
    outcomes = {verdict["part"]: verdict["verdict"] for verdict in found.answer["verdicts"]}  # type: ignore[union-attr]
    # the statement on singular points is false as printed, and true as it is planted
    assert outcomes[key[1]] == ("CONFIRMED" if what == "singular" else "REFUTED")


def about_the_degree(d: int, d_out: int, a: int) -> Certificate:
    """As it is made, but for the program."""
    model = SingleLayerAttention(d, d_out, a)
    content = question_of("attention", "degree").content(model, recheck(model).certified())
    made = replace(sample("d3-dout2-a2-t2-degree"), case=model.to_json(), name=model.key)
    return replace(
        made, answer=content.answer, evidence=content.evidence, trusted=list(content.trusted)
    ).sealed()


@pytest.mark.slow
@pytest.mark.parametrize("d", range(1, 5))
def test_the_degree_of_every_small_case_is_verified(d: int) -> None:
    for d_out, a in (
        product(range(1, 5), range(1, d + 1)) if d < 4 else ((1, 1), (1, 4), (2, 3), (4, 2))
    ):
        certificate = about_the_degree(d, d_out, a)
        assert verify(certificate).accepted
        assert certificate.answer["verdicts"][0]["verdict"] == "CONFIRMED"


@pytest.mark.parametrize(("case", "degree"), [((3, 2, 2), 2376), ((4, 4, 4), 155_117_520)])
def test_another_degree_is_rejected_where_no_section_is_counted(
    case: tuple[int, int, int], degree: int
) -> None:
    """Half of it, one more, or none; in the evidence, and in the verdict with it."""
    whole = about_the_degree(*case)
    assert verify(whole).accepted
    (verdict,) = whole.answer["verdicts"]
    assert whole.evidence["degree"] == verdict["observed"] == verdict["predicted"] == degree
    for wrong in (degree // 2, degree + 1, None):
        evidence = whole.evidence | {"degree": wrong}
        outcome = "REFUTED" if wrong else "UNDECIDED"
        answer = {"verdicts": [verdict | {"observed": wrong, "verdict": outcome}]}
        both = replace(
            whole, evidence=evidence, answer=answer, trusted=whole.trusted if wrong else []
        )
        for other in (replace(whole, evidence=evidence), both):
            assert verify(other.sealed()).outcome == "rejected"
    for wrong_fibre in (
        {"length": 2, "points": 2},
        {"length": 2, "points": 1},
        {"length": 1, "points": 2},
    ):
        other = replace(whole, evidence=whole.evidence | {"generic_fibre": wrong_fibre})
        assert verify(other.sealed()).outcome == "rejected"


@pytest.mark.parametrize("wrong", [0, 2, 4])
def test_a_wrong_number_of_paths_is_noticed(wrong: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are 3 for (3, 2, 2): a Hilbert function contradicts, and for α = 1 or α = d a linear
    section.
    """
    right = degrees.paths

    def planted(d: int, alpha: int) -> int:
        return wrong if (d, alpha) in ((3, 2), (4, 4)) else right(d, alpha)

    observations.observe.cache_clear()
    monkeypatch.setattr(observations, "paths", planted)
    for case in ((3, 2, 2), (4, 4, 4)):
        with pytest.raises(
            ContradictionError, match=r"by paths, and [0-9]+ in another way|, 0 points"
        ):
            observations.observe(*case)
    # now nothing else is computed, and the certificate is another
    monkeypatch.setattr(degrees, "MAX_HILBERT_VALUES", 0)
    assert verify(sample("d3-dout2-a2-t2-degree")).outcome == "rejected"
    monkeypatch.undo()
    observations.observe.cache_clear()
    assert verify(sample("d3-dout2-a2-t2-degree")).accepted


@pytest.mark.parametrize(
    ("d", "d_out", "alpha"), [(1, 3, 1), (2, 2, 1), (2, 2, 2), (3, 2, 1), (3, 1, 3)]
)
def test_the_linear_section_is_about_factors_of_a_polynomial(
    d: int, d_out: int, alpha: int
) -> None:
    """Sums of coordinates are coefficients of a product of generic factors, and there are so many
    ways to factor.
    """
    sizes = (d, d, d * d_out) if alpha == 1 else (d * d, d * d_out)
    *first, last = (
        [Random(j).randrange(1, 10**6) for _ in range(size)] for j, size in enumerate(sizes)
    )
    A = {(j % d, j // d): x for j, x in enumerate(first[0])}
    if alpha == 1:
        A = {(p, i): x * y for (p, x), (i, y) in product(enumerate(first[0]), enumerate(first[1]))}
    sums = [0] * (sum(sizes) - len(sizes) + 1)
    for (k, i, p, q), value in function((A, {divmod(j, d): y for j, y in enumerate(last)})).items():
        sums[p + q + (i if alpha == 1 else d * i) + d * k] += value
    assert flint.fmpz_poly(sums) == prod(map(flint.fmpz_poly, first), start=flint.fmpz_poly(last))
    roots = set(range(len(sums) - 1))
    ways = len(list(combinations(roots, sizes[0] - 1)))
    if alpha == 1:
        ways = sum(
            len(list(combinations(roots.difference(f), d - 1))) for f in combinations(roots, d - 1)
        )
    assert degrees.section_points(Case(d, d_out, alpha, 2)) == ways


def test_a_family_without_a_checker_fails_and_says_what_to_install() -> None:
    result = verify(replace(sample("d3-dout2-a2-t2-3.3"), family="tensors").sealed())
    assert (result.outcome, result.check) == ("failed", "family")
    assert (
        result.found == "no checker for the family 'tensors': install the package that provides it"
    )


@pytest.mark.parametrize("name", ["attention", "attention-all-sizes", "polynomial-network"])
def test_checkers_are_what_they_are_called(name: str) -> None:
    assert checker(name).family == name


def test_a_family_that_nobody_knows_is_rejected_unless_it_is_sealed() -> None:
    """With a fitting digest it may be the certificate of a package that is not installed here."""
    whole = read(SAMPLES[0])
    changed = replace(whole, family="cttention")
    assert (verify(changed).outcome, verify(changed).check) == ("rejected", "family")
    assert (verify(changed.sealed()).outcome, verify(changed.sealed()).check) == (
        "failed",
        "family",
    )


def test_degrees_of_determinantal_varieties_by_hilbert_functions_and_by_paths() -> None:
    """3 for determinants of size 3, and 20 for rank 2 of size 4, as in the literature."""
    assert (degrees.degree_by_values(3, 2), degrees.degree_by_values(4, 2)) == (3, 20)
    for d in range(1, 7):
        for alpha in range(1, d + 1):
            if alpha * (2 * d - alpha) <= degrees.MAX_HILBERT_VALUES:
                assert degrees.degree_by_values(d, alpha) == degrees.paths(d, alpha)


def test_the_equations_of_a_fibre_are_those_of_its_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    """L_q, 2 Q_qq and Q_pq, of which the checker takes ranks, and the expansion of the function of
    the weights whose first row of V is V_1 + z.
    """
    taken: list[Any] = []

    def seen(rows: Any) -> int:
        taken.append(list(rows))
        return algebra.rank(taken[-1])

    monkeypatch.setattr(observations, "rank", seen)
    case = Case(4, 3, 3, 2)
    for orbit in ((1, 1, 1), (2, 2, 1)):
        pair = representative(orbit)
        c = function(pair)
        context = algebra.ring(3)
        z = (1, *(x + pair[1].get((0, q), 0) for q, x in enumerate(context.gens(), 1)))
        parts: dict[tuple[int, ...], dict[Any, int]] = {}
        for index, value in function(observations.weights_with_first_row(c, z, case)).items():
            for exponents, coefficient in (context.constant(1) * value).terms():
                multiple = int(coefficient) * max(exponents)  # 2 Q_qq for z_q²
                parts.setdefault(tuple(map(int, exponents)), {})[index] = multiple
        taken.clear()
        observations._length_at(pair, case)
        degrees_seen = (1,) if orbit == (2, 2, 1) else (1, 2)  # three independent L_q
        expected = [part for exponents, part in parts.items() if sum(exponents) in degrees_seen]
        assert sorted(map(by_index, filter(None, taken[-1]))) == sorted(map(by_index, expected))


def by_index(function: dict[Any, int]) -> list[Any]:
    return sorted(function.items())


def test_orbits_without_facts_are_refused_before_any_fibre() -> None:
    """A short file asks for no long computation, however many orbits it lists."""
    case = Case(2, 2, 2, 2)
    facts = observations.observe(2, 2, 2).evidence["orbits"]
    assert observations.missing_facts({"orbits": facts}, case) is None
    for wrong in ({}, {"orbit": [1, 1, 0]}, [], None):
        found = observations.missing_facts({"orbits": [*facts[:-1], wrong]}, case)
        assert found is not None
        assert found.place == f"evidence.orbits[{len(facts) - 1}]"


@pytest.mark.parametrize(("case", "last"), [((1, 1), 4), ((2, 1), 4), ((4, 2), 3), ((5, 3), 2)])
def test_hilbert_functions_of_one_token_are_compared_up_to_a_degree(
    case: tuple[int, int], last: int
) -> None:
    """Up to 4, as far as there are 100 000 monomials: of degree 4 in 4 variables 35."""
    d, d_out = case
    candidate = closure.candidate_of(Case(d, d_out, d, 1), [])
    assert isinstance(candidate, closure.Candidate)
    assert closure._last_degree(candidate) == last


def test_an_undecided_verdict_rests_on_no_lemma() -> None:
    (words,) = statements.WORDS.listed("3.3", {})[:1]
    for outcome, lemmas in (("CONFIRMED", 1), ("REFUTED", 1), ("UNDECIDED", 0)):
        content = content_of_statements(
            statements.WORDS, [words], [verdict(words, None, outcome)], evidence={"dimension": 7}
        )
        assert min(len(content.trusted), 1) == lemmas


@pytest.mark.parametrize(
    ("predicted", "observed", "outcome"),
    [
        (5, 5, "CONFIRMED"),
        (5, 6, "REFUTED"),
        (5, 4, "REFUTED"),
        (True, False, "REFUTED"),
        (False, True, "REFUTED"),
        (None, 5, "UNDECIDED"),
        (5, None, "UNDECIDED"),
        ((1, 2), {"integrals": (1, 2), "degree": (1, None)}, "CONFIRMED"),
        ((1, 2), {"integrals": (1, None)}, "UNDECIDED"),
        ((1, 2), {"integrals": (1, 3)}, "REFUTED"),
        ((1, 2), {"integrals": (1, 1)}, "REFUTED"),
        ((1, 2), {"integrals": (1, 2, 0)}, "REFUTED"),
        # numbers modulo primes alone decide nothing
        ((1, 2), {"slices": (1, 2)}, "UNDECIDED"),
        ((1, 2), {"slices": (1, 3)}, "UNDECIDED"),
        ((1, 2), {"slices": (1, 2, 0), "integrals": (1, 2)}, "UNDECIDED"),
        ((1, 2), {"slices": (1, 2), "integrals": (1, 2)}, "CONFIRMED"),
        ((1, 2), {"slices": (1, 2), "integrals": (1, 3)}, "REFUTED"),
    ],
)
def test_a_number_refutes_where_it_is_another(predicted: Any, observed: Any, outcome: str) -> None:
    words = Words("k", "", "It is {}.", "ours", "dimension")
    assert global_verdict(words, None, predicted, observed)["verdict"] == outcome
    assert global_verdict(words, "a fails", predicted, observed)["verdict"] == "NOT_APPLICABLE"
