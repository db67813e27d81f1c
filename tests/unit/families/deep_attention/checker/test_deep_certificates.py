"""Certificates about deep attention: what is certified is accepted, and what is changed is not."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from operator import mul
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import flint
import pytest

from m2bridge.certificates.form import Certificate
from m2bridge.certification.make import certify_all, questions
from m2bridge.certification.verify import verify_path
from m2bridge.engine import using
from m2bridge.errors import InvalidCaseError
from m2bridge.families.deep_attention import bounds, shape, statements
from m2bridge.families.deep_attention.checker import (
    block as checker_block,
    fibres as checker_fibres,
    observables as checker_observables,
)
from m2bridge.families.deep_attention.checker.matrices import product as matrix_product, transposed
from m2bridge.families.deep_attention.checker.observables import function_rank, normal_form_factors
from m2bridge.families.deep_attention.checker.predictions import (
    Network,
    SizesOfLayer,
    name,
    read,
    upper_bound,
)
from m2bridge.families.deep_attention.family import FAMILY
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.shape import NAME
from m2bridge.families.deep_attention.statements import STATEMENTS
from m2bridge.families.deep_attention.upper_bounds import certified_bound
from m2bridge.families.registry import family
from tests.changing import changed, leaves, others
from tests.checking import verify
from tests.limits import RecordedEngine

SAMPLES = Path(__file__).parents[4] / "certificates" / "deep"
KEYS = tuple(
    key
    for key, question in questions(NAME).items()
    if not question.needs_engine(DeepAttention((2, 2), 1))
)
KINDS = [
    DeepAttention((3, 3, 3), (1, 2)),
    DeepAttention((2, 3, 1, 2), (2, 1, 1)),
    DeepAttention((2, 2), 1, 1),
    DeepAttention((1, 2, 1), 2),
    DeepAttention((3, 2, 3), 2, 3, normalization="softmax"),
    DeepAttention((2, 1, 2), 1, 2, normalization="softmax"),
    DeepAttention((3, 2), 2, 1, normalization="softmax"),
    DeepAttention((2, 2, 2), 2, skip=True),
    DeepAttention((2, 2), 2, skip=True, normalization="softmax"),
    DeepAttention((3, 3), 3, heads=2),
    DeepAttention((3, 1), 2, heads=2),
    DeepAttention((2, 2, 2), 1, 2, 2),
    DeepAttention((4, 3, 2), 2, 1),
]


def certificates(network: DeepAttention) -> list[Certificate]:
    return certify_all(network, KEYS)


@pytest.mark.parametrize("network", KINDS, ids=lambda network: network.key)
def test_what_is_certified_is_accepted(network: DeepAttention) -> None:
    for certificate in certificates(network):
        assert verify(certificate).accepted, (certificate.question, verify(certificate))


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_a_sample_is_accepted(path: Path) -> None:
    """With the program of this release, where one is behind it."""
    assert verify_path(path).accepted, verify_path(path)


def test_what_is_certified() -> None:
    """All statements; fibres and closedness, for which Macaulay2 is started, only where they are
    asked for.
    """
    assert set(questions(NAME)) == {statement.key for statement in STATEMENTS}
    assert set(KEYS) == set(questions(NAME)) - {"3.7", "fibre", "closed"}
    network = DeepAttention((3, 3, 3), 2, 3)
    assert {key for key, question in questions(NAME).items() if question.usual(network)} < set(KEYS)
    assert DeepAttention((3, 3, 3), 2).needs_engine({"dimension", "fibre_degree"})
    assert not DeepAttention((3, 3, 3), 2).needs_engine({"dimension"})


def test_verdicts_of_certificates() -> None:
    (about,) = certify_all(KINDS[0], ["3.8"])
    (verdict,) = about.answer["verdicts"]
    assert (verdict["verdict"], verdict["predicted"], verdict["observed"]) == (
        "NOT_APPLICABLE",
        20,
        18,
    )
    (about,) = certify_all(DeepAttention((2, 2, 2), 2, skip=True), ["skip"])
    found = {verdict["part"]: verdict["verdict"] for verdict in about.answer["verdicts"]}
    assert found == {"scalings": "REFUTED", "one-to-one": "REFUTED", "dimension": "CONFIRMED"}
    (about,) = certify_all(DeepAttention((2, 2), 2, skip=True, normalization="softmax"), ["skip"])
    found = {verdict["part"]: verdict["verdict"] for verdict in about.answer["verdicts"]}
    assert found == {
        "scalings": "NOT_APPLICABLE",
        "one-to-one": "UNDECIDED",
        "dimension": "UNDECIDED",
    }
    assert about.evidence == {}
    vacuous, *rows = questions(NAME)["skip"].rows(about)
    assert vacuous.reason.startswith("vacuous for softmax")
    assert {row.reason.partition(": ")[2] for row in rows} == {"not observed"}
    (about,) = certify_all(DeepAttention((3, 3), 3, heads=2), ["heads"])
    verdict = about.answer["verdicts"][0]
    assert (verdict["verdict"], verdict["predicted"], verdict["observed"]) == ("REFUTED", 34, 32)


def test_every_change_of_a_number_is_rejected() -> None:
    tried = 0
    kinds = ((KINDS[0], "3.1 3.6 3.8 V"), (KINDS[4], "S"), (KINDS[7], "skip"), (KINDS[9], "heads"))
    for network, keys in kinds:
        for certificate in certify_all(network, keys.split()):
            content = {"evidence": certificate.evidence, "answer": certificate.answer}
            for path, value in leaves(content):
                for other in others(value):
                    assert not verify(changed(certificate, path, other)).accepted, (
                        path,
                        value,
                        other,
                    )
                    tried += 1
    assert tried > 200


def test_a_certificate_of_another_network_is_rejected() -> None:
    """Unless it is, with the name of that network, true of it as well."""
    (certificate,) = certify_all(KINDS[0], ["L"])
    same = 0
    for path, value in leaves(certificate.case):
        if path[0] == "skip":
            continue
        moved = changed(
            certificate, ("case", *path), value + 1 if isinstance(value, int) else "softmax"
        )
        assert not verify(moved).accepted
        network = DeepAttention(**moved.case)
        (own,) = certify_all(network, ["L"])
        named = replace(moved, name=own.name).sealed()
        assert verify(named).accepted == (
            (own.answer, own.evidence) == (named.answer, named.evidence)
        )
        same += verify(named).accepted
    assert 1 <= same <= 3  # the dimension is the same for all t ≥ 2


HUGE = 10**8


@pytest.mark.parametrize(
    "case",
    [
        {"heads": HUGE},
        {"a": [HUGE, HUGE]},
        {"t": HUGE},
        {"widths": [2, HUGE, 2]},
        {"widths": [2, 2, HUGE]},
        {"widths": [HUGE, 2, 2]},
        {"widths": [HUGE] * 3, "a": [HUGE] * 2},
        {"widths": [HUGE] * 3, "skip": True},
        {"widths": [1, 2 * 10**5, 1], "a": [1, 1]},
        {"widths": [1, 1, 1], "a": [10**6, 1]},
        {"widths": [2, HUGE, 2], "heads": HUGE, "normalization": "softmax"},
    ],
    ids=str,
)
def test_what_is_large_is_priced_before_it_is_made(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the answer is, it takes no matrices with more than some millions of entries."""
    entries = 0

    def counted(rows: int, columns: int, *more: Any) -> Any:
        nonlocal entries
        entries += rows * columns
        assert entries < 10**8, f"matrices with {entries} entries"
        return flint.nmod_mat(rows, columns, *more)

    monkeypatch.setattr(checker_observables, "flint", Mock(wraps=flint, nmod_mat=counted))
    (plain,) = certify_all(DeepAttention((2, 2, 2), 2), ["L"])
    about = plain.case | case
    for question in questions(NAME):
        moved = replace(plain, case=about, question=question, name=name(about)).sealed()
        assert verify(moved).outcome in ("accepted", "too-expensive", "rejected"), question


