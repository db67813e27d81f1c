"""The map of the layers in ARCHITECTURE.md is the truth: imports go one way, and each library has one door."""

import ast
import re
import subprocess
import sys
from collections.abc import Collection
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import m2bridge

PACKAGE = Path(m2bridge.__file__).parent
DOORS = {
    "jinja2": {"engine/script.py"},
    "pexpect": {"engine/process.py"},
    "psutil": {"engine/process.py", "batch/worker.py"},
    "distributed": {"batch/cluster.py"},
    "IPython": {"notebook.py"},
}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def sources() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


REGISTRY = PACKAGE / "families" / "__init__.py"
CHECKER = [
    path for path in sources() if re.match(r"checker/|families/(\w+/)+checker(/|\.)", str(path.relative_to(PACKAGE)))
]
TRUSTED = re.compile(
    r"flint|islpy|m2bridge\.(errors|_version|system|families|certificates\.(schema|files|wording)|checker(\..*)?)"
    r"|m2bridge\.families(\.\w+)+\.checker(\..*)?"
)
"""What the checker may import besides the standard library (isl for all sizes only): no other mathematics of ours."""


@pytest.mark.parametrize("path", CHECKER, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_checker_stands_alone(path: Path) -> None:
    foreign = {module for module in imports(path) if module.split(".")[0] not in sys.stdlib_module_names}
    assert not [module for module in foreign if not TRUSTED.fullmatch(module)]


GENERAL = (
    *("results", "algebra", "convert", "implicitization", "engine", "ideals", "workspace", "maps", "pictures"),
    *("crosscheck", "certificates", "checker", "batch", "reports"),
)
"""Rooms that know no family."""
WORDS = re.compile(r"attention|d_out|rk A\b|neuromanifold|polynomial.network", re.IGNORECASE)


@pytest.mark.parametrize("path", [p for p in sources() if p.relative_to(PACKAGE).parts[0] in GENERAL], ids=str)
def test_general_rooms_know_no_family(path: Path) -> None:
    """They import no folder of a family, and do not contain its words."""
    registry = {f"m2bridge.families.{name}" for name in ("definition",)}
    assert not [module for module in imports(path) - registry if module.startswith("m2bridge.families.")]
    examples = re.compile(r'\n *Examples\n *-{8}\n.*?"""|docs/\w+\.md', re.DOTALL)
    assert not WORDS.findall(examples.sub("", path.read_text(encoding="utf-8")))


def test_a_family_is_known_by_its_line_in_the_registry_only() -> None:
    """The registry names it as text; other families do not import it."""
    for path in sources():
        room = path.relative_to(PACKAGE).parts
        for module in imports(path):
            if module.startswith("m2bridge.families.polynomial_network"):
                assert room[:2] == ("families", "polynomial_network"), path


@pytest.mark.parametrize("library", DOORS)
def test_each_library_has_one_door(library: str) -> None:
    doors = {
        str(path.relative_to(PACKAGE))
        for path in sources()
        if any(module.split(".")[0] == library for module in imports(path))
    }
    assert doors == DOORS[library]


def test_click_is_used_in_the_command_line_only() -> None:
    users = [path for path in sources() if any(module.split(".")[0] == "click" for module in imports(path))]
    assert {path.relative_to(PACKAGE).parts[0] for path in users} == {"cli"}


@pytest.mark.parametrize("module", ["m2bridge.cli.commands", "m2bridge.batch.plan"])
def test_sympy_is_not_imported_before_it_is_needed(module: str) -> None:
    """It is slow to import: a command line starts Macaulay2 first, and a finished batch needs no SymPy."""
    code = f"import sys, {module}; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_circle_of_imports() -> None:
    """Imports at the top of modules."""
    names = {
        ".".join(p.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): p for p in sources()
    }
    sorter = TopologicalSorter({name: _imported(path, names) - {name} for name, path in names.items()})
    assert len(tuple(sorter.static_order())) == len(names)


def _imported(path: Path, names: Collection[str]) -> set[str]:
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {
        name
        for name in found
        if name in names and not (names[name].name == "__init__.py" and found & _below(name, names))
    }


def _below(name: str, names: Collection[str]) -> set[str]:
    """The modules of a package: importing one of them is not importing what its ``__init__`` gathers."""
    return {other for other in names if other.startswith(f"{name}.")}
