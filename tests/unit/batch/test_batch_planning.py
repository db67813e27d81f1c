"""Cases, plans, outcomes and claims, without Macaulay2."""

import inspect
import io
import json
import math
import multiprocessing
import os
import pickle
import shutil
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from operator import add
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from m2bridge import DeepAttention, PolynomialNetwork, SingleLayerAttention as Case
from m2bridge.batch.cases import grid, ordered, read_cases
from m2bridge.batch.executors import Serial, Settings
from m2bridge.batch.items import ItemWork, Job, Outcome, Performance
from m2bridge.batch.plan import Lines, plan
from m2bridge.batch.pool import Batch, Pool
from m2bridge.batch.run_many import _source, file_jobs
from m2bridge.batch.store import (
    Store,
    Task,
    TaskResult,
    Unanswered,
    case_lock,
    kind_of,
    reason_of,
    tasks,
)
from m2bridge.certificates.form import Certificate
from m2bridge.errors import (
    BatchError,
    ContradictionError,
    EngineDiedError,
    InvalidCaseError,
    MemoryLimitError,
    MethodUnavailableError,
    NotApplicableError,
    ScriptError,
    TimeLimitError,
    TooLargeError,
)
from m2bridge.families.base import lists, ranges
from m2bridge.families.registry import family
from m2bridge.limits import Limits, alarm, limited
from tests.events import PATIENCE

ATTENTION = family("attention")
CASE = Case(2, 1)


def certificate(
    case: Case = CASE, question: str = "3.2", verdict: str = "CONFIRMED"
) -> Certificate:
    verdicts = [{"verdict": verdict}]
    return Certificate(
        3, "attention", case.to_json(), case.key, question, {"verdicts": verdicts}, {}, [], "QQ",
        {"text": "", "digest": ""}, {}, {},
    ).sealed()  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("3", (3,)),
        ("1..4", (1, 2, 3, 4)),
        ("5,1,3", (1, 3, 5)),
        ("1..3,2..4, 9", (1, 2, 3, 4, 9)),
        ("2 .. 3", (2, 3)),
    ],
)
def test_ranges(text: str, found: tuple[int, ...]) -> None:
    assert ranges("d", text) == found


@pytest.mark.parametrize(
    "text",
    [
        "1..99999999999999",
        "1234567890",
        "",
        "0",
        "-1",
        "1..",
        "4..1",
        "0..2",
        "1...3",
        "1,,2",
        "x",
        "1.5",
        "1..999999999",
        "²",
        "٣x",
    ],
)
def test_bad_ranges_name_the_option(text: str) -> None:
    with pytest.raises(InvalidCaseError, match=r"^Argument 'd_out': "):
        ranges("d_out", text)


def test_a_number_too_large_is_not_called_no_range() -> None:
    with pytest.raises(InvalidCaseError, match="too large: numbers have at most 9 digits"):
        ranges("d", "1..99999999999999")


def test_grid_keeps_a_at_most_d() -> None:
    four = {"d": "1..4", "d_out": "1..4", "a": "1..4"}
    assert len(grid(ATTENTION, four)) == 40
    assert len(grid(ATTENTION, four, every=True)) == 64
    assert grid(ATTENTION, {"d": "3", "d_out": "1"}) == [Case(3, 1, 3, 2)]


def test_a_grid_of_another_family() -> None:
    found = grid(family("polynomial-network"), {"widths": "1..2,3,1", "degree": "2..3"})
    assert found == [PolynomialNetwork([n, 3, 1], r) for n in (1, 2) for r in (2, 3)]
    with pytest.raises(InvalidCaseError, match=r"^Argument 'widths' is missing"):
        grid(family("polynomial-network"), {})


def test_lists_of_ranges() -> None:
    assert list(lists("widths", "1..2,3")) == [(1, 3), (2, 3)]
    for bad in ("1..2,", "2,x", "0,1", "1..99999,1..99999"):
        with pytest.raises(InvalidCaseError, match=r"^Argument 'widths': "):
            lists("widths", bad)