@pytest.mark.parametrize(
    "case",
    [
        {"widths": [2]},
        {"widths": [2, 0]},
        {"widths": [2, 2], "a": [1, 1]},
        {"a": []},
        {"t": True},
        {"heads": 0},
        {"skip": 1},
        {"widths": [2, 3, 2], "skip": True},
        {"normalization": "relu"},
        {"more": 1},
    ],
)
def test_cases_that_do_not_exist(case: dict[str, Any]) -> None:
    (certificate,) = certify_all(DeepAttention((2, 2, 2), 2), ["L"])
    moved = replace(certificate, case=certificate.case | case).sealed()
    assert verify(moved).outcome == "malformed"


def _layers_with(**wrong: int) -> Any:
    return lambda n: [layer | wrong for layer in statements.layer_numbers(n)]


PLANTED = [
    ("layers", _layers_with(p=0), DeepAttention((3, 3, 3), (1, 2)), "L"),
    ("m", lambda n: 3, DeepAttention((2, 2, 2), 2), "L"),
    ("m", lambda n: 1, KINDS[4], "S"),
    ("delta", lambda n: 1, DeepAttention((3, 3, 3), 2), "3.8"),
    ("delta", lambda n: 1, KINDS[4], "3.10"),
    ("H", lambda n: 3, DeepAttention((3, 3), 3, heads=2), "heads"),
    ("layers", _layers_with(d=3), DeepAttention((2, 2, 2), 2, skip=True), "skip"),
    ("layers", _layers_with(rank=1), DeepAttention((3, 2), 2), "3.1"),
    ("t", lambda n: 1, DeepAttention((2, 2, 2), 2), "L"),
]


