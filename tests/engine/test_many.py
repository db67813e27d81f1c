"""Many items by one function or one piece of code; projective schemes; texts that Macaulay2 itself
writes.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import psutil
import pytest

from m2bridge import CoefficientField, Macaulay2, ideal, run_many
from m2bridge.batch.store import case_lock
from m2bridge.engine import Engine
from tests.batches import ended
from tests.events import wait_for, wait_for_end
from tests.tiers import few

pytestmark = pytest.mark.engine

# Many items.


def strange(number: int) -> object:
    """What may become of an item."""
    if number == 1:
        os._exit(3)
    if number == 2:
        raise ValueError("two lines\nof reason")
    if number == 3:
        while True:
            time.sleep(1)
    if number == 4:
        return open("/dev/null", "rb")
    if number == 5:
        return len(ideal("x*y").minimal_primes())  # by the Macaulay2 that this worker keeps
    return lambda: number


@pytest.mark.slow
def test_each_item_has_its_outcome_in_its_place() -> None:
    outcomes = run_many(strange, [5, 1, 0, 2, 4, 6], workers=2)
    assert [outcome.kind for outcome in outcomes] == [
        "computed",
        "died",
        "computed",
        "failed",
        "failed",
        "computed",
    ]
    assert (outcomes[0].value, outcomes[2].value(), outcomes[5].value()) == (2, 0, 6)
    assert "exit status 3" in outcomes[1].reason
    assert outcomes[3].reason == "ValueError: two lines"
    assert "cannot be sent" in outcomes[4].reason
    late, early = run_many(strange, [3, 0], workers=1, timeout=1)
    assert (late.kind, "timeout=" in late.reason) == ("timed-out", True)
    assert early.kind == "computed"


@pytest.mark.slow
def test_empty_code_has_no_value(tmp_path: Path) -> None:
    """As in Macaulay2, where a program without statements has the value null: None in Python."""
    (outcome,) = run_many("", [1], workers=1, folder=tmp_path)
    assert (outcome.kind, outcome.value, outcome.text) == ("computed", None, "")
    (stored,) = tmp_path.glob("*.json")
    assert json.loads(stored.read_text())["versions"]["macaulay2"] != ""


@pytest.mark.slow
def test_code_has_items_by_name_and_its_errors_are_outcomes() -> None:
    items = [2, ideal("x^2", "x*y"), {"item": 3}, 0, "text", True]
    code = (
        'print "seen"; if item === 0 then 1/item else if instance(item, Ideal) then degree item'
        " else "
    )
    code += "if item === true then x -> x else item"
    outcomes = run_many(code, items, workers=1)
    assert [outcome.value for outcome in outcomes] == [2, 1, 3, None, "text", None]
    assert [outcome.kind == "computed" for outcome in outcomes] == [
        True,
        True,
        True,
        False,
        True,
        False,
    ]
    assert "division by zero" in outcomes[3].reason
    assert "FunctionClosure" in outcomes[5].reason
    assert outcomes[0].output == "seen\n"
    (endless,) = run_many("while true do sleep 1", [0], workers=1, timeout=1)
    assert (endless.kind, "was stopped" in endless.reason) == ("timed-out", True)


@pytest.mark.slow
def test_a_script_without_a_guard_can_use_all_cores(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import m2bridge\nprint([o.value for o in m2bridge.run_many(lambda n: n * n, range(4),"
        " workers=2)])\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "[0, 1, 4, 9]\n", done.stderr


@pytest.mark.slow
def test_a_limit_on_memory_may_be_a_float() -> None:
    (outcome,) = run_many(abs, [-2], workers=1, memory=4e9)  # type: ignore[arg-type]
    assert outcome.value == 2


@pytest.mark.slow
def test_what_is_in_the_folder_is_not_done_again(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    first = run_many("item + 1", [1, 2, "three", 4], folder=folder, workers=1)
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.json")}
    assert sorted(before) == [
        *("item-00000.json", "item-00001.json", "item-00002.outcome.json", "item-00003.json")
    ]
    assert run_many("item + 1", [1, 2, "three", 4], folder=folder, workers=1) == first
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("*.json")} == before
    (folder / "item-00003.json").write_text("half of")
    again = run_many("item + 1", [1, 5, "three", 4], folder=folder, workers=1, retry=["failed"])
    assert [outcome.value for outcome in again] == [2, 6, None, 5]
    changed = {
        path.name for path in folder.glob("*.json") if path.stat().st_mtime_ns != before[path.name]
    }
    assert changed == {"item-00001.json", "item-00002.outcome.json", "item-00003.json"}
    # a text names a kind, and is not the list of its letters
    failed = folder / "item-00002.outcome.json"
    failed_before = failed.stat().st_mtime_ns
    run_many("item + 1", [1, 5, "three", 4], folder=folder, workers=1, retry="failed")
    assert failed.stat().st_mtime_ns > failed_before


@contextmanager
def running(folder: Path, m2: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    """The command over the six ideals of a folder, in a process group of its own."""
    code = "from m2bridge.cli.main import main; main()"
    command = [
        sys.executable,
        "-c",
        code,
        "run",
        str(folder / "code.m2"),
        "--each",
        str(folder / "*.toml"),
    ]
    command += ["--out", str(folder / "results"), "--workers", "2", "--m2", m2, *more]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def ideals(tmp_path: Path) -> Path:
    (tmp_path / "code.m2").write_text("degree item")
    for n in range(1, 7):
        (tmp_path / f"power{n}.toml").write_text(
            f'[ideal]\nvariables = ["x", "y"]\ngenerators = ["x^{n}"]\n'
        )
    (tmp_path / "results").mkdir()
    return tmp_path


def results(folder: Path) -> dict[str, int]:
    """The results that are there, and when they were written."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "results").glob("power*.json")}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_leaves_no_process_and_goes_on(
    number: signal.Signals, ideals: Path, m2: str
) -> None:
    # so that it does not come to its end
    with case_lock(ideals / "results", "power6"), running(ideals, m2) as process:
        wait_for(lambda: len(results(ideals)) >= 2)
        descendants = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, number) if number is signal.SIGINT else process.send_signal(number)
        _, said = ended(process)
        wait_for_end(p.pid for p in descendants)
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGINT: 130}[number]
    assert "Traceback" not in said
    before = results(ideals)
    with running(ideals, m2, "--json") as process:
        printed, said = ended(process)
    assert json.loads(printed)["done_before"] == len(before), said
    assert before.items() <= results(ideals).items()
    texts = [
        json.loads((ideals / "results" / f"power{n}.json").read_text())["text"] for n in range(1, 7)
    ]
    assert texts == ["1", "2", "3", "4", "5", "6"]


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["Macaulay2", "worker"])
def test_an_item_at_which_a_process_is_killed_is_done_by_another(
    victim: str, ideals: Path, m2: str
) -> None:
    begun = ideals / "begun"
    first = f'degree item == 4 and not fileExists "{begun}"'
    sleep = f'(begun = "{begun}" << processID(); close begun; sleep 999)'
    (ideals / "code.m2").write_text(f"if {first} then {sleep};\ndegree item")
    with running(ideals, m2) as process:
        wait_for(lambda: begun.exists() and begun.read_text() and len(results(ideals)) == 5)
        killed = psutil.Process(int(begun.read_text()))
        while victim == "worker" and "python" not in killed.name():
            killed = killed.parents()[0]
        killed.kill()
        printed, said = ended(process)
    assert process.returncode == 0, said
    assert "6 computed" in printed


