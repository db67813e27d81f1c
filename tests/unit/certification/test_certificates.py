"""Certificates without Macaulay2: one test for each file of ``tests/certificates``, and the
format.
"""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from m2bridge import SingleLayerAttention
from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.batch.verifying import verify_files
from m2bridge.certificates.form import COMMITS_WITHOUT_TAG, SCHEMA, Certificate, digest, read, write
from m2bridge.certification.verify import verify, verify_path
from m2bridge.checker import algebra
from m2bridge.cli import OTHER_RELEASE, REFUTED, commands
from m2bridge.cli.certificates import files_of_batches
from m2bridge.convert.printing import polynomial_text
from m2bridge.errors import CertificateError
from m2bridge.families.attention.checker import case as checked
from m2bridge.families.attention.orbits.fibres import Fibre
from m2bridge.families.attention.orbits.orbits import orbits
from tests.certificates.__main__ import as_before, by_release, reported
from tests.changing import changed
from tests.fibre_scheme import fibre_scheme, scheme

FOLDER = Path(__file__).parents[2] / "certificates"


def files(outcome: str) -> list[Path]:
    return sorted((FOLDER / outcome).glob("*.json"))


@pytest.mark.parametrize("path", files("accepted") + files("networks"), ids=lambda path: path.stem)
def test_accepted(path: Path) -> None:
    finding = verify_path(path)
    assert finding.accepted, finding
    assert path.name == read(path).file_name


@pytest.mark.parametrize("path", files("rejected"), ids=lambda path: path.stem)
def test_rejected(path: Path) -> None:
    """The file is named after the check that has to fail, and the finding shows two different
    values.
    """
    finding = verify_path(path)
    assert (finding.outcome, finding.check) == ("rejected", path.stem)
    assert finding.stored != finding.found


@pytest.mark.parametrize("path", files("too-expensive"), ids=lambda path: path.stem)
def test_too_expensive(path: Path) -> None:
    """Told from the size, at once; the file is named after the check."""
    finding = verify_path(path)
    assert (finding.outcome, finding.check) == ("too-expensive", path.stem)
    assert finding.found


@pytest.mark.parametrize("path", files("program-not-checked"), ids=lambda path: path.stem)
def test_program_not_checked(path: Path) -> None:
    finding = verify_path(path)
    assert finding.outcome == "program-not-checked"
    assert (finding.accepted, finding.content_right) == (False, True)
    assert 'run "rm -rf ~"' in read(path).script["text"]


@pytest.mark.parametrize("path", files("malformed"), ids=lambda path: path.stem)
def test_malformed(path: Path) -> None:
    finding = verify_path(path)
    assert finding.outcome == "malformed"
    assert finding.found


@pytest.mark.parametrize("path", files("accepted-on-trust"), ids=lambda path: path.stem)
def test_accepted_on_trust(path: Path) -> None:
    finding = verify_path(path)
    assert finding.outcome == "accepted-on-trust"
    assert (finding.accepted, finding.content_right) == (True, True)
    (on_trust,) = [remark for remark in finding.remarks if remark.startswith("on trust: ")]
    assert on_trust.removeprefix("on trust: ") in read(path).trusted


def test_no_folder_is_empty() -> None:
    assert all(len(files(outcome)) > 7 for outcome in ("accepted", "rejected", "malformed"))


