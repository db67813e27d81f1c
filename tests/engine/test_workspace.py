"""Code of users on real Macaulay2: what other interfaces get wrong, and symbols that last."""

import gc
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from m2bridge.convert.answers import parse
from m2bridge.engine.script import Script
from m2bridge.engine.session import OPTIONS
from m2bridge.errors import (
    ConversionError,
    EngineDiedError,
    EngineError,
    InvalidCaseError,
    MemoryLimitError,
    PackageError,
    ScriptError,
    TimeLimitError,
    UnknownSymbolError,
    ValueTypeError,
    WorkspaceLostError,
)
from m2bridge.limits import Limits
from m2bridge.system import limits_memory
from m2bridge.workspace.macaulay2 import Macaulay2, Workspace
from tests.events import PATIENCE, alive, wait_for, wait_for_end
from tests.limits import HOUR


@pytest.fixture(scope="module")
def work(program: Path) -> Iterator[Workspace]:
    """A workspace that no test ends; what the tests leave in it must not matter."""
    with Macaulay2(program) as m2:
        yield m2.workspace()


# Values


def test_a_symbol_of_an_earlier_call_points_to_workspaces(session: Macaulay2) -> None:
    session.value("R = QQ[x, y, MonomialOrder => Lex]; I = ideal(x^2, y);")
    for code in ("degree I", "ideal(x, y)"):
        with pytest.raises(ScriptError, match=r"in an earlier call, .*m2\.workspace\(\)"):
            session.value(code)
    session.value("(p, q) = (1, 2); A = new MutableHashTable; A.cache = 3; QQ[vars(0..3)];")
    with pytest.raises(ScriptError, match="'q' was defined in an earlier call"):
        session.value("degree q")
    for code in (
        "I = 0; 1/I",
        'degree "I"',
        "unknownSymbol + 1",
        "(ideal 0_QQ).cache; vars(0); 1/0",
    ):
        with pytest.raises(ScriptError) as failure:
            session.value(code)
        assert "earlier call" not in str(failure.value)
    with pytest.raises(ScriptError) as failure:
        session.value("1/I", I=0)
    assert "earlier call" not in str(failure.value)


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("2+2", 4),
        ("2+2;", None),
        ("2+2; -- said", None),
        ("2+2 -- not silent;", 4),
        ('1;\n"a;"', "a;"),
        ("-* a; *- 7", 7),
        ("", None),
        ("-- nothing", None),
        ("x = 1\nx + 1\n\n\n", 2),
        ("toString gens(QQ[a..d])", "{a, b, c, d}"),
        ("toString gens(QQ[a..c, z_1..z_2, Z])", "{a, b, c, z_1, z_2, Z}"),
        ("x = 5; y = symbol x; numgens(QQ[y, z])", 2),
        (
            (
                'R = QQ[a..d]; #primaryDecomposition ideal(a*b, a^2) + #decompose ideal"ab" + codim'
                ' ideal"a,b,c"'
            ),
            7,
        ),
        ('currentFileName; first separate("x", "axb")', "a"),
    ],
)
def test_the_value_is_that_of_the_last_statement(
    session: Macaulay2, work: Workspace, code: str, value: object
) -> None:
    assert session.value(code) == value
    assert work.value(code) == value


def test_letters_mean_the_same_in_isolated_runs(session: Macaulay2) -> None:
    """They were hidden by the dictionary of the run; and nothing of them stays."""
    code = 'R = QQ[a..d]; mbEmit("x", a*d - b*c); mbEmit("n", toString vars(0..2))'
    for _ in range(2):
        answer = parse(session.run(Script("letters", code)).records)
        assert (str(answer.values["x"]), answer.values["n"]) == ("-b*c + a*d", "(a,b,c)")
        assert parse(
            session.run(Script("letters", 'mbEmit("a", class a === Symbol)')).records
        ).boolean("a")


