"""The context of a computation: its limits, and the Macaulay2 that it uses."""

from __future__ import annotations

import inspect
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from itertools import repeat
from pathlib import Path
from types import FrameType
from typing import Any, Unpack

import pytest
from sympy import Matrix, Rational, symbols

import m2bridge
from m2bridge import (
    Closure,
    PolynomialMap,
    SingleLayerAttention,
    closure,
    dimension,
    image,
    singular_locus,
)
from m2bridge.crosscheck.cross_check import cross_check
from m2bridge.engine import Engine, RunOptions, Transcript, computation, current, using
from m2bridge.engine.context import chosen_engine
from m2bridge.engine.script import Script
from m2bridge.errors import EngineNotFoundError, InvalidCaseError, TimeLimitError, TooLargeError
from m2bridge.families.attention.closure_answers import standalone
from m2bridge.families.attention.observations.observe import observe
from m2bridge.families.attention.orbits import singular_orbits, tangents
from m2bridge.families.attention.orbits.fibres import fibres_script
from m2bridge.families.attention.orbits.membership import Chart, function_of, quadratic_forms
from m2bridge.families.attention.orbits.orbits import (
    Orbit,
    dense_first,
    generic_orbit,
    orbit_count,
    orbits,
)
from m2bridge.families.attention.orbits.singular_orbits import by_bounds
from m2bridge.families.attention.orbits.tangents import (
    OrbitTangents,
    orbit_tangents,
    tangent_upper_bounds,
)
from m2bridge.ideals.ideal import Ideal
from m2bridge.limits import (
    Clock,
    Limits,
    alarm,
    check,
    check_deadline_in,
    clock,
    importing,
    limited,
    overtime,
    performed_within_limit,
    share,
)
from m2bridge.maps.polynomial_map_model import as_model
from m2bridge.results.base import Decision
from m2bridge.system import launcher, limits_memory
from m2bridge.workspace.macaulay2 import Macaulay2
from tests.events import PATIENCE
from tests.limits import HOUR, Looks, RecordedEngine, by_linear_algebra

# Computations within a limit that may come at any look at the clock: they end there, with what was
# found.

MODEL = SingleLayerAttention(3, 2, 2)


def looks_of(computation: Callable[[], object]) -> int:
    """How often it looks at the clock when it has all the time."""
    looks = Looks()
    with limited(1e9, now=looks):
        computation()
    return looks.number


