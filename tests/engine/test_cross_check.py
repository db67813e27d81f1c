"""Cross-checks on real Macaulay2, against independent methods, and with wrong statements
planted.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sympy import Matrix, groebner, symbols

from m2bridge import Macaulay2, Orbit, Script, SingleLayerAttention
from m2bridge.convert.answers import parse
from m2bridge.crosscheck.cross_check import cross_check
from m2bridge.crosscheck.verdict import compare
from m2bridge.engine import Engine, using
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.attention.all_sizes import closures
from m2bridge.families.attention.all_sizes.closures import CORES
from m2bridge.families.attention.all_sizes.generators import generators_of_all_sizes
from m2bridge.families.attention.observations.at_orbits import Observations
from m2bridge.families.attention.observations.linear_section import section_points
from m2bridge.families.attention.observations.observe import check_agreement, observe
from m2bridge.families.attention.orbits.fibres import Fibre, fibres
from m2bridge.families.attention.orbits.orbits import generic_orbit, orbits, representative
from m2bridge.families.attention.sizes import degree_formula, dimension_formula
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.results.base import Decision
from m2bridge.results.known import Bounds
from m2bridge.statements.statement import GlobalStatement, OrbitStatement
from tests.conftest import Invoke
from tests.limits import HOUR, limit_after

pytestmark = pytest.mark.macaulay2("any")

GRID = [
    *((d, d_out, a) for d in range(1, 4) for d_out in range(1, 5) for a in range(1, d + 1)),
    *((4, 1, a) for a in (1, 2, 3)),
    *((4, 2, 1), (4, 3, 4), (4, 4, 2)),
]
"""All up to d = 3; for d = 4 each way in which statements hold or fail."""


def outcomes(engine: Engine, *case: int) -> dict[str, Decision]:
    return {
        verdict.name: verdict.decision
        for verdict in cross_check(SingleLayerAttention(*case), engine=engine).verdicts
    }


@pytest.mark.slow
@pytest.mark.parametrize("case", [(2, 1, 1), (2, 2, 1), (3, 1, 2), (3, 2, 3)])
def test_a_certificate_says_what_is_seen_with_equations_too(
    engine: Engine, case: tuple[int, int, int]
) -> None:
    """Bounds by equations are not computed for certificates; none of them contradicts one."""
    model = SingleLayerAttention(*case)
    with_equations = observe(model, polar=True, engine=engine)
    assert any(fact.tangent_upper is not None for fact in with_equations.orbits)
    with using(engine):
        certified = model.observe({"singular"}, certified=True)
    assert isinstance(certified, Observations)
    assert certified.evidence() == with_equations.certified().evidence()
    for fact, seen in zip(certified.orbits, with_equations.orbits, strict=True):
        assert seen.tangent_upper is None or fact.tangent_lower <= seen.tangent_upper
        assert fact.singular in (seen.singular, None)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_all_small_cases(engine: Engine, d: int) -> None:
    """The printed (iii) fails exactly for 2 ≤ a < d, except a = 2, d' = 1; where it does, the
    corrected one holds.
    """
    for case in (c for c in GRID if c[0] == d):
        _, d_out, a = case
        found = outcomes(engine, *case)
        two_to_one = a == d_out == 1
        if two_to_one or d == 1:
            assert found["3.4 (iii)"] is found["singular-locus"] is Decision.NOT_APPLICABLE, case
        else:
            fails = 2 <= a < d and not (a == 2 and d_out == 1)
            assert found["3.4 (iii)"] is (Decision.REFUTED if fails else Decision.CONFIRMED), case
            assert found["singular-locus"] is Decision.CONFIRMED, case
            assert found["A.4"] is found["3.4 (iii)"], case
            for name in ("3.4 (ii)", "A.3", "A.6", "not-a-manifold"):
                assert found[name] is Decision.CONFIRMED, (case, name)
        for name in ("3.3", "3.4 (i)", "A.2 (birational)", "A.2 (special fibres)"):
            assert found[name] is (Decision.NOT_APPLICABLE if two_to_one else Decision.CONFIRMED), (
                case,
                name,
            )
        for name in ("3.2 (rank one)", "3.2 (zero)", "3.2 (otherwise)", "A.5"):
            assert found[name] is Decision.CONFIRMED, (case, name)
        assert found["degree"] is Decision.CONFIRMED, case


@pytest.mark.macaulay2("each")
def test_the_smallest_refutation_with_its_witness(engine: Engine) -> None:
    found = cross_check(SingleLayerAttention(3, 2, 2), engine=engine)
    refuted, also = [verdict for verdict in found.verdicts if verdict.decision is Decision.REFUTED]
    assert (also.name, also.witness) == ("A.4", refuted.witness)
    witness = refuted.witness
    assert witness is not None
    assert refuted.name == "3.4 (iii)"
    assert witness.orbit == Orbit(1, 2, 0)
    assert (Matrix(witness.weights["A"]).rank(), Matrix(witness.weights["V"]).rank()) == (1, 2)
    assert witness.numbers["dimension"] == 13
    assert witness.numbers["tangent_dimension_at_least"] == 14
    assert (witness.predicted, witness.observed) == (False, True)
    assert "(1, 2, 1)" in refuted.reason
    assert "REFUTED" in found.to_text()


def test_what_can_still_be_said(engine: Engine) -> None:
    two_to_one = {
        v.name: v for v in cross_check(SingleLayerAttention(3, 1, 1), engine=engine).verdicts
    }
    assert two_to_one["3.3"].decision is Decision.NOT_APPLICABLE
    assert "holds nevertheless: computed 7, stated 7" in two_to_one["3.3"].reason
    assert "would be false" in two_to_one["A.2 (birational)"].reason
    degenerate = {
        v.name: v for v in cross_check(SingleLayerAttention(1, 2), engine=engine).verdicts
    }
    assert "m2bridge adds this hypothesis: as printed the" in degenerate["3.4 (iii)"].reason
    assert degenerate["3.4 (iii)"].as_printed is False
    one_token = cross_check(SingleLayerAttention(3, 2, t=1), engine=engine)
    assert {verdict.decision for verdict in one_token.verdicts} == {Decision.NOT_APPLICABLE}
    assert all("t ≥ 2" in verdict.reason for verdict in one_token.verdicts)


def planted(**changes: object) -> OrbitStatement:
    singular = next(s for s in REGISTRY if (s.key, s.part) == ("3.4", "iii"))
    return replace(singular, **changes)  # type: ignore[arg-type, return-value]


def test_wrong_statements_are_refuted(engine: Engine) -> None:
    seen = observe(SingleLayerAttention(3, 2), engine=engine)
    smooth = compare(planted(predict=lambda orbit, model: False), seen)
    assert smooth.decision is Decision.REFUTED
    assert smooth.witness is not None
    assert smooth.witness.orbit == Orbit(1, 1, 0)
    rank_of_v = compare(planted(predict=lambda orbit, model: orbit.s <= 1), seen)
    assert rank_of_v.decision is Decision.REFUTED
    assert rank_of_v.witness is not None
    assert rank_of_v.witness.observed is False
    wrong = {
        "fibre_points": lambda o, m: 1,
        "critical": lambda o, m: False,
        "boundary": lambda o, m: o.r == o.s == 1,
    }
    for observable, predict in wrong.items():
        assert (
            compare(planted(observable=observable, predict=predict), seen).decision
            is Decision.REFUTED
        )
    values = {
        "dimension": 13,
        "degree": 1,
        "closed": False,
        "birational": False,
        "special_fibre_points": 3,
    }
    for observable, value in values.items():
        statement = GlobalStatement("x", "", "", "", observable, lambda m, v=value: v, lambda m: "")  # type: ignore[arg-type]
        assert compare(statement, seen).decision is Decision.REFUTED


def test_methods_that_disagree_stop_the_run(engine: Engine) -> None:
    model = SingleLayerAttention(3, 2, 2)
    seen = observe(model, engine=engine)
    check_agreement(seen.orbits, 13, model)
    smooth = next(fact for fact in seen.orbits if not fact.singular)
    singular = next(fact for fact in seen.orbits if fact.singular)

    def with_fact(old: object, **changes: object) -> tuple:  # type: ignore[type-arg]
        return tuple(replace(f, **changes) if f is old else f for f in seen.orbits)  # type: ignore[arg-type]

    for facts, said in [
        (with_fact(smooth, tangent=Bounds.at_least(14)), "singular by tangent vectors"),
        (with_fact(singular, tangent=Bounds(13, 13)), "smooth by equations"),
        (
            with_fact(singular, singular=False, tangent=Bounds.at_least(13)),
            "closure of a singular orbit",
        ),
    ]:
        with pytest.raises(ContradictionError, match=said):
            check_agreement(facts, 13, model)
    with pytest.raises(ContradictionError, match="not the dimension of the source"):
        check_agreement(seen.orbits, 12, model)
    with pytest.raises(ContradictionError, match="the lower bound 20 exceeds the upper bound 15"):
        Bounds(singular.tangent_lower, 15)  # more tangent vectors than equations allow


@pytest.mark.slow
@pytest.mark.parametrize("case", [(2, 1), (2, 1, 1), (2, 2), (3, 1, 2)])
def test_fibres_by_the_projective_route(engine: Engine, case: tuple[int, ...]) -> None:
    """Length and number of points by a wholly different computation in Macaulay2."""
    model = SingleLayerAttention(*case)
    library = Path(__file__).with_name("projective.m2").read_text(encoding="utf-8")
    packages = 'scan({"Elimination", "Saturation", "MinimalPrimes"}, needsPackage)\n'
    calls = "\n".join(
        f'mbEmit("{orbit}", projectiveFibre(matrix(QQ, {_m2(A)}), matrix(QQ, {_m2(V)}),'
        f" {model.alpha}))"
        for orbit in orbits(model)
        for A, V in [representative(orbit, model)]
    )
    answer = parse(engine.run(Script("projective", packages + library + calls)).records)
    for orbit, fibre in fibres(model, engine=engine).at.items():
        assert answer.integers(str(orbit)) == [fibre.length, fibre.points]


def _m2(rows: tuple[tuple[int, ...], ...]) -> str:
    return "{" + ", ".join("{" + ", ".join(map(str, row)) + "}" for row in rows) + "}"


@pytest.mark.slow
@pytest.mark.parametrize("case", [(2, 2), (3, 1), (3, 2, 2)])
def test_fibres_by_sympy(engine: Engine, case: tuple[int, ...]) -> None:
    """Lengths by SymPy's Gröbner bases, with all entries of A and V as unknowns."""
    model = SingleLayerAttention(*case)
    attention = model.parametrization()
    unknowns = symbols(attention.source.variables)
    images = [image.as_expr() for image in attention.images + attention.relations]
    for orbit, fibre in fibres(model, engine=engine).at.items():
        A, V = representative(orbit, model)
        values = attention.evaluate([entry for row in A + V for entry in row])
        equations = [
            i - v for i, v in zip(images, [*values, *[0] * len(attention.relations)], strict=True)
        ]
        chart = [unknowns[0] - 1, symbols("V_1_1") - 1]
        basis = groebner([e for e in equations + chart if e != 0], *unknowns, order="grevlex")
        assert _length(basis, len(unknowns)) == fibre.length