def test_symbols_of_one_call_are_unknown_to_the_next(session: Macaulay2) -> None:
    assert session.value("R = QQ[a..d]; k = 5; f = x -> x; k") == 5
    assert session.value("apply({class a, class k, class f, class R}, toString)") == ["Symbol"] * 4


@pytest.mark.parametrize(
    "name", ["e", "i", "res", "dd", "ii", "pi", "x", "QQ", "gens", "User", "f'"]
)
def test_names_that_mean_something_can_be_given(
    session: Macaulay2, work: Workspace, name: str
) -> None:
    assert session.value(f"{name} + 1", **{name: 6}) == 7
    assert session.value("{class 1, QQ, ii^2} === {ZZ, QQ, ii^2}"), "forgotten afterwards"
    work[name] = 6
    assert work.value(f"{name} + 1") == work[name] + 1 == 7
    work.run(f"erase symbol {name}")


def test_a_name_used_before_as_a_value(work: Workspace) -> None:
    work.run("x = 5; R = ZZ")
    assert work.value("x^2", x=3) == 9
    assert work["x"] == 3
    with pytest.raises(ScriptError, match="x"):
        work.run("frac(5)[x]")
    assert work.value("x = symbol x; S = QQ[x]; degree (x^3)") == [3]


@pytest.mark.parametrize("name", ["a_1", "if", "1x", "", "a b", "x;exit", "then", "ü"])
def test_what_is_no_name_is_refused(work: Workspace, name: str) -> None:
    for use in (
        lambda: work.__setitem__(name, 1),
        lambda: work[name],
        lambda: work.value("1", **{name: 1}),
    ):
        with pytest.raises(InvalidCaseError, match="name"):
            use()


def test_a_symbol_without_a_value(work: Workspace) -> None:
    with pytest.raises(UnknownSymbolError, match="'neverUsed' has no value"):
        work["neverUsed"]
    with pytest.raises(KeyError):
        work["neverUsed"]


def test_symbols_are_asked_for_and_forgotten(work: Workspace) -> None:
    work["thing"] = 5
    assert "thing" in work
    del work["thing"]
    assert "thing" not in work
    assert work.value("T = QQ[thing]; thing^2") == work["thing"] ** 2
    work["ideal"] = 3
    del work["ideal"]
    assert work.value("ideal(6, 10) == ideal 2")
    with pytest.raises(UnknownSymbolError):
        del work["thing2"]
    for name in (5, "1/0"):
        with pytest.raises(InvalidCaseError, match="is not a name"):
            work[name]  # type: ignore[index]
    with pytest.raises(TypeError, match="not iterable"):
        list(work)  # type: ignore[call-overload]


def test_only_code_and_positive_limits_are_taken(session: Macaulay2) -> None:
    with pytest.raises(InvalidCaseError, match=r"must be a Script, not a str; value\(code\)"):
        session.run("2+2")  # type: ignore[arg-type]
    with pytest.raises(InvalidCaseError, match="must be Macaulay2 code"):
        session.value(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidCaseError, match="timeout"):
        session.value("5", timeout=-1)
    with pytest.raises(ScriptError, match=r"emitted nothing.*mbEmit"):
        session.run(Script("a", "2+2"))


# Output


@pytest.mark.parametrize(
    "text",
    [
        "i1 : ",
        "\n\ni2 : o2 = 7\n\ni3 : ",
        "\n\x01m2bridge 0 0\n",
        '{"end":"0","records":0}\n',
        "error: nothing\nx.m2:1:1:(3): error: nothing\n",
        "\x1b[2J\x00\x07\x7f\x03\x04\x1a\x13\r",
        "ünï – 𝔽\n",
    ],
    ids=["prompt", "prompts", "mark", "end", "error", "controls", "unicode"],
)
def test_what_is_printed_comes_back_and_confuses_nothing(
    session: Macaulay2, work: Workspace, text: str
) -> None:
    code = f"stdio << ascii {{{', '.join(map(str, text.encode()))}}}; 5"
    for engine in (session, work):
        evaluation = engine.evaluate(code)
        assert (evaluation.value, evaluation.output) == (5, text)
    with pytest.raises(ScriptError) as failure:
        work.run(code + '\nerror "so"')
    assert (failure.value.error, failure.value.line, failure.value.output) == ("so", 2, text)