def ended(computation: Callable[[], Any], samples: int = 12) -> Iterator[Any]:
    """What a computation gives within longer and longer limits; nothing where it found nothing."""
    number = looks_of(computation)
    for limit in range(1, number, max(1, number // samples)):
        with limited(limit, now=Looks()):
            try:
                found = computation()
            except TimeLimitError:
                continue
        yield found


def test_dimensions_are_right_or_missing() -> None:
    whole = dimension(MODEL).findings
    seen = set()
    for found in ended(lambda: dimension(MODEL)):
        assert len(found.findings) == len(whole)
        for one, other in zip(found.findings, whole, strict=True):
            assert one == other or (one.value, one.status) == (None, "unfinished")
            seen.add(one.status)
    assert seen == {"unfinished", whole[0].status}


@pytest.mark.slow
def test_closures_keep_the_dimension_and_the_degrees_that_are_complete() -> None:
    whole = closure(MODEL, max_degree=3)
    assert isinstance(whole, Closure)
    completes, dimensions = [], set()
    for found in ended(lambda: closure(MODEL, max_degree=3), 30):
        completes.append(str(found.completeness))
        dimensions.add(found.dimension)
        assert found.unfinished or str(found.completeness) == str(whole.completeness)
        assert found.to_text()
        assert found.to_json()["coordinates"] == list(whole.model.polynomial_map.coordinates)
        known = found.generator_degrees or {}
        assert known == {
            n: count for n, count in (whole.generator_degrees or {}).items() if n in known
        }
    assert completes[0] == "no"
    assert {"up to degree 1", "up to degree 2"} <= set(completes)
    assert completes == sorted(completes)
    assert dimensions == {whole.dimension}


@pytest.fixture
def no_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take nearly all of the time."""
    for module in (singular_orbits, tangents):
        monkeypatch.setattr(module, "default_degree", lambda model: 0)


@pytest.mark.slow
def test_equations_found_in_less_time_bound_less() -> None:
    upper = tangent_upper_bounds(MODEL)
    sizes = []
    for found in ended(lambda: tangent_upper_bounds(MODEL), 6):
        sizes.append(len(found))
        assert all(bound >= upper[orbit] for orbit, bound in found.items())
    assert sizes[-1] > 0


def forget_ranks() -> None:
    """Ranks at orbits are computed once for each process, which then looks at the clock less."""
    tangents._ranks_of_action.cache_clear()
    tangents._ranks_of_differential.cache_clear()


def orbit_tangents_anew(model: SingleLayerAttention) -> dict[Orbit, OrbitTangents]:
    """The tangent spaces at orbits, without ranks that were computed before."""
    forget_ranks()
    return orbit_tangents(model)


@pytest.mark.usefixtures("no_equations")
def test_tangent_vectors_are_those_of_the_first_orbits() -> None:
    """The bounds of fewer orbits may be weaker, and are true; the dense orbit is there in
    any case.
    """
    lower, sizes = orbit_tangents(MODEL), []
    for found in ended(lambda: orbit_tangents_anew(MODEL), 30):
        sizes.append(len(found))
        assert list(found) == list(dense_first(MODEL))[: len(found)]
        assert all(
            tangent.known.least <= lower[orbit].known.least for orbit, tangent in found.items()
        )
    assert sizes == sorted(sizes)
    assert 1 in sizes
    assert len(set(sizes)) > 3


@pytest.mark.usefixtures("no_equations")
def test_orbits_without_time_are_undecided() -> None:
    decided = {status.orbit: status.singular for status in by_bounds(MODEL).statuses}
    left = set()
    for found in ended(lambda: by_bounds(MODEL), 30):
        assert all(status.singular in (None, decided[status.orbit]) for status in found.statuses)
        assert found.unfinished
        left.add(len(found.statuses))
    assert 0 <= min(left) < max(left) < len(orbits(MODEL))


@pytest.mark.usefixtures("no_equations")
def test_undecided_orbits() -> None:
    locus = singular_locus(SingleLayerAttention(4, 2, 2), engine=Listening(), method="orbits")
    assert (locus.components, locus.variety_dimension, locus.engine_version) == (None, 19, "")
    assert {status.singular for status in locus.orbits} == {True, False, None}
    assert "undecided: the orbit (2, 1, 0)" in locus.unfinished


class Asked(Exception):
    """Macaulay2 was asked something."""


class Listening:
    """An engine that only remembers the scripts."""

    version = "none"

    def __init__(self) -> None:
        self.scripts: list[Script] = []

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        self.scripts.append(script)
        raise Asked


class Late(Listening):
    """An engine that never answers."""

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        self.scripts.append(script)
        raise clock().late("Macaulay2")


LINE = {"x": symbols("s"), "y": symbols("s") ** 2 + symbols("t")}


def test_the_closure_of_an_image_comes_before_its_base_locus() -> None:
    """Both have a limit of their own, and what one of them found is shown when the other one is
    late.
    """
    engine = Late()
    polynomial_map = PolynomialMap.from_expressions(["s", "t"], LINE)
    found = image(polynomial_map, engine=engine, max_degree=2, timeout=HOUR)
    assert [script.name for script in engine.scripts] == ["base_locus"]
    assert found.closure.generator_degrees == {}
    assert found.unfinished.startswith(
        "base locus: Macaulay2 did not finish within the limit of 3600 seconds"
    )
    both = image(polynomial_map, engine=engine, strategy="elimination", timeout=HOUR)
    assert [script.name for script in engine.scripts[1:]] == ["closure", "base_locus"]
    assert both.unfinished.startswith(
        "Macaulay2 did not finish within its part of the limit of 3600 seconds"
    )


def test_elimination_among_all_methods_ends_without_a_limit_too() -> None:
    """What other methods found is shown, and nothing is said to agree that did not finish."""
    polynomial_map = PolynomialMap.from_expressions(["s", "t"], LINE)
    found = dimension(polynomial_map, engine=Late(), method="all")
    assert (found.dimension, found.status) == (2, "proved")
    assert found.unfinished.startswith(f"Macaulay2 did not finish within {PATIENCE:g} seconds")
    assert "the methods that finished agree; not finished: elimination" in found.to_text()
    given = dimension(polynomial_map, engine=Late(), method="all", timeout=HOUR)
    assert given.unfinished.startswith("Macaulay2 did not finish within the limit of 3600 seconds")


def test_wrong_usage_is_found_before_anything_is_computed() -> None:
    engine = Listening()
    with pytest.raises(InvalidCaseError, match="max_degree"):
        image(PolynomialMap.from_expressions(["s", "t"], LINE), engine=engine, max_degree=0)
    with pytest.raises(InvalidCaseError, match="Argument 'engine' must be a session"):
        closure(SingleLayerAttention(12, 12), engine=5, timeout=HOUR)  # type: ignore[arg-type]
    assert engine.scripts == []


class Endless(Listening):
    """An engine that takes all the time there is."""

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        for _ in check_deadline_in(repeat(None)):
            pass
        raise AssertionError("it ends by the limit")


@pytest.mark.usefixtures("no_equations")
def test_what_linear_algebra_tells_is_shown_when_macaulay2_takes_all_the_time() -> None:
    """Nothing that is done after the deadline looks at the clock again."""
    model = SingleLayerAttention(4, 4)
    with limited(1e5, now=Looks()):
        found = cross_check(model, engine=Endless())
    decided = {v.name: v.decision for v in found.verdicts if v.decision is not Decision.UNDECIDED}
    assert decided == dict.fromkeys(by_linear_algebra(model), Decision.CONFIRMED)
    assert found.unfinished.endswith("(0 of 26 orbits were done)")


@pytest.mark.usefixtures("no_equations")
def test_macaulay2_is_asked_about_the_orbits_that_linear_algebra_knows() -> None:
    """It has half of the time, and what it found in that is not too much to be written."""
    model = SingleLayerAttention(5, 5)
    number = looks_of(lambda: orbit_tangents_anew(model))
    engine = Listening()
    forget_ranks()
    with limited(number, now=Looks()), pytest.raises(Asked):
        observe(model, engine=engine)
    (script,) = engine.scripts
    asked = [orbit for orbit in orbits(model) if f'emitFibre("{orbit}"' in script.body]
    assert generic_orbit(model) in asked
    assert 1 < len(asked) < len(orbits(model))


@pytest.mark.parametrize("case", [(3, 2), (4, 4, 2), (2, 5), (5, 2, 7), (1, 1)])
def test_orbits_are_counted(case: tuple[int, ...]) -> None:
    assert orbit_count(SingleLayerAttention(*case)) == len(orbits(SingleLayerAttention(*case)))


@pytest.mark.parametrize("d", [60, 400, 10**6])
def test_what_is_hopeless_is_refused_at_once(d: int) -> None:
    """In few looks at the clock, and before Macaulay2 is asked anything."""
    model = SingleLayerAttention(d, d) if d < 1000 else SingleLayerAttention(d, 1)
    with limited(20, now=Looks()):
        if d < 1000:
            for refused in (
                lambda: observe(model, engine=Listening()),
                lambda: fibres_script(model),
            ):
                with pytest.raises(
                    TooLargeError, match=r"orbits, of matrices with .* too many to look at"
                ):
                    refused()
        for computation in ("closure", "singular-locus"):
            with pytest.raises(TooLargeError, match="coordinates; at most 20000"):
                standalone(computation, model)


@pytest.mark.parametrize("case", [(2, 1), (3, 2, 1), (2, 2, 2, 1), (2, 2, 1, 3)])
@pytest.mark.parametrize("coordinates", ["reduced", "full"])
def test_names_of_coordinates_need_no_map(case: tuple[int, ...], coordinates: Any) -> None:
    model = SingleLayerAttention(*case)
    if model.t > 1 or coordinates == "full":
        assert (
            as_model(model, coordinates).coordinate_names()
            == model.parametrization(coordinates).coordinates
        )


PACKAGE = str(Path(sys.modules["m2bridge"].__file__ or "").parent)


class Steps:
    """A clock that counts how many lines of m2bridge run between two looks."""

    def __init__(self) -> None:
        self.lines = self.total = self.most = 0

    def __call__(self) -> float:
        self.most = max(self.most, self.lines)
        self.total += self.lines
        self.lines = 0
        return 0.0

    def trace(self, frame: FrameType, event: str, argument: object) -> Any:
        """For sys.settrace."""
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        self.lines += event == "line"
        return self.trace


def _chart() -> None:
    A = Matrix(5, 5, lambda i, j: Rational((3 * i + 5 * j) % 7 - 3))
    Chart.of(quadratic_forms(SingleLayerAttention(5, 5), dict(function_of(A, A))))


def _large_polynomial() -> object:
    s, t = symbols("s t")
    return dimension(
        PolynomialMap.from_expressions([s, t], {"x": ((1 + s + t) ** 40).expand(), "y": s})
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("computation", "most"),
    [
        (lambda: closure(SingleLayerAttention(3, 1, 2), max_degree=4), 3500),
        (lambda: closure(SingleLayerAttention(3, 1), max_degree=2, coordinates="full"), 2000),
        (lambda: orbit_tangents(SingleLayerAttention(3, 3)), 3500),
        (lambda: by_bounds(SingleLayerAttention(3, 1, 2)), 3500),
        (lambda: standalone("singular-locus", SingleLayerAttention(3, 3)), 6000),
        (_chart, 1500),
        (_large_polynomial, 7000),
    ],
    ids=[
        "closure",
        "full coordinates",
        "tangents",
        "bounds",
        "script",
        "chart",
        "large polynomial",
    ],
)
def test_every_loop_looks_at_the_clock(computation: Callable[[], object], most: int) -> None:
    """Few lines run between two looks, whatever is computed; FLINT and SymPy are priced, not
    counted.
    """
    steps = Steps()
    before = sys.gettrace()
    with limited(1.0, now=steps):
        sys.settrace(steps.trace)
        try:
            computation()
        finally:
            sys.settrace(before)
        steps()
    assert steps.most < most
    assert steps.total > 5 * most


def test_imports_look_at_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each module; a library that swallows what is raised there does not hide it for
    long.
    """
    monkeypatch.syspath_prepend(tmp_path)
    for number in range(9):
        swallowed = f"try:\n    import slow_{number + 1}\nexcept ImportError:\n    pass\n"
        (tmp_path / f"slow_{number}.py").write_text(swallowed)
    before = list(sys.meta_path)
    with limited(4, now=Looks()), pytest.raises(TimeLimitError, match="loading"), importing():
        import_module("slow_0")
    assert sys.meta_path == before
    assert not any(name.startswith("slow_") for name in sys.modules)


# One deadline for a whole computation, on clocks that advance by looks: no verdict depends on the
# machine.


def test_what_was_done_is_said_at_the_limit() -> None:
    with limited(3, now=Looks()):
        found, late = performed_within_limit((name, name.upper) for name in "abcdef")
    assert found == ("A", "B", "C")
    assert late.endswith("(decided so far: a, b, c)")
    assert performed_within_limit((name, name.upper) for name in "ab") == (("A", "B"), "")
    with (
        limited(0.5, now=Looks()),
        pytest.raises(TimeLimitError, match=r"\(decided so far: nothing\)$"),
    ):
        performed_within_limit((name, name.upper) for name in "abcdef")


def test_nothing_ends_without_a_limit() -> None:
    with limited(None) as running:
        assert running.remaining is None
        assert list(check_deadline_in(range(3))) == [0, 1, 2]
        check(1e9)


def test_the_deadline_is_looked_at_before_each_item() -> None:
    seen: list[int] = []
    with limited(4, now=Looks()), pytest.raises(TimeLimitError) as reached:
        seen.extend(check_deadline_in(range(100)))
    assert seen == [0, 1, 2, 3]
    assert (
        str(reached.value)
        == "the computation did not finish within the limit of 4 seconds; raise timeout="
    )


def test_what_takes_longer_than_is_left_is_not_begun() -> None:
    with limited(100, now=Looks()):
        check(50)
        with pytest.raises(
            TimeLimitError, match=r"about 1000 seconds, more than is left of the limit of 100 seco"
        ):
            check(1000)


@pytest.mark.parametrize(("outer", "inner"), [(5, 50), (50, 5), (5, None)])
def test_limits_nest_and_the_earliest_counts(outer: float, inner: float | None) -> None:
    """A message names the limit that ends the computation, as it was given."""
    with limited(outer, now=Looks()) as around:
        with (
            limited(inner) as running,
            pytest.raises(TimeLimitError, match=r"the limit of 5 seconds"),
        ):
            list(check_deadline_in(range(1000)))
        assert running.deadline <= around.deadline
        assert clock() is around
    assert clock().remaining is None


def test_a_part_of_the_time_leaves_the_rest() -> None:
    with limited(100, now=Looks()):
        with (
            share(0.5),
            pytest.raises(TimeLimitError, match="within its part of the limit of 100 seconds"),
        ):
            list(check_deadline_in(range(1000)))
        assert len(list(check_deadline_in(range(20)))) == 20
    with share(1.0, otherwise=60) as running:
        assert running.limit == "60 seconds"
    with share(0.5) as running:
        assert running.remaining is None


def test_overtime_is_short() -> None:
    looks = Looks()
    with limited(3, now=looks) as running:
        with suppress(TimeLimitError):
            list(check_deadline_in(range(10)))
        with overtime(running, 6):
            assert len(list(check_deadline_in(range(4)))) == 4
            with pytest.raises(TimeLimitError):
                list(check_deadline_in(range(10)))


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan"), float("inf"), "5", True])
def test_what_is_no_limit_is_refused(timeout: object) -> None:
    with pytest.raises(InvalidCaseError, match="timeout"), limited(timeout):  # type: ignore[arg-type]
        pass


@pytest.mark.parametrize(
    "memory", [True, "2 gigabytes", "100M", "9" * 40, float("nan"), float("inf"), 2**20]
)
def test_what_is_no_limit_on_memory_is_refused(memory: Any) -> None:
    with pytest.raises(InvalidCaseError, match="Argument 'memory' must be"):
        Limits(memory=memory)


def test_a_limit_on_memory_may_be_given_as_a_float() -> None:
    limits = Limits(memory=2e9)
    assert limits == Limits(memory=2_000_000_000)
    assert "1953125" in launcher("/dev/tty", limits.memory) or not limits_memory()


@pytest.mark.parametrize(
    ("text", "memory"),
    [("2G", 2 * 1024**3), ("1.5GiB", 1536 * 1024**2), ("700m", 700 * 1024**2), ("3000000k", None)],
)
def test_a_limit_on_memory_may_be_given_as_text(text: str, memory: int | None) -> None:
    limits = Limits(60, text)
    assert limits == Limits(timeout=60, memory=memory or 3_000_000 * 1024)
    assert replace(limits, timeout=1).memory == limits.memory


def test_another_thread_begins_without_a_limit() -> None:
    found: list[float | None] = []
    with limited(5):
        thread = threading.Thread(target=lambda: found.append(clock().remaining))
        thread.start()
        thread.join()
    assert found == [None]


def _for_ever() -> Iterator[None]:
    while True:
        yield


def _without_looking(running: Clock) -> None:
    with alarm(running, 0.01):
        for _ in _for_ever():
            pass


def test_the_alarm_ends_a_loop_that_does_not_look() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    with (
        limited(0.01) as running,
        pytest.raises(TimeLimitError, match=r"the limit of 0\.01 seconds"),
    ):
        _without_looking(running)
    assert signal.getsignal(signal.SIGALRM) == handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_alarm_is_for_the_main_thread() -> None:
    """Elsewhere Python has no signals; the clock is looked at there, too."""
    reached: list[str] = []

    def work() -> None:
        with limited(5, now=Looks()) as running, alarm(running, 0.0):
            try:
                for _ in check_deadline_in(_for_ever()):
                    pass
            except TimeLimitError as limit:
                reached.append(str(limit))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "the limit of 5 seconds" in reached[0]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (1, "1 second"),
        (0.25, "0.25 seconds"),
        (12345678, "12345678 seconds"),
        (1e5, "100000 seconds"),
    ],
)
def test_limits_are_said_as_they_were_given(seconds: float, said: str) -> None:
    with limited(seconds, now=lambda: 0.0) as clock:
        assert (
            str(clock.late("it")) == f"it did not finish within the limit of {said}; raise timeout="
        )