def _length(basis: object, size: int) -> int:
    """Number of standard monomials of a zero-dimensional Gröbner basis."""
    leading = [p.monoms(order="grevlex")[0] for p in basis.polys]  # type: ignore[attr-defined]
    standard, found = [(0,) * size], 0
    seen = set(standard)
    while standard:
        monomial = standard.pop()
        if any(all(m <= e for m, e in zip(lead, monomial, strict=True)) for lead in leading):
            continue
        found += 1
        for j in range(size):
            larger = tuple(e + (i == j) for i, e in enumerate(monomial))
            if larger not in seen:
                seen.add(larger)
                standard.append(larger)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("case", [(2, 1), (2, 1, 1), (2, 2), (2, 2, 1), (2, 3), (3, 1)])
def test_points_of_a_random_section(engine: Engine, case: tuple[int, ...]) -> None:
    """As many as on the section that is counted, by Macaulay2's Gröbner bases."""
    model = SingleLayerAttention(*case)
    library = Path(__file__).with_name("projective.m2").read_text(encoding="utf-8")
    call = f'mbEmit("points", randomSection({model.d}, {model.d_out}, {model.alpha}))'
    points = parse(engine.run(Script("section", f"{library}\n{call}")).records).integer("points")
    assert section_points(model) == points


@pytest.mark.slow
def test_larger_cases(engine: Engine) -> None:
    seen = observe(SingleLayerAttention(6, 6), engine=engine)
    assert len(seen.orbits) == 71
    assert {str(f.orbit): f.fibre for f in seen.orbits if f.fibre.length > 1} == {
        "(1, 1, 0)": Fibre(2, 2),
        "(1, 1, 1)": Fibre(6, 1),
    }
    assert seen.dimension == dimension_formula(SingleLayerAttention(6, 6))


