"""Families of models with Macaulay2: deep attention, networks, all sizes, equations, and their
certificates.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sympy import Poly, symbols

from m2bridge import Macaulay2, SingleLayerAttention, closure, cross_check
from m2bridge.certificates.form import write
from m2bridge.certification.make import certify, certify_all, questions
from m2bridge.certification.verify import verify, verify_path
from m2bridge.convert.answers import parse
from m2bridge.crosscheck.verdict import compare
from m2bridge.engine import Transcript
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError, MethodUnavailableError, TimeLimitError
from m2bridge.families.attention.all_sizes.base_ideals import base_ideals
from m2bridge.families.attention.all_sizes.family import EVERY_SIZE
from m2bridge.families.attention.hypotheses import why_degenerate
from m2bridge.families.attention.observations.observe import observe as observe_attention
from m2bridge.families.attention.orbits.fibres import fibres
from m2bridge.families.attention.orbits.orbits import orbits
from m2bridge.families.attention.questions import EQUATIONS
from m2bridge.families.deep_attention import fibres as closedness, fibres as generic_fibre_module
from m2bridge.families.deep_attention.fibres import GenericFibre, generic_fibre
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.observation import observe
from m2bridge.families.deep_attention.statements import STATEMENTS
from m2bridge.families.polynomial_network.model import PolynomialNetwork
from m2bridge.maps.jacobian_rank import rank_result
from tests.changing import recheck
from tests.conftest import Invoke
from tests.exact_ideals import exact_ideals
from tests.fibre_scheme import fibre_scheme
from tests.limits import HOUR, limit_after
from tests.tiers import few

pytestmark = pytest.mark.macaulay2("any")

# Fibres of deep attention and a limit that is no network, by Macaulay2.

BY_NAME = {f"{statement.key} {statement.part}".strip(): statement for statement in STATEMENTS}
FIBRES = [  # dimension, degree, points
    ("2-2-1-a2-2-t2", 0, 1, 1),
    ("2-2-2-a2-2-t2", 0, 1, 1),
    ("2-2-1-a2-1-t2", 0, 2, 2),
    ("2-2-1-a1-2-t2", 1, 3, None),
    ("2-2-2-a1-1-t2", 1, 1, None),
    ("2-2-1-a2-2-t1", 2, 3, None),
    ("2-2-2-a2-2-t1", 2, 1, None),
    ("2-1-a1-t2", 0, 2, 2),
    ("2-2-a1-t1", 1, 1, None),
    ("3-3-a1-t1", 3, 1, None),
    ("3-2-a1-t2", 0, 1, 1),
    ("3-1-a2-t3", 0, 1, 1),
]


@pytest.mark.usefixtures("chosen")
@pytest.mark.macaulay2("each")
@pytest.mark.parametrize(("key", "dimension", "degree", "points"), FIBRES)
def test_fibres_are_as_stated(key: str, dimension: int, degree: int, points: int | None) -> None:
    network = DeepAttention.from_key(key)
    assert generic_fibre(network) == GenericFibre(dimension, degree, points)
    for name in ("3.7", "fibre dimension", "fibre degree"):
        statement = BY_NAME[name]
        if not statement.hypotheses(network):
            assert statement.predict(network) == observe(network, statement.observable).value


@pytest.mark.parametrize("key", ["2-2-2-a1-1-t2", "2-2-a1-t1", "2-2-2-a1-2-t2"])
def test_fibres_in_the_virtual_weights_by_their_equations(engine: Macaulay2, key: str) -> None:
    """Where all widths are 2 the only condition is det A_k = 0 for a_k = 1: the dimension that
    ranks tell.
    """
    network = DeepAttention.from_key(key)
    corners = [A[0][0] for A in generic_fibre_module._random_weights(network)[0]]
    singular = [
        f"({corner})*inner_({k},2,2) - inner_({k},1,2)*inner_({k},2,1)"
        for k, (corner, a) in enumerate(zip(corners, network.a, strict=True), 1)
        if a == 1
    ]
    script, before = generic_fibre_module.fibre_script(network), 'mbEmit("dimension"'
    assert before in script.body
    body = script.body.replace(before, f"fibre = fibre + ideal({', '.join(singular)})\n{before}")
    found = parse(engine.run(replace(script, body=body), timeout=60).records)
    assert found.integer("dimension") == observe(network, "virtual_fibre_dimension").value
    if key == "2-2-2-a1-1-t2":
        assert found.integer("points") == 2


@pytest.mark.usefixtures("chosen")
def test_a_swap_that_is_no_swap_is_a_double_point() -> None:
    """Behind a hidden width 1 the vectors that could be exchanged are parallel: excluded by the
    hypothesis.
    """
    network = DeepAttention((2, 1, 1), 2)
    assert generic_fibre(network) == GenericFibre(0, 2, 1)
    assert "the last one is 1" in BY_NAME["fibre degree"].hypotheses(network)


def test_a_cross_check_starts_macaulay2_where_a_statement_needs_it(engine: Macaulay2) -> None:
    network = DeepAttention((2, 2, 1), (2, 1))
    found = cross_check(network, engine=engine)
    verdicts = {verdict.name: str(verdict.decision) for verdict in found.verdicts}
    assert (verdicts["fibre (degree)"], verdicts["fibre (dimension)"], verdicts["L"]) == (
        "CONFIRMED",
    ) * 3
    assert verdicts["3.7"] == verdicts["closed"] == "NOT_APPLICABLE"
    assert found.engine_version == engine.version
    alone = cross_check(network, engine=None, statements=[BY_NAME["L"], BY_NAME["closed"]])
    assert (alone.engine_version, [str(v.decision) for v in alone.verdicts]) == (
        "",
        ["CONFIRMED", "NOT_APPLICABLE"],
    )


@pytest.mark.usefixtures("chosen")
def test_theorem_3_7_without_its_hypothesis_is_not_confirmed() -> None:
    """A second point in E need not be virtual weights; a curve in the virtual weights is more than
    a point.
    """
    wrong = replace(BY_NAME["3.7"], hypotheses=lambda network: "", predict=lambda network: True)
    for key, verdict in {"2-2-1-a1-2-t2": "REFUTED", "2-2-1-a2-1-t2": "UNDECIDED"}.items():
        network = DeepAttention.from_key(key)
        assert str(compare(wrong, network.observe({wrong.observable})).decision) == verdict


@pytest.mark.usefixtures("chosen")
@pytest.mark.macaulay2("each")
def test_two_layers_are_not_closed() -> None:
    network = DeepAttention((3, 3, 3), (3, 2), 3)
    found = closedness.limit_outside(network)
    assert found == dict.fromkeys(closedness.LIMIT_OUTSIDE, True)
    statement = BY_NAME["closed"]
    assert statement.predict(network) is observe(network, "closed").value is False
    for other in (
        DeepAttention((3, 3, 3), 2, 2),
        DeepAttention((2, 2, 2), 2, 3),
        DeepAttention((3, 3, 3), (1, 2), 3),
    ):
        assert statement.hypotheses(other)
        with pytest.raises(MethodUnavailableError):
            closedness.limit_outside(other)


SKEW = "skew = sub(matrix{ {0, 0, 1}, {0, 0, 1}"
LIMIT = "(map(functions, family, {0} | gens functions)) limit"
A_NETWORK = """functionMatrix(sub(matrix{ {0, 1, 2}, {-1, 0, 3}, {-2, -3, 0} }, functions),
    sub(matrix{ {1, 2, 3}, {2, 4, 6}, {1, 2, 3} }, functions), id_(functions^3),
    genericSymmetricMatrix(functions, sym_1, 3))"""
LAST = "-- So B has rank one"


@pytest.mark.parametrize(
    ("right", "wrong", "refused"),
    [
        (
            SKEW,
            SKEW.replace("{0, 0, 1}, {0, 0, 1}", "{0, 0, 1}, {0, 1, 1}"),
            "networks_for_all_epsilon",
        ),
        ("{ {0, 1, 0}, {0, 0, 0}, {0, 0, 0} }", "{ {0, 0, 0}, {0, 0, 0}, {0, 0, 0} }", "rank_one"),
        ("{0, 0, 0}, {1, 2, 1} }", "{0, 0, 0}, {0, 0, 0} }", "columns_span"),
        (LIMIT, A_NETWORK, "no_network"),
    ],
)
def test_changed_examples_show_nothing(
    engine: Macaulay2, right: str, wrong: str, refused: str
) -> None:
    """A matrix that is not skew-symmetric, limits that are zero, and a network in place of the
    limit.
    """
    script = closedness.limit_script(DeepAttention((3, 3, 3), 2, 3))
    assert right in script.body
    body = script.body if refused == "no_network" else script.body.partition(LAST)[0]
    answer = parse(engine.run(replace(script, body=body.replace(right, wrong)), timeout=60).records)
    assert answer.boolean(refused) is False


CERTIFIED = [
    "2-2-1-a2-2-t2",
    "2-2-1-a2-1-t2",
    "2-2-1-a1-2-t2",
    "2-2-1-a2-2-t1",
    "2-1-1-a2-2-t2",
    "3-1-a2-t2",
]


@pytest.mark.parametrize("key", CERTIFIED)
def test_fibres_are_certified_and_computed_anew_without_macaulay2(
    engine: Macaulay2, key: str
) -> None:
    for certificate in certify_all(DeepAttention.from_key(key), ["3.7", "fibre"], engine=engine):
        assert "groebner" not in certificate.script["text"]
        assert verify(certificate).accepted, verify(certificate)
        evidence = certificate.evidence
        for name, number in [
            (observable, number) for observable in evidence for number in evidence[observable]
        ]:
            wrong = evidence | {name: evidence[name] | {number: evidence[name][number] + 1}}
            assert (
                verify(replace(certificate, evidence=wrong).sealed()).check
                == f"evidence.{name}.{number}"
            )


def test_closedness_is_certified_and_computed_anew_without_macaulay2(engine: Macaulay2) -> None:
    (certificate,) = certify_all(DeepAttention((3, 3, 3), (3, 2), 3), ["closed"], engine=engine)
    assert certificate.answer["verdicts"][0]["verdict"] == "CONFIRMED"
    assert "no_network" in certificate.script["text"]
    assert verify(certificate).accepted
    (outside,) = certify_all(DeepAttention((2, 2, 2), 2, 3), ["closed"], engine=engine)
    assert (outside.answer["verdicts"][0]["verdict"], outside.evidence) == ("NOT_APPLICABLE", {})
    assert verify(outside).accepted


# Polynomial networks: the dimension of the kernel that Macaulay2 computes is the rank.


@pytest.mark.parametrize(
    ("widths", "degree"),
    [
        ((2, 2, 1), 2),
        ((2, 2, 2), 2),
        ((3, 2, 1), 2),
        ((2, 1, 2, 1), 2),
        ((2, 2, 1), 4),
        ((2, 1, 2), 3),
        ((3, 1, 2), 1),
    ],
)
def test_the_dimension_is_that_of_the_kernel(
    engine: Macaulay2, widths: tuple[int, ...], degree: int
) -> None:
    network = PolynomialNetwork(widths, degree)
    found = closure(network.parametrization(), engine=engine, strategy="elimination", timeout=HOUR)
    assert found.dimension == rank_result(network).lower


# Theorems for all sizes with Macaulay2: the same ideals as by linear algebra, and the command.

# which needs no Macaulay2
KEYS = tuple(key for key in questions("attention-all-sizes") if not key.startswith("closures"))


@pytest.mark.usefixtures("chosen")
@pytest.mark.macaulay2("each")
def test_macaulay2_and_linear_algebra_find_the_same_ideals() -> None:
    found = base_ideals()
    assert found.ideals == exact_ideals()
    assert found.base_locus_empty
    assert found.boundary_family


@pytest.mark.slow
def test_what_macaulay2_said_is_certified_and_accepted(engine: Macaulay2, tmp_path: Path) -> None:
    for certificate in certify_all(EVERY_SIZE, KEYS, engine=engine):
        assert verify_path(write(certificate, tmp_path)).accepted


@pytest.mark.slow
@pytest.mark.usefixtures("one_session")
def test_command(invoke: Invoke, m2: str) -> None:
    """Exit code 1, since (iii) is refuted for some sizes; no case is asked for."""
    done = invoke("cross-check", "3.4", "--all-sizes", "--json", "--m2", m2)
    assert (done.returncode, done.stderr) == (1, "")
    found = json.loads(done.stdout)
    assert found["scope"] == "all d, d', a ≥ 1 and all t ≥ 2, in characteristic 0"
    assert {v["part"]: v["verdict"] for v in found["verdicts"]} == {
        "i": "CONFIRMED",
        "ii": "CONFIRMED",
        "iii": "REFUTED",
    }
    (refuted,) = [v for v in found["verdicts"] if v["verdict"] == "REFUTED"]
    assert refuted["fails_for"]["words"] == "2 ≤ a < d, except (a, d') = (2, 1)"
    assert len(found["ideals"]) == 13


@pytest.mark.slow
def test_certificates_of_the_command(invoke: Invoke, m2: str, tmp_path: Path) -> None:
    """Written by one command, and gone on with by another; verified and reported without
    Macaulay2.
    """
    out = ("--out", str(tmp_path), "--executor", "serial", "--m2", m2)
    first = invoke("certify", "--all-sizes", "--check", "3.3", *out)
    assert (first.returncode, first.stdout.splitlines()[0]) == (
        0,
        "cases: 1 (1 question), done: 0, to do: 1",
    )
    second = invoke("certify", "--all-sizes", "--check", "3.3,A.4", *out, "--json")
    assert (second.returncode, json.loads(second.stdout)["answers"]) == (
        1,
        {"CONFIRMED": 1, "REFUTED": 1},
    )
    assert invoke("verify", str(tmp_path)).returncode == 0
    assert "false for 2 ≤ a < d, except (a, d') = (2, 1)" in invoke("report", str(tmp_path)).stdout


# The equations of closures beyond elimination, held against Gröbner bases by Macaulay2. That there
# are no other generators, and the Hilbert series, rest on one theorem in the program that makes
# certificates and in the one that verifies them. A Gröbner basis of the generators knows nothing of
# it: of an ideal with too few generators, or of another variety, the Hilbert series would be
# another one.

T = symbols("T")


def poincare(session: Macaulay2, generators: object) -> Poly:
    """The numerator of the Hilbert series over (1 − T)ⁿ, n the number of variables, modulo
    a prime.
    """
    code = (
        "p = poincare sub(I, (ZZ/32003)(monoid ring I)); apply(listForm p, (e, c) -> (first e, c))"
    )
    return Poly.from_dict(dict(session.value(code, I=generators)), T)


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("case", [(2, 4, 1), (2, 4, 2), (3, 1, 1), (3, 1, 2), (4, 1, 1)], ids=str)
def test_the_generators_have_the_series_that_is_proved(
    case: tuple[int, int, int], sessions: Callable[[Path], Macaulay2], m2: str
) -> None:
    model = SingleLayerAttention(*case)
    found = EQUATIONS.observe(model)
    answer = EQUATIONS.content(model, found).answer
    assert answer["all_generators"]
    series = answer["hilbert_series"]
    variables = answer["hilbert_function"][1]
    expected = Poly(series["numerator"][::-1], T) * Poly(1 - T, T) ** (
        variables - series["denominator_exponent"]
    )
    assert poincare(sessions(Path(m2)), found.equations.ideal()) == expected


@pytest.mark.slow
@pytest.mark.engine
def test_too_few_generators_have_another_series(
    sessions: Callable[[Path], Macaulay2], m2: str
) -> None:
    """One of 45 quadrics, or all ten cubics, left out."""
    ideal = EQUATIONS.observe(SingleLayerAttention(3, 1, 1)).equations.ideal()
    session = sessions(Path(m2))
    whole = poincare(session, ideal)
    quadrics = [f for f in ideal.generators if Poly(f.as_expr()).total_degree() == 2]
    for fewer in (ideal.generators[1:], quadrics):
        assert poincare(session, type(ideal)(ideal.ring, tuple(fewer))) != whole


# Certificates from real runs, and the re-check held against Macaulay2.

QUESTIONS = tuple(questions("attention"))

GRID = [(d, d_out, a) for d in range(1, 4) for d_out in range(1, 5) for a in range(1, d + 1)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [*GRID, *((4, 4, a) for a in range(1, 5)), (5, 5, 5), (3, 7, 2), (5, 1, 1)]
)
def test_fibres_by_linear_algebra_are_those_of_macaulay2(
    engine: Macaulay2, case: tuple[int, int, int]
) -> None:
    model = SingleLayerAttention(*case)
    assert {orbit: fibre_scheme(orbit, model) for orbit in orbits(model)} == fibres(
        model, engine=engine
    ).at


@pytest.mark.slow
@pytest.mark.parametrize("case", [(1, 2), (2, 1, 1), (3, 2, 2), (3, 3, 3, 3)])
def test_observations_without_an_engine_are_the_same(
    engine: Macaulay2, case: tuple[int, ...]
) -> None:
    model = SingleLayerAttention(*case)
    ours, theirs = recheck(model), observe_attention(model, engine=engine)
    for name in (
        "model",
        "orbits",
        "dimension",
        "degree",
        "closed",
        "boundary_family",
        "generic_fibre",
    ):
        assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize(
    "case", few([(1, 1), (2, 1), (2, 2, 1), (3, 1, 1), (2, 1, 3, 3), (2, 2, 2, 1)], 3)
)
def test_certified_and_accepted(engine: Macaulay2, tmp_path: Path, case: tuple[int, ...]) -> None:
    model = SingleLayerAttention(*case)
    without = ({"equations"} if model.t == 1 else set()) | (
        {"polar-degrees"} if why_degenerate(model) else set()
    )
    asked = tuple(key for key in QUESTIONS if key not in without)
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
    """Certificates rest on lemmas only; the closure for one token on one claim of Macaulay2.

    One that observes nothing, as no hypothesis holds, rests on none.
    """
    for certificate in certify_all(SingleLayerAttention(2, 2), QUESTIONS, engine=engine):
        assert certificate.trusted or not certificate.evidence
        assert not any("Macaulay2" in claim for claim in certificate.trusted)
    (claim,) = certify(SingleLayerAttention(2, 2, t=1), "closure", engine=engine).trusted
    assert "above 4: elimination by Macaulay2" in claim


@pytest.mark.slow
def test_a_limit_certifies_nothing(session: Macaulay2) -> None:
    for model, question in [
        (SingleLayerAttention(3, 2), "closure"),
        (SingleLayerAttention(8, 8), "3.4"),
    ]:
        with pytest.raises(TimeLimitError):
            certify(model, question, engine=session, timeout=0.001)
    large = SingleLayerAttention(7, 7)
    done = rf"\(7 of {len(orbits(large))} orbits were done\)"
    with limit_after(session, 10, "fibres") as stuck, pytest.raises(TimeLimitError, match=done):
        certify(large, "3.3", engine=stuck, timeout=HOUR)
    with pytest.raises(InvalidCaseError, match="unknown question"):
        certify(SingleLayerAttention(2, 1), "9.9", engine=session)


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