def test_written_and_read_back(tmp_path: Path) -> None:
    certificate = read(files("accepted")[0])
    path = write(certificate, tmp_path / "new" / "folder")
    assert (
        read(path)
        == certificate
        == Certificate.from_json(json.loads(path.read_text(encoding="utf-8")))
    )
    assert [p.name for p in path.parent.iterdir()] == [certificate.file_name]
    assert path.read_bytes() == files("accepted")[0].read_bytes()


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = read(files("accepted")[0])
    path = write(certificate, tmp_path)

    def full(descriptor: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        write(reported(certificate, seconds=99.0), tmp_path)
    assert read(path) == certificate
    assert list(tmp_path.iterdir()) == [path]


def test_a_certificate_of_another_release_gets_a_remark() -> None:
    certificate = read(files("accepted")[0])
    finding = verify(by_release(certificate, "99.0"))
    assert finding.accepted
    assert "99.0" in finding.remarks[0]
    assert len(finding.remarks) == 1, "the program is the same"


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("d2-dout1-a1-t2-degree.json", "program-not-checked"),
        ("d2-dout2-a2-t1-closure.json", "other-release"),
    ],
)
def test_a_program_of_another_release_is_never_simply_accepted(name: str, outcome: str) -> None:
    """A statement is computed anew in full; a closure for one token rests on what its
    program said.
    """
    certificate = read(FOLDER / "accepted" / name)
    changes: list[dict[str, Any]] = [
        {"script": {"text": 'print "evil"', "digest": digest('print "evil"')}},
        {"libraries": {}},
        {"libraries": certificate.libraries | {"wire": "0" * 64}},
    ]
    for change in changes:
        here = replace(certificate, **change)
        assert verify(here.sealed()).outcome == "rejected"
        finding = verify(by_release(here, "0.0.9"))
        assert finding.outcome == outcome
        assert any("0.0.9" in remark for remark in finding.remarks)
        assert not finding.accepted
        if finding.content_right:
            assert "the answer is right" in finding.remarks[0]


@pytest.mark.parametrize("release", [None, "", "0.1.0 ", "newest", "0; rm"])
def test_a_certificate_names_the_release_that_wrote_it(release: str | None) -> None:
    certificate = read(files("accepted")[0])
    others = {name: v for name, v in certificate.reported["versions"].items() if name != "m2bridge"}
    anonymous = reported(
        certificate, versions=others | ({} if release is None else {"m2bridge": release})
    )
    finding = verify(anonymous)
    assert (finding.outcome, finding.check) == ("rejected", "reported.versions.m2bridge")
    with pytest.raises(CertificateError, match="reported"):
        Certificate.from_json(anonymous.to_json())


def test_a_certificate_under_the_name_of_another_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "d2-dout2-a2-t2-3.4.json"
    shutil.copy(FOLDER / "accepted" / "d3-dout2-a2-t2-3.4.json", path)
    finding = verify_path(path)
    assert (finding.outcome, finding.check) == ("rejected", "file name")
    assert (finding.stored, finding.found) == (path.name, "d3-dout2-a2-t2-3.4.json")
    assert verify(read(path)).accepted


def test_what_is_not_a_file_is_malformed(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    (tmp_path / "b.json").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "c.json")
    for path in tmp_path.iterdir():
        assert (verify_path(path).outcome, verify_path(path).found) == ("malformed", "not a file")


def test_a_certificate_in_the_words_of_another_release_is_neither_accepted_nor_rejected() -> None:
    certificate = read(files("accepted")[0])
    verdicts = [
        verdict | {"text": "As it was put then."} for verdict in certificate.answer["verdicts"]
    ]
    here = replace(certificate, answer=certificate.answer | {"verdicts": verdicts})
    there = by_release(here, "0.0.9")
    finding = verify(there)
    assert (finding.outcome, finding.check) == ("other-release", "answer.verdicts[0].text")
    assert "git checkout v0.0.9 and pip install ." in finding.remarks[0]
    assert verify(here.sealed()).outcome == "rejected"
    assert verify(replace(there, digest="0" * 64)).outcome == "rejected"
    assert verify(by_release(here, "0; rm")).outcome == "rejected"
    unknown = by_release(replace(here, question="tomorrow").sealed(), "0.0.9")
    assert verify(unknown).outcome == "other-release"
    assert verify(replace(unknown, digest="0" * 64)).outcome == "malformed"


