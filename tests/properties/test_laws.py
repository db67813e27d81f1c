"""Laws that hold for all inputs, some of them checked through a real Macaulay2."""

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from m2bridge import CoefficientField, Macaulay2, PolynomialMap, Script
from m2bridge.algebra.field import QQ
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.linear_algebra import rank, rank_mod
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import parse
from m2bridge.convert.decode import decode
from m2bridge.convert.m2_syntax import all_to_macaulay2, from_macaulay2, to_macaulay2
from m2bridge.errors import ParseError
from m2bridge.maps.closure import base_locus_script
from tests.tiers import examples

names = st.text(min_size=1, max_size=8).filter(lambda s: not s.isspace()) | st.from_regex(
    r"[a-zA-Z]{1,3}(_(0|-?[1-9][0-9]?)){0,3}", fullmatch=True
)
bases = st.sampled_from(["x", "c", "beta", "gens", "Q"])
variables = st.lists(
    st.builds(
        lambda base, index: "_".join([base, *map(str, index)]),
        bases,
        st.lists(st.integers(-3, 12), max_size=3),
    ),
    min_size=1,
    max_size=4,
    unique=True,
)
fields = st.sampled_from(
    [QQ, CoefficientField(2), CoefficientField(32003), CoefficientField(2147483647)]
)
atoms = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(2**60, 2**300)
    | st.text(max_size=20)
    | st.fractions()
)
values = st.recursive(
    atoms,
    lambda inner: st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple),
    max_leaves=12,
)