@pytest.mark.parametrize(
    ("number", "wrong", "network", "key"), PLANTED, ids=[f"{p[0]}-{p[2].key}" for p in PLANTED]
)
def test_a_maker_with_a_wrong_number_is_found_out(
    monkeypatch: pytest.MonkeyPatch, number: str, wrong: Any, network: DeepAttention, key: str
) -> None:
    (right,) = certify_all(network, [key])
    monkeypatch.setitem(statements.NUMBERS, number, wrong)
    (found,) = certify_all(network, [key])
    assert found.answer != right.answer
    assert verify(found).outcome == "rejected"
    assert verify(right).accepted


def test_a_maker_with_a_wrong_bound_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula for what a block decides that counts the skew parts which are not seen."""
    from m2bridge.families.deep_attention import observation as certified

    network = DeepAttention((3, 3, 3), (1, 2))
    monkeypatch.setattr(certified, "determined_dimension", lambda network: 20)
    monkeypatch.setattr(shape, "reduced_dimension", lambda network, whole: 22)
    (found,) = certify_all(network, ["3.8"])
    assert (
        found.evidence["dimension"]["lower_bound"]
        == found.evidence["dimension"]["upper_bound"]
        == 20
    )
    assert verify(found).outcome == "rejected"


def test_a_maker_with_a_bad_point_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix of too small a rank, so the block decides nothing; the checker has its point from
    the seed.
    """
    bad = bounds.random_block

    def of_rank_one(shape: Any, draws: Any) -> Any:
        made = bad(shape, draws)
        return replace(made, attention=(((1, 2), (2, 4)), *made.attention[1:]))

    monkeypatch.setattr(bounds, "random_block", of_rank_one)
    (found,) = certify_all(DeepAttention((3, 3, 3), 2), ["L"])
    assert found.answer["verdicts"][0]["verdict"] == "UNDECIDED"
    assert verify(found).outcome == "rejected"


def test_the_bounds_of_the_checker_are_those_of_the_maker() -> None:
    """Written twice: flags and codimensions there, subspaces here."""
    random, compared = Random(7), 0
    for layers, t, heads, skip, sigma in product(
        (1, 2, 3), (1, 2, 3), (1, 2, 5), (False, True), ("none", "softmax")
    ):
        for _ in range(30):
            widths = (
                [random.randint(1, 5)] * (layers + 1)
                if skip
                else [random.randint(1, 5) for _ in range(layers + 1)]
            )
            network = DeepAttention(
                widths, [random.randint(1, 6) for _ in range(layers)], t, heads, skip, sigma
            )
            assert upper_bound(read(network.to_json())) == certified_bound(network), network
            assert FAMILY.label(network) == family_name(network)
            compared += 1
    assert compared > 3000


def family_name(network: DeepAttention) -> str:
    from m2bridge.families.deep_attention.checker import CHECKER

    return CHECKER.name(network.to_json())


def test_the_block_is_the_whole_differential() -> None:
    """The two ways of the checker, which share nothing."""
    for w, a, t in product(product((1, 2, 3), repeat=3), product((1, 2), repeat=2), (1, 2)):
        case = read(DeepAttention(w, a, t).to_json())
        columns, rank = checker_block.columns_and_rank(case)
        assert rank == columns - checker_block.unseen_dimension(case)
        assert function_rank(case, upper_bound(case)) == upper_bound(case)