@pytest.mark.slow
def test_a_file_that_is_no_ideal_has_an_outcome(ideals: Path, m2: str) -> None:
    (ideals / "power3.toml").write_text('nothing = "')
    with running(ideals, m2) as process:
        printed, _ = ended(process)
    assert (process.returncode, printed.strip().endswith("5 computed, 1 failed")) == (3, True)
    assert (
        "not TOML" in json.loads((ideals / "results" / "power3.outcome.json").read_text())["reason"]
    )


@pytest.mark.slow
def test_a_dask_cluster_does_the_same() -> None:
    pytest.importorskip("distributed")
    outcomes = run_many(strange, [5, 2, 0], workers=1, executor="dask")
    assert [outcome.kind for outcome in outcomes] == ["computed", "failed", "computed"]
    assert (outcomes[0].value, outcomes[2].value()) == (2, 0)


# Projective schemes: values of books, and all points over a small field.

PROJECTIVE = [
    # ideal, dimension, degree, singular components by dimension; Harris, Algebraic Geometry;
    # Dolgachev, Classical AG
    (("x*y*z + x*y*w + x*z*w + y*z*w",), 2, 3, [0, 0, 0, 0]),  # Cayley's cubic, Dolgachev 9.3.3
    (("x*z - y^2", "y*w - z^2", "x*w - y*z"), 1, 3, []),  # the twisted cubic, Harris 1.10
    (("x*w - y*z",), 2, 2, []),  # the quadric P^1 x P^1, Harris 2.11
    (("x^3 + y^3 + z^3 + w^3",), 2, 3, []),  # Fermat's cubic
    (("x^2*z - y^2*w",), 2, 3, [1]),  # the ruled cubic, double along a line, Dolgachev 9.2.1
    (("y^2*z - x^3 - x^2*z",), 1, 3, [0]),  # the nodal cubic, Harris 15
    (("x*y", "x*z", "y*z"), 0, 3, []),  # three points
    (("x^2", "y^2", "z^2"), -1, 0, []),  # the empty set
]