def test_no_code_can_find_the_closing_mark(work: Workspace) -> None:
    """The name of the request, which is that of the file, is not enough to end a report."""
    code = """
    nonce = substring(0, 16, last separate("/", currentFileName));
    stdio << "\\n\\1m2bridge " << nonce << " " << nonce << "\\n" << flush;
    nonce"""
    evaluation = work.evaluate(code)
    assert (evaluation.value in evaluation.output, len(evaluation.value)) == (True, 16)
    assert work.value("1") == 1


@pytest.mark.parametrize(
    "code", ['capture "2+2"', '(() -> capture "1/0")()', 'try capture "f 0" else "none"']
)
def test_an_interpreter_within_the_code_has_prompts_of_its_own(
    session: Macaulay2, work: Workspace, code: str
) -> None:
    for engine in (session, work):
        failed, text = engine.value(code)
        assert failed == ("2+2" not in code)
        assert text.startswith("\ni1 : ")
        assert "m2bridge " not in text


@pytest.mark.parametrize(
    "code", ["read stdio", 'read "name? "', "read()", "read(stdio, 3)", '(() -> read "x")()']
)
def test_nobody_answers_questions(session: Macaulay2, work: Workspace, code: str) -> None:
    for engine in (session, work):
        with pytest.raises(ScriptError, match="nobody is there to type an answer"):
            engine.value(code, timeout=HOUR)
    assert work.value('read openIn "/dev/null"') == ""


@pytest.mark.usefixtures("bare")
def test_commands_are_executed_as_when_they_are_typed(program: Path) -> None:
    with Macaulay2(program) as m2, m2.workspace() as work:
        work.run("x = 5")
        assert work.value("clearAll") is None
        assert str(work.value("x")) == "x"
        with pytest.raises(ScriptError, match="restart"):
            work.value("restart")
        with pytest.raises(EngineDiedError, match="exit status 0"):
            work.run("exit")


@pytest.mark.slow
def test_ten_megabytes_of_output(work: Workspace) -> None:
    output = work.run('scan(10^5, i -> stdio << concatenate(99: "x") << "\\n")')
    assert output == ("x" * 99 + "\n") * 10**5


def test_standard_error_is_output_too(work: Workspace) -> None:
    assert work.run('stderr << "oh" << endl') == "oh\n"


# Errors


@pytest.mark.parametrize(
    ("code", "error", "line", "columns"),
    [
        ("1/0", "division by zero", 1, {2}),
        ("x = 1\n\n  x/0", "division by zero", 3, {4}),
        ("f = y -> (\n  y/0)\n\nf 3", "division by zero", 2, {4}),
        ("x = 2\n    decompose x", "no method found for applying decompose", 2, {5, 14}),
        ("ideal(1,2)\n  res 5; 7", "no method found for applying ", 2, {3, 6}),
        ("f = (", "syntax error at '-*end of file*-'", 1, {6}),
        ("f = (\n2", 'expected ")"', 1, {5}),
        ("f = (\n2\n", 'expected ")"', 1, {5}),
        ("x = {1,\n 2)\n", 'expected "}"', 1, {5}),
        ("1 +\n ) 2", "syntax error at ')'", 2, {2}),
        ('1\n "abc', "EOF in string beginning here", 2, {2}),
        ("5 -* open", "EOF in block comment", 1, {3}),
        ('"ü𝔽"; 1/0', "division by zero", 1, {8}),
        ("\t1/0", "division by zero", 1, {3}),
        ('if true then\n error "first\nsecond"', "first\nsecond", 2, {2, 7}),
        ('error "a.m2:7:7:(3): error: b"', "a.m2:7:7:(3): error: b", 1, {1, 6}),
        ("scan(3, i -> if i == 2 then\n 1/(i-2))", "division by zero", 2, {3}),
    ],
)
def test_errors_have_their_place(
    session: Macaulay2, work: Workspace, code: str, error: str, line: int, columns: set[int]
) -> None:
    for engine in (session, work):
        with pytest.raises(ScriptError) as failure:
            engine.value(code)
        assert failure.value.error.startswith(error)
        assert failure.value.line == line
        assert failure.value.column in columns
        assert (
            failure.value.excerpt.splitlines()[-1].endswith("^")
            or f"> {line:4} | " in failure.value.excerpt
        )
        assert failure.value.output == ""
    with pytest.raises(ScriptError) as failure:
        session.run(Script("faulty", code))
    assert (failure.value.line, failure.value.file) == (line, "the script 'faulty'")