@pytest.mark.slow
def test_the_number_of_tokens_does_not_matter_from_two_on(engine: Engine) -> None:
    two, three = (observe(SingleLayerAttention(3, 2, 2, t), engine=engine) for t in (2, 3))
    assert two.orbits == three.orbits


def test_a_limit_leaves_statements_undecided(session: Macaulay2) -> None:
    with limit_after(session, 0, "fibres") as stuck:
        found = cross_check(SingleLayerAttention(3, 2), engine=stuck, timeout=HOUR)
    decided = {v.name: v.decision for v in found.verdicts if v.decision is not Decision.UNDECIDED}
    assert decided == dict.fromkeys(("3.3", "A.5", "not-a-manifold"), Decision.CONFIRMED)
    assert found.observations is not None
    assert (found.observations.orbits, found.observations.dimension) == ((), 14)
    assert "timeout=" in found.unfinished
    with pytest.raises(MethodUnavailableError):
        observe(SingleLayerAttention(2, 1, t=1), engine=session)


@pytest.mark.slow
def test_a_limit_leaves_what_was_found_before_it(session: Macaulay2) -> None:
    model = SingleLayerAttention(7, 7, 5)
    with limit_after(session, 40, "fibres") as stuck:
        found = cross_check(model, engine=stuck, timeout=HOUR)
    seen = found.observations
    assert seen is not None
    assert (seen.dimension, seen.degree) == (dimension_formula(model), degree_formula(model)), (
        "of the dense orbit"
    )
    assert generic_orbit(model) in {fact.orbit for fact in seen.orbits}
    assert len(seen.orbits) == 37, "of 40 answers, three are not about orbits"
    assert len(seen.orbits) + len(seen.missing_orbits) == len(orbits(model))
    verdicts = {verdict.name: verdict.decision for verdict in found.verdicts}
    assert verdicts["3.4 (iii)"] is Decision.REFUTED
    assert verdicts["singular-locus"] is verdicts["A.2 (special fibres)"] is Decision.UNDECIDED
    for name in ("3.3", "3.4 (i)", "A.2 (birational)", "3.2 (zero)", "degree"):
        assert verdicts[name] is Decision.CONFIRMED
    assert f"({len(seen.orbits)} of {len(orbits(model))} orbits were done)" in found.unfinished
    assert found.unfinished in found.to_text()
    assert len(found.to_json()["orbits"]) == len(seen.orbits)


