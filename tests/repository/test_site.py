"""The documentation and the citation say what the program says."""

from __future__ import annotations

import ast
import doctest
import inspect
import io
import json
import re
import subprocess
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatch
from importlib import import_module
from itertools import chain
from pathlib import Path
from pkgutil import walk_packages
from typing import get_args, get_origin, get_type_hints

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

import m2bridge
import m2bridge.workspace.values
from m2bridge import __version__, citation
from m2bridge.cli.macaulay2 import cite_command
from m2bridge.families.registry import OWN_FAMILIES, family
from m2bridge.reports import FORMATS
from m2bridge.reports.read import collect
from tests.examples import ASKING, NAMES, VERBS, WITH_ENGINE, examples, failures
from tests.tiers import few

# The pages of the documentation say what the program says; that they are built without warnings is
# for ``.ci/run``.

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(DOCS.rglob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
FENCED = re.compile(r"^(```|---).*?^\1", re.MULTILINE | re.DOTALL)


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_every_public_name_is_in_the_reference_once() -> None:
    pages = text("reference/api.rst").split(".. currentmodule:: m2bridge.workspace.values\n")
    own, values = (sorted(re.findall(r"^   (\w+)$", page, re.MULTILINE)) for page in pages)
    assert own == sorted(name for name in m2bridge.__all__ if name != "__version__")
    assert values == sorted(m2bridge.workspace.values.__all__)


def test_documentation_and_examples_are_in_the_source_distribution() -> None:
    """With what README's first line names. What is in it in fact is looked at in ``.ci/run``, which
    builds it.
    """
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = set(options["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    assert {"docs", "examples"} <= included
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"pip install .*?-c (\S+)", readme))
    assert named == {"constraints.txt"}
    assert named <= included


def test_no_page_takes_anything_from_elsewhere() -> None:
    """Links may lead elsewhere; pictures, scripts and styles may not."""
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"!\[[^]]*\]\(\w+:|(?:src|@import)\W+https?:", text), page


def test_the_licence_of_the_font_stands_beside_it_and_is_named_where_the_font_is() -> None:
    static = ROOT / "docs" / "_static"
    style = (static / "mathematics.css").read_text(encoding="utf-8")
    named = re.findall(r"GUST\s+Font License: (\S+\.txt)", style)
    assert named
    licence = (static / named[0]).read_text(encoding="utf-8")
    for words in (
        "mathematics.woff2",
        "Latin Modern Math, copyright",
        "LaTeX Project Public License",
    ):
        assert words in licence
    assert (static / "mathematics.woff2").stat().st_size < 150_000  # a part of 0.7 megabytes