def test_a_block_with_a_larger_kernel_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rank may be more than the dimension, or planted equal to it: 5 and 4 for (2, 1), a = 1."""
    from m2bridge.families.deep_attention import observation

    network = DeepAttention((2, 1), 1)
    case = read(network.to_json())
    assert (checker_block.columns_and_rank(case), upper_bound(case)) == ((6, 5), 4)
    monkeypatch.setattr(checker_observables, "columns_and_rank", lambda network: (6, 4))
    monkeypatch.setattr(observation, "columns_and_rank", lambda network: (6, 4))
    value, numbers = checker_observables._dimension.__wrapped__(case)
    assert (value, numbers["lower_bound"], numbers["upper_bound"]) == (None, 0, 4)
    (made,) = certify_all(network, ["L"])
    assert made.answer["verdicts"][0]["verdict"] == "UNDECIDED"
    assert made.evidence["dimension"] == numbers


@pytest.mark.parametrize("length", [1, 4])
def test_dual_numbers_of_the_block(length: int) -> None:
    """Products as pairs of series, inverses, and softmax, whose columns are exponentials."""
    random, p, t = Random(6), 10007, 5
    ring = checker_block._DualNumbers(p, length, t)

    def series() -> flint.nmod_poly:
        return flint.nmod_poly([random.randrange(1, p) for _ in range(length)], p)

    def number(value: flint.nmod_poly, slope: flint.nmod_poly) -> flint.nmod_poly:
        return value + slope.left_shift(ring.place)

    (v, s), (w, r) = ((series(), series()) for _ in range(2))
    x, y = number(v, s), number(w, r)
    low = v.mul_low(w, length), v.mul_low(r, length) + s.mul_low(w, length)
    assert ring.times(x, y) == number(*low)
    assert ring.times(x, ring._inverse(x)) == ring.number(1)
    scores = [[number(series(), series()) for _ in range(2)] for _ in range(2)]
    first, second = ring.softmax(scores, [[2, 3], [5, 7]])
    for column, (e, f) in enumerate(((2, 5), (3, 7))):
        assert first[column] + second[column] == ring.number(1)
        exponentials = (
            ring._exponential(scores[0][column], e),
            ring._exponential(scores[1][column], f),
        )
        one, other = exponentials
        assert ring.times(first[column], (t - 1) * other) == ring.times(second[column], one)


@pytest.mark.parametrize("skip", [False, True])
def test_the_gradient_of_the_checker_is_the_derivative(skip: bool) -> None:
    """In a random direction, by dual numbers: polynomials in ε modulo ε²."""
    widths, a, tokens, p = ((3, 3, 3) if skip else (3, 2, 4)), (2, 3), 2, checker_observables.PRIME
    random = Random(8)
    layers = []
    for before, after, rank in zip(widths, widths[1:], a, strict=False):
        sizes = SizesOfLayer(before, after, rank)
        layers.append([checker_observables.random_head(sizes, random) for _ in range(2)])
    X, G = (checker_observables._random(width, tokens, random) for width in (widths[0], widths[-1]))
    gradient = checker_observables.gradient(layers, skip, X, G)
    X, G = X.table(), G.table()
    direction = [random.randrange(p) for _ in gradient]
    moves = iter(direction)
    moved = []
    for heads in reversed(layers):
        order = [(head, kind) for head in heads for kind in "VKQ"]
        there: list[dict[str, Any]] = [{} for _ in heads]
        for head, kind in order:
            rows = [[dual(x, next(moves)) for x in row] for row in head[kind].table()]
            there[heads.index(head)][kind] = rows
        moved.insert(0, there)
    Y = [[dual(x, 0) for x in row] for row in X]
    for there in moved:
        outputs = [Y] if skip else []
        for head in there:
            scores = [Y, transposed(Y), transposed(head["K"]), head["Q"], Y]
            outputs.append(truncated(head["V"], *scores))
        Y = [
            [sum(xs[1:], start=xs[0]) for xs in zip(*rows, strict=True)]
            for rows in zip(*outputs, strict=True)
        ]
    total = sum(
        int(g) * y for gs, ys in zip(G, Y, strict=True) for g, y in zip(gs, ys, strict=True)
    )
    assert sum(map(mul, gradient, direction)) % p == int(total[1])


def dual(value: Any, slope: Any) -> flint.nmod_poly:
    return flint.nmod_poly([int(value), int(slope)], checker_observables.PRIME)


def truncated(*factors: Any) -> Any:
    result, *others = factors
    for B in others:
        result = [[entry.truncate(2) for entry in row] for row in matrix_product(result, B)]
    return result


def virtual_weights_of_a_draw(network: Network) -> checker_fibres.VirtualWeights:
    """Of random A_k = KᵀQ and V_k, multiplied out."""
    random = Random(5)

    def draw(rows: int, columns: int) -> list[list[int]]:
        return [[random.randint(1, 50) for _ in range(columns)] for _ in range(rows)]

    entering = [[int(i == j) for j in range(network.widths[0])] for i in range(network.widths[0])]
    attention = []
    for before, after, a in network.layers:
        A = matrix_product(transposed(draw(a, before)), draw(a, before))
        attention.append(matrix_product(transposed(entering), A, entering))
        entering = matrix_product(draw(after, before), entering)
    return checker_fibres.VirtualWeights(attention, entering)


@pytest.mark.parametrize(
    ("widths", "a", "t"),
    [
        ((2, 1), 1, 1),
        ((3, 2), 2, 3),
        ((2, 2, 2), (1, 1), 2),
        ((2, 1, 2), (1, 2), 1),
        ((2, 1, 2), (2, 1), 2),
        ((2, 2, 1), (2, 1), 1),
        ((2, 3, 1), (2, 2), 2),
        ((1, 2, 3), (1, 2), 2),
    ],
    ids=str,
)
def test_fibres_in_normal_form(
    widths: tuple[int, ...], a: Any, t: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base change takes general weights to them, and keeps the dimension and the degree."""
    network = read(DeepAttention(widths, a, t).to_json())
    weights = checker_fibres.random_virtual_weights(network)
    ranks = [flint.fmpz_mat(A).rank() for A in (*weights.attention, weights.M)]
    assert ranks == [*network.ranks, min(widths)]
    assert [A[0][0] for A in (*weights.attention, weights.M)] == [1] * (network.depth + 1)
    in_normal_form = checker_fibres.fibre.__wrapped__(network)
    monkeypatch.setattr(checker_fibres, "random_virtual_weights", virtual_weights_of_a_draw)
    assert checker_fibres.fibre.__wrapped__(network) == in_normal_form