@pytest.mark.parametrize("release", COMMITS_WITHOUT_TAG)
def test_the_advice_names_a_commit_where_there_is_no_tag(release: str) -> None:
    """In a clone with this commit, its version is that of the release."""
    certificate = read(files("accepted")[0])
    asked = by_release(replace(certificate, question="tomorrow").sealed(), release)
    commit = COMMITS_WITHOUT_TAG[release]
    assert f"git checkout {commit[:12]} and pip install ." in verify(asked).remarks[0]
    shown = subprocess.run(
        ["git", "show", f"{commit}:m2bridge/_version.py"],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    if shown.returncode != 0:
        pytest.skip("this is no clone with the history of the releases")
    assert f'__version__ = "{release}"' in shown.stdout


@pytest.mark.parametrize("heading", [True, False], ids=["as now", "as in schema 1"])
@pytest.mark.parametrize("fields", [{}, {"anything": "new"}])
def test_a_certificate_of_another_schema_names_its_release(
    tmp_path: Path, fields: dict[str, str], heading: bool
) -> None:
    data = read(files("accepted")[0]).to_json()
    path = tmp_path / "later.json"

    def found(**changes: object) -> tuple[str, str]:
        changes = {"schema": SCHEMA + 1} | changes
        versions = {"versions": changes.pop("versions", data["reported"]["versions"])}
        told = {"reported": versions} if heading else versions
        others = {name: value for name, value in data.items() if name != "reported"}
        path.write_text(json.dumps(others | fields | told | changes))
        finding = verify_path(path)
        return finding.outcome, finding.found

    outcome, said = found(versions={"m2bridge": "3.1"})
    assert outcome == "other-release"
    assert f"schema {SCHEMA + 1}" in said
    assert "git checkout v3.1 and pip install ." in said
    for changes in (
        {"versions": {}},
        {"versions": {"m2bridge": "3; rm -r ~"}},
        {"versions": None},
        {"schema": "2"},
    ):
        assert found(**changes)[0] == "malformed"


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [(d, e, a) for d in range(1, 5) for e in range(1, 5) for a in range(1, d + 1)] + [(6, 6, 6)],
)
def test_linear_algebra_decides_every_fibre(case: tuple[int, int, int]) -> None:
    """As Theorem 3.2 and the multiplicity d at (1, 1, 1) say; held against Macaulay2 in
    tests/engine.
    """
    model = SingleLayerAttention(*case)
    special = {"(1, 1, 0)": Fibre(2, 2), "(1, 1, 1)": Fibre(case[0], 1)}
    for orbit in orbits(model):
        assert fibre_scheme(orbit, model) == special.get(str(orbit), Fibre(1, 1)), orbit


def test_schemes_by_hand() -> None:
    """In one unknown z, rows are (z², z, 1); in two (z², zw, w², z, w, 1)."""
    assert scheme([[1, 0, -2]], 1) == Fibre(2, 2)
    assert scheme([[1, -2, 1]], 1) == Fibre(2, 1)
    assert scheme([[1, 0, -1], [0, 1, -1]], 1) == Fibre(1, 1)
    assert scheme([[1, 0, -1], [0, 1, -2]], 1) == Fibre(0, 0)
    assert scheme([], 0) == Fibre(1, 1)
    assert scheme([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]], 2) == Fibre(3, 1)
    assert scheme([[1, 0, 0, -1, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, -1, 0]], 2) == Fibre(3, 3)
    # z² = z, w² = 0, zw = w/2: the products z·z·w force w = 0.
    assert scheme([[2, 0, 0, -2, 0, 0], [0, 2, 0, 0, -1, 0], [0, 0, 1, 0, 0, 0]], 2) == Fibre(2, 2)
    assert scheme([[1, 0, 0, 0, 0, -1], [0, 0, 1, 0, 0, -1]], 2) is None


def test_identities() -> None:
    assert checked.base_locus_is_empty()
    assert checked.real_family_has_no_real_weights()
    assert checked.products_determine_functions()


def test_polynomials_are_read_back_and_nothing_else() -> None:
    ring = PolynomialRing(QQ, ("x_1", "y"))
    x, y = ring.sympy_ring.gens
    for polynomial in (
        x,
        -x,
        x**2 * y - QQ.domain(3, 7) * y + 1,
        -QQ.domain(1, 2) * x * y**12,
        x - x + 5,
    ):
        (terms,) = algebra.read([polynomial_text(polynomial)], ("x_1", "y"))
        scale = Fraction(next(iter(terms.values()))) / Fraction(str(polynomial[next(iter(terms))]))
        assert {m: Fraction(c) for m, c in terms.items()} == {
            m: scale * Fraction(str(c)) for m, c in polynomial.items()
        }
    for text in (
        "",
        "0",
        "z",
        "x_1 + x_1",
        "y + x_1",
        "x_1 +y",
        "x_1**2 - ",
        "1/0*y",
        "exit()",
        "x_1\n",
        3,
        None,
    ):
        with pytest.raises(CertificateError):
            algebra.read([text], ("x_1", "y"))


