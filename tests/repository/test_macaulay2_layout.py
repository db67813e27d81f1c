"""How Macaulay2 programs are laid out: what reads well, and hangs or fails where it is run."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(
    path
    for folder in ("m2scripts", "templates", "tests/golden/scripts", "examples")
    for path in (ROOT / folder).rglob("*.m2*")
)

_NO_CODE = re.compile(r'"(?:\\.|[^"\\])*"|--[^\n]*|\{%.*?%\}|\{\{.*?\}\}|///.*?///', re.DOTALL)


def lines_with_an_open_branch(code: str) -> list[int]:
    """Lines outside of brackets that begin with ``then`` or ``else``.

    At the top level a statement ends with its line, so that Macaulay2 waits for more, or says that
    nothing may begin like this.
    """
    plain = _NO_CODE.sub(lambda match: "\n" * match[0].count("\n"), code)
    depth = 0
    found = []
    for number, line in enumerate(plain.split("\n"), 1):
        if depth == 0 and re.match(r"\s*(then|else)\b", line):
            found.append(number)
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
    return found


def test_no_branch_begins_a_line_at_the_top_level() -> None:
    assert len(PROGRAMS) > 50
    for path in PROGRAMS:
        assert lines_with_an_open_branch(path.read_text(encoding="utf-8")) == [], path


def test_such_a_branch_is_found() -> None:
    assert lines_with_an_open_branch("if a then (\n  b)\nelse c") == [3]
    assert lines_with_an_open_branch('f = x -> (\n  if a("(") then b -- (\n  else c)') == []
