"""What is to be cited is said alike in the program, the metadata of the package and CITATION.cff."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from m2bridge import __version__, citation
from m2bridge.cli.bridge import cite_command
from m2bridge.reports import FORMATS, collect

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


def works(cff) -> Iterator[str]:
    """What the file names, as the program writes it."""
    for work in cff["references"]:
        names = ", ".join(f"{author['given-names']} {author['family-names']}" for author in work["authors"])
        if work["type"] == "conference-paper":
            published = f"{work['collection-title']} {work['year']}"
            yield f"{names}, {work['title']}, {published}, {work['identifiers'][0]['value']} {work['url']}"
        else:
            yield f"{names}, {work['title']}, {work['url']}"


def test_all_say_the_same(cff, metadata) -> None:
    assert (cff["title"], cff["version"]) == (citation.PROGRAM, __version__)
    assert cff["authors"] == metadata["authors"] == [{"name": citation.AUTHORS}]
    assert metadata["description"] == citation.TITLE
    assert (cff["license"], cff["keywords"]) == (metadata["license"], metadata["keywords"])
    assert metadata["urls"]["Paper"] == citation.LIGHTNING.url
    assert metadata["urls"]["Macaulay2"] == citation.MACAULAY2.url
    papers = [f"{paper} {paper.url}" for paper in (citation.LIGHTNING, citation.POLYNOMIAL_NETWORKS)]
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
    entries = re.findall(r"^@(\w+)\{(\w+),\n((?:  \w+ = \{.*\},\n)+)\}$", cited("--format", "bibtex"), re.MULTILINE)
    assert [(kind, key) for kind, key, _ in entries] == [
        ("misc", "m2bridge"),
        ("inproceedings", "henry2025geometry"),
        ("inproceedings", "kileel2019expressive"),
        ("misc", "M2"),
    ]
    for _, _, fields in entries:
        assert fields.count("{") == fields.count("}")
    assert "author = {Henry, Nathan W. and Marchetti, Giovanni Luca and Kohn, Kathlén}" in entries[1][2]
    assert "eprint = {2408.17221}" in entries[1][2]


def test_json_is_a_list_for_csl() -> None:
    items = json.loads(cited("--json"))
    assert [item["type"] for item in items] == ["software", "paper-conference", "paper-conference", "software"]
    assert items[1]["author"][2] == {"given": "Kathlén", "family": "Kohn"}
    assert items[0]["version"] == __version__


@pytest.mark.parametrize("form", sorted(set(FORMATS) - {"csv"}))
def test_every_report_says_what_to_cite(form: str) -> None:
    """But for a table that programs read."""
    text = re.sub(r"\s+", " ", re.sub(r"[{}\\]", "", FORMATS[form](collect(CERTIFICATES))))
    for said in ("Giovanni Luca Marchetti", "Geometry of Lightning Self-Attention", "2408.17221v2", __version__):
        assert said in text
    if form != "json":
        assert "m2bridge cite" in text