through_engine = settings(
    max_examples=examples(40),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@st.composite
def polynomials(draw: st.DrawFn) -> object:
    field = draw(fields)
    ring = PolynomialRing(field, tuple(draw(variables))).sympy_ring
    exponents = st.tuples(*[st.integers(0, 120)] * ring.ngens)
    terms = draw(st.dictionaries(exponents, st.integers(-(10**30), 10**30), max_size=6))
    denominator = 1 if field.characteristic else draw(st.integers(1, 10**6))
    return ring.from_dict(
        {m: c for m, n in terms.items() if (c := ring.domain(n) / ring.domain(denominator))}
    )


@given(names)
def test_names_come_back(name: str) -> None:
    base, *index = to_macaulay2(name).replace("(", "").replace(")", "").split("_")
    indices = [int(i) for part in index for i in part.split(",")]
    assert from_macaulay2(base, indices) == name


@given(st.lists(names, min_size=2, max_size=6, unique=True))
def test_different_names_stay_different(some: list[str]) -> None:
    assert len(set(all_to_macaulay2(some))) == len(some)


@given(st.text())
def test_no_title_changes_a_program(title: str) -> None:
    line = PolynomialMap.from_expressions(["s"], {"x": 1})
    program, plain = (
        base_locus_script(line, field=QQ, title=words).body.splitlines()
        for words in (title, "plain")
    )
    assert [row for row in program if not row.startswith("--")] == [
        row for row in plain if not row.startswith("--")
    ]
    assert len(program) == len(plain)


@through_engine
@given(value=values)
def test_values_come_back_from_macaulay2(session: Macaulay2, value: object) -> None:
    transcript = session.run(Script("echo", f'mbEmit("x", {written(value)})'))
    assert parse(transcript.records).values["x"] == value


def written(value: object) -> str:
    """The value as Macaulay2 source."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f"concatenate({', '.join(f'ascii {{{byte}}}' for byte in value.encode()) or chr(34) * 2})"
    if isinstance(value, list | tuple):
        inside = ", ".join(map(written, value))
        if isinstance(value, list):
            return f"{{{inside}}}"
        return f"(1:({inside}))" if len(value) == 1 else f"({inside})"
    return f"({value})" if isinstance(value, int) else f"({value.numerator} / {value.denominator})"  # type: ignore[attr-defined]


@through_engine
@given(polynomial=polynomials())
def test_polynomials_come_back_from_macaulay2(session: Macaulay2, polynomial: object) -> None:
    ring = polynomial.ring  # type: ignore[attr-defined]
    characteristic = ring.domain.characteristic()
    written_names = all_to_macaulay2([str(s) for s in ring.symbols])
    script = (
        f"R = {m2_syntax.field(CoefficientField(characteristic))}[{', '.join(written_names)}]\n"
        f'mbEmit("f", {m2_syntax.polynomial(polynomial, written_names)} + 0_R)'  # type: ignore[arg-type]
    )
    found = parse(session.run(Script("echo", script)).records).values["f"]
    assert dict(found) == dict(polynomial)  # type: ignore[call-overload]
    assert [str(s) for s in found.ring.symbols] == [str(s) for s in ring.symbols]


SLOPPY = [
    'x = 5; a = 2; mbEmit("x", x + a)',
    'R = QQ[x, a]; mbEmit("x", (x + a)^2)',
    'R = ZZ/7[x_1..x_3]; mbEmit("x", ideal(x_1 - x_2))',
    'f = x -> x + 1; mbEmit("x", f 2)',
    'a_(1,1) = 3; mbEmit("x", a_(1,1))',
    'R = QQ[a_(1,1), f]; mbEmit("x", a_(1,1)*f)',
    'needsPackage "Elimination"; S = QQ[s,t,x]; mbEmit("x", eliminate(t, ideal(s - t^2, x - t^3)))',
    'mbEmit("x", toString x | toString f | toString R)',
    "printWidth = 20; gens = 3",
]


def each_after_each(number: int) -> list[int]:
    """The numbers in an order in which every pair of them has its place."""
    return [
        *(
            k
            for i in range(number)
            for k in (i, *(k for j in range(i + 1, number) for k in (i, j)))
        ),
        0,
    ]


@pytest.mark.slow
def test_a_session_does_not_leak(session: Macaulay2, fresh: dict[int, object]) -> None:
    """Scripts that use global names carelessly answer in one session as each alone in a
    fresh one.
    """
    order = each_after_each(len(SLOPPY))
    assert len(set(pairwise(order))) == len(SLOPPY) ** 2
    assert [answer(session, SLOPPY[i]) for i in order] == [fresh[i] for i in order]


@pytest.fixture(scope="session")
def fresh(m2: str) -> dict[int, object]:
    """The answer of each script in a session of its own."""
    found: dict[int, object] = {}
    for i, code in enumerate(SLOPPY):
        with Macaulay2(m2) as alone:
            found[i] = answer(alone, code)
    return found


def answer(session: Macaulay2, code: str) -> object:
    """The records, or the error without the place of a file of Macaulay2."""
    from m2bridge.errors import ScriptError

    try:
        return session.run(Script("sloppy", code)).records
    except ScriptError as failure:
        return failure.error.partition(", originally defined at ")[0]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(
    st.sampled_from(["ZZ", "QQ", "ZZ/p", "List", "Ideal", "RingElement", "Matrix", "other"]),
    st.lists(json_values, max_size=4),
)
def test_no_data_breaks_the_reader(tag: str, arguments: list[object]) -> None:
    """Anything is either a value or a ParseError, never another exception."""
    with suppress(ParseError):
        decode([tag, *arguments])


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=5), st.integers(0, 4))
def test_hilbert_series_are_reduced(numerator: list[int], zeros: int) -> None:
    """Multiplying by (1 − T)^k and dividing by as many variables changes nothing."""
    if sum(numerator) == 0:
        numerator[0] += 1
    product = list(numerator)
    for _ in range(zeros):
        product = [a - b for a, b in zip([*product, 0], [0, *product], strict=True)]
    series = HilbertSeries.from_numerator(dict(enumerate(product)), zeros + 2)
    plain = HilbertSeries.from_numerator(dict(enumerate(numerator)), 2)
    assert series == plain
    assert series.degree == sum(numerator)


@given(
    st.lists(
        st.lists(st.integers(-(10**20), 10**20), min_size=3, max_size=3), min_size=1, max_size=4
    )
)
def test_rank_modulo_a_prime_is_a_lower_bound(rows: list[list[int]]) -> None:
    assert rank_mod(rows, 2147483647) <= rank(rows) <= 3
    assert rank_mod(rows, 2) <= rank(rows)