def test_a_grid_that_grows_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry of a file can stand for many cases: it is refused, and never cut off."""
    deep = {"widths": "2,2,2", "a": "1..2"}
    assert len(grid(family("deep-attention"), deep)) == 4
    monkeypatch.setattr("m2bridge.batch.cases.MAX_BATCH_CASES", 3)
    with pytest.raises(InvalidCaseError, match="more than 3 cases"):
        grid(family("deep-attention"), deep)


def test_the_entries_of_a_file_count_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cases.csv"
    file.write_text("d,d_out\n1..2,1\n3..4,1\n", encoding="utf-8")
    assert len(list(read_cases(file, ATTENTION))) == 4
    monkeypatch.setattr("m2bridge.batch.cases.MAX_BATCH_CASES", 3)
    with pytest.raises(InvalidCaseError, match=r"line 3: .*more than 3 cases"):
        list(read_cases(file, ATTENTION))


def test_a_grid_too_large_is_refused() -> None:
    with pytest.raises(InvalidCaseError, match="2250000 cases"):
        grid(ATTENTION, {"d": "1..1500", "d_out": "1..1500"})
    with pytest.raises(InvalidCaseError, match=r"at most 100000 .* may have the same folder"):
        grid(ATTENTION, {"d": "1..1000000", "d_out": "1"})


def test_order_is_by_effort_and_without_duplicates() -> None:
    cases = ordered([Case(4, 4), Case(1, 1), Case(3, 2), Case(1, 1), Case(1, 3)])
    assert cases == (Case(1, 1), Case(1, 3), Case(3, 2), Case(4, 4))


class Nothing(Batch[Case, None]):
    """A batch without work."""

    module = "m2bridge.batch.pool"


def test_workers_take_cases_in_their_order() -> None:
    """With two workers the case (3, 3, 3), the last of nine, was taken second."""
    taken: list[Case] = []
    cases = ordered(grid(ATTENTION, {"d": "1..3", "d_out": "1..3"}))
    pool: Pool[Case, None] = Pool(Nothing(), workers=2)

    def results(groups: Any, started: Any) -> Any:
        for group in groups:
            taken.extend(group)
            yield from ((case, None) for case in group)

    pool.results = results  # type: ignore[method-assign]
    list(pool.run(cases, lambda case: None))
    assert tuple(taken) == cases
    assert taken[-1] == Case(3, 3)


def test_files_of_cases(tmp_path: Path) -> None:
    toml = tmp_path / "c.toml"
    toml.write_text(
        '[[case]]\nd = 2\nd_out = [1, 3]\n[[case]]\nd = "1..2"\nd_out = 1\na = "1..2"\nt = 3\n'
    )
    table = tmp_path / "c.csv"
    table.write_text('d,d_out,a,t\n2,"1,3",,\n\n1..2,1,1..2,3\n')
    expected = [Case(2, 1), Case(2, 3), Case(1, 1, 1, 3), Case(2, 1, 1, 3), Case(2, 1, 2, 3)]
    assert list(read_cases(toml, ATTENTION)) == expected
    assert list(read_cases(table, ATTENTION)) == expected


def test_options_without_a_value_in_files_of_cases(tmp_path: Path) -> None:
    """Booleans of TOML, alone and in lists, and the same words as text."""
    toml, table = tmp_path / "c.toml", tmp_path / "c.csv"
    one = '[[case]]\nwidths = "2,2"\na = 1\nskip = '
    toml.write_text(
        f'{one}true\n{one}false\n{one}[true, false]\n{one}"true"\n{one}["false", true]\n'
    )
    table.write_text('widths,a,skip\n"2,2",1,true\n')
    deep = family("deep-attention")
    skips = [case.skip for case in read_cases(toml, deep)]
    assert skips == [True, False, True, False, True, False, True]
    assert [case.skip for case in read_cases(table, deep)] == [True]
    for wrong in ("1", "[]", "[1]", "1.5", "2020-01-01", "{x = 1}", '"yes"', "[[true]]"):
        toml.write_text(one + wrong)
        with pytest.raises(InvalidCaseError, match=r"c\.toml, case 1: .*true") as refused:
            list(read_cases(toml, deep))
        assert "skip" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("c.toml", "[[case]]\nd = 2\n", "case 1: 'd_out' is missing"),
        (
            "c.toml",
            "[[case]]\nd = 2\nd_out = 1\nq = 3\n",
            "case 1: 'q' is not an option of the family attention",
        ),
        ("c.toml", "[[case]]\nd = 2.5\nd_out = 1\n", "case 1: 'd' must be a number"),
        ("c.toml", "[[case]]\nd = true\nd_out = 1\n", "case 1: 'd' must be a number"),
        ("c.toml", "[[case]]\nd = []\nd_out = 1\n", "case 1: 'd' must be a number"),
        ("c.toml", "[[case]]\nd = 0\nd_out = 1\n", "case 1: 'd': '0' is not a range"),
        ("c.toml", "[[case]]\nd = 2\nd_out = 1\na = 3\n", "case 1: 'a': no case with a ≤ d"),
        ("c.toml", "d = 2\n", "consists of tables"),
        ("c.toml", "case = 2\n", "consists of tables"),
        ("c.toml", "[[case", "not TOML"),
        ("c.toml", "", "consists of tables"),
        ("c.csv", "", "must name the columns"),
        ("c.csv", "d,d\n1,1\n", "each once"),
        ("c.csv", "d,d_out,a,t\n", "there are no cases"),
        ("c.csv", 'd,d_out\n1,1\n2,"1..3\n', "line 3: not CSV"),
        ("c.csv", 'd,"d_out\n1,1\n', "line 2: not CSV"),
        ("c.csv", 'd,d_out\n1,"1"x\n', "line 2: not CSV"),
        ("c.toml", "case = []\n", "there are no cases"),
        ("c.csv", "d,d_out\n1\n", "line 2: 1 cells under 2 names"),
        ("c.csv", "d,d_out\n1,x\n", "line 2: 'd_out': 'x' is not a range"),
        ("c.csv", "d,e\n1,1\n", "line 2: 'e' is not an option"),
        ("c.json", "{}", "neither a .toml nor a .csv"),
    ],
)
def test_bad_files_of_cases_are_refused_with_their_place(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InvalidCaseError) as refused:
        list(read_cases(path, ATTENTION))
    assert refused.value.option == "cases"
    assert said in refused.value.message
    assert "\n" not in refused.value.message


def test_a_file_with_cases_of_several_families(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(
        '[[case]]\nd = 2\nd_out = 1\n[[case]]\nfamily = "polynomial-network"\nwidths ='
        ' "2,1..2"\ndegree = 3\n'
    )
    found = list(read_cases(path, ATTENTION))
    assert found == [Case(2, 1), PolynomialNetwork([2, 1], 3), PolynomialNetwork([2, 2], 3)]
    assert [task.name for task in tasks(ordered(found))] == [
        "d2-dout1-a2-t2",
        "polynomial-network-2-1-r3",
        "polynomial-network-2-2-r3",
    ]
    path.write_text('[[case]]\nfamily = "unheard-of"\n')
    with pytest.raises(InvalidCaseError, match="case 1: 'family': there is no family 'unheard-of'"):
        list(read_cases(path, ATTENTION))


def test_a_missing_file_of_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidCaseError, match=r"cannot be read"):
        list(read_cases(tmp_path / "none.toml", ATTENTION))


def test_an_item_that_is_a_device_is_not_read(tmp_path: Path) -> None:
    """One such as /dev/zero never comes to an end; /dev/null would, and is refused by the same
    words.
    """
    work: Any = SimpleNamespace(code="identity", packages=(), folder=None)
    (tmp_path / "x.txt").write_text("1")
    assert [job.name for job in file_jobs(work, [tmp_path / "x.txt"])] == ["x"]
    os.symlink("/dev/null", tmp_path / "y.txt")
    with pytest.raises(InvalidCaseError, match=r"y.txt' cannot be read: neither a file nor a pipe"):
        file_jobs(work, [tmp_path / "y.txt"])


def test_closures_are_asked_for_small_cases_only() -> None:
    small, large = tasks([Case(2, 2), Case(4, 4)])
    assert small.groups[-1] == ("closure",)
    assert "closure" not in large.questions
    assert "equations" not in (*small.questions, *large.questions)
    small, middle, large = tasks([Case(2, 2), Case(2, 4), Case(4, 4)], "reachable")
    # what may not end comes last
    assert small.questions[-2:] == middle.questions[-2:] == ("equations", "closure")
    assert large.questions[-1] == "equations"
    assert "equations" not in tasks([Case(2, 2, t=1)], "reachable")[0].questions
    assert tasks([Case(4, 4)], "closure,3.2,closure")[0].questions == ("closure", "3.2")
    every = tasks([Case(4, 4)], "all")[0].questions
    assert tasks([Case(4, 4)], "all,3.4")[0].questions == every
    assert tasks([Case(4, 4)], "closure,all")[0].questions == ("closure", *every)
    with pytest.raises(InvalidCaseError, match=r"^Argument 'check': unknown question '9\.9'"):
        tasks([CASE], "9.9")


def put(store: Store, kind_error: Exception, question: str = "3.3") -> None:
    store.put_outcomes(Task(CASE, (question,)), kind_error, None, None, "1.26")


def test_the_folder_of_a_store_may_be_text(tmp_path: Path) -> None:
    folder: Any = str(tmp_path)
    assert Store(folder).folder == tmp_path


def test_certificates_and_outcomes_are_done(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put([certificate(verdict="REFUTED")])
    put(store, TimeLimitError("late"))
    found = plan([Task(CASE, ("3.2", "3.3", "3.4")), Task(Case(1, 1), ("3.2",))], store)
    assert found.left == (Task(CASE, ("3.4",)), Task(Case(1, 1), ("3.2",)))
    assert found.answers == {"REFUTED": 1, "timed-out": 1}
    assert (found.done, len(found.tasks)) == (0, 2)


def test_retry_takes_outcomes_of_these_kinds_from_before_the_batch(tmp_path: Path) -> None:
    put(Store(tmp_path), TimeLimitError("late"))
    put(Store(tmp_path), ValueError("bad"), "3.4")
    task = Task(CASE, ("3.3", "3.4"))
    os.utime(tmp_path / "d2-dout1-a2-t2-3.3.outcome.json", (1, 1))
    again = Store(tmp_path, retry=frozenset({"timed-out"}))
    assert plan([task], again).left == (Task(CASE, ("3.3",)),)
    put(again, TimeLimitError("late again"))
    assert plan([task], replace(again, since=again.since - 1)).left == ()


def test_a_certificate_takes_the_place_of_an_outcome(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, EngineDiedError("died"), "3.2")
    store.put([certificate()])
    put(store, EngineDiedError("a slower batch"), "3.2")
    assert os.listdir(tmp_path) == ["d2-dout1-a2-t2-3.2.json"]


def test_what_is_not_whole_is_not_done(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put([certificate()])
    path = tmp_path / "d2-dout1-a2-t2-3.2.json"
    path.write_bytes(path.read_bytes()[:40])
    (tmp_path / "d2-dout1-a2-t2-3.3.outcome.json").write_text("")
    task = Task(CASE, ("3.2", "3.3"))
    assert plan([task], store).left == (task,)


@pytest.mark.parametrize("changes", [{"case": Case(1, 1).to_json()}, {"family": "deep-attention"}])
def test_a_file_with_a_right_name_and_another_case_or_family_is_not_done(
    changes: dict[str, object], tmp_path: Path
) -> None:
    store = Store(tmp_path)
    task = Task(CASE, ("3.2",))
    store.put([certificate()])
    assert plan([task], store).left == ()
    store.put([replace(certificate(), **changes).sealed()])  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == ["d2-dout1-a2-t2-3.2.json"]
    assert plan([task], store).left == (task,)


def test_a_file_about_another_case_or_question_is_not_done(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put([certificate()])
    put(store, TimeLimitError("late"))
    for old, new in [
        ("d2-dout1-a2-t2-3.2.json", "d2-dout2-a2-t2-3.2.json"),
        ("d2-dout1-a2-t2-3.2.json", "d2-dout2-a2-t2-3.4.json"),
        ("d2-dout1-a2-t2-3.3.outcome.json", "d2-dout2-a2-t2-3.3.outcome.json"),
        ("d2-dout1-a2-t2-3.2.json", "d2-dout1-a2-t2-3.3.json"),
    ]:
        shutil.copy(tmp_path / old, tmp_path / new)
    os.mkfifo(tmp_path / "d2-dout2-a2-t2-A.2.json")
    task = Task(Case(2, 2), ("3.2", "3.3", "3.4", "A.2"))
    found = plan([Task(CASE, ("3.2", "3.3")), task], store)
    assert (found.left, found.answers) == ((task,), {"CONFIRMED": 1, "timed-out": 1})
    assert found.unusable == (
        "d2-dout2-a2-t2-3.2.json",
        "d2-dout2-a2-t2-3.4.json",
        "d2-dout2-a2-t2-A.2.json",
    )
    store.put([certificate(Case(2, 2))])
    assert store.answers(task) == {"3.2": ("CONFIRMED",)}


def test_planning_sweeps_what_killed_batches_left(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, EngineDiedError("died"), "3.2")
    text = (tmp_path / "d2-dout1-a2-t2-3.2.outcome.json").read_text()
    store.put([certificate()])
    (tmp_path / "d2-dout1-a2-t2-3.2.outcome.json").write_text(text)
    old, new, others = ".the_old1.partial", ".the_new1.partial", ".of-others.partial"
    for name in (old, new, others):
        (tmp_path / name).touch()
    for name in (old, others):
        os.utime(tmp_path / name, (0, 0))
    plan([], store)
    assert sorted(os.listdir(tmp_path)) == [others, new, "d2-dout1-a2-t2-3.2.json"]


def test_planning_removes_no_links_and_no_folders(tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").touch()
    os.utime(elsewhere, (0, 0))
    (folder := tmp_path / "results").mkdir()
    store = Store(folder)
    store.put([certificate()])
    (folder / "d2-dout1-a2-t2-3.2.outcome.json").mkdir()
    (folder / ".the_link.partial").symlink_to(elsewhere)
    (folder / ".a_folder.partial").mkdir()
    os.utime(folder / ".a_folder.partial", (0, 0))
    before = sorted(os.listdir(folder))
    plan([], store)
    assert sorted(os.listdir(folder)) == before
    assert elsewhere.exists()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeLimitError("x"), "timed-out"),
        (MemoryLimitError("x"), "out-of-memory"),
        (MemoryError(), "out-of-memory"),
        (EngineDiedError("x"), "died"),
        (ScriptError("x"), "failed"),
        (ContradictionError("x"), "failed"),
        (ValueError("x"), "failed"),
        (InvalidCaseError("d", "x"), "refused"),
        (MethodUnavailableError("x"), "refused"),
        (TooLargeError("x"), "refused"),
        (NotApplicableError("x"), "not-applicable"),
    ],
)
def test_kinds(error: Exception, kind: str, tmp_path: Path) -> None:
    assert kind_of(error) == kind
    put(Store(tmp_path), error)
    (path,) = tmp_path.iterdir()
    stored = Unanswered(**json.loads(path.read_text()))
    assert (stored.kind, stored.question, stored.case) == (kind, "3.3", CASE.to_json())
    assert stored.reason == reason_of(error)
    assert bool(stored.details) == (kind == "failed")


def test_a_claim_excludes_others_and_leaves_nothing(tmp_path: Path) -> None:
    with (
        case_lock(tmp_path, "x") as first,
        case_lock(tmp_path, "x") as second,
        case_lock(tmp_path, "y") as other,
    ):
        assert (first, second, other) == (True, False, True)
    with case_lock(tmp_path, "x") as again:
        assert again
    assert list((tmp_path / ".claims").iterdir()) == []


@pytest.mark.parametrize(
    ("item", "others"),
    [
        ("a.json", ["b.toml"]),
        # the others cannot be called a and a.outcome, so that their names have the folder too
        ("x-a.toml.outcome.json", ["a.toml", "a.outcome.json"]),
    ],
)
def test_no_outcome_takes_the_place_of_an_item(
    item: str, others: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    items = Path("x")
    items.mkdir()
    paths = [items / name for name in (item, *others)]
    for path in paths:
        path.touch()
    link = Path("link")
    link.symlink_to(items)
    for folder in (items, link):
        with pytest.raises(InvalidCaseError, match=f"^Argument 'out': .*'{item}'.* another folder"):
            file_jobs(ItemWork("degree item", folder=folder), paths)
    for other_folder in (tmp_path / "results", None):
        assert len(file_jobs(ItemWork("degree item", folder=other_folder), paths)) == len(paths)


def test_outcomes_with_and_without_a_value_have_files_of_their_own(tmp_path: Path) -> None:
    """The file a.outcome.json would be that of a if it fails, and of a.outcome if it does not."""
    paths = [tmp_path / name for name in ("a.toml", "a.outcome.toml")]
    work = ItemWork("", function=pickle.dumps(len), folder=tmp_path / "results")
    work.make_folder()
    for path in paths:
        path.touch()
    first, second = file_jobs(work, paths)
    failed = Outcome(first.name, "failed", reason="it fails")
    computed = Outcome(second.name, "computed", value=1)
    for job, outcome in ((first, failed), (second, computed)):
        work.store(job, outcome)
    assert (work.stored(first), work.stored(second)) == (failed, computed)


def test_an_outcome_removes_only_an_outcome_of_the_other_kind(tmp_path: Path) -> None:
    work = ItemWork("", function=pickle.dumps(abs), folder=tmp_path)
    job = Job(number=0, name="a", item=b"", digest="1")
    theirs = tmp_path / "a.json"
    theirs.write_text('{"kind": "mine"}')
    work.store(job, Outcome("a", "failed", reason="x"))
    assert theirs.exists()
    work.store(job, Outcome("a", "computed", 1))
    assert not (tmp_path / "a.outcome.json").exists()
    work.store(job, Outcome("a", "failed", reason="x"))
    assert sorted(os.listdir(tmp_path)) == ["a.outcome.json"]


@pytest.mark.parametrize("place", [".claims", ".claims/x"])
@pytest.mark.parametrize("there", [True, False])
def test_locks_that_lead_elsewhere_are_refused(place: str, there: bool, tmp_path: Path) -> None:
    """Nothing is made or deleted there, whether or not it has a file of this name."""
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (kept := elsewhere / "x").write_text("mine")
    if not there:
        kept.unlink()
    (folder := tmp_path / "results").mkdir()
    if place == ".claims":
        (folder / place).symlink_to(elsewhere)
    else:
        (folder / ".claims").mkdir()
        (folder / place).symlink_to(kept)
    with pytest.raises(BatchError, match=r"is a link .* remove it"), case_lock(folder, "x"):
        pass
    assert [path.read_text() for path in elsewhere.iterdir()] == ["mine"] * there
    assert (folder / place).is_symlink()


def test_a_batch_whose_locks_lead_elsewhere_ends_with_an_error(tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (kept := elsewhere / CASE.key).touch()
    (folder := tmp_path / "results").mkdir()
    (folder / ".claims").symlink_to(elsewhere)
    settings = Settings(Store(folder), needs_engine=False)
    with pytest.raises(BatchError, match="is a link"), Serial(settings) as serial:
        list(serial.run(tasks([CASE], "3.2"), lambda task: None))
    assert kept.exists()
    assert os.listdir(folder) == [".claims"]


def hold(folder: Path, ready: "multiprocessing.synchronize.Event") -> None:
    with case_lock(folder, "x"):
        ready.set()
        multiprocessing.Event().wait()


@pytest.mark.slow
def test_the_claim_of_a_killed_process_is_free(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=hold, args=(tmp_path, ready), daemon=True)
    process.start()
    assert ready.wait(PATIENCE)
    with case_lock(tmp_path, "x") as mine:
        assert not mine
    process.kill()
    process.join()
    with case_lock(tmp_path, "x") as mine:
        assert mine


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan")])
def test_what_is_no_limit_is_refused(timeout: float) -> None:
    with pytest.raises(InvalidCaseError, match=r"^Argument 'timeout' must be "):
        Limits(timeout)


@pytest.mark.parametrize("timeout", [None, 30 * 86400.0, 1e300])
def test_no_limit_is_too_long(timeout: float | None) -> None:
    Limits(timeout)
    with limited(timeout) as clock, alarm(clock, 1.0):
        pass


def test_more_memory_than_the_system_can_count_is_refused() -> None:
    with pytest.raises(InvalidCaseError, match=r"^Argument 'memory' must be at most"):
        Limits(memory=2**63)


def test_progress_that_nobody_can_read_is_dropped() -> None:
    with open("/dev/full", "w", encoding="utf-8", buffering=1) as full:
        lines = Lines(full)
        for _ in range(3):
            lines.finished(TaskResult(Task(CASE, ("3.2",)), Counter(["CONFIRMED"]), 1.0))
        with suppress(OSError):
            full.close()


def test_a_name_that_is_too_long_for_a_file_is_refused_before_anything_is_computed() -> None:
    with pytest.raises(
        InvalidCaseError, match=r"Argument 'widths': .* has \d+ letters, .* at most 200"
    ):
        tasks([DeepAttention([2] * 120, 2)], "L")
    assert tasks([DeepAttention([2] * 40, 2)], "L")


@pytest.mark.parametrize(("timeout", "expected"), [(20.0, 23.0), (0.5, 3.5), (None, float("inf"))])
def test_a_worker_is_late_after_its_limit_and_a_grace(
    timeout: float | None, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = SimpleNamespace(_batch=SimpleNamespace(timeout=timeout, patience=5.0))
    monkeypatch.setattr("m2bridge.batch.pool.time.monotonic", lambda: 102.0)
    assert Pool._seconds_left(pool, SimpleNamespace(since=100.0)) == expected  # type: ignore[arg-type]


def test_the_reason_of_a_failure_is_printed() -> None:
    stream = io.StringIO()
    display = Lines(stream)
    job = SimpleNamespace(name="i1", effort=1.0)
    display.finished(TaskResult(job, Counter(["failed"]), 0.0, reason="an error:\nno (line 1)"))
    display.finished(TaskResult(job, Counter(["computed"]), 0.0))
    first, second = stream.getvalue().splitlines()
    assert first.endswith("i1  less than 0.1 s  1 failed: an error: no (line 1)")
    assert second.endswith("1 computed")


def test_an_outcome_of_no_kind_is_not_done(tmp_path: Path) -> None:
    store = Store(tmp_path)
    task = Task(CASE, ("3.2",))
    put(store, EngineDiedError("died"), "3.2")
    (path,) = tmp_path.iterdir()
    data = json.loads(path.read_text())
    for kind in (["died"], "asleep", None):
        path.write_text(json.dumps(data | {"kind": kind}))
        assert plan([task], store).left == (task,)
    path.write_text(json.dumps(data))
    assert plan([task], store).left == ()


def test_items_with_equal_paths_but_for_a_dash_have_names_of_their_own(tmp_path: Path) -> None:
    """The outcome of one would replace that of the other."""
    paths = []
    for name in ("a/b.txt", "a-b.txt", "c/b.txt", "a-b.txt-1"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
        paths.append(path)
    place = str(tmp_path).strip("/").replace("/", "-")
    found = [job.name for job in file_jobs(ItemWork("item"), paths)]
    ends = ("a-b.txt-0", "a-b.txt-1", "c-b.txt-2", "a-b.txt-1-3")
    assert found == [f"{place}-{end}" for end in ends]


class Adder:
    def __init__(self, number: int) -> None:
        self.number = number

    def add(self, x: int) -> int:
        return self.number + x

    def __call__(self, x: int) -> int:
        return self.number + x


def plain(x: int, m: object = threading.Lock()) -> int:
    return x


def _adding(n: int) -> list[Callable[[int], int]]:
    """Functions that add n, whose sources are the same for all n."""
    return [partial(add, n), lambda x: x + n, lambda x, m=n: x + m, Adder(n).add, Adder(n)]


def test_a_folder_knows_functions_by_the_values_that_they_use() -> None:
    """Else the outcomes of one would be those of the other."""
    one, again, other = map(_adding, (1, 1, 5))
    assert list(map(_source, one)) == list(map(_source, again))
    for first, second in zip(one, other, strict=True):
        assert _source(first) != _source(second), first


def test_a_folder_knows_other_functions_by_their_source() -> None:
    """Also where they use what cannot be pickled."""
    assert _source(plain) == f"{__name__}.plain\n{inspect.getsource(plain)}"
    assert _source(math.sqrt) == "math.sqrt"
    assert _source(Adder) == f"{__name__}.Adder\n{inspect.getsource(Adder)}"


def test_values_that_are_hard_to_write_have_outcomes(tmp_path: Path) -> None:
    work = ItemWork("", function=pickle.dumps(abs), folder=tmp_path)
    job = Job(number=0, name="a", item=b"", digest="1")
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    outcome = work.store(job, Outcome("a", "computed", nested))
    assert (outcome.kind, outcome.value) == ("failed", None)
    half_of_a_pair = Outcome("a", "computed", "\ud800", output="ü\udfff")
    assert work.store(job, half_of_a_pair) == half_of_a_pair
    assert work.stored(job) == half_of_a_pair


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), [1.5, float("-inf")], {1: "a", "1": "b"}]
)
def test_values_that_json_lacks_fail(value: object, tmp_path: Path) -> None:
    """Their file could not be read: NaN is not JSON, and of one name twice a reader keeps one."""
    work = ItemWork("", function=pickle.dumps(abs), folder=tmp_path)
    job = Job(number=0, name="a", item=b"", digest="1")
    outcome = work.store(job, Outcome("a", "computed", value))
    assert (outcome.kind, outcome.value) == ("failed", None)
    assert outcome.reason.startswith("cannot store the value as JSON in the folder: ")
    assert work.stored(job) == outcome
    json.loads((tmp_path / "a.outcome.json").read_text(), parse_constant=pytest.fail)


@pytest.mark.parametrize("digits", [4001, 4300])
def test_the_longest_integers_are_read_back(digits: int, tmp_path: Path) -> None:
    work = ItemWork("", function=pickle.dumps(abs), folder=tmp_path)
    job = Job(number=0, name="a", item=b"", digest="1")
    number = 10 ** (digits - 1)
    assert work.store(job, Outcome("a", "computed", [number])).value == [number]
    stored = work.stored(job)
    assert stored is not None
    assert stored.value == [number]


def test_a_folder_that_cannot_be_written_ends_the_batch(tmp_path: Path) -> None:
    """A file is in its place, at the beginning or from some moment on."""
    work = ItemWork("", function=pickle.dumps(abs), folder=tmp_path / "results")
    job = Job(number=0, name="a", item=pickle.dumps(-3), digest="1")
    (tmp_path / "results").touch()
    for step in (
        work.make_folder,
        partial(Performance(work).perform, job),
        partial(work.outcome_of_lost, job, -9),
    ):
        with pytest.raises(BatchError, match=r"^'.*results' cannot be written: "):
            step()


def test_a_signal_while_a_killed_worker_ends_leaves_it_to_the_end_of_the_pool() -> None:
    """Its folder is locked until it has ended, and is removed only then."""

    def interrupted(patience: float) -> int:
        raise KeyboardInterrupt

    pipe = SimpleNamespace(close=list)
    worker: Any = SimpleNamespace(connection=pipe, end=interrupted)
    pool = Pool.__new__(Pool)
    pool._workers = [worker]
    with pytest.raises(KeyboardInterrupt):
        list(pool._handle_exit(worker, beyond_limit=True))
    assert pool._workers == [worker]