def anchors(page: Path) -> set[str]:
    """The headings of a page, as a link names them; a page that is a file of the repository has
    those of the file.
    """
    found = page.read_text(encoding="utf-8")
    if whole := re.fullmatch(r"(?:# .*\n\n)?\(file (.*)\)\s*", found):
        return anchors(ROOT / whole[1])
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", found), re.MULTILINE)
    named = re.findall(
        r"^\(([\w-]+)\)=$|^:label: ([\w-]+)$", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    slugs = {re.sub(r"[^\w\s-]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | {name for names in named for name in names if name}


def broken(page: Path) -> list[str]:
    """The links of a page that lead to no file, or to no heading of it."""
    links = re.findall(
        r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", FENCED.sub("", page.read_text(encoding="utf-8"))
    )
    targets = [(page.parent / path if path else page, anchor) for path, anchor in links]
    return [f"{to}#{at}" for to, at in targets if not to.exists() or (at and at not in anchors(to))]


def test_links_lead_somewhere() -> None:
    assert [link for page in PAGES for link in broken(page)] == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# What is `it`?\n[a](page.md#what-is-it) [b](#what) [c](none.md) [d](https://none.md)\n"
    )
    assert broken(page) == [f"{page}#what", f"{tmp_path / 'none.md'}#"]


# Paths in comments lead somewhere, in all languages. Files of users are named by pages, in
# backquotes and without a folder: of pages only programs and paths with folders are looked at.

FOLDERS = ("m2bridge", "m2scripts", "templates", "tests", "examples", "docs", "benchmarks")
COMMENTS = {".m2": r"--.*", ".j2": r"(?s:\{#.*?#\})|--[^-].*", ".toml": r"#.*", ".md": r"(?s:.+)"}
NAMED = re.compile(
    r"(?<![\w/.*<>~$-])((?:\.\./)*(?:[\w*.-]+/)*[\w*.-]+\.(?:py|m2|j2|toml|md)|(?:[\w*]+/)+(?=`))(?![\w/-])"
)
EXAMPLE = re.compile(r"^ *(?:>>>|\.\.\.) .*", re.MULTILINE)
"""A line of an example in a docstring, which may write a file of its own."""


def comments(suffix: str, source: str) -> str:
    """All that a file says to people: comments, if one has a path, and in Python every text that
    stands alone, but for examples.
    """
    if suffix != ".py":
        return "\n".join(re.findall(COMMENTS[suffix], source))
    said = []
    # tokens take a hundred times longer than the search for a path behind a mark of comments
    if any(NAMED.search(line, line.index("#")) for line in source.splitlines() if "#" in line):
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        said = [token.string for token in tokens if token.type == tokenize.COMMENT]
    texts = (node.value for node in statements(ast.parse(source)) if isinstance(node, ast.Expr))
    said += [EXAMPLE.sub("", str(text.value)) for text in texts if isinstance(text, ast.Constant)]
    return "\n".join(said)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements of a program, and what holds some; expressions hold none, and are most."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield node
            yield from statements(node)


def lost_paths(place: Path, source: str, there: set[str]) -> list[str]:
    """The paths in the comments of a file at which nothing is, neither from there nor from any
    folder above.
    """
    if not NAMED.search(source):  # reading the comments of a file takes a thousand times longer
        return []
    lost = []
    lines = "\n".join(there) + "\n"
    for name in NAMED.findall(comments(place.suffix, source)):
        of_a_user = (
            place.suffix == ".md"
            and ("/" not in name.rstrip("/"))
            and not name.endswith((".py", ".j2"))
        )
        if name.startswith("../"):
            found = (place.parent / name).exists()
        elif "*" in name:
            found = any(fnmatch(path, f"*/{name}") for path in there)
        else:
            found = f"/{name}\n" in lines
        if not (found or of_a_user):
            lost.append(f"{place.relative_to(ROOT)}: {name}")
    return lost


@pytest.fixture(scope="module")
def there() -> set[str]:
    """The paths of the project's files and folders; a folder ends in a slash."""
    paths = {"/" + path.name for path in ROOT.iterdir() if path.is_file()}
    for folder in FOLDERS:
        paths.add(f"/{folder}/")
        for path in (ROOT / folder).rglob("*"):
            paths.add(f"/{path.relative_to(ROOT)}" + ("/" if path.is_dir() else ""))
    return paths


@pytest.mark.slow
def test_paths_in_comments_exist(there: set[str]) -> None:
    lost, read = [], set()
    for path in sorted(there):
        place = ROOT / path.lstrip("/")
        if place.suffix in (".py", *COMMENTS) and place.is_file():
            lost += lost_paths(place, place.read_text(encoding="utf-8"), there)
            read.add(place.suffix)
    assert not lost
    assert read == {".py", *COMMENTS}


@pytest.mark.parametrize(
    ("name", "source", "lost"),
    [
        (
            "m2scripts/a.m2",
            "-- its reader is in m2bridge/engine/gone.py.\nload 1",
            "m2bridge/engine/gone.py",
        ),
        ("m2bridge/a.py", "x = 1  # see all_sizes/gone.py", "all_sizes/gone.py"),
        ("m2bridge/a.py", '"""The predictions of ``gone/``."""', "gone/"),
        ("m2bridge/a.py", 'MOST = 3\n"""As in templates/gone.m2.j2."""', "templates/gone.m2.j2"),
        ("templates/a.m2.j2", "{# as in\n_gone.j2 #}", "_gone.j2"),
        ("examples/a.toml", "# made by tests/gone.py", "tests/gone.py"),
        ("docs/a.md", "[Statements](gone/statements.md)", "gone/statements.md"),
        ("docs/a.md", "computed by `gone.py`", "gone.py"),
    ],
)
def test_a_path_at_which_nothing_is_is_found(
    name: str, source: str, lost: str, there: set[str]
) -> None:
    assert lost_paths(ROOT / name, source, there) == [f"{name}: {lost}"]
    assert not lost_paths(ROOT / name, source, there | {f"/{lost}"})


def test_readme_is_read_in_one_sitting() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 150
    assert re.findall(r"!\[[^]]+\]\((.*)\)", readme) == ["docs/figure1.svg"]
    assert re.search(r"^```python\n(.*\n){,10}```$", readme, re.MULTILINE)
    screen = readme.splitlines()[:32]
    first = screen.index("```pycon")
    assert first < 8
    assert screen.index("```") <= first + 11
    assert any(line.startswith("![") for line in screen)


def test_five_doors_lead_from_readme_and_index_to_one_screen_each() -> None:
    """README has two lines for each; a page has a command and three links to go on with."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    doors = sorted((DOCS / "doors").glob("*.md"))
    assert len(doors) == 5
    for page in doors:
        said = page.read_text(encoding="utf-8")
        link = rf"\*\*\[{title(page)}\]\((docs/)?doors/{page.name}\)\.?\*\*"
        assert re.search(rf"^\* {link}.*\n  \S.*$", readme, re.MULTILINE), page
        assert re.search(rf"^{link}", text("index.md"), re.MULTILINE), page
        assert len(said.splitlines()) <= 40
        assert re.search(r"^```\n\$ m2bridge ", said, re.MULTILINE)
        assert len(re.findall(r"^\* \[", said, re.MULTILINE)) == 3


def test_readme_has_commands_in_three_short_groups() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    part = readme[readme.index("## Commands") : readme.index("## Python")]
    groups = [len(group.strip().splitlines()) for group in part.split("```")[1::2]]
    assert len(groups) == 3
    assert max(groups) <= 6


def test_no_other_page_has_the_title_of_the_index() -> None:
    titles = [title(page) for page in DOCS.rglob("*.md")]
    assert titles.count(title(DOCS / "index.md")) == 1


def title(page: Path) -> str:
    """The title of a page, which may be a file of the repository."""
    found = page.read_text(encoding="utf-8")
    heading = re.search(r"^# (.*)$", found, re.MULTILINE)
    if heading:
        return heading[1]
    file = re.search(r"^\(file (.*)\)$", found, re.MULTILINE)
    assert file
    return title(ROOT / file[1])


def test_the_version_that_is_read_is_named_wherever_statements_of_the_paper_are() -> None:
    """The page says, too, that there is a later version, which nobody here has read."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for said in (readme, text("statements.md"), cited("--format", "text")):
        words = " ".join(said.split())
        assert "version 2" in words
        assert re.search(r"version 3 of June 2026", words)


def test_the_workflow_runs_the_lines_that_ci_runs() -> None:
    """Both take them out of README by the same words."""
    taken = r"sed -n '/^```sh$/,/^```$/p' README.md | grep -v '^```'"
    for file in (".ci/run", ".github/workflows/ci.yml"):
        assert taken in (ROOT / file).read_text(encoding="utf-8")
    assert "bash .ci/run\n" in (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("user", [0, 1000])
def test_ci_names_what_it_skips_without_root_and_skips_nothing_as_root(
    user: int, tmp_path: Path
) -> None:
    """Planted: the number of the user, and an apt-get that writes down what it is asked for."""
    for name, line in (("id", f"echo {user}"), ("apt-get", f'echo "$@" >>{tmp_path}/asked')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    begin, end = script.index("is_root() {"), script.index('step "packages of the system"')
    lines = f"""set -euo pipefail
    PATH={tmp_path}:$PATH
    {script[begin:end]}
    provide "the proofs" no-such-program coq mathcomp
    provide "a shell" sh dash
    say_what_is_skipped"""
    done = subprocess.run(["bash", "-c", lines], capture_output=True, text=True, check=True)
    asked = tmp_path / "asked"
    if user == 0:
        assert done.stdout == ""
        assert asked.read_text().splitlines()[-1].endswith("coq mathcomp")
    else:
        assert "  the proofs: it needs no-such-program, " in done.stdout
        assert "a shell" not in done.stdout
        assert not asked.exists()


def test_commits_are_checked_as_ci_checks() -> None:
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))[
        "repos"
    ]
    hooks = {hook["entry"].removesuffix(" --force-exclude") for hook in local["hooks"]}
    assert hooks == {"ruff check", "ruff format", "mypy"}
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert all(re.search(rf"^ *{hook}\b", steps, re.MULTILINE) for hook in hooks)


def test_the_changelog_has_each_release_once() -> None:
    releases = re.findall(
        r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(releases) == len(set(releases)) > 1


@pytest.mark.parametrize("page", [*DOCS.glob("tutorials/*.md")], ids=lambda page: page.stem)
def test_a_tutorial_begins_with_a_question_and_ends_with_an_answer(page: Path) -> None:
    title, _, body = page.read_text(encoding="utf-8").partition("\n# ")[2].partition("\n\n")
    assert "?" in title + body.partition("\n\n")[0]
    assert re.findall(r"^## (.*)$", body, re.MULTILINE)[-1] == "The answer"


def test_the_index_names_no_page_that_is_not_there() -> None:
    blocks = re.findall(r"```\{toctree\}\n(?::[^\n]*\n)*\n(.*?)```", text("index.md"), re.DOTALL)
    lines = [
        line for block in blocks for line in block.split("\n") if line and line != "(other pages)"
    ]
    named = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
    assert len(named) == len(set(named)) > 15
    assert [name for name in named if not list(DOCS.glob(f"{name}.*"))] == []


def test_the_script_for_slurm_is_a_script() -> None:
    script = ROOT / "examples" / "slurm.sh"
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0


# What is to be cited is said alike in the program, the metadata of the package and CITATION.cff.

ROOT = Path(__file__).parents[2]
CERTIFICATES = ROOT / "tests" / "certificates"
SCHEMA = Path(__file__).with_name("citation-file-format-1.2.0.json")
"""Published with the format (doi:10.5281/zenodo.5171937), CC-BY-4.0."""


@pytest.fixture
def cff():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


@pytest.fixture
def metadata():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def problems(data: object) -> list[str]:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    checker = jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker())
    return [error.message for error in checker.iter_errors(data)]


def test_the_citation_file_has_the_published_form(cff) -> None:
    assert not problems(cff)


@pytest.mark.parametrize("field", ["authors", "cff-version", "message", "title"])
def test_the_published_form_asks_for_something(cff, field: str) -> None:
    del cff[field]
    assert problems(cff)


@pytest.mark.parametrize(
    ("field", "wrong"), [("date-released", "2026-02-30"), ("url", "https://next year")]
)
def test_dates_and_addresses_are_read(cff, field: str, wrong: str) -> None:
    assert problems(cff | {field: wrong})


def works(cff) -> Iterator[str]:
    """What the file names, as the program writes it."""
    for work in cff["references"]:
        names = ", ".join(
            f"{author['given-names']} {author['family-names']}" for author in work["authors"]
        )
        if work["type"] == "conference-paper":
            published = f"{work['collection-title']} {work['year']}"
            yield (
                f"{names}, {work['title']}, {published}, {work['identifiers'][0]['value']}"
                f" {work['url']}"
            )
        else:
            yield f"{names}, {work['title']}, {work['url']}"


def test_an_address_is_in_every_form_of_the_citation() -> None:
    work = replace(citation.M2BRIDGE, url="https://example.org/m2bridge")
    assert "url = {https://example.org/m2bridge}" in work.to_bibtex()
    assert work.to_csl()["URL"] == "https://example.org/m2bridge"
    assert str(work).endswith("https://example.org/m2bridge")
    assert "url" not in citation.M2BRIDGE.to_bibtex() or citation.ADDRESS


def test_all_say_the_same(cff, metadata) -> None:
    assert (cff["title"], cff["version"]) == (citation.PROGRAM, __version__)
    assert cff["authors"] == metadata["authors"] == [{"name": citation.AUTHORS}]
    assert metadata["description"] == citation.TITLE
    assert (cff["license"], cff["keywords"]) == (metadata["license"], metadata["keywords"])
    assert metadata["urls"]["Paper"] == citation.LIGHTNING.url
    assert (
        cff.get("repository-code", "") == metadata["urls"].get("Repository", "") == citation.ADDRESS
    )
    assert metadata["urls"]["Macaulay2"] == citation.MACAULAY2.url
    papers = [
        f"{paper} {paper.url}" for paper in (citation.LIGHTNING, citation.POLYNOMIAL_NETWORKS)
    ]
    assert list(works(cff)) == [*papers, str(citation.MACAULAY2)]


def cited(*options: str) -> str:
    done = CliRunner().invoke(cite_command, options, standalone_mode=False)
    assert done.exception is None
    return done.output


def test_cite_names_program_version_and_paper() -> None:
    for form in ("text", "bibtex", "json"):
        text = cited("--format", form)
        assert citation.PROGRAM in text
        assert "Geometry of Lightning Self-Attention: Identifiability and Dimension" in text
        assert "2408.17221v2" in text


def test_bibtex_has_one_entry_for_each_work() -> None:
    entries = re.findall(
        r"^@(\w+)\{(\w+),\n((?:  \w+ = \{.*\},\n)+)\}$", cited("--format", "bibtex"), re.MULTILINE
    )
    assert [(kind, key) for kind, key, _ in entries] == [
        ("inproceedings" if work.arxiv else "misc", work.key) for _, work in citation.WORKS
    ]
    assert [key for _, key, _ in entries[:2]] == ["m2bridge", "henry2025geometry"]
    for _, _, fields in entries:
        assert fields.count("{") == fields.count("}")
    assert (
        "author = {Henry, Nathan W. and Marchetti, Giovanni Luca and Kohn, Kathlén}"
        in entries[1][2]
    )
    assert "eprint = {2408.17221}" in entries[1][2]


def test_the_paper_of_each_family_is_cited() -> None:
    papers = {family(name).paper for name in OWN_FAMILIES} - {None}
    assert {work for _, work in citation.WORKS} >= papers


def test_json_is_a_list_for_csl() -> None:
    items = json.loads(cited("--json"))
    assert [item["type"] for item in items] == [
        "paper-conference" if work.arxiv else "software" for _, work in citation.WORKS
    ]
    assert items[1]["author"][2] == {"given": "Kathlén", "family": "Kohn"}
    assert items[0]["version"] == __version__


@pytest.mark.parametrize("form", few(sorted(set(FORMATS) - {"csv"}), 2))
def test_every_report_says_what_to_cite(form: str) -> None:
    """But for a table that programs read."""
    text = re.sub(r"(?<=-)\s+", "", re.sub(r"[{}\\]", "", FORMATS[form](collect(CERTIFICATES))))
    text = re.sub(r"\s+", " ", text)
    for said in (
        "Giovanni Luca Marchetti",
        "Geometry of Lightning Self-Attention",
        "2408.17221v2",
        __version__,
    ):
        assert said in text
    if form != "json":
        assert "m2bridge cite" in text


# Every public name has an example in its docstring, and the examples are right; those with
# Macaulay2 elsewhere.


def test_a_public_name_has_an_example() -> None:
    for name in (*NAMES, *VERBS):
        written = examples(name).examples
        assert any(example.want for example in written), name
        skipped = any(example.options.get(doctest.SKIP) for example in written)
        assert skipped == (name == "Ideal.to_sage"), (
            name
        )  # it needs Sage; test_ideals_without_engine tries it where Sage is


def documented_parameters(function: object) -> list[str]:
    """The names under *Parameters* in a docstring of its own."""
    text = getattr(function, "__doc__", None)
    lines = inspect.cleandoc(text).split("\n") if isinstance(text, str) else []
    if "Parameters" not in lines:
        return []
    names: list[str] = []
    first = lines.index("Parameters") + 2
    for line, after in zip(lines[first:], [*lines[first + 1 :], ""], strict=True):
        if re.fullmatch("---+", after):  # the heading of the next section
            break
        if line and not line.startswith(" "):
            names += [name.strip().lstrip("*") for name in re.sub(r"\s+:.*", "", line).split(",")]
    return names


def undocumented_names(function: object) -> list[str]:
    """The names that a docstring has, and the signature has not."""
    documented = documented_parameters(function)
    if not documented or not callable(function):
        return []
    return sorted(set(documented) - set(inspect.signature(function).parameters))


def test_parameters_in_docstrings_are_those_of_the_signature() -> None:
    wrong, read = {}, 0
    for module in (found.name for found in walk_packages(m2bridge.__path__, "m2bridge.")):
        for name, value in vars(import_module(module)).items():
            if getattr(value, "__module__", None) != module:
                continue
            members = list(vars(value).values()) if inspect.isclass(value) else []
            for member in (value, *members):
                function = getattr(member, "__func__", member)  # of a class method
                read += bool(documented_parameters(function))
                if names := undocumented_names(function):
                    wrong[f"{module}.{name}"] = names
    assert not wrong
    assert read > 100


def test_a_parameter_that_is_not_there_is_found() -> None:
    def function(source: str, *items: int, last: int = 0) -> None:
        """Read it.

        Parameters
        ----------
        given : str
        *items, last : int
            Several: of one kind.

        Raises
        ------
        ValueError
        """

    assert documented_parameters(function) == ["given", "items", "last"]
    assert undocumented_names(function) == ["given"]


@pytest.mark.slow
def test_examples_without_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("m2bridge.engine.session.Conversation.start")
    monkeypatch.delattr("m2bridge.engine.session.Session.run")
    for name in {*NAMES, *VERBS} - WITH_ENGINE - ASKING:
        assert not failures(examples(name))


@pytest.mark.slow
def test_other_examples() -> None:
    """Of names that are not public; these are written as in their module, beside the public
    names.
    """
    public = {name: getattr(m2bridge, name) for name in NAMES}
    for module in (found.name for found in walk_packages(m2bridge.__path__, "m2bridge.")):
        room = import_module(module)
        for test in doctest.DocTestFinder().find(room, module, globs=public | vars(room)):
            if not test.examples:
                continue  # five thousand docstrings: a run of nothing takes time, too
            name = test.name.removeprefix(f"{module}.")
            if name not in (*NAMES, *VERBS) and name.split(".")[0] not in WITH_ENGINE:
                assert not failures(test)


def test_a_wrong_example_is_noticed() -> None:
    planted = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "planted", None, 0)
    assert "Expected:\n    3\nGot:\n    2" in failures(planted)


def test_results_print_their_text() -> None:
    for name in NAMES:
        value = getattr(m2bridge, name)
        if inspect.isclass(value) and hasattr(value, "to_text"):
            shown = object.__new__(type("Shown", (value,), {"to_text": lambda self: "the text"}))
            assert value.__str__ is value.to_text or str(shown) == "the text", name


# What a page teaches can be used: its imports are of stable names, or the page says that they are
# none.

TAUGHT = re.compile(r"^from (m2bridge[\w.]*) import", re.MULTILINE)
STABLE = {"m2bridge", "m2bridge.plugins", "m2bridge.workspace.values"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_imports_on_pages_are_of_stable_names(page: Path) -> None:
    written = page.read_text(encoding="utf-8")
    taught = {module for module in TAUGHT.findall(written) if module not in STABLE}
    assert not taught or "stability.md" in written, f"{page.name}: {sorted(taught)}"


MADE_ELSEWHERE = {
    "Certificate": "certify",  # makes them
    "CoreSize": "closures_of_all_sizes",  # has them all by default
    "GlobalStatement": "cross_check_deep_attention",  # so has this one
    "OrbitStatement": "cross_check",  # and this one
    "RunOptions": "certify",  # names the keywords engine and timeout
}
"""Classes that public functions take and that are not public, and the function that has them."""


def classes(annotation: object) -> Iterator[type]:
    """The classes of m2bridge in an annotation."""
    if isinstance(annotation, type) and annotation.__module__.startswith("m2bridge"):
        yield annotation
    elif annotation is not None:
        for part in (get_origin(annotation), *get_args(annotation)):
            yield from classes(part)


def test_what_public_functions_take_is_public() -> None:
    """Or it has a public subclass, as models have, or a public function makes it."""
    values = [getattr(m2bridge, name) for name in m2bridge.__all__]
    public = [value for value in values if isinstance(value, type)]
    for function in filter(inspect.isfunction, values):
        hints = get_type_hints(inspect.unwrap(function))
        hints.pop("return")
        for taken in chain.from_iterable(map(classes, hints.values())):
            usable = any(taken in own.__mro__ for own in public)
            assert usable or taken.__name__ in MADE_ELSEWHERE, (function.__name__, taken)


def test_every_way_around_is_public() -> None:
    assert set(MADE_ELSEWHERE.values()) <= set(m2bridge.__all__)
