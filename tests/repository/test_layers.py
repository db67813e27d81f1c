"""The map in ARCHITECTURE.md is compared with the code: imports go one way, and what it says of
imports is true.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Collection
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import permutations
from pathlib import Path

import pytest

import m2bridge
from m2bridge.families.base import Family
from m2bridge.families.registry import OWN_FAMILIES, family
from tests.systems import MACOS_LACKS

PACKAGE = Path(m2bridge.__file__).parent

ARCHITECTURE = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text(encoding="utf-8")
MAP = re.findall(r"^\*\*(`.*?)\.\*\* (.*)\.$", ARCHITECTURE, re.MULTILINE)
"""The paragraphs on packages: their names, and what they contain."""
SCREEN = ARCHITECTURE.partition("```text\n")[2].partition("```")[0]
"""The map in one screen."""
LIBRARIES = {
    "FLINT": "flint",
    "IPython": "IPython",
    "Jinja": "jinja2",
    "NumPy": "numpy",
    "SymPy": "sympy",
    "click": "click",
    "distributed": "distributed",
    "matplotlib": "matplotlib",
    "mcp": "mcp",
    "pexpect": "pexpect",
}
"""How the map calls libraries, and how Python does."""


def map_packages(cell: str) -> list[str]:
    """The packages that the first cell of a row names."""
    return [name.rstrip("/") for name in re.findall(r"`([\w/]+)`", cell)]


def test_the_map_in_one_screen_has_the_packages_in_their_order() -> None:
    on_screen = [name for line in SCREEN.splitlines() for name in line[:45].split()]
    in_paragraphs = [name for cell, _ in MAP for name in map_packages(cell)]
    assert on_screen == in_paragraphs


def map_importers() -> dict[str, str]:
    """The only module that imports each library: a package, or the file of its paragraph's package that
    is named last before these words.
    """
    importers: dict[str, str] = {}
    for cell, text in MAP:
        packages = map_packages(cell)
        for before, library in re.findall(
            r"(.*?)the only (?:module|package) that imports (\w+)", text
        ):
            name = re.findall(r"`(\w+)`", before)[-1]
            assert library not in importers, library
            importers[library] = name if name in packages else f"{packages[0]}/{name}"
    return importers


def map_refusals() -> list[tuple[str, str]]:
    """Each package with a library, or a package in backquotes, that the map says it does not import."""
    refusals = []
    for cell, text in MAP:
        for listed in re.findall(r"imports no ([^;|]+)", text):
            named = re.split(r", | or ", listed)
            refusals += [(map_packages(cell)[0], name) for name in named]
    return refusals


@cache
def text_of(path: Path) -> str:
    """What a file contains, read once for all tests here."""
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file, made once for all tests here."""
    return ast.parse(text_of(path))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """The nodes of a file's tree that say what it imports."""
    kinds = (ast.Import, ast.ImportFrom, ast.Constant, ast.Call)
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, kinds)]


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


BY_CALL = {"import_module", "__import__", "library", "_library"}
"""Functions that import the module whose name they are given."""


def libraries(path: Path) -> set[str]:
    """The packages that a file imports, by statements and by calls with their names."""
    found = {module.split(".")[0] for module in imports(path)}
    for node in nodes(path):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if function in BY_CALL:
                found.add(str(node.args[0].value).split(".")[0])
    return found


@cache
def sources() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


CHECKER = [
    path
    for path in sources()
    if re.match(
        r"checker/|families/(\w+/)+checker(/|\.)|decision_boundary/(count_)?checker\.",
        str(path.relative_to(PACKAGE)),
    )
]
TRUSTED = re.compile(
    r"flint|islpy|m2bridge\.(errors|_version|system|certificates(\.(form|wording|conditions))?|checker(\..*)?)"
    r"|m2bridge\.families(\.\w+)+\.checker(\..*)?|m2bridge\.decision_boundary\.checker"
)
"""What the checker may import besides the standard library (isl for all sizes only): no other
mathematics of ours.
"""


def test_the_checker_stands_alone() -> None:
    imported = {(path, module) for path in CHECKER for module in imports(path)}
    foreign = {
        (path, module)
        for path, module in imported
        if module.split(".")[0] not in sys.stdlib_module_names
    }
    assert [(path, module) for path, module in foreign if not TRUSTED.fullmatch(module)] == []


GENERAL = (
    "results",
    "algebra",
    "convert",
    "implicitization",
    "engine",
    "ideals",
    "workspace",
    "statements",
    "maps",
    "pictures",
    "crosscheck",
    "certificates",
    "certification",
    "checker",
    "batch",
    "reports",
)
"""Packages that know no family."""
ABOUT_ALL_FAMILIES = {
    "m2bridge.families.registry",
    "m2bridge.families.base",
    "m2bridge.families.all_sizes",
}
WORDS = re.compile(
    r"attention|d_out|rk A\b|neuromanifold|(polynomial|convolutional).network", re.IGNORECASE
)


