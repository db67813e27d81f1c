"""Certificates of former releases, and words that are put otherwise by now."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from m2bridge._version import __version__
from m2bridge.certificates.form import Certificate, read, write
from m2bridge.certificates.wording import Wording
from m2bridge.certification import make as certify
from m2bridge.certification.verify import verify, verify_path
from m2bridge.families.registry import OWN_FAMILIES, checker
from tests.certificates.__main__ import by_release
from tests.changing import changed

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "certificates"
RELEASES = sorted(folder for folder in FOLDER.iterdir() if re.fullmatch(r"[0-9.]+", folder.name))
KEPT = [path for folder in RELEASES for path in sorted(folder.glob("*.json"))]
WORDINGS = [wording for name in OWN_FAMILIES for wording in checker(name).wordings]
FORMER_POLAR = FOLDER / "former" / "d3-dout2-a2-t2-polar.json"


LONG = "attention-all-sizes-closures"
"""It takes seconds to compute, and ``tests/unit/checker/test_checker.py`` verifies the one of each
release in the process that has computed all of it for the present one.
"""


@pytest.mark.parametrize(
    "path",
    [path for path in KEPT if path.stem != LONG],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_every_certificate_of_a_release_is_verified_by_all_later_ones(path: Path) -> None:
    """Another program may stand there by now; where all rests on it, it may not."""
    finding = verify_path(path)
    assert finding.content_right, finding


def test_certificates_of_a_release_are_of_all_kinds() -> None:
    """A family that came later has none among them."""
    assert RELEASES[0].name == "1.0"
    kinds = kinds_of_releases()
    of_release = {name for name, _ in kinds}
    assert of_release >= OF_1_0
    for name in of_release:
        missing = {key for key in checker(name).questions if (name, key) not in kinds}
        assert missing - {key for of, key in SINCE_1_0 if of == name} == ALIKE.get(name, set())


def kinds_of_releases() -> set[tuple[str, str]]:
    """The families and questions of certificates that releases wrote."""
    certificates = map(read, KEPT)
    return {(certificate.family, certificate.question) for certificate in certificates}


SINCE_1_0 = {
    ("attention", "exposed"),
    ("attention", "exposed-heads"),
    ("attention", "learning-degree"),
    ("attention-all-sizes", "exposed"),
}
"""Questions that no kept release has: its folder comes with the release."""


OF_1_0 = {
    "attention",
    "attention-all-sizes",
    "deep-attention",
    "deep-attention-all-sizes",
    "polynomial-network",
}
"""The families of release 1.0."""

ALIKE = {
    "attention-all-sizes": {
        "3.3",
        "A.3",
        "A.5",
        "A.6",
        "closures-3-3-3",
        "closures-4-2-2",
        "not-a-manifold",
        "singular-locus",
    },
    "deep-attention": {"3.5", "3.9"},
    "deep-attention-all-sizes": {"3.5", "3.9", "3.10", "V"},
}
"""Questions whose certificates are made as those on others are, with the same evidence."""


def read_now(path: Path) -> Certificate:
    """A certificate, said to be written by this release: what is wrong in it is rejected."""
    return by_release(read(path), __version__)


def findings(folder: Path, tables: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.reworded", str(folder), tables]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_other_words_make_no_certificate_unverifiable() -> None:
    """All words of all statements, sources, lemmas and hypotheses are put otherwise."""
    for name, (outcome, check, remarks) in findings(FOLDER / "1.0", "kept").items():
        assert (outcome, check) == ("accepted", ""), name
        if read(FOLDER / "1.0" / name).answer.get("verdicts"):
            assert "in its words of version" in remarks[0]


def test_former_words_are_accepted_by_their_tables_only() -> None:
    refused = findings(FOLDER / "1.0", "forgotten")
    assert len(refused) == len(list((FOLDER / "1.0").glob("*.json"))) - 1
    # which of them is a matter of the release that wrote it
    assert {outcome for outcome, _, _ in refused.values()} <= {"rejected", "other-release"}


def test_former_words_are_no_way_to_say_what_is_false(tmp_path: Path) -> None:
    """The numbers in the former words of a hypothesis, verdicts and lemmas are compared as ever."""
    network = read_now(FOLDER / "1.0" / "deep-attention-2-2-1-a2-1-t2-3.7.json")
    (verdict, *_) = network.answer["verdicts"]
    place = ("answer", "verdicts", 0)
    assert verdict["hypothesis"].endswith("here 2, 2 and 1")
    lied = verdict["hypothesis"].replace("here 2, 2 and 1", "here 2, 2 and 2")
    theorem = read_now(FOLDER / "1.0" / "d3-dout2-a2-t2-3.4.json")
    texts = [said["text"] for said in theorem.answer["verdicts"]]
    forged = {
        "hypothesis": changed(network, (*place, "hypothesis"), lied),
        "text": changed(theorem, (*place, "text"), texts[1]),
        "verdict": changed(theorem, ("answer", "verdicts", 2, "verdict"), "CONFIRMED"),
        "fewer": changed(theorem, ("trusted",), theorem.trusted[1:]),
        "other": changed(theorem, ("trusted", 0), f"{theorem.trusted[0]} or not"),
    }
    for name, certificate in forged.items():
        write(certificate, tmp_path / name)
    found = findings(tmp_path, "kept")
    assert {path.partition("/")[0] for path in found} == forged.keys()
    assert {outcome for outcome, _, _ in found.values()} == {"rejected"}


def test_former_words_say_what_they_said() -> None:
    """Those on polar degrees predict yes or no, and a source that is not theirs is no source."""
    certificate = read_now(FORMER_POLAR)
    finding = verify(certificate)
    assert finding.accepted
    assert finding.remarks[0].startswith("polar in its words of version 1")
    for name, value in (("predicted", [1] * 13), ("source", "hearsay"), ("text", ["a list"])):
        forged = changed(certificate, ("answer", "verdicts", 0, name), value)
        assert verify(forged).outcome == "rejected"


def test_a_question_is_not_answered_in_the_words_of_another() -> None:
    former = read_now(FORMER_POLAR).answer["verdicts"][0]
    degree = read_now(FOLDER / "1.0" / "d3-dout2-a2-t2-degree.json")
    finding = verify(changed(degree, ("answer", "verdicts", 0, "text"), former["text"]))
    assert (finding.outcome, finding.check) == ("rejected", "answer.verdicts[0].text")


def test_statements_that_are_not_certified_are_no_questions() -> None:
    certificate = read_now(FOLDER / "1.0" / "d3-dout2-a2-t2-degree.json")
    for question in ("hilbert", "generators", "generated"):
        assert verify(replace(certificate, question=question).sealed()).outcome == "malformed"


def test_shared_scripts_of_former_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those in the table are as good as the present ones, under their own name only."""

    def with_script(name: str, digest: str) -> Certificate:
        certificate = read_now(FOLDER / "1.0" / "d2-dout2-a2-t1-closure.json")
        return replace(certificate, libraries=certificate.libraries | {name: digest}).sealed()

    former = with_script("wire", "0" * 64)
    assert verify(former).check == "libraries.wire"
    monkeypatch.setitem(certify.FORMER_SCRIPTS, "wire", ("1" * 64, "0" * 64))
    assert verify(former).accepted
    assert verify(with_script("wire", "2" * 64)).check == "libraries.wire"
    assert verify(with_script("other", "0" * 64)).check == "libraries"