def test_an_error_in_a_function_of_an_earlier_input(work: Workspace) -> None:
    work.run("f = y -> (\n  y/0)", file="functions.m2")
    with pytest.raises(ScriptError) as failure:
        work.value("1;\n  f 3", file="cell 2")
    assert (failure.value.file, failure.value.line, failure.value.column) == ("functions.m2", 2, 4)
    assert "line 2, column 4 of functions.m2, called from line 2, column" in str(failure.value)
    assert ">    2 |   y/0)\n       |    ^" in failure.value.excerpt


def test_errors_in_a_file_that_is_loaded(work: Workspace, tmp_path: Path) -> None:
    """Functions that are defined there, statements, and what cannot be parsed."""
    (tmp_path / "lib4.m2").write_text("-- lib\nf = x -> (\n    1/0\n    )\ng = x -> f(x) + 1\n")
    (tmp_path / "lib7.m2").write_text("1\n  2/0")
    (tmp_path / "lib5.m2").write_text("y = sin(1 \nz")
    work.run(f'path = prepend("{tmp_path}/", path);')
    for code, file, line, column in (
        ('load "lib4.m2"\ng 3', "lib4.m2", 3, 6),
        ("f 3", "lib4.m2", 3, 6),
        ('load "lib7.m2"', "lib7.m2", 2, 4),
        ('load "lib5.m2"', "lib5.m2", 2, 1),
    ):
        with pytest.raises(ScriptError) as failure:
            work.value(code, file="cell")
        found = failure.value
        assert (Path(str(found.file)).name, found.line, found.column) == (file, line, column)
        assert "called from line" in str(found)
        assert "of cell)" in str(found)
        assert found.excerpt.endswith("^")  # of the cell


@pytest.mark.slow
def test_the_last_values(session: Macaulay2) -> None:
    """As at the prompt: a semicolon hides a value and does not lose it; what only looks at symbols
    changes nothing.
    """
    with session.workspace() as work:
        assert repr(work["ooo"] if "ooo" in work else work.value("symbol oo")) == "Symbol('oo')"
        work.run("x = 5;")
        assert work.value("oo + 1") == 6
        assert work.value("(oo, ooo, oooo)")[:2] == (6, 5)
        work.run("print 7")  # has no value
        work["y"] = 8
        assert (work["y"], work.get("x"), "x" in work, "oo" in work) == (8, 5, True, True)
        with pytest.raises(ScriptError):
            work.run("1/0")
        assert work.show("first oo").text == "6"
        del work["y"]
        assert work["oo"] == 6
        work.run("QQ[t]; f = t^2;")
        assert work.value("toString(oo + ooo)") == "t^2+6"
        work.run("clearAll")
        assert work.value("oo") == "t^2+6"
    assert str(session.value("oo")) == "oo"


