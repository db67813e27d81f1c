"""Certificates from real runs, and the re-check held against Macaulay2."""

from pathlib import Path

import pytest

from m2bridge import Macaulay2, SingleLayerAttention
from m2bridge.certificates.files import write
from m2bridge.crosscheck.certify import certify, certify_all
from m2bridge.crosscheck.questions import questions
from m2bridge.crosscheck.verified import verify, verify_path
from m2bridge.engine import Transcript
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.families.attention.fibres import fibres
from m2bridge.families.attention.observation import observe
from m2bridge.families.attention.orbits import orbits
from tests.fibre_scheme import fibre_scheme
from tests.limits import HOUR, limit_after
from tests.rechecking import recheck

QUESTIONS = tuple(questions("attention"))

GRID = [(d, d_out, a) for d in range(1, 5) for d_out in range(1, 5) for a in range(1, d + 1)]


@pytest.mark.parametrize("case", [*GRID, (6, 6, 6), (3, 7, 2), (5, 1, 1)])
def test_fibres_by_linear_algebra_are_those_of_macaulay2(engine: Macaulay2, case: tuple[int, int, int]) -> None:
    model = SingleLayerAttention(*case)
    assert {orbit: fibre_scheme(orbit, model) for orbit in orbits(model)} == fibres(model, engine=engine).at


@pytest.mark.parametrize("case", [(1, 2), (2, 1, 1), (3, 2, 2), (3, 3, 3, 3)])
def test_observations_without_an_engine_are_the_same(engine: Macaulay2, case: tuple[int, ...]) -> None:
    model = SingleLayerAttention(*case)
    ours, theirs = recheck(model), observe(model, engine=engine)
    for name in ("model", "orbits", "dimension", "degree", "closed", "boundary_family", "generic_fibre"):
        assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("case", [(1, 1), (2, 1), (2, 2, 1), (3, 1, 1), (2, 1, 3, 3), (2, 2, 2, 1)])
def test_certified_and_accepted(engine: Macaulay2, tmp_path: Path, case: tuple[int, ...]) -> None:
    model = SingleLayerAttention(*case)
    asked = tuple(key for key in QUESTIONS if model.t >= 2 or key != "equations")
    certificates = certify_all(model, asked, engine=engine)
    assert tuple(certificate.question for certificate in certificates) == asked
    for certificate in certificates:
        finding = verify_path(write(certificate, tmp_path))
        assert finding.accepted, finding
        assert certificate.reported["versions"]["macaulay2"] == engine.version
        memory = certificate.reported["peak_memory"]
        assert memory is None or memory > 10**7
    assert len(list(tmp_path.iterdir())) == len(asked)


def test_what_is_trusted(engine: Macaulay2) -> None:
    """Certificates rest on lemmas only; the closure for one token on one claim of Macaulay2."""
    for certificate in certify_all(SingleLayerAttention(2, 2), QUESTIONS, engine=engine):
        assert certificate.trusted
        assert not any("Macaulay2" in claim for claim in certificate.trusted)
    (claim,) = certify(SingleLayerAttention(2, 2, t=1), "closure", engine=engine).trusted
    assert "above 4: elimination by Macaulay2" in claim


def test_a_limit_certifies_nothing(engine: Macaulay2) -> None:
    for model, question in [(SingleLayerAttention(3, 2), "closure"), (SingleLayerAttention(8, 8), "3.4")]:
        with pytest.raises(TimeLimitError):
            certify(model, question, engine=engine, timeout=0.001)
    large = SingleLayerAttention(7, 7)
    done = rf"\(7 of {len(orbits(large))} orbits were done\)"
    with limit_after(engine, 10, "fibres") as stuck, pytest.raises(TimeLimitError, match=done):
        certify(large, "3.3", engine=stuck, timeout=HOUR)
    with pytest.raises(InvalidCaseError, match="unknown question"):
        certify(SingleLayerAttention(2, 1), "9.9", engine=engine)


def test_one_token_needs_no_engine_for_statements(engine: Macaulay2) -> None:
    certificate = certify(SingleLayerAttention(50, 50, 50, 1), "3.4", engine=engine)
    assert certificate.script["text"] == ""
    assert verify(certificate).accepted


def test_memory_is_measured_anew_for_each_computation(program: Path) -> None:
    events = []

    class Watched(Macaulay2):
        def forget_peak_memory(self) -> None:
            events.append("forget")
            super().forget_peak_memory()

        def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
            events.append(script.name)
            return super().run(script, timeout=timeout)

    with Watched(program) as engine:
        certify_all(SingleLayerAttention(1, 2), ("3.2", "closure", "3.3"), engine=engine)
    assert events == ["forget", "fibres", "closure", "forget", "closure"]