@pytest.mark.macaulay2("any")
@pytest.mark.parametrize(
    ("generators", "dimension", "degree", "singular"), few(PROJECTIVE, 3, rows=True)
)
def test_projective_varieties_of_the_books(
    generators: tuple[str, ...], dimension: int, degree: int, singular: list[int], engine: Engine
) -> None:
    scheme = ideal(*generators).projective()
    assert (scheme.dimension(engine=engine), scheme.degree(engine=engine)) == (dimension, degree)
    locus = scheme.singular_locus(engine=engine)
    assert [component.dimension for component in locus.components or ()] == singular
    assert locus.variety_dimension == dimension
    saturated = scheme.saturated_ideal(engine=engine)
    assert saturated.projective().hilbert_polynomial(engine=engine) == scheme.hilbert_polynomial(
        engine=engine
    )


FIVE = CoefficientField(5)


@pytest.mark.macaulay2("any")
@pytest.mark.parametrize(
    "text",
    few(["x*y*z + x*y*w + x*z*w + y*z*w", "x^2*z - y^2*w", "x^2*y + y^2*z + z^2*x + w^3"], 1),
)
def test_singular_points_over_a_small_field(text: str, engine: Engine) -> None:
    """Of a hypersurface they are the points where it and its derivatives vanish: all of P^3(GF(5))
    is tried.
    """
    surface = ideal(text, variables="x y z w", field=FIVE)
    locus = surface.projective().singular_locus(engine=engine).ideal
    assert locus is not None
    (f,) = surface.to_sympy()
    equations = [f, *(f.diff(g) for g in f.gens)]
    others = locus.to_sympy()
    for point in list(product(range(5), repeat=4))[1:]:
        vanish, singular = (
            all(int(g.eval(dict(zip(f.gens, point, strict=True)))) % 5 == 0 for g in listed)
            for listed in (equations, others)
        )
        assert vanish == singular, point


# Texts.


@pytest.mark.slow
@pytest.mark.macaulay2("any")
def test_what_macaulay2_writes_is_read(session: Macaulay2) -> None:
    for field in (CoefficientField(0), CoefficientField(7)):
        for given in (
            ideal("x^2 - 1/2*y_3", "5*x*c_1_2 - 2/3*x - 1", field=field),
            ideal("x", field=field),
        ):
            for code in ("toString I", "toString I_*", "toString gens I"):
                text = session.value(code, I=given)
                assert (
                    ideal(text, variables=given.ring.variables, field=field).generators
                    == given.generators
                ), text
    assert (
        ideal(session.value("R = QQ[x, y]; toString ideal 0_R"), variables="x y").generators == ()
    )