def test_symbols_outlive_failures(work: Workspace) -> None:
    work.run("keep = 41; g = x -> x")
    pid = work.pid
    for code, kind in (
        ("1/0", ScriptError),
        ("f = (", ScriptError),
        ("g", ValueTypeError),
        ("{1, {g}}", ValueTypeError),
    ):
        with pytest.raises(kind):
            work.value(code)
    with pytest.raises(ConversionError, match="object"):
        work["keep"] = object()
    assert (work.value("keep + 1"), work.pid) == (42, pid)


def test_the_class_of_what_python_does_not_have(session: Macaulay2) -> None:
    with pytest.raises(ValueTypeError, match=r"FunctionClosure .* give references=True"):
        session.value("x -> x")


def test_references(session: Macaulay2, work: Workspace) -> None:
    """They are passed back in their workspace, and nowhere else."""
    one, (two, number) = (
        work.value(code, references=True) for code in ("t -> t + 1", "(t -> 2*t, 7)")
    )
    assert (work.value("f g 5", f=one, g=two), number) == (11, 7)
    work["h"] = one
    assert work.value("h 1") == 2
    assert work.get("h", references=True).kind == one.kind == "FunctionClosure"
    with pytest.raises(ConversionError, match="belongs to another workspace"):
        session.value("f 5", f=one)


def test_an_ideal_in_and_out(session: Macaulay2, work: Workspace) -> None:
    """It brings the variables of its ring, whatever their names held before."""
    ideal = session.value("QQ[x,y]; ideal(x^2, x*y)")
    work.run("x = 5; y = 6")
    assert work.value("(I == ideal(x^2, x*y), ring I === ring J, I)", I=ideal, J=ideal) == (
        True,
        True,
        ideal,
    )
    assert work["I"] == ideal


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "dictionaryPath = {Core.Dictionary}",
        "dictionaryPath = {}",
        (
            "mbRun = mbEvaluate = mbShared = mbEncode = mbOutput = mbNonce = mbRecords = mbSend ="
            " 0; mbDefine = 0"
        ),
        "scan({symbol mbRun, symbol mbEvaluate, symbol mbOutput}, protect)",
        "clearAll",
        "clearAll()",
        "erase symbol ideal",
        "load = simpleLoad = value = toString = 0",
        'needsPackage "Elimination"; x = mbEncode = 5',
        "printWidth = 1",
        'stdio << concatenate(5000 : "x")',
        "interpreterDepth = 7; lineNumber = 0",
        'User#"private dictionary" = new Dictionary',
        "close stdin",
        "throw 5",
        "restart",
        "restart()",
        "break 5",
        "end",
    ],
)
def test_no_code_breaks_a_workspace_for_what_follows(
    careless: tuple[Macaulay2, Workspace], code: str
) -> None:
    m2, work = careless
    for engine in careless:
        with suppress(ScriptError, ValueTypeError):
            engine.evaluate(code, timeout=HOUR)
    work["k"] = 3
    assert work.value("k + 1", timeout=HOUR) == 4
    assert m2.value("n + 1", n=4, timeout=HOUR) == 5


@pytest.fixture(scope="module")
def careless(program: Path) -> Iterator[tuple[Macaulay2, Workspace]]:
    """A session and a workspace that go through it all, without the packages that Macaulay2 loads
    at its start, as with ``bare``: what breaks a process is in its core.
    """
    with Macaulay2(program) as m2:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("m2bridge.engine.session.OPTIONS", (*OPTIONS, "--no-preload"))
            started = m2, m2.workspace()
            assert [engine.value("1+1") for engine in started] == [2, 2]
        yield started


# Apart from isolated runs