def test_general_packages_know_no_family() -> None:
    """They import no package of a family, and do not contain its words."""
    examples = re.compile(r'\n *Examples\n *-{8}\n.*?"""|docs/[\w-]+\.md', re.DOTALL)
    for path in sources():
        if path.relative_to(PACKAGE).parts[0] in GENERAL:
            of_families = {
                module for module in imports(path) if module.startswith("m2bridge.families.")
            }
            assert of_families <= ABOUT_ALL_FAMILIES, path
            assert not WORDS.findall(examples.sub("", text_of(path))), path


FAMILY_PACKAGES = sorted(path.parent.name for path in PACKAGE.glob("families/*/family.py"))


@pytest.mark.parametrize(("one", "other"), sorted(permutations(FAMILY_PACKAGES, 2)))
def test_no_family_imports_another(one: str, other: str) -> None:
    for path in sorted((PACKAGE / "families" / one).rglob("*.py")):
        module = f"m2bridge.families.{other}"
        found = every_import(f"m2bridge.families.{one}", path, modules())
        assert not [name for name in found if f"{name}.".startswith(f"{module}.")], path


def calls_through_the_registry(code: str) -> set[str]:
    """The attributes of ``family(…)`` that a program uses, directly or by a variable."""
    if "family" not in code:
        return set()
    tree = ast.parse(code)

    def is_family(node: ast.AST | None) -> bool:
        function = getattr(node, "func", None)
        return isinstance(node, ast.Call) and getattr(function, "id", "") == "family"

    variables = {
        getattr(target, "id", "")
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and is_family(node.value)
        for target in node.targets
    }
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            of_variable = isinstance(node.value, ast.Name) and node.value.id in variables
            if is_family(node.value) or of_variable:
                found.add(node.attr)
    return found


def test_families_are_called_by_methods_of_their_base_class_only() -> None:
    """So mypy sees each call through the registry, and every family answers it."""
    declared = {name for base in Family.__mro__ for name in vars(base)}
    for path in sources():
        undeclared = calls_through_the_registry(text_of(path)) - declared
        assert not undeclared, path


def test_a_planted_call_through_the_registry_is_seen() -> None:
    planted = "deep: Any = 1\nother = family('x')\nother.heads()\nfamily('y').ranks(1)"
    assert calls_through_the_registry(planted) == {"heads", "ranks"}


def users(library: str) -> set[str]:
    """The files that import a library, without their ending."""
    return {
        str(path.relative_to(PACKAGE).with_suffix(""))
        for path in sources()
        if library in libraries(path)
    }


@pytest.mark.parametrize(
    "library", ["Jinja", "IPython", "click", "distributed", "matplotlib", "mcp", "pexpect"]
)
def test_each_library_is_imported_by_the_module_that_the_map_names(library: str) -> None:
    importer = map_importers()[library]
    found = users(LIBRARIES[library])
    assert {name if name == importer else name.partition("/")[0] for name in found} == {importer}


def test_processes_are_looked_at_in_three_places() -> None:
    assert users("psutil") == {"system", "engine/process", "batch/executors"}


FOR_ONE_SYSTEM = re.compile(
    r"""
    /(proc|sys)/ | (setpriv|prctl|pdeathsig)\b | (?<!\()ulimit    # words for Linux and its shell
    | (sys\.platform | os\.(name|uname|fork|killpg) | platform\.(system|machine|release|version))$
    | ^(resource|ctypes)\b | kqueue$ | RLIMIT_ | F_(SET|GET)(OWN|SIG|PIPE) | (O_ASYNC|SIGIO)$
    """,
    re.VERBOSE,
)
"""What systems have in different ways, besides the names that macOS lacks."""
LACKING = {f"{module}.{name}" for module, names in MACOS_LACKS.items() for name in names}


def of_one_system(code: str) -> list[str]:
    """Names and texts of a program, without docstrings, that belong in ``system.py``."""
    nodes = list(ast.walk(ast.parse(code)))
    said = {node.value for node in nodes if isinstance(node, ast.Expr)}
    found: list[str] = []
    for node in nodes:
        written: list[str] = []
        if isinstance(node, ast.Attribute):
            written = [ast.unparse(node)]
        elif isinstance(node, ast.Import):
            written = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            written = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in said:
            written = [node.value]
        found += [name for name in written if FOR_ONE_SYSTEM.search(name) or name in LACKING]
    return found


@pytest.mark.slow
def test_what_only_one_system_has_is_in_one_file() -> None:
    found = {}
    for path in sources():
        if names := of_one_system(text_of(path)):
            found[str(path.relative_to(PACKAGE))] = names
    assert found.keys() == {"system.py"}, found
    assert LACKING & {*found["system.py"]} == {"os.sched_getaffinity", "os.waitid"}