@pytest.mark.slow
def test_the_command(command: str, tmp_path: Path) -> None:
    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [command, "verify", *map(str, arguments)], capture_output=True, text=True, check=False
        )

    good = run(FOLDER / "accepted")
    assert good.returncode == 0, good.stdout
    assert f"{len(files('accepted'))} certificates" in good.stdout
    bad = run(FOLDER / "accepted", FOLDER / "rejected" / "digest.json", "--json")
    assert bad.returncode == 1
    assert json.loads(bad.stdout)["counts"]["rejected"] == 1
    assert run(FOLDER / "malformed" / "empty.json").returncode == 1
    assert run(tmp_path / "missing.json").returncode == 2


WORST = [
    (["accepted/d2-dout2-a2-t1-3.4.json"], 0),
    (["accepted/d2-dout2-a2-t1-3.4.json", "program-not-checked"], 3),
    (["accepted/d2-dout2-a2-t1-3.4.json", "too-expensive"], 3),
    (["too-expensive", "malformed/empty.json"], 1),
    (["too-expensive", "rejected/digest.json"], 1),
    (["too-expensive", "unreadable"], 5),
    (["unreadable", "malformed/empty.json"], 1),
]


def test_the_exit_code_says_the_worst(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each file is checked once, by one pool; the command is then given these findings."""
    (tmp_path / "memory.json").symlink_to("/proc/self/mem")
    folders = {
        name: tmp_path if name == "unreadable" else FOLDER / name
        for names, _ in WORST
        for name in names
    }
    paths = list(files_of_batches(list(folders.values())))
    findings = dict(zip(paths, verify_files(paths, workers=2), strict=True))
    monkeypatch.setattr(
        "m2bridge.batch.verifying.verify_files",
        lambda files, *_: [findings[path] for path in files],
    )
    for names, code in WORST:
        monkeypatch.setattr(
            "sys.argv", ["m2bridge", "verify", *(str(folders[name]) for name in names)]
        )
        assert commands.run() == code, names
        said = capsys.readouterr().out
        assert ("the answer is right" in said) == ("program-not-checked" in names)


def test_a_folder_that_cannot_be_listed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.scandir

    def refused(path: str) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    (tmp_path / "closed").mkdir()
    shutil.copy(files("accepted")[0], tmp_path / "a.json")
    monkeypatch.setattr(os, "scandir", refused)
    assert list(files_of_batches([tmp_path])) == [tmp_path / "a.json", tmp_path / "closed"]


@pytest.mark.parametrize("limit", ["--timeout=0", "--timeout=nan", "--memory=1M", "--memory=lots"])
def test_what_is_no_limit_is_wrong_usage(
    limit: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["m2bridge", "verify", str(FOLDER), limit])
    assert commands.run() == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_command_leaves_out_outcomes_and_refuses_nothing_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["m2bridge", "verify", *map(str, arguments)])
        code, captured = commands.run(), capsys.readouterr()
        return code, captured.out + captured.err

    none = f"Error: there are no certificates to verify: the folder '{tmp_path}'"
    advice = "; 'm2bridge certify … --out FOLDER' writes some.\n"
    assert run(tmp_path) == run(tmp_path, "--json") == (2, f"{none} is empty{advice}")
    (tmp_path / "below").mkdir()
    named = f"{none} has no file whose name ends in .json"
    assert run(tmp_path) == (2, f"{named}{advice}")
    both = run(tmp_path, tmp_path / "below")
    assert both == (2, f"{named}, and 1 other folder without certificates{advice}")
    (tmp_path / "d9-dout9-a9-t2-3.4.outcome.json").write_text("{}", encoding="utf-8")
    assert run(tmp_path)[0] == 2
    assert "1 outcome of a batch" in run(tmp_path)[1]
    shutil.copy(files("accepted")[0], tmp_path)
    code, said = run(tmp_path)
    assert (code, said.splitlines()[-2]) == (
        0, "  1 certificate: 1 accepted; 1 outcome of a batch without a certificate skipped"
    )  # fmt: skip
    assert json.loads(run(tmp_path, "--json")[1])["outcomes"] == 1
    (tmp_path / "d.json").symlink_to(tmp_path / "nothing")
    (tmp_path / "\x1b[2J.json").mkdir()
    os.mkfifo(tmp_path / "p.json")
    code, said = run(tmp_path)
    assert (code, said.count("not a file"), "\x1b" in said) == (1, 3, False)


INVENTED = (
    "docs/evil.md, Disproved by X)",
    "docs/mathematics.md, Degrees)",
    "docs/deep-attention.md, 3 (a), (b), and 7)",
    "docs/mathematics.md)",
)
"""Places at which no release has said that a proof is."""


@pytest.mark.slow
@pytest.mark.parametrize("release", ["0.2.0", "1.0.0", "99.0.0"])
@pytest.mark.parametrize(
    "path",
    [
        FOLDER / "accepted" / "d3-dout2-a2-t2-degree.json",
        FOLDER / "networks" / "polynomial-network-2-2-1-r2-expected-dimension.json",
        FOLDER / "all-sizes" / "attention-all-sizes-3.4.json",
        FOLDER / "deep" / "deep-attention-3-3-3-a1-2-t2-L.json",
    ],
    ids=lambda path: path.stem,
)
def test_no_release_may_name_another_place_of_a_proof(path: Path, release: str) -> None:
    """Words that are in no table are never accepted, and the place is a part of the words."""
    certificate = by_release(read(path), release)
    places = [k for k, lemma in enumerate(certificate.trusted) if "docs/" in lemma]
    assert places
    for k in places:
        words, _, _ = certificate.trusted[k].partition("docs/")
        ends = [f"{words}{place}" for place in INVENTED]
        lies = ("Everything is proved (docs/mathematics.md)", f"{certificate.trusted[k]} or not")
        for lemma in (*ends, *lies, words):
            if lemma == certificate.trusted[k]:
                continue
            finding = verify(changed(certificate, ("trusted", k), lemma))
            assert finding.outcome == "other-release"


def test_this_release_names_each_proof_by_its_own_place() -> None:
    certificate = read(FOLDER / "accepted" / "d3-dout2-a2-t2-degree.json")
    for k, lemma in enumerate(certificate.trusted):
        words, docs, _ = lemma.partition("docs/")
        for place in ("pwn.md)", "mathematics.md)", "mathematics.md, Degrees)") if docs else ():
            finding = verify(changed(certificate, ("trusted", k), f"{words}docs/{place}"))
            assert (finding.outcome, finding.check) == ("rejected", f"trusted[{k}]")


def test_another_release_has_an_exit_code_and_a_line_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no refusal; what is refused beside it goes before."""
    certificate = read(files("accepted")[0])
    verdicts = [
        verdict | {"text": "As it was put then."} for verdict in certificate.answer["verdicts"]
    ]
    there = by_release(
        replace(certificate, answer=certificate.answer | {"verdicts": verdicts}), "0.0.9"
    )
    write(there, tmp_path)
    monkeypatch.setattr("sys.argv", ["m2bridge", "verify", str(tmp_path)])
    assert commands.run() == OTHER_RELEASE == 6
    last = capsys.readouterr().out.splitlines()[-3:]
    assert last[0] == "  1 certificate: 1 other-release"
    assert last[1] == "  1 certificate for another release to verify; nothing is decided here"
    (tmp_path / "empty.json").write_text("")
    assert commands.run() == REFUTED


def test_samples_that_are_the_same_but_for_what_is_reported_stay() -> None:
    """Seconds and memory are others each time that ``python -m tests.certificates`` runs."""
    old = read(files("accepted")[0])
    before = {old.file_name: old}
    anew = reported(old, seconds=99.5, peak_memory=1)
    assert as_before(anew, before) is old
    assert as_before(anew, {}) is anew
    for other in (
        replace(anew, answer={"verdicts": []}).sealed(),
        replace(anew, trusted=()).sealed(),
        by_release(anew, "2.0.0"),
    ):
        assert as_before(other, before) is other