def test_the_normal_form_is_one_word() -> None:
    assert [normal_form_factors(layers) for layers in (1, 2, 3, 4)] == [5, 17, 53, 161]


def test_grids_have_every_combination_of_ranks() -> None:
    from m2bridge.batch.cases import grid

    chosen = family(NAME)
    found = grid(chosen, {"widths": "1..2,2,3", "a": "1..3"})
    assert len(found) == len(set(found)) == 2 * 9
    assert {network.a for network in found} == set(product((1, 2, 3), repeat=2))
    assert {network.a for network in grid(chosen, {"widths": "2,2,3", "a": "1..2,3"})} == {
        (1, 3),
        (2, 3),
    }
    softmax = grid(
        chosen,
        {
            "widths": "2,2",
            "a": "1",
            "normalization": "none,softmax",
            "heads": "1..2",
            "skip": "true",
        },
    )
    assert len(softmax) == 4
    assert all(network.skip for network in softmax)
    with pytest.raises(InvalidCaseError, match="combinations"):
        grid(chosen, {"widths": ",".join(["2"] * 31), "a": "1..2"})
    with pytest.raises(InvalidCaseError, match="neither true nor false"):
        grid(chosen, {"widths": "2,2", "a": "1", "skip": "yes"})


def test_a_statement_that_does_not_apply_is_certified_and_verified_at_once(tmp_path: Path) -> None:
    """Planted: no engine at all. A fibre in 25 unknowns, which nobody asked for, took all memory
    before.
    """
    network = DeepAttention((3, 3, 3), (1, 2))
    with using(RecordedEngine(tmp_path)):
        (certificate,) = certify_all(network, ["3.7"])
    assert [verdict["verdict"] for verdict in certificate.answer["verdicts"]] == ["NOT_APPLICABLE"]
    assert certificate.evidence == {}
    assert verify(certificate).accepted
