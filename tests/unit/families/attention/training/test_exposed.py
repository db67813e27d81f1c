"""Types of weights that are critical for open sets of targets: ranks, the theorem, certificates."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import flint
import numpy
import pytest
from click.testing import CliRunner

from m2bridge import SingleLayerAttention, weights
from m2bridge.algebra.linear_algebra import rank, rank_mod, sparse_rank
from m2bridge.certification.make import certify, question_of
from m2bridge.checker.algebra import ring
from m2bridge.cli.commands import cli
from m2bridge.crosscheck.verdict import compare
from m2bridge.errors import NotApplicableError
from m2bridge.families.attention.checker import CHECKER, exposed as checker
from m2bridge.families.attention.checker.case import Case, add, function
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.attention.training.differentials import Differentials
from m2bridge.families.attention.training.exposure import CriticalWeights, type_facts
from m2bridge.families.attention.training.observed import observe_types
from m2bridge.families.attention.training.types import (
    ExposedTypes,
    TypedWeights,
    WeightType,
    representative,
    weight_types,
    zero_types,
)
from m2bridge.results.base import Decision
from m2bridge.statements.statement import Value
from tests.changing import changed
from tests.checking import verify
from tests.forward_pass import PRIME, Layer, jacobian
from tests.tiers import slow

SIZES = [(1, 1, 1), (2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 2), (3, 1, 2), (3, 2, 2), (2, 3, 4)]
FACTORED = [
    (2, 1, 2, 2),
    (2, 2, 2, 2),
    (3, 2, 2, 2),
    (2, 2, 1, 2),
    (3, 1, 2, 2),
    (2, 3, 2, 3),
    (4, 1, 1, 3),
    (2, 4, 1, 3),
]
STATEMENT = next(one for one in REGISTRY if one.key == "exposed")
OF_HEADS = next(one for one in REGISTRY if one.key == "exposed-heads")


@pytest.mark.parametrize("size", SIZES)
def test_the_exposed_types_are_those_of_the_theorem(size: tuple[int, ...]) -> None:
    shape = SingleLayerAttention(*size)
    for kind in weight_types(shape):
        facts = type_facts(kind, shape)
        assert facts.exposed is kind.is_exposed(shape), kind
        assert bool(facts.saddle) is kind.is_saddle(shape), kind


@pytest.mark.parametrize("size", FACTORED)
def test_factorized_values_are_decided_too(size: tuple[int, ...]) -> None:
    *case, v = size
    shape = SingleLayerAttention(*case)
    for kind in weight_types(shape, v):
        facts = type_facts(kind, shape, v)
        assert facts.exposed is kind.is_exposed(shape), kind
        assert bool(facts.saddle) is kind.is_saddle(shape, v), kind


@pytest.mark.parametrize(
    ("size", "ranks"), [((5, 2, 1, 4), (2, 3)), ((2, 5, 1, 4), (3, 2))], ids=str
)
def test_dimensions_alone_do_not_decide_factorized_values(
    size: tuple[int, int, int, int], ranks: tuple[int, int]
) -> None:
    """(d − d')(η − μ) ≥ μ² + η² − μη holds, and the type is not exposed."""
    d, d_out, a, v = size
    o, w = ranks
    mu, eta = o - 1, w - 1
    assert (d - d_out) * (eta - mu) >= mu**2 + eta**2 - mu * eta
    shape = SingleLayerAttention(d, d_out, a)
    facts = type_facts(WeightType(1, 1, 1, 1, 0, o, w), shape, v)
    assert facts.functions_with_spaces >= facts.rank > facts.form_rank
    assert facts.exposed is False
    assert not facts.kind.is_exposed(shape)


@pytest.mark.parametrize(
    ("size", "ranks"), [((5, 2, 1, 4), (2, 3)), ((2, 5, 1, 4), (3, 2))], ids=str
)
def test_dimensions_alone_do_not_decide_in_the_checker(
    size: tuple[int, int, int, int], ranks: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same types; certificates have v = a, so that v is planted."""
    d, d_out, a, v = size
    o, w = ranks
    monkeypatch.setattr(checker.Head, "h", v)
    head = checker.Head(Case(d, d_out, a, 2), has_o=True)
    facts = checker._facts(checker.Type(k=1, q=1, o=o, v=w, r=1, s=1, m=0), head)
    assert facts["functions_with_spaces"] >= facts["rank"] > facts["form_rank"]
    assert facts["exposed"] is False


def test_the_checker_decides_by_a_smaller_dimension_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a form whose rank is too small, and dimensions around that of the differential."""
    head = checker.Head(Case(2, 2, 2, 2), has_o=False)
    kind = checker.types(head)[0]
    rank_there = checker.Expansion(kind, head).rank
    monkeypatch.setattr(checker.Expansion, "form_rank", lambda self: self.rank - 1)
    for more, exposed in ((-1, False), (0, None), (1, None)):
        wrong = rank_there + more
        monkeypatch.setattr(checker, "dimension_with_spaces", lambda *_, wrong=wrong: wrong)
        assert checker._facts(kind, head)["exposed"] is exposed


def test_the_checker_excludes_by_both_ranks_of_the_functional(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted: as many functions as the rank of the differential, and ranks of ν around the bounds,
    d − max(k, q) = 1 on A and the lesser of d' − o = 0 and d − v = 1 on W.
    """
    head = checker.Head(Case(4, 3, 3, 2), has_o=True)
    kind = checker.Type(k=3, q=2, o=3, v=3, r=2, s=2, m=1)
    balanced = checker.Expansion(kind._replace(k=2, q=2, o=2, v=2), head)
    monkeypatch.setattr(checker, "orbit_dimension", lambda *_: balanced.rank)
    for on_a, on_w, excluded in ((1, 0, False), (2, 0, True), (1, 1, True)):
        monkeypatch.setattr(checker.Expansion, "rank_on_a", lambda _, rank=on_a: rank)
        monkeypatch.setattr(checker.Expansion, "rank_on_w", lambda _, rank=on_w: rank)
        assert checker._is_excluded_by_factors(kind, head) is excluded


@pytest.mark.parametrize(
    ("ranks", "is_descent"),
    [((2, 2, 2, 2, 2, 2), False), ((1, 1, 2, 2, 1, 2), True), ((2, 2, 1, 1, 2, 1), True)],
)
def test_the_checker_lets_only_factors_below_full_rank_move(
    ranks: tuple[int, ...], is_descent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: a functional that is zero neither on A nor on W; a = v = 2."""
    head = checker.Head(Case(3, 3, 2, 2), has_o=True)
    at_point = checker.Expansion(checker.Type(*ranks, m=1), head)
    monkeypatch.setattr(checker.Expansion, "rank_on_a", lambda _: 1)
    monkeypatch.setattr(checker.Expansion, "rank_on_w", lambda _: 1)
    assert at_point.is_descent_proved() is is_descent


@pytest.mark.parametrize("has_o", [False, True])
def test_the_hessian_of_the_checker_is_twice_the_quadratic_part(has_o: bool) -> None:
    """xᵀHx is 2ν of the part of degree two in s of φ(weights + s x), for random x."""
    head = checker.Head(Case(2, 2, 2, 2), has_o=has_o)
    (s,) = ring(1).gens()
    random = Random("hessian")
    values = set()
    for kind in checker.types(head)[::5]:
        at_point = checker.Expansion(kind, head)
        x = [random.randint(1, 9) for _ in at_point.entries]
        moved = dict(at_point.weights)
        for (name, i, j), entry in zip(at_point.entries, x, strict=True):
            moved[name] = add(moved[name], {(i, j): s * entry})
        expected = 0
        for index, polynomial in function(checker._pair(moved)).items():
            expected += 2 * at_point.nu[index] * int(polynomial.to_dict().get((2,), 0))
        column = flint.nmod_mat(len(x), 1, x, checker.PRIME)
        value = int((column.transpose() * at_point.hessian * column)[0, 0])
        assert value == expected % checker.PRIME
        values.add(value)
    assert len(values) > 1


@pytest.mark.parametrize("size", [*SIZES, *FACTORED, slow((4, 4, 4))], ids=str)
def test_representatives_have_the_ranks_of_their_types(size: tuple[int, ...]) -> None:
    shape = SingleLayerAttention(*size[:3])
    head_dim = size[3] if len(size) > 3 else None
    for kind in weight_types(shape, head_dim):
        weights = representative(kind, shape, head_dim)
        assert type_of(weights) == kind
        # Over functions with their spaces, and the scaling of A against W, there are the pairs
        # (K, Q) with a given KᵀQ and given row spaces, where K = M R, Q = N S and MᵀN is given
        if head_dim not in (None, shape.a):
            continue
        head = checker.Head(Case(*size[:3], 2), has_o=head_dim is not None)
        o, v = (shape.d_out, kind.s) if kind.o is None else (kind.o, kind.v)
        of_checker = checker.Type(kind.k, kind.q, o, v, kind.r, kind.s, kind.m)
        dimension = checker.dimension_with_spaces(of_checker, head) + 1
        dimension += shape.a * (kind.k + kind.q) - kind.k * kind.q
        if head.has_o:
            dimension += shape.a * (o + v) - o * v
        assert rank(Differentials(weights, shape).tangents) == dimension


def type_of(weights: TypedWeights) -> WeightType:
    """The ranks of integer matrices, with NumPy."""
    K, Q, V = map(numpy.array, (weights.K, weights.Q, weights.V))
    A, W, o, v = K.T @ Q, V, None, None
    if weights.O is not None:
        O = numpy.array(weights.O)
        W, o, v = O @ V, of(O), of(V)
    meet = of(A) + of(W) - of(numpy.hstack([A, W.T]))
    return WeightType(of(K), of(Q), of(A), of(W), meet, o, v)


def of(matrix: Any) -> int:
    return int(numpy.linalg.matrix_rank(matrix))


WRONG = [
    lambda kind, shape: True,
    lambda kind, shape: False,
    # singular functions stop training
    lambda kind, shape: kind.r == kind.s == 1,
    # unequal ranks stop training, too
    lambda kind, shape: kind.s == min(shape.d, shape.d_out),
    # only weights of full rank
    lambda kind, shape: kind.is_exposed(shape) and kind.r == shape.alpha,
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_statement_is_refuted(wrong: Any) -> None:
    model = SingleLayerAttention(3, 2, 2)
    observed = observe_types(model)
    assert compare(STATEMENT, observed).decision is Decision.CONFIRMED
    planted = ExposedTypes.of(kind for kind in weight_types(model) if wrong(kind, model))
    found = compare(replace(STATEMENT, predict=lambda shape: planted), observed)  # type: ignore[arg-type]
    assert found.decision is Decision.REFUTED
    assert "though the statement says" in found.reason


@pytest.mark.parametrize(
    "wrong",
    [
        # weights with factors of larger ranks than OV are never critical
        lambda kind, shape: kind.is_exposed(shape) and kind.o == kind.v == kind.s,
        # values have full rank, as without factors
        lambda kind, shape: kind.is_exposed(shape) and kind.s == min(shape.d, shape.d_out),
    ],
)
def test_a_wrong_statement_about_heads_is_refuted(wrong: Any) -> None:
    model = SingleLayerAttention(3, 2, 2)
    observed = observe_types(model, model.a)
    assert compare(OF_HEADS, observed).decision is Decision.CONFIRMED
    planted = ExposedTypes.of(kind for kind in weight_types(model, 2) if wrong(kind, model))
    found = compare(replace(OF_HEADS, predict=lambda shape: planted), observed)  # type: ignore[arg-type]
    assert found.decision is Decision.REFUTED


@pytest.mark.parametrize("size", [(2, 1, 2, 2), (3, 1, 1, 2), (2, 1, 2, 1)])
def test_certificates_about_heads_are_verified(size: tuple[int, ...]) -> None:
    certificate = certify(SingleLayerAttention(*size), "exposed-heads")
    assert verify(certificate).accepted
    if not certificate.evidence:
        return
    last = len(certificate.evidence["types"]) - 1
    for name in ("functions", "functions_with_spaces", "rank", "form_rank"):
        value = certificate.evidence["types"][last][name]
        wrong = changed(certificate, ("evidence", "types", last, name), value + 1)
        assert not verify(wrong).accepted


@pytest.mark.parametrize(
    "size", [(1, 2, 2, None), (2, 1, 2, None), (2, 3, 2, None), (3, 1, 2, None), (2, 1, 2, 2)]
)
def test_types_of_the_zero_function(size: tuple[int, int, int, int | None]) -> None:
    """The form of the lemma has full rank at random weights exactly at the exposed types."""
    d, d_out, a, head_dim = size
    shape = SingleLayerAttention(d, d_out, a)
    kinds = zero_types(shape, head_dim)
    for kind in kinds:
        differentials = Differentials(representative(kind, shape, head_dim), shape)
        critical = CriticalWeights.random(kind, shape, Random(3), head_dim)
        is_full = critical.form_rank == sparse_rank(differentials.columns_of_FJ)
        assert is_full is kind.is_exposed(shape), kind
        assert not kind.is_saddle(shape, head_dim)
    assert not set(kinds) & set(weight_types(shape, head_dim))


@pytest.mark.parametrize(
    ("sizes", "k", "q", "r", "s", "is_exposed"),
    [
        ((2, 1, 2), 0, 1, 0, 1, True),  # K = 0, rk Q = 1, V of full rank
        ((3, 2, 2), 0, 1, 0, 2, True),
        ((2, 3, 2), 2, 0, 0, 2, True),  # K = 1: A is one matrix, and zero, with d' > d
        ((3, 2, 3), 3, 0, 0, 2, False),
        ((4, 3, 4), 4, 3, 3, 0, True),  # K = 1, rk A = 3 < d, V = 0
        ((4, 3, 4), 4, 2, 2, 0, False),
    ],
)
def test_sentences_on_the_zero_function(
    sizes: tuple[int, int, int], k: int, q: int, r: int, s: int, is_exposed: bool
) -> None:
    """Ranks of K and Q that the zero function allows, and a nonzero function does not, by the form
    of the lemma at random weights.
    """
    shape = SingleLayerAttention(*sizes)
    (kind,) = [t for t in zero_types(shape) if (t.k, t.q, t.r, t.s) == (k, q, r, s)]
    differentials = Differentials(representative(kind, shape, None), shape)
    critical = CriticalWeights.random(kind, shape, Random(3), None)
    is_full = critical.form_rank == sparse_rank(differentials.columns_of_FJ)
    assert is_full is is_exposed is kind.is_exposed(shape)


def test_the_checker_of_heads_predicts_and_lists_the_same_types() -> None:
    for d, d_out, a in product(range(1, 5), range(1, 5), range(1, 4)):
        case, shape = Case(d, d_out, a, 2), SingleLayerAttention(d, d_out, a)
        listed = checker.types(checker.Head(case, has_o=True))
        assert listed == [kind.cells for kind in weight_types(shape, a)]
        words = checker.WORDS.words("exposed-heads", "")
        stated = {tuple(kind) for kind in listed if checker.is_stated(kind, words, case)}
        assert stated == {kind.cells for kind in weight_types(shape, a) if kind.is_exposed(shape)}
        assert ExposedTypes(frozenset(stated)) == predicted("exposed-heads", shape)


def test_what_a_limit_leaves_out_is_not_decided() -> None:
    model = SingleLayerAttention(2, 2)
    observed = observe_types(model)
    part = replace(observed, facts_by_type=observed.facts_by_type[:3], limit="the time is over")
    found = compare(STATEMENT, part)
    assert found.decision is Decision.UNDECIDED
    assert part.progress == "3 of 11 types were decided"


@pytest.mark.parametrize(
    "size", [(2, 1, 2, 2), pytest.param((3, 2, 2, 3), marks=pytest.mark.slow), (2, 2, 2, 1)]
)
def test_certificates_are_verified_and_each_number_counts(size: tuple[int, ...]) -> None:
    certificate = certify(SingleLayerAttention(*size), "exposed")
    assert verify(certificate).accepted
    (row,) = question_of("attention", "exposed").rows(certificate)
    assert row.verdict == certificate.answer["verdicts"][0]["verdict"]
    for number, facts in enumerate(certificate.evidence.get("types", ())):
        for name in ("functions", "functions_with_spaces", "rank", "form_rank"):
            wrong = changed(certificate, ("evidence", "types", number, name), facts[name] + 1)
            assert not verify(wrong).accepted
        if number > 2:
            # each check computes all types
            break


def test_the_checker_predicts_the_same_types_for_all_small_sizes() -> None:
    for d, d_out, a in product(range(1, 5), repeat=3):
        case = Case(d, d_out, a, 2)
        head = checker.Head(case, has_o=False)
        words = checker.WORDS.words("exposed", "")
        listed = [kind for kind in checker.types(head) if checker.is_stated(kind, words, case)]
        stated = {tuple(head.cells(kind)) for kind in listed}
        shape = SingleLayerAttention(d, d_out, a)
        assert stated == {kind.cells for kind in weight_types(shape) if kind.is_exposed(shape)}
        assert ExposedTypes(frozenset(stated)) == predicted("exposed", shape)


def predicted(key: str, shape: SingleLayerAttention) -> Value | None:
    """The prediction of a statement of the registry."""
    (statement,) = (one for one in REGISTRY if one.key == key)
    return statement.predict(shape)


def test_the_command_prints_a_table_and_is_not_part_of_all() -> None:
    answer = CliRunner().invoke(
        cli, ["cross-check", "exposed", "--d", "3", "--d-out", "2", "--a", "2"]
    )
    assert answer.exit_code == 0, answer.output
    assert "CONFIRMED" in answer.output
    assert "16, of which 2 are exposed" in answer.output
    rows = [line.split() for line in answer.output.splitlines()]
    assert ["1", "1", "1", "2", "0", "10", "10", "yes", "yes"] in rows
    assert ["2", "2", "2", "2", "1", "13", "13", "yes"] in rows


def test_there_are_no_types_for_one_token() -> None:
    with pytest.raises(NotApplicableError, match="t ≥ 2"):
        observe_types(SingleLayerAttention(2, 2, t=1))
    assert set(CHECKER.questions) >= {"exposed"}


@pytest.mark.parametrize(("d", "d_out", "a"), [(2, 1, 2), (2, 2, 1), (2, 2, 2), (3, 2, 2)])
def test_softmax_has_the_exposed_types_of_its_theorem(d: int, d_out: int, a: int) -> None:
    """By ranks of the forward pass: dimensions of the functions of a type, and of its targets."""
    shape = SingleLayerAttention(d, d_out, a)
    layer = Layer(d, d_out, a, softmax=True, tokens=3)
    kinds = {(kind.k, kind.q, kind.r, kind.s): kind for kind in weight_types(shape)}
    for k, q, r, s in kinds:
        weights = random_weights(k, q, r, s, shape)
        parameters = {name: numpy.array([getattr(weights, name)], float) for name in "KQV"}
        rows = jacobian(layer, parameters)
        image = rank_mod(rows, PRIME)
        # the differential is injective on pairs (A', V')
        assert image == d * k + d * q - k * q + d * d_out
        moves = numpy.array(Differentials(weights, shape).tangents, dtype=object)
        along = [list(map(int, row)) for row in moves @ numpy.array(rows, dtype=object) % PRIME]
        functions = rank_mod(along, PRIME)
        with_spaces = functions + (k - r) * (d - k) + (q - r) * (d - q)
        if k == q == r and s == min(d, d_out):
            assert functions == image
        else:
            assert with_spaces < image


def random_weights(k: int, q: int, r: int, s: int, shape: SingleLayerAttention) -> TypedWeights:
    """Weights with these ranks in general position."""
    random = Random(7)

    def drawn(rows: int, columns: int) -> Any:
        entries = [[random.randrange(-9, 10) for _ in range(columns)] for _ in range(rows)]
        return numpy.array(entries).reshape(rows, columns)

    in_heads = numpy.eye(shape.a, dtype=int)
    K = in_heads[:, :k] @ drawn(k, shape.d)
    Q = in_heads[:, [*range(r), *range(k, k + q - r)]] @ drawn(q, shape.d)
    V = drawn(shape.d_out, s) @ drawn(s, shape.d)
    K, Q, V = (tuple(map(tuple, matrix.tolist())) for matrix in (K, Q, V))
    weights = TypedWeights(K, Q, V)
    found = type_of(weights)
    assert (found.k, found.q, found.r, found.s) == (k, q, r, s)
    return weights


def test_weights_name_the_type_of_a_head() -> None:
    random = numpy.random.default_rng(0)
    K = random.standard_normal((3, 2)) @ random.standard_normal((2, 4))
    Q = random.standard_normal((3, 2)) @ random.standard_normal((2, 4))
    V = random.standard_normal((3, 4))
    noise = 1e-5 * random.standard_normal((3, 4))
    (head,) = weights(K=K + noise, Q=Q + noise, V=V, tolerance=1e-2).heads
    found = head.to_json()["type"]
    assert found["exact"]["ranks"] == {"K": 3, "Q": 3, "V": 3, "A": 3}
    assert found["effective"]["ranks"] == {"K": 2, "Q": 2, "V": 3, "A": 2}
    assert found["effective"] | {"ranks": {}} == {"ranks": {}, "exposed": True, "saddle": True}
    # at full rank nothing is claimed
    assert found["exact"]["saddle"] is False
    (unbalanced,) = weights(K=K + random.standard_normal((3, 4)), Q=Q, V=V, tolerance=1e-9).heads
    assert unbalanced.to_json()["type"]["effective"]["exposed"] is False
    assert "almost no target" in unbalanced.types.words()
    (given,) = weights(A=K.T @ Q, V=V, a=3).heads
    assert given.to_json()["type"] is None


def test_weights_count_what_the_spaces_share() -> None:
    """The type is exposed for general V, and not where the row space of V contains columns of A."""
    K, Q = [[1.0, 0, 0, 0]], [[0, 1.0, 0, 0]]
    general = weights(K=K, Q=Q, V=[[0, 1.0, 0, 0], [0, 0, 1.0, 0]]).heads[0]
    special = weights(K=K, Q=Q, V=[[1.0, 0, 0, 0], [0, 0, 1.0, 0]]).heads[0]
    assert general.types.exact.exposed is general.types.effective.exposed is True
    assert special.types.exact.exposed is special.types.effective.exposed is False
    zero = weights(K=K, Q=[[0, 0, 0, 0]], V=[[1.0, 0, 0, 0]]).heads[0]
    assert zero.types.exact.exposed is True
    assert "the function is zero" in zero.types.words()
    factored = weights(K=K, Q=Q, V=[[0, 0, 1.0, 0]], O=[[1.0], [2.0]]).heads[0]
    assert factored.types.exact.ranks == {"K": 1, "Q": 1, "V": 1, "O": 1, "A": 1, "OV": 1}
    assert factored.types.exact.exposed is True
