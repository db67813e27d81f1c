"""The checker that stands alone: what it accepts, what it refuses and under which name, without the rest."""

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
from m2bridge.certificate.files import read, write
from m2bridge.certificate.schema import Certificate
from m2bridge.checker import algebra
from m2bridge.checker.verify import verify, verify_path
from m2bridge.families import checker
from m2bridge.families.attention.checker import observations, statements
from m2bridge.families.attention.checker.case import Case, function
from tests.changing import changed, leaves

FOLDER = Path(__file__).parents[1] / "certificates" / "accepted"
NETWORKS = FOLDER.parent / "networks"
ALL_SIZES = FOLDER.parent / "all-sizes"
SAMPLES = [path for folder in (FOLDER, NETWORKS, ALL_SIZES) for path in sorted(folder.glob("*.json"))]
PACKAGE = Path(m2bridge.__file__).parent
CHECKER = [
    *PACKAGE.glob("checker/*.py"),
    *PACKAGE.glob("families/attention/checker/*.py"),
    PACKAGE / "families" / "polynomial_network" / "checker.py",
]
"""The general part and the first two families; the checker of another family is read apart."""
FOR_EQUATIONS = list(PACKAGE.glob("families/attention/checker/equations/*.py"))
FOR_ALL_SIZES = list(PACKAGE.glob("families/attention/all_sizes/checker/*.py"))
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
for path in map(Path, sys.argv[2:]):
    result = verify_path(path)
    assert result.accepted, result
"""


def alone(*paths: Path, memory: int = 2**31) -> None:
    """Verify in a process where most of what m2bridge needs is missing."""
    command = [sys.executable, "-c", ALONE, str(memory), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_accepted(path: Path) -> None:
    assert verify_path(path).accepted


def test_it_needs_python_flint_and_isl_only() -> None:
    """For all sizes isl, and none of the modules that make the certificates."""
    alone(ALL_SIZES / "attention-all-sizes-3.4.json")
    kinds = ("d3-dout2-a2-t2-3.4", "d2-dout2-a2-t1-3.4", "d2-dout2-a1-t2-closure", "d2-dout2-a2-t1-closure")
    alone(FOLDER / "d4-dout2-a2-t2-equations.json")
    alone(
        *(FOLDER / f"{name}.json" for name in kinds), NETWORKS / "polynomial-network-2-2-1-r2-expected-dimension.json"
    )


def test_it_has_at_most_a_thousand_lines() -> None:
    assert len(CHECKER) > 9
    assert lines(CHECKER) <= 1000


def test_for_equations_it_has_four_hundred_and_forty() -> None:
    assert len(FOR_EQUATIONS) == 3
    assert lines(FOR_EQUATIONS) <= 440


def test_for_all_sizes_it_has_fewer_than_four_hundred() -> None:
    assert len(FOR_ALL_SIZES) == 5
    assert lines(FOR_ALL_SIZES) < 400


def lines(paths: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def near(place: tuple[Any, ...], value: int | None) -> int:
    """Another number; a lower degree, since one more takes long to compute."""
    return (value or 0) + (-1 if place[-1] == "max_degree" else 1)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_number_is_compared(path: Path) -> None:
    """One after the other, with a digest that fits."""
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
    certificate = sample(name)
    return replace(certificate, evidence=certificate.evidence | {"generators": list(texts)}).sealed()


GENERATORS = sample("d2-dout2-a1-t2-closure").evidence["generators"]
(QUARTIC,) = sample("d2-dout1-a2-t2-closure").evidence["generators"]
IDEALS = {
    "generator on the parametrization": with_generators("c_1_1_1_1**2", *GENERATORS[1:]),
    "form of the closure": with_generators(*GENERATORS[1:], "__import__('os')"),
    "homogeneous generators": with_generators(*GENERATORS[:-1], f"{GENERATORS[-1]} + {GENERATORS[0]}"),
    "minimal generators.2": with_generators(*GENERATORS, GENERATORS[0]),
    "evidence.generators": with_generators(*GENERATORS[:15]),
    "generators": with_generators(*GENERATORS[1:]),
    "ideal in degree 4": with_generators(
        *sample("d2-dout2-a2-t1-closure").evidence["generators"][1:], name="d2-dout2-a2-t1-closure"
    ),
}


@pytest.mark.parametrize("check", IDEALS)
def test_generators_of_another_ideal(check: str) -> None:
    result = verify(IDEALS[check])
    assert (result.outcome, result.check) == ("rejected", check)


@pytest.mark.parametrize(
    "check", ["c_1_1_1_1**9999", "-c_1_1_1_1**2 + c_1_1_1_1**2", "c_1_1_1_1*c_1_1_1_1", "1/0", "", "2*x", "c_1_1_1_1^2"]
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


PLANTED = {
    "degree": ("d3-dout2-a1-t2-degree", statements._GLOBAL, ("degree", ""), lambda case: 1638),
    "dimension": ("d3-dout2-a2-t2-3.3", statements._GLOBAL, ("3.3", ""), lambda case: case.d),
    "singular": ("d3-dout2-a2-t2-3.4", statements._AT_ORBITS, ("3.4", "iii"), lambda orbit, case: orbit[0] < 2),
    "fibre": (
        "d2-dout1-a1-t2-3.2",
        statements._AT_ORBITS,
        ("3.2", "rank one"),
        statements._AT_ORBITS["3.2", "otherwise"][1],
    ),
}


@pytest.mark.parametrize("what", PLANTED)
def test_a_wrong_prediction_of_the_checker_is_noticed(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, table, key, wrong = PLANTED[what]
    assert verify(sample(name)).accepted
    monkeypatch.setitem(table, key, (table[key][0], wrong))
    assert verify(sample(name)).check.startswith("answer.verdicts")


@pytest.mark.parametrize(("d", "d_out", "alpha"), [(1, 3, 1), (2, 2, 1), (2, 2, 2), (3, 2, 1), (3, 1, 3)])
def test_the_linear_section_is_about_factors_of_a_polynomial(d: int, d_out: int, alpha: int) -> None:
    """Sums of coordinates are coefficients of a product of generic factors, and there are so many ways to factor."""
    sizes = (d, d, d * d_out) if alpha == 1 else (d * d, d * d_out)
    *first, last = ([Random(j).randrange(1, 10**6) for _ in range(size)] for j, size in enumerate(sizes))
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
        ways = sum(len(list(combinations(roots.difference(f), d - 1))) for f in combinations(roots, d - 1))
    assert observations.section_points(Case(d, d_out, alpha, 2)) == ways


def test_a_family_without_a_checker_fails_and_says_what_to_install() -> None:
    result = verify(replace(sample("d3-dout2-a2-t2-3.3"), family="tensors").sealed())
    assert (result.outcome, result.check) == ("failed", "family")
    assert result.found == "no checker for the family 'tensors': install the package that brings it"


@pytest.mark.parametrize("name", ["attention", "attention-all-sizes", "polynomial-network"])
def test_checkers_are_what_they_are_called(name: str) -> None:
    assert checker(name).family == name


def test_a_family_that_nobody_knows_is_rejected_unless_it_is_sealed() -> None:
    """With a fitting digest it may be the certificate of a package that is not installed here."""
    whole = read(SAMPLES[0])
    changed = replace(whole, family="cttention")
    assert (verify(changed).outcome, verify(changed).check) == ("rejected", "family")
    assert (verify(changed.sealed()).outcome, verify(changed.sealed()).check) == ("failed", "family")