@pytest.mark.slow
def test_a_workspace_never_leaks(program: Path) -> None:
    """Isolated runs have another process, without packages and methods that code installs."""
    code = """ZZ.leaked = 5; ZZ#"leaked" = 6; leaked = 7; needsPackage "Elimination"; printWidth = 33; gbTrace = 1;
    String - String := (a, b) -> a;"""
    look = (
        'mbEmit("x", {ZZ#?"leaked", class leaked === Symbol, isGlobalSymbol "eliminate", printWidth'
        ' == 33, gbTrace == 1, (try "a" - "b" else "none") == "a", isGlobalSymbol'
        ' "primaryDecomposition"})'
    )
    with Macaulay2(program) as m2:
        before = parse(m2.run(Script("look", look)).records).values["x"]
        work, other = m2.workspace(), m2.workspace()
        for engine in (work, m2):
            engine.evaluate(code)
        assert (
            before
            == parse(m2.run(Script("look", look)).records).values["x"]
            == [False, True] + [False] * 5
        )
        assert other.value('{ZZ#?"leaked", class leaked === Symbol, printWidth == 33}') == [
            False,
            True,
            False,
        ]
        assert work.value('{ZZ#?"leaked", leaked, printWidth == 33}') == [True, 7, True]
        assert len({m2.pid, work.pid, other.pid}) == 3


# Packages


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_packages(program: Path) -> None:
    with Macaulay2(program) as m2:
        work = m2.workspace(packages=["Cyclotomic", "Elimination"])
        assert work.value("{class cyclotomicField === Symbol, instance(eliminate, Function)}") == [
            False,
            True,
        ]
        work.restart()
        assert work.value("class cyclotomicField === Symbol") is False
        assert m2.value("class cyclotomicField === Symbol") is True
        with pytest.raises(
            PackageError, match="no package 'Eliminatoin'; did you mean Elimination"
        ):
            m2.workspace(packages=["Eliminatoin"])
        with pytest.raises(InvalidCaseError, match="not the name of a package"):
            m2.workspace(packages=['"; exit 0'])