@pytest.mark.parametrize("wording", WORDINGS)
def test_tables_of_words(wording: Wording) -> None:
    """Versions of a statement are 1, 2, …, the present one last, and no two say the same."""
    both = [*wording.former, *wording.statements]

    def name(words: Any) -> tuple[str, str]:
        return words.key, words.part

    for _, listed in groupby(sorted(both, key=name), key=name):
        versions = sorted(listed, key=lambda words: words.version)
        assert [words.version for words in versions] == list(range(1, len(versions) + 1))
        assert versions[-1] in wording.statements
    assert len({(words.text, words.source) for words in both}) == len(both)
    assert all(words.observable in wording.trusted for words in both)
    present = {*wording.lemmas.values(), *wording.hypotheses.values()}
    for former, words in wording.reworded.items():
        assert former not in present
        assert set(re.findall(r"\{\w+\}", former)) == set(re.findall(r"\{\w+\}", words))


def test_numbers_in_former_words_go_into_the_present_ones() -> None:
    table = {
        "for {first} and {last}; one layer": "one layer, of {last} and {first}",
        "as before": "as now",
    }
    wording = replace(WORDINGS[0], reworded=table)
    assert wording.renewed("for 2 and 3, 4; one layer") == "one layer, of 3, 4 and 2"
    assert wording.renewed("as before") == "as now"
    for other in ("for two and 3; one layer", "as before.", "as now", ""):
        assert wording.renewed(other) == other
