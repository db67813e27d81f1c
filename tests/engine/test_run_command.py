"""Code and scripts that are run: the command run, rendered scripts, packages, and an installation
without extras.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from sympy import symbols

from m2bridge import CoefficientField, Macaulay2, PolynomialMap, SingleLayerAttention, ideal
from m2bridge.algebra.field import QQ
from m2bridge.convert.answers import parse
from m2bridge.engine import Candidate, candidates
from m2bridge.engine.discovery import probed
from m2bridge.engine.script import Script
from m2bridge.families.attention.all_sizes.base_ideals import base_ideals_script
from m2bridge.families.attention.orbits.fibres import fibres_script
from m2bridge.families.attention.orbits.singular_orbits import orbit_script
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training_loss.counting import count_script
from m2bridge.families.attention.training_loss.gradient import (
    WeightChart,
    dense_orbit,
    gradient,
    weights_in,
)
from m2bridge.families.attention.training_loss.loss import gaussian, random_function
from m2bridge.families.attention.training_loss.real_points import Isolation
from m2bridge.families.convolutional_network.model import ConvolutionalNetwork
from m2bridge.families.deep_attention import fibres as closedness, fibres as generic_fibre
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.maps.closure import closure, closure_script
from m2bridge.maps.completeness import completeness_script
from m2bridge.maps.degrees import polar_degrees, slices as polar_slices
from m2bridge.maps.degrees.distance import ParametrizedImage, Variety, ideal_script, map_script
from m2bridge.maps.degrees.quadratic_forms import read_quadratic
from m2bridge.maps.double_points import double_points_script
from m2bridge.maps.model import Model
from m2bridge.maps.polynomial_map_model import as_model
from m2bridge.maps.singular_locus import jacobian_script
from m2bridge.maps.slice_space import SliceSpace
from m2bridge.maps.slice_surface import slice_script
from m2bridge.system import limits_memory
from m2bridge.workspace.values import Symbol
from tests.conftest import Invoke
from tests.events import PATIENCE

# ``m2bridge run``: code of a user from the command line.


@pytest.fixture
def run(program: Path, invoke: Invoke) -> Invoke:
    return lambda *arguments, code="": invoke("run", *arguments, "--m2", str(program), code=code)


@pytest.mark.slow
def test_what_is_printed_and_the_value(command: str, program: Path, tmp_path: Path) -> None:
    """By the program itself; what else the command does is tested in this process."""
    file = tmp_path / "code.m2"
    file.write_text('R = QQ[a..d]\nprint "hello"\nprimaryDecomposition ideal(a*b)\n')
    line = [command, "run", str(file), "--m2", str(program)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "hello\n{ideal(b), ideal(a)}\n",
        "",
    ) or (done.stdout == "hello\n{ideal a, ideal b}\n")


@pytest.mark.usefixtures("bare")
def test_a_value_as_json(run: Invoke) -> None:
    done = run("-", "--json", code="print 1\n2^100 / 3 -- that is it")
    data = json.loads(done.stdout)
    assert (data["text"], data["output"], done.returncode) == (f"{2**100}/3", "1\n", 0)
    assert str(2**100) in json.dumps(data["value"])
    assert data["seconds"] > 0


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_values_without_counterpart_and_none(run: Invoke) -> None:
    assert run("-", code="f = x -> x").stdout == "f\n"
    assert run("-", code="1;").stdout == ""


@pytest.mark.slow
def test_tables(run: Invoke) -> None:
    betti = run("-", code="betti res ideal vars(QQ[x,y])").stdout
    assert betti == "       0 1 2\ntotal: 1 2 1\n    0: 1 2 1\n"


@pytest.mark.slow
def test_resolutions_and_hilbert_polynomials_are_drawn(run: Invoke) -> None:
    """As at Macaulay2's prompt; other versions write a last module 0 too."""
    made = "R = QQ[x,y,z]; I = ideal(x*y, y*z); "
    assert run("-", code=made + "hilbertPolynomial I").stdout == "P  + P\n 0    1\n"
    assert run("-", code=made + "res I").stdout.startswith(" 1      2      1\nR  <-- R  <-- R")


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_errors_point_at_the_code(run: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "code.m2"
    file.write_text('print "early"\nf = y -> (\n\t  1/y)\nf 0\n')
    done = run(str(file))
    assert (done.returncode, done.stdout) == (5, "early\n")
    assert done.stderr.startswith(f"Error: ScriptError: {file}:3:5: division by zero\n")
    assert ">    3 | " in done.stderr
    done = run("-", code="x = (1,\n")
    assert done.stderr.startswith("Error: ScriptError: standard input:1:")
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.macaulay2("any")
@pytest.mark.parametrize(
    ("arguments", "code", "status", "said"),
    [
        (["-", "--timeout", "2"], "print 7; while true do sleep 1", 3, "limit of 2 seconds"),
        pytest.param(
            ["-", "--memory", "1G"],
            "x = toList(1..10000); while true do x = join(x, x)",
            3,
            "limit of 1 GiB",
            marks=pytest.mark.skipif(not limits_memory(), reason="only Linux limits memory"),
        ),
        (["-", "--packages", "Eliminatio"], "1", 2, "did you mean Elimination"),
        (["-", "--packages", "a;b"], "1", 2, "not the name of a package"),
        (["-"], "exit 9", 5, "ended with exit status 9"),
        (["/nowhere.m2"], "", 2, "does not exist"),
    ],
)
@pytest.mark.usefixtures("bare")
def test_exit_codes(run: Invoke, arguments: list[str], code: str, status: int, said: str) -> None:
    done = run(*arguments, code=code)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr
    assert "symbols" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_packages(run: Invoke) -> None:
    code = "instance(cyclotomicField, Function) and instance(eliminate, Function)"
    assert run("-", "--packages", "Cyclotomic,Elimination", code=code).stdout == "true\n"


@pytest.mark.macaulay2("any")
def test_no_macaulay2(invoke: Invoke, program: Path) -> None:
    assert (
        invoke("run", "-", "--m2", str(program.with_name("no-M2-here")), code="1").returncode == 4
    )


@pytest.mark.slow
@pytest.mark.macaulay2("any")
@pytest.mark.usefixtures("bare")
def test_code_of_any_bytes(run: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "code.m2"
    file.write_bytes(b'\xef\xbb\xbf#"\xff\xc3\xbc"\r\n')
    assert run(str(file)).stdout == "3\n"


@pytest.mark.slow
@pytest.mark.macaulay2("any")
@pytest.mark.usefixtures("bare")
def test_files_beside_the_code_are_found(run: Invoke, tmp_path: Path) -> None:
    (tmp_path / "é \\").mkdir()
    (tmp_path / "é \\" / "inner.m2").write_text("z = 8;")
    (tmp_path / "é \\" / "code.m2").write_text('load "inner.m2"; z')
    assert run(str(tmp_path / "é \\" / "code.m2")).stdout == "8\n"


# Golden scripts: frozen text, and what each prints in plain ``M2 --script`` is what the session
# answers.

GOLDEN = Path(__file__).parent.parent / "golden" / "scripts"


def model(*case: int, coordinates: str | None = None) -> Model:
    return as_model(SingleLayerAttention(*case), coordinates)  # type: ignore[arg-type]


def umbrella_script() -> Script:
    """The slice of Figure 1, whose closure is the resultant of two binary quadrics."""
    found = closure(SingleLayerAttention(2, 1), max_degree=4)
    fixed = {"c_1_1_1_1": 1, "c_1_1_1_2": 0, "c_1_2_1_1": 0}
    space = SliceSpace.of(found.model.coordinate_names(), fixed, (-1, 1))
    criterion = space.criterion(found.model)
    assert found.ideal is not None
    zero = criterion.zero if criterion else ()
    return slice_script(found.model.title, found.ideal, space, exceptional=zero)


def slices() -> Script:
    """Points of (2, 1, 2) in general slices."""
    forms, _ = polar_slices._projective_map(SingleLayerAttention(2, 1))
    return polar_slices.slices_script(forms, polar_slices._spanning_parameters(forms), "(2, 1, 2)")


def critical_points_scripts() -> dict[str, Script]:
    """The critical points of (2, 1, 2) for standard normal tokens: counted, and the real ones."""
    shape = LayerSizes(2, 1, 2, 2)
    loss = gaussian(shape).towards(random_function(shape, 0), "")
    weights = weights_in(shape, WeightChart((2,)))
    conditions = dense_orbit(shape, weights)
    counted = count_script(gradient(loss, weights), conditions, 32003, "(2, 1, 2)")
    real = Isolation(loss=loss, weights=weights, conditions=(), msolve=False, program=None).script(
        title="(2, 1, 2)"
    )
    return {"critical-points-count-2-1-2": counted, "critical-points-real-2-1-2": real}


def ed_degree_scripts() -> dict[str, Script]:
    """Critical points on a parabola and on a parametrized cusp, and the real ones of (0, 3)."""
    parabola = Variety(ideal("y - x^2"), "parabola")
    form = read_quadratic("x^2 + y^2/2", parabola.ideal.ring)
    point = (Fraction(0), Fraction(3))
    s = symbols("s")
    cusp = PolynomialMap.from_expressions([s], {"x": s**2 / 2, "y": s**3})
    return {
        "ed-degree-parabola": ideal_script(parabola, "ed_degree", form, None),
        "ed-degree-parabola-closure": ideal_script(
            parabola, "ed_degree", form=None, point=None, cone="true"
        ),
        "ed-degree-parabola-point": ideal_script(parabola, "ed_degree", form, point),
        "ed-degree-parabola-real": ideal_script(
            parabola, "ed_degree_real", form, point, msolve="", program=""
        ),
        "ed-degree-cusp": map_script(ParametrizedImage(cusp, (0,), "cusp"), form),
        "ed-degree-cusp-generic": map_script(ParametrizedImage(cusp, (0,), "cusp"), None),
    }


SCRIPTS: dict[str, Script] = {
    **critical_points_scripts(),
    "closure-2-1-2": closure_script(model(2, 1), field=QQ),
    "closure-2-2-1-mod-101": closure_script(model(2, 2, 1), field=CoefficientField(101)),
    "closure-2-1-2-full-3-tokens": closure_script(model(2, 1, 2, 3, coordinates="full"), field=QQ),
    "closure-2-1-2-one-token": closure_script(model(2, 1, 2, 1), field=QQ),
    "closure-2-1-2-ungraded": closure_script(model(2, 1), field=QQ, graded=False),
    "jacobian-2-1-2": jacobian_script(model(2, 1), field=QQ),
    "double-points-2-2": double_points_script(ConvolutionalNetwork((2, 2))),
    "orbits-2-2-2": orbit_script(model(2, 2), field=QQ),
    "fibres-3-2-2": fibres_script(SingleLayerAttention(3, 2, 2)),
    "completeness-2-1-2-full": completeness_script(
        model(2, 1, coordinates="full"), field=CoefficientField(32003)
    ),
    "fibres-1-2-1": fibres_script(SingleLayerAttention(1, 2)),
    "all-sizes": base_ideals_script(),
    "slice-2-1-2": umbrella_script(),
    "polar-slices-2-1-2": slices(),
    "polar-conormal-nodal-cubic": polar_degrees.conormal_script(
        ideal("y^2 - x^3 - x^2"), "nodal cubic", prime=False
    ),
    **ed_degree_scripts(),
    "not-closed-3-3-3": closedness.limit_script(DeepAttention((3, 3, 3), 2, 3)),
    "generic-fibre-2-2-1": generic_fibre.fibre_script(DeepAttention((2, 2, 1), (1, 2), 2)),
    "generic-fibre-3-1-two-tokens": generic_fibre.fibre_script(DeepAttention((3, 1), 1, 2)),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_golden_scripts(name: str, request: pytest.FixtureRequest) -> None:
    path = GOLDEN / f"{name}.m2"
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SCRIPTS[name].body, encoding="utf-8")
    assert SCRIPTS[name].body == path.read_text(encoding="utf-8")


ALONE = ("jacobian-2-1-2", "not-closed-3-3-3", "all-sizes")
"""Scripts that run by themselves: a template that includes another, and those with most of the
shared code.
"""


@pytest.mark.slow
def test_scripts_print_by_themselves_what_the_session_answers(
    engine: Macaulay2, program: Path, tmp_path: Path
) -> None:
    path = tmp_path / "program.m2"
    for name, script in SCRIPTS.items():
        answers = engine.run(script).records
        assert answers, name
        if name in ALONE:
            path.write_text(script.standalone(), encoding="utf-8")
            line = [program, "--script", path]
            printed = subprocess.run(
                line, capture_output=True, text=True, timeout=PATIENCE, check=True
            )
            *records, end = printed.stdout.splitlines()
            assert tuple(records) == answers, name
            assert end == f'{{"end":"standalone","records":{len(records)}}}'


@pytest.mark.slow
def test_script_command(command: str) -> None:
    arguments = ["script", "closure", "--d", "2", "--d-out", "1"]
    printed = subprocess.run([command, *arguments], capture_output=True, text=True, check=True)
    assert printed.stdout == SCRIPTS["closure-2-1-2"].standalone()


@pytest.mark.slow
def test_the_program_of_polar_degrees_draws_its_prime(
    invoke: Invoke, program: Path, tmp_path: Path
) -> None:
    """Two runs have other primes and the same numbers; the text is the same each time."""
    arguments = ["script", "polar-degrees", "--d", "2", "--d-out", "1"]
    first, second = (invoke(*arguments).stdout for _ in range(2))
    assert first == second
    path = tmp_path / "program.m2"
    shown = 'mbEmit("prime", givenPrime)\nmbFinish()\n'
    path.write_text(first.removesuffix("mbFinish()\n") + shown, encoding="utf-8")
    primes = set()
    for _ in range(3):
        printed = subprocess.run(
            [program, "--script", path],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        answer = parse(tuple(printed.stdout.splitlines()[:-1]))
        assert [answer.integer(f"polar_{i}") for i in range(4, -1, -1)] == [4, 6, 4, 0, 0]
        primes.add(answer.integer("prime"))
        if len(primes) > 1:
            break  # the third run is for two that draw the same prime, as one in thousands does
    assert len(primes) > 1
    assert all(2**14 < prime < 2**15 for prime in primes)


# The wheel of Macaulay2 without what its SageMath interface asks for: nothing that the program
# needs is missing.

SYSTEM = re.compile(
    r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z|util|resolv)\.so\.\d+|linux-vdso\.so\.1|ld-linux[\w.-]*"
)
"""What every Linux has that can run Python's wheels (manylinux), and zlib."""


@pytest.fixture
def wheel() -> Candidate:
    found = next(candidate for candidate in candidates() if candidate.origin.startswith("wheel"))
    if found.program is None:
        pytest.skip("Macaulay2 is not here as a wheel")
    return found


@pytest.mark.skipif(platform.system() != "Linux", reason="ldd is Linux's")
@pytest.mark.parametrize("name", ["M2-binary", "normaliz", "cohomcalg", "csdp"])
def test_programs_find_their_libraries_in_their_own_wheel(wheel: Candidate, name: str) -> None:
    assert wheel.program is not None
    program = wheel.program.with_name(name)
    own = program.parents[2] / "passagemath_macaulay2.libs"
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    libraries = [line.split() for line in said.splitlines()]
    assert len(libraries) > 4
    for words in libraries:
        if not SYSTEM.fullmatch(Path(words[0]).name):
            assert words[1] == "=>", words
            assert Path(words[2]).resolve().parent == own, words


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_packages_of_macaulay2_are_in_the_wheel(wheel: Candidate) -> None:
    """Those that use other programs and libraries among them."""
    packages = (
        "Elimination",
        "PrimaryDecomposition",
        "MinimalPrimes",
        "Normaliz",
        "NumericalAlgebraicGeometry",
    )
    if probed(wheel).refusal is not None:
        pytest.skip("the wheel's Macaulay2 cannot be used here, as a warning says")
    with Macaulay2(wheel.program) as m2:
        for name in packages:
            assert m2.value(f'toString needsPackage "{name}"') == name


# Packages with short global names, loaded by code, and programs that wait for input: nothing of it
# is seen later.

NAMES = ("e", "h", "p", "s", "x", "chain", "schurRing")
"""Names of symmetric functions, and what the packages call their functions."""
LOAD = 'needsPackage "SchurRings"; needsPackage "Posets"; '


@pytest.mark.slow
def test_a_package_that_one_call_loads_does_not_disturb_the_next(program: Path) -> None:
    with Macaulay2(program) as m2:
        for _ in range(2):  # the second call finds the packages loaded
            assert m2.value(LOAD + "R = schurRing(QQ, s, 3); (#vertices chain 4, dim s_{2,1})") == (
                4,
                8,
            )
            assert m2.value(f"{{{', '.join(NAMES)}}}") == [Symbol(name) for name in NAMES]
            assert m2.value("(e+h+p+s+x+chain+schurRing, e)", **dict.fromkeys(NAMES, 1)) == (7, 1)


@pytest.mark.slow
def test_a_package_does_not_hide_what_a_workspace_was_given(program: Path) -> None:
    with Macaulay2(program) as m2, m2.workspace("SchurRings") as work:
        for number, name in enumerate(NAMES):
            work[name] = number
        work.run(LOAD)
        assert [work[name] for name in NAMES] == list(range(len(NAMES)))
        assert work.value("toString(e*h + x)", x=5, e=2, h=3) == "11"
        assert work.value("QQ[m, n]; p*m + s*n == 2*m + 3*n")


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_programs_have_no_input(program: Path) -> None:
    """They would wait until the limit for somebody to type."""
    with Macaulay2(program) as m2:
        assert m2.value('run "cat"', timeout=PATIENCE) == 0
        assert m2.value('run "read line; test -z $line && exit 3"', timeout=PATIENCE) == 3 * 256
        assert m2.evaluate('run "echo so | cat"', timeout=PATIENCE).output == "so\n"
        assert m2.value('try get "!cat" else "nothing"', timeout=PATIENCE) in ("", "nothing")