@pytest.mark.usefixtures("bare")
def test_a_package_that_does_not_load(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Broken.m2").write_text('newPackage "Broken"\n1/0\n')
    monkeypatch.chdir(tmp_path)
    with (
        Macaulay2(program) as m2,
        pytest.raises(PackageError, match="cannot load the package 'Broken': "),
    ):
        m2.workspace(packages="Broken")


# Limits, interrupts, death


def lost(work: Workspace, why: str) -> None:
    """The symbols are gone; every use says so until it begins anew."""
    for use in (
        lambda: work.value("1"),
        lambda: work.run("1"),
        lambda: work["k"],
        lambda: work.__setitem__("k", 1),
    ):
        with pytest.raises(WorkspaceLostError, match=why) as said:
            use()
        assert "restart() starts again" in str(said.value)
    work.restart()
    with pytest.raises(UnknownSymbolError):
        work["k"]
    work["k"] = 5
    assert work["k"] == 5


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_a_death_between_two_calls(program: Path) -> None:
    with Macaulay2(program) as m2, m2.workspace() as work:
        work["k"] = 5
        process = work._process.process
        assert process is not None
        os.kill(process.pid, 9)
        wait_for(lambda: process.has_ended)
        lost(work, "SIGKILL.* between two calls")
        assert m2.value("2") == 2
        hidden = m2._values.process
        assert hidden is not None
        os.kill(hidden.pid, 9)
        wait_for(lambda: hidden.has_ended)
        assert m2.value("2") == 2, "it has no symbols that could be lost"


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_deaths_during_a_call(program: Path, tmp_path: Path) -> None:
    with Macaulay2(program) as m2, m2.workspace() as work:
        work["k"] = 5
        with pytest.raises(
            EngineDiedError, match="exit status 7; the symbols of this workspace are gone"
        ):
            work.run("exit 7")
        lost(work, "exit status 7")
        begun = tmp_path / "begun"
        pid = work.pid
        assert pid is not None
        killer = threading.Thread(target=lambda: (wait_for(begun.exists), os.kill(pid, 9)))
        killer.start()
        with pytest.raises(EngineDiedError, match=r"SIGKILL.*; the symbols"):
            work.run(f'"{begun}" << close; while true do sleep 1', timeout=PATIENCE)
        killer.join()
        lost(work, "SIGKILL")
        with pytest.raises(EngineDiedError, match=r"exit status 7$"):
            m2.value("exit 7")
        assert m2.value("2") == 2


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_a_limit_on_time(program: Path) -> None:
    with Macaulay2(program) as m2, m2.workspace() as work:
        work["k"] = 5
        with pytest.raises(
            TimeLimitError, match=r"limit of 0\.2 seconds.*; the symbols of this workspace are gone"
        ):
            work.value("while true do sleep 1", timeout=0.2)
        lost(work, r"limit of 0\.2 seconds")


@pytest.mark.slow
@pytest.mark.skipif(not limits_memory(), reason="only Linux keeps limits on memory")
@pytest.mark.usefixtures("bare")
def test_a_limit_on_memory(program: Path) -> None:
    with Macaulay2(program, Limits(memory=1 << 30)) as m2, m2.workspace() as work:
        work["k"] = 5
        with pytest.raises(MemoryLimitError, match="1 GiB"):
            work.run("x = toList(1..10000); while true do x = join(x, x)", timeout=PATIENCE)
        lost(work, "memory limit of 1 GiB")


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_an_interrupt(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Macaulay2(program) as m2, m2.workspace() as work:
        work["k"] = 5
        pid = work.pid
        assert pid is not None
        with monkeypatch.context() as patch:
            patch.setattr("m2bridge.engine.process.Process.read_until", interrupted)
            with pytest.raises(KeyboardInterrupt):
                work.run("while true do ()")
        wait_for_end([pid])
        lost(work, "it was interrupted")


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


# Life


def test_threads_take_turns(work: Workspace) -> None:
    work.run("count = 0")
    with ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(lambda _: work.value("count = count + 1"), range(40)))
    assert sorted(seen) == list(range(1, 41))


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_a_child_made_by_fork_has_no_symbols_and_takes_none(program: Path) -> None:
    with Macaulay2(program) as m2, m2.workspace() as work:
        work["k"] = 5
        child = os.fork()
        if child == 0:
            said = 1
            try:
                work["k"]
            except WorkspaceLostError:
                work.restart()
                said = 0 if work.value("6") == 6 and m2.value("7") == 7 else 2
            finally:
                m2.end()
                os._exit(said)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert work["k"] == 5


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_nothing_is_left_behind(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Macaulay2(program) as m2:
        closed, left, dropped = (m2.workspace() for _ in range(3))
        pids = [w.pid for w in (closed, left, dropped)]
        assert [w.value("1") for w in (closed, left, dropped)] == [1, 1, 1]
        assert m2.value("1") == 1
        pids.append(m2._values.process.pid)  # type: ignore[union-attr]
        assert all(list(folder.iterdir()) == [] for folder in tmp_path.iterdir())
        closed.close()
        with pytest.raises(EngineError, match="workspace is closed"):
            closed.value("1")
        del dropped
        gc.collect()
        wait_for_end([pid for pid in (pids[0], pids[2]) if pid])
        assert alive(pids[1] or 0)
    wait_for_end([pid for pid in pids if pid])
    assert list(tmp_path.iterdir()) == []
    for use in (lambda: left.value("1"), lambda: m2.value("1"), m2.workspace):
        with pytest.raises(EngineError, match=r"closed|with block was left"):
            use()


@pytest.mark.slow
def test_names_with_primes_come_back_as_they_are(session: Macaulay2) -> None:
    with session.workspace() as work:
        work.run("R = QQ[x', x'', y]; f = x'^2 + x''")
        f = work.value("f")
        assert str(f) == "x'**2 + x''"
        assert work.value("toString g", g=f) == "x'^2+x''"
        assert work.show("g").text == "x'^2+x''"
        assert str(work.value("g + x'")) == "x'**2 + x' + x''"
