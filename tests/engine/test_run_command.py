"""``m2bridge run``: code of a user from the command line."""

import json
import subprocess
from pathlib import Path

import pytest


def run(command: str, program: Path, *arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [command, "run", *arguments, "--m2", str(program)], input=code, capture_output=True, text=True, check=False
    )


def test_what_is_printed_and_the_value(command: str, program: Path, tmp_path: Path) -> None:
    file = tmp_path / "code.m2"
    file.write_text('R = QQ[a..d]\nprint "hello"\nprimaryDecomposition ideal(a*b)\n')
    done = run(command, program, str(file))
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n{ideal(b), ideal(a)}\n", "") or (
        done.stdout == "hello\n{ideal a, ideal b}\n"
    )
    done = run(command, program, "-", "--json", code="print 1\n2^100 / 3 -- that is it")
    data = json.loads(done.stdout)
    assert (data["text"], data["output"], done.returncode) == (f"{2**100}/3", "1\n", 0)
    assert str(2**100) in json.dumps(data["value"])
    assert data["seconds"] > 0


def test_tables_and_values_without_counterpart(command: str, program: Path) -> None:
    assert run(command, program, "-", code="f = x -> x").stdout == "f\n"
    assert run(command, program, "-", code="1;").stdout == ""
    betti = run(command, program, "-", code="betti res ideal vars(QQ[x,y])").stdout
    assert betti == "       0 1 2\ntotal: 1 2 1\n    0: 1 2 1\n"


def test_errors_point_at_the_code(command: str, program: Path, tmp_path: Path) -> None:
    file = tmp_path / "code.m2"
    file.write_text('print "early"\nf = y -> (\n\t  1/y)\nf 0\n')
    done = run(command, program, str(file))
    assert (done.returncode, done.stdout) == (5, "early\n")
    assert done.stderr.startswith(f"Error: ScriptError: {file}:3:5: division by zero\n")
    assert ">    3 | " in done.stderr
    done = run(command, program, "-", code="x = (1,\n")
    assert done.stderr.startswith("Error: ScriptError: standard input:1:")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "status", "said"),
    [
        (["-", "--timeout", "2"], "print 7; while true do ()", 3, "limit of 2 seconds"),
        (["-", "--memory", "1G"], "x = toList(1..10000); while true do x = join(x, x)", 3, "limit of 1 GiB"),
        (["-", "--packages", "Eliminatio"], "1", 2, "did you mean Elimination"),
        (["-", "--packages", "a;b"], "1", 2, "not the name of a package"),
        (["-"], "exit 9", 5, "ended with exit status 9"),
        (["/nowhere.m2"], "", 2, "does not exist"),
    ],
)
def test_exit_codes(command: str, program: Path, arguments: list[str], code: str, status: int, said: str) -> None:
    done = run(command, program, *arguments, code=code)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr
    assert "symbols" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_packages(command: str, program: Path) -> None:
    code = "instance(cyclotomicField, Function) and instance(eliminate, Function)"
    assert run(command, program, "-", "--packages", "Cyclotomic,Elimination", code=code).stdout == "true\n"


def test_no_macaulay2(command: str, program: Path) -> None:
    assert run(command, program.with_name("no-M2-here"), "-", code="1").returncode == 4


def test_code_of_any_bytes(command: str, program: Path, tmp_path: Path) -> None:
    file = tmp_path / "code.m2"
    file.write_bytes(b'\xef\xbb\xbf#"\xff\xc3\xbc"\r\n')
    assert run(command, program, str(file)).stdout == "3\n"


def test_files_beside_the_code_are_found(command: str, program: Path, tmp_path: Path) -> None:
    (tmp_path / "é \\").mkdir()
    (tmp_path / "é \\" / "inner.m2").write_text("z = 8;")
    (tmp_path / "é \\" / "code.m2").write_text('load "inner.m2"; z')
    assert run(command, program, str(tmp_path / "é \\" / "code.m2")).stdout == "8\n"