@pytest.mark.parametrize(
    "planted",
    [
        "open('/proc/1/status')",
        "import resource",
        "from resource import RLIMIT_AS",
        "from sys import platform",
        "sys.platform == 'linux'",
        "from os import sched_getaffinity",
        "os.waitid(os.P_PID, 1, 0)",
        "os.fork()",
        "select.epoll()",
        "fcntl.fcntl(0, fcntl.F_SETOWN, 1)",
        "run = 'setpriv --pdeathsig KILL M2'",
        "run = 'ulimit -v 1000; exec M2'",
        "platform.system()",
        "import ctypes",
    ],
)
def test_a_planted_name_of_one_system_is_seen(planted: str) -> None:
    assert of_one_system(planted)
    assert not of_one_system(f'"""As Linux has it: {planted}."""')


def files_of(package: str) -> list[Path]:
    """The files of a package of the map; the checkers of all families are one."""
    if package == "checker":
        return CHECKER
    return [
        path for path in sources() if path.relative_to(PACKAGE).with_suffix("").parts[0] == package
    ]


@pytest.mark.parametrize(("package", "refused"), map_refusals())
def test_packages_do_not_import_what_the_map_says(package: str, refused: str) -> None:
    names = modules()
    files = files_of(package)
    assert files
    other = refused.strip("`")
    if other == refused:
        assert [path for path in files if LIBRARIES[refused] in libraries(path)] == []
        return
    assert (PACKAGE / other).is_dir()
    for name, path in names.items():
        if path in files:
            others = {module.split(".")[1] for module in every_import(name, path, names)}
            assert other not in others, path


def test_the_map_says_of_which_packages_nothing_is_imported() -> None:
    """The most important of these claims; each sentence of its form in the map is one that a test
    has read.
    """
    refusals = map_refusals()
    assert {
        ("engine", "SymPy"),
        ("engine", "`algebra`"),
        ("checker", "SymPy"),
        ("algebra", "`engine`"),
    } <= {*refusals}
    assert len({package for package, _ in refusals}) == ARCHITECTURE.count("imports no ")
    assert len(map_importers()) == len(
        re.findall(r"the only (?:module|package) that imports ", ARCHITECTURE)
    )


def test_a_planted_import_is_seen(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(
        "import click.types\ndef later():\n    from sympy.polys import rings\n    return"
        " library('matplotlib.lines', 'why')\nname = 'pexpect'\n"
    )
    assert libraries(planted) == {"click", "sympy", "matplotlib"}


def test_processes_need_no_mathematics_at_any_distance() -> None:
    """What ``engine/`` imports, what that imports, and so on, also inside functions."""
    names = modules()
    seen: set[str] = set()
    waiting = {name for name in names if name.startswith("m2bridge.engine")}
    while waiting:
        name = waiting.pop()
        seen.add(name)
        packages = {name.rpartition(".")[0]} & names.keys()  # imported with what is in them
        waiting |= (every_import(name, names[name], names) | packages) - {*seen, "m2bridge"}
    assert {name.split(".")[1] for name in seen} == {
        "engine",
        "results",
        "errors",
        "limits",
        "system",
        "_version",
    }
    found = {library for name in seen for library in libraries(names[name])}
    assert not found & {"sympy", "numpy", "mpmath"}


PLANNED = """
from m2bridge import SingleLayerAttention
from m2bridge.batch.store import tasks
assert all(task.needs_engine for task in tasks([SingleLayerAttention(2, 1)], "all"))
"""
"""A batch is planned, and Macaulay2 can start."""

NEEDS_NO_SYMPY = ["import m2bridge.cli.commands", "import m2bridge.batch.plan", PLANNED] + [
    f"from m2bridge.families.registry import family; family('{name}').statements()"
    for name in OWN_FAMILIES
    if family(name).options  # theorems for all sizes are sets of isl and polynomials
]


@pytest.mark.parametrize("code", NEEDS_NO_SYMPY)
def test_sympy_is_not_imported_before_it_is_needed(code: str) -> None:
    """It is slow to import: a command looks up statements and starts Macaulay2 first; a finished
    batch needs none.
    """
    code = f"{code}\nimport sys; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_command_line_imports_no_mathematics_and_nothing_slow() -> None:
    """Help is shown, and Macaulay2 started, before any of these; each takes as long as all of
    click, or longer.
    """
    slow = {"sympy", "flint", "jinja2", "rich", "importlib.metadata"}
    code = f"import m2bridge.cli.commands, sys; print(*{slow} & set(sys.modules))"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout
        == "\n"
    )


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def every_import(name: str, path: Path, names: Collection[str]) -> set[str]:
    """The modules that a file imports: at the top, in functions, for types only, and by string.

    The public names of the package and the registry of families, which name modules by strings, are
    left out of the last kind; a module that is named by a string with or without the package's name
    is an import of it.
    """
    written: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            written |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports say the whole name"
            written |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and DOTTED(str(node.value)) and name not in BY_STRING:
            word = str(node.value).partition(":")[0]
            written |= {word, f"m2bridge.{word}"}
    return {module for word in written if (module := _module(word, names))} - {name, "m2bridge"}