@pytest.mark.parametrize("left", [5.0, 1.0, 0.003, -2.0])
def test_a_run_that_is_given_what_is_left_names_the_limit_of_the_user(left: float) -> None:
    """Not the seconds that were left when it began, nor the least that a run is given."""
    now = 10.0
    with limited(7, now=lambda: now) as running:
        now += 7 - left
        with limited(running.remaining) as run:
            assert run.limit == "the limit of 7 seconds"
            assert run.remaining == pytest.approx(max(left, 0.01))


# The Macaulay2 of a computation: chosen by ``engine=``, by a ``with`` block, or that of the process.


@computation
def inner(number: int, **options: Unpack[RunOptions]) -> tuple[int, Engine | None, str]:
    """What a computation sees of its context."""
    return number, chosen_engine(), clock().limit


@computation
def outer(**options: Unpack[RunOptions]) -> tuple[int, Engine | None, str]:
    """A computation that hands nothing on."""
    return inner(3)


def test_a_choice_holds_for_all_that_is_called(tmp_path: Path) -> None:
    first, second = RecordedEngine(tmp_path), RecordedEngine(tmp_path)
    assert outer() == (3, None, "")
    assert outer(engine=first, timeout=7) == (3, first, "the limit of 7 seconds")
    with using(first):
        assert outer() == (3, first, "")
        assert outer(engine=second)[1] is second
        assert current() is first
        with ThreadPoolExecutor(1) as pool:  # a choice is that of its thread
            assert pool.submit(chosen_engine).result() is None
    assert chosen_engine() is None


def test_a_with_block_chooses_its_session() -> None:
    with Macaulay2() as first:
        with Macaulay2() as second:
            assert outer()[1] is second
        assert current() is first
    assert chosen_engine() is None
    assert second.why_closed
    assert first.why_closed


def test_what_is_no_engine_and_unknown_keywords_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidCaseError, match="must be a session such as Macaulay2"):
        outer(engine="M2")  # type: ignore[arg-type]
    with pytest.raises(InvalidCaseError, match="positive, finite number of seconds"):
        outer(timeout=-1)
    wrong: Any = {"feild": 3}
    with pytest.raises(TypeError, match=r"inner\(\) got an unexpected keyword argument 'feild'"):
        inner(1, **wrong)
    with using(RecordedEngine(tmp_path)), pytest.raises(EngineNotFoundError):
        m2bridge.ideal("x^2 - y").degree()


@pytest.mark.parametrize(
    "function", [m2bridge.closure, m2bridge.singular_locus, m2bridge.certify, Ideal.radical]
)
def test_signatures_name_the_keywords(function: Any) -> None:
    parameters = inspect.signature(function).parameters
    for name in ("engine", "timeout"):
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default is None
    assert "options" not in parameters