@pytest.mark.macaulay2("each")
def test_shared_scripts_leave_no_foreign_symbols(session: Macaulay2) -> None:
    """A name that the shared scripts use before a package defines it would hide the
    package's own.
    """
    code = (
        'mbEmit("names", select(apply(keys User.Dictionary, toString), name -> not match("^mb",'
        " name)))"
    )
    assert parse(session.run(Script("names", code)).records).values["names"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--d", "3", "--d-out", "2", "--a", "2"], 1),
        (["--d", "4", "--d-out", "4"], 0),
        (["--d", "2", "--d-out", "2"], 0),
        (["--d", "4", "--d-out", "3", "--a", "2"], 1),
        (["3.4", "--d", "3", "--d-out", "2"], 0),
        (["3.3", "--d", "3", "--d-out", "2", "--a", "2"], 0),
        (["--d", "2", "--d-out", "1", "--a", "1"], 0),
        (["--d", "8", "--d-out", "8", "--timeout", "0.001"], 3),
        (["9.9", "--d", "2", "--d-out", "1"], 2),
        (["--d", "2", "--d-out", "1", "--field", "GF(7)"], 2),
    ],
)
@pytest.mark.usefixtures("one_session")
def test_exit_codes(invoke: Invoke, m2: str, arguments: list[str], code: int) -> None:
    done = invoke("cross-check", *arguments, "--json", "--m2", m2)
    assert done.returncode == code, done.stderr
    if code == 3 and not done.stdout:  # where the machine is busier than the alarm waits
        assert "did not finish within the limit of 0.001 seconds" in done.stderr
    elif code != 2:
        found = json.loads(done.stdout)
        assert {"case", "orbits", "verdicts"} <= found.keys()
        for verdict in found["verdicts"]:
            assert {"statement", "part", "verdict", "witness", "reason"} <= verdict.keys()
        for orbit in found["orbits"]:
            fields = {
                "r",
                "s",
                "m",
                "dimension",
                "fibre_length",
                "fibre_points",
                "singular",
                "critical",
                "boundary",
            }
            assert fields <= orbit.keys()


@pytest.mark.parametrize("left_out", [False, True])
def test_generators_for_all_sizes_are_held_against_cases(
    left_out: bool, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a representation that is left out is missed."""
    if left_out:
        right = closures.generators
        monkeypatch.setattr(closures, "generators", lambda size: right(size)[1:])
    found = generators_of_all_sizes(CORES[1:3], 2, engine=engine)
    assert [case.model for case in found.cases] == [
        SingleLayerAttention(2, 1, 1),
        SingleLayerAttention(2, 2, 1),
    ]
    assert [case.observations.computed for case in found.cases] == [{2: 3}, {2: 15, 4: 5}]
    assert [(v.name, v.decision) for v in found.verdicts] == [
        ("generators", "REFUTED" if left_out else "CONFIRMED"),
        ("generated", "REFUTED" if left_out else "CONFIRMED"),
    ]
    said = (
        "(2, 1, 1)"
        if left_out
        else "2 cases computed without the core agree, 2 of them in all degrees"
    )
    assert all(said in verdict.reason for verdict in found.verdicts)
    written = json.loads(json.dumps(found.to_json()))
    assert [case["predicted"] for case in written["cases"]] == (
        [{}, {"2": 14, "4": 5}] if left_out else [{"2": 3}, {"2": 15, "4": 5}]
    )