DOTTED = re.compile(r"\w+(\.\w+)+(:\w+)?").fullmatch
BY_STRING = ("m2bridge", "m2bridge.families.registry")
"""Modules that import by string what is above them: the lazy public names, and the registry with
its entry points.
"""


def _module(word: str, names: Collection[str]) -> str:
    """The module of which this is the name, or in which this is a name."""
    while word and word not in names:
        word = word.rpartition(".")[0]
    return word


def circle(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import each other around a circle, the first one twice; empty if there
    are none.
    """
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


def test_no_circle_of_imports() -> None:
    """Among files, every kind of import counted, without exemption."""
    names = modules()
    assert circle({name: every_import(name, path, names) for name, path in names.items()}) == []


def test_every_kind_of_import_is_counted(tmp_path: Path) -> None:
    names = modules()
    (planted := tmp_path / "planted.py").write_text(
        "from typing import TYPE_CHECKING\nimport m2bridge.limits\nfrom m2bridge.algebra import"
        " field\nfrom m2bridge.engine.session import Session\nif TYPE_CHECKING:\n    from"
        " m2bridge.maps.chain import Chain\ndef later():\n    from m2bridge.ideals.construct import"
        " ideal\npresentation = 'm2bridge.results.writers'\nother = 'reports.report.name'\ncommand"
        " = 'm2bridge.maps.closure:closure'\n"
    )
    expected = {
        "limits",
        "algebra.field",
        "engine.session",
        "maps.chain",
        "ideals.construct",
        "results.writers",
    }
    expected.add("maps.closure")
    found = every_import("m2bridge.planted", planted, {*names, "m2bridge.reports.report"})
    assert found == {f"m2bridge.{name}" for name in (*expected, "reports.report")}
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) != [] == circle({"a": {"b"}, "b": {"c"}})


BY_NAME = {
    *("__init__.py", "families/registry.py"),
    "limits.py",  # modules that are slow, or may be missing
    "results/picture.py",  # matplotlib
    "results/base.py",  # the forms of a result
}
"""Files that import a module whose name is computed."""


def test_only_the_registry_and_the_command_line_import_by_string() -> None:
    """By ``import_module`` and its like, whatever the string is made of."""
    users = {
        str(path.relative_to(PACKAGE))
        for path in modules().values()
        if re.search(r"\bimport_module\(|\b__import__\(|\.attach_stub\(|\.load\(\)", text_of(path))
    }
    assert users <= BY_NAME


PACKAGES = ["_version", *(name for cell, _ in MAP for name in map_packages(cell)), "__main__"]
"""The packages, and modules with a row of their own, of the map, from the lowest."""
EXCEPTIONS = {"engine/script": "results"}
"""Templates are filled in by one file, those of programs and those of pages."""


def place(module: str) -> int:
    """The place of a module on the map: of the longest path there that it is, or is in."""
    path = module.removeprefix("m2bridge.").replace(".", "/")
    if path in EXCEPTIONS:
        return PACKAGES.index(EXCEPTIONS[path])
    if path.startswith("families/") and "checker" in path.split("/"):
        return PACKAGES.index("checker")
    containing = [name for name in PACKAGES if f"{path}/".startswith(f"{name}/")]
    return PACKAGES.index(max(containing, key=len))


def test_packages_import_from_packages_below() -> None:
    names = modules()
    upward = [
        f"{name} imports {other}"
        for name, path in names.items()
        if name not in ("m2bridge", "m2bridge.families")
        for other in every_import(name, path, names)
        if place(other) > place(name) and other != "m2bridge.families"
    ]
    assert upward == [], upward


def defined_names(path: Path) -> set[str]:
    """The capitalised names of classes, types and type variables that a module defines."""
    names = set()
    for node in tree_of(path).body:
        targets: list[ast.expr] = []
        if isinstance(node, ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if re.fullmatch(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*", name)}


SEVERAL_MEANINGS: dict[str, str] = {}
"""Names that several modules define, each with the reason; five at most."""


def test_a_class_name_means_one_thing() -> None:
    """Outside checkers, which share nothing with what they check."""
    places: dict[str, list[str]] = {}
    for path in sources():
        if path not in CHECKER:
            for name in defined_names(path):
                places.setdefault(name, []).append(str(path.relative_to(PACKAGE)))
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert twice.keys() == SEVERAL_MEANINGS.keys(), twice
    assert len(SEVERAL_MEANINGS) <= 5
