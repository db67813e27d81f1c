"""The learning degree for one output: the numbers of its theorem, and its certificates."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import flint
import pytest

from m2bridge.certificates.form import Certificate, read
from m2bridge.errors import MethodUnavailableError, TooExpensiveError, TooLargeError
from m2bridge.families.attention.checker import learning_degree as checker
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.statements import WORDS, predicted
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.observations.learning_degree import ObservedLearningDegree
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training.question import LEARNING_DEGREE
from m2bridge.families.attention.training_loss import counting
from m2bridge.families.attention.training_loss.counting import Count, Counts
from m2bridge.families.attention.training_loss.eliminated import _Reduced, eliminated_system
from m2bridge.families.attention.training_loss.loss import gaussian, random_function
from tests.changing import changed
from tests.checking import verify

PRIMES = (31973, 32479)
SAMPLES = Path(__file__).parents[4] / "certificates"


def numbers(d: int, t: int) -> dict[str, Fraction]:
    """The numbers of docs/learning-degrees.md#theorem-learning-degree."""
    tau, m = t - 1, d - 1
    delta = 2 * m + (tau + 2) * (tau + 5)
    kappa = tau * (tau + 2) * (tau + 3)
    alpha = Fraction(tau + 2 + m, (tau + 3) * delta) + Fraction(2 * tau + 2, (tau + 2) * delta)
    return {
        "alpha": alpha + Fraction(1, (tau + 2) * (tau + 3)),
        "beta": Fraction(-2 * tau, (tau + 2) * delta),
        "gamma": Fraction(-2, (tau + 2) * delta),
        "delta": Fraction(-(tau**2) - 3 * tau - 1, kappa),
        "epsilon": Fraction(2, kappa),
        "zeta": Fraction(-tau - 1, kappa),
        "eta": Fraction(tau + 1, tau * (tau + 2)),
        "theta": Fraction(-1, tau * (tau + 2)),
    }


@pytest.mark.parametrize(("dense", "written"), [(6, "6"), (0, "0"), (None, "null")])
def test_no_points_are_a_number_in_macaulay2_too(dense: int | None, written: str) -> None:
    counts = Counts(count=Count(dense=dense, elsewhere=None), primes=PRIMES)
    observed = ObservedLearningDegree(model=LayerSizes(2, 1), counts=counts)
    assert observed.to_macaulay2() == f"learningDegree = {written}"


@pytest.mark.parametrize("d", [1, 2])
def test_a_prime_for_which_the_moments_are_degenerate_is_refused(d: int) -> None:
    """t + 2 divides det G: for d = 1 G is E[(x² + …)² x²] = (t + 2)(t + 4)."""
    prime = 16411
    case = Case(d=d, d_out=1, a=d, t=prime - 2)
    with pytest.raises(TooExpensiveError, match="degenerate modulo 16411"):
        checker.numerator(case, checker.target_of_certificates(case), prime)
    shape = LayerSizes(d, 1, d, prime - 2)
    loss = gaussian(shape).towards(random_function(shape, 0), target="")
    assert eliminated_system(loss, prime, Random(0)) is None


@pytest.mark.parametrize(("d", "t"), [(2, 2), (2, 5), (3, 2), (3, 3)])
def test_the_form_of_the_theorem_is_the_inverse_of_the_moments(d: int, t: int) -> None:
    """B_e(w) = wᵀM(e)⁻¹w with all its coefficients, for e = e_1 and random w, over QQ."""
    features = checker.features(d)
    size = len(features)
    moments = [checker.normal_moment(*pair, t) for pair in product(features, repeat=2)]
    columns = flint.fmpq_mat(size, d * d)
    for row, (i, p, q) in enumerate(features):
        if p == 0:
            columns[row, q * d + i] = 1
    M = columns.transpose() * flint.fmpq_mat(size, size, moments) * columns
    random = Random(5)
    w = [[random.randint(-5, 5) for _ in range(d)] for _ in range(d)]
    column = flint.fmpq_mat(d * d, 1, [x for row in w for x in row])
    inverse = (column.transpose() * M.inv() * column)[0, 0]
    first_row, first_column = w[0], [row[0] for row in w]
    trace = sum(w[i][i] for i in range(d))
    values = {
        "alpha": w[0][0] ** 2,
        "beta": w[0][0] * trace,
        "gamma": trace**2,
        "delta": sum(x * x for x in first_row),
        "epsilon": sum(x * y for x, y in zip(first_row, first_column, strict=True)),
        "zeta": sum(x * x for x in first_column),
        "eta": sum(x * x for row in w for x in row),
        "theta": sum(w[i][j] * w[j][i] for i in range(d) for j in range(d)),
    }
    found = sum(numbers(d, t)[name] * value for name, value in values.items())
    assert found == Fraction(int(inverse.p), int(inverse.q))


def test_the_two_numbers_that_the_proof_needs_are_never_zero() -> None:
    for d, t in product(range(2, 12), range(2, 12)):
        found = numbers(d, t)
        assert found["alpha"] > 0
        assert found["delta"] - found["epsilon"] / 2 + found["zeta"] / 4 < 0


@pytest.mark.parametrize(("d", "t"), [(2, 2), (2, 4), (3, 3)])
def test_the_checker_has_the_same_moments_target_and_function(d: int, t: int) -> None:
    """By pairings here, and by cases of tokens where losses are made."""
    case, shape = Case(d, 1, d, t), LayerSizes(d, 1, d, t)
    assert checker.target_of_certificates(case) == list(random_function(shape, 0))
    loss = gaussian(shape).towards(random_function(shape, 0), "")
    prime = PRIMES[0]
    by_checker = checker.Quotient(case, checker.target_of_certificates(case), prime)
    by_loss = _Reduced(loss, prime)
    for v in ([1, 0, 3], [2, 5, 7], [1, 1, 1]):
        sample = by_loss.sample(v[:d])
        assert sample is not None
        assert by_checker.value(v[:d]) == sample.value


@pytest.mark.parametrize(("d", "t"), [(2, 2), (2, 3), (3, 2)])
def test_points_are_counted_by_ranks(d: int, t: int) -> None:
    case = Case(d, 1, d, t)
    target = checker.target_of_certificates(case)
    for prime in PRIMES[: 4 - d]:
        assert checker.number_of_points(case, target, prime) == {2: 6, 3: 25}[d]


def test_a_special_target_has_fewer_points() -> None:
    """What is counted is not the formula."""
    case = Case(2, 1, 2, 2)
    assert checker.number_of_points(case, [0, -1, 0, 0, 0, -1], PRIMES[0]) == 2


def test_the_number_of_points_of_given_forms() -> None:
    """The 49 points (ζ : ζ' : 1) with seventh roots of unity, at none of which q = 0."""
    prime = 32749
    differences: list[checker.Form] = [
        {(7, 0, 0): 1, (0, 0, 7): prime - 1},
        {(0, 7, 0): 1, (0, 0, 7): prime - 1},
        {(7, 0, 0): 1, (0, 7, 0): prime - 1},
    ]
    ring = checker.ring_of_forms(3, prime)
    counting = checker.Counting([ring.from_dict(terms) for terms in differences])
    assert counting.dimension(12, 1) == counting.dimension(12, 3) == counting.dimension(14, 1) == 49


def test_all_points_are_found_only_where_both_neighbours_agree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted: h(8, 2) = h(10, 2) with another h(8, 4), and from the degree 12 on one number."""
    planted = {(8, 2): 4, (10, 2): 4, (8, 4): 5, (12, 2): 5, (14, 2): 5, (12, 4): 5}

    def dimension(self: checker.Counting, degree: int, power: int) -> int:
        return planted[degree, power]

    monkeypatch.setattr(checker.Counting, "dimension", dimension)
    case = Case(2, 1, 2, 2)
    assert checker.number_of_points(case, checker.target_of_certificates(case), PRIMES[0]) == 5


def test_stirling_numbers() -> None:
    """S(d + 2, 3), by the recursion S(n, k) = k S(n − 1, k) + S(n − 1, k − 1)."""
    assert [stirling_number(d + 2, 3) for d in range(1, 7)] == [1, 6, 25, 90, 301, 966]
    (words,) = WORDS.about("learning-degree")
    for d in range(1, 30):
        assert predicted(words, Case(d, 1, d, 2)) == stirling_number(d + 2, 3)


def stirling_number(elements: int, blocks: int) -> int:
    """The number of partitions of a set into nonempty blocks."""
    if elements == blocks or blocks == 1:
        return 1
    if elements < blocks:
        return 0
    with_others = blocks * stirling_number(elements - 1, blocks)
    return with_others + stirling_number(elements - 1, blocks - 1)


SAMPLE = SAMPLES / "accepted-on-trust" / "d2-dout1-a2-t2-learning-degree.json"


def test_a_number_that_only_primes_know_is_accepted_on_trust() -> None:
    found = verify(read(SAMPLE))
    assert found.outcome == "accepted-on-trust"
    assert found.remarks[0] == f"on trust: {WORDS.lemmas['two-primes']}"


def unlucky(d: int, t: int, primes: tuple[int, int], count: int) -> Certificate:
    """A certificate with a number of points that is right modulo its own primes only."""
    case = {"d": d, "d_out": 1, "a": d, "t": t}
    (verdict,) = read(SAMPLE).answer["verdicts"]
    number = stirling_number(d + 2, 3)
    refuted = verdict | {"predicted": number, "observed": count, "verdict": "REFUTED"}
    evidence = {
        "learning_degree": count,
        "primes": list(primes),
        "target": checker.target_of_certificates(Case(**case)),
    }
    return replace(
        read(SAMPLE),
        case=case,
        name=f"d{d}-dout1-a{d}-t{t}",
        answer={"verdicts": [refuted]},
        evidence=evidence,
    ).sealed()


UNLUCKY = [
    (3, 9338, (16487, 21163), 13, 25),
    (3, 240_711_482, (16417, 16433), 13, 25),
    pytest.param(4, 76_752_124, (16417, 16433), 40, 90, marks=pytest.mark.slow),
]
"""d and t, two primes that divide a coefficient of the moments, the number of points modulo these,
and the right number.
"""


@pytest.mark.parametrize(("d", "t", "primes", "count", "right"), UNLUCKY)
def test_primes_that_a_certificate_chooses_decide_nothing(
    d: int, t: int, primes: tuple[int, int], count: int, right: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number modulo the chosen primes is not the one modulo the checker's, for any t."""
    tau = t - 1
    coefficient = 4 * tau**2 + (18 + d) * tau + 16 + 4 * d
    assert all(coefficient % prime == 0 for prime in primes)
    case = Case(d=d, d_out=1, a=d, t=t)
    target = checker.target_of_certificates(case)
    assert checker.number_of_points(case, target, primes[0]) == count
    monkeypatch.setattr(checker, "LARGEST_TOKENS", t)
    found = verify(unlucky(d, t, primes, count))
    assert (found.outcome, found.check) == ("rejected", "evidence.learning_degree")
    assert (found.stored, found.found.split()[0]) == (str(count), str(right))


def test_a_number_for_one_target_only_is_not_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stored target has two points; the checker draws another one, which has six."""
    special = [0, -1, 0, 0, 0, -1]
    monkeypatch.setattr(checker, "target_of_certificates", lambda case: special)
    certificate = unlucky(2, 2, PRIMES, 2)
    assert certificate.evidence["target"] == special
    found = verify(certificate)
    assert (found.outcome, found.check) == ("rejected", "evidence.learning_degree")
    assert found.found.startswith("6 modulo ")


def test_for_many_tokens_no_points_are_counted() -> None:
    found = verify(unlucky(3, 240_711_482, (16417, 16433), 13))
    assert (found.outcome, found.found) == (
        "too-expensive",
        "points are counted for t ≤ 1000000 only",
    )
    model = SingleLayerAttention(3, 1, 3, checker.LARGEST_TOKENS + 1)
    with pytest.raises(TooLargeError, match="for t ≤ 1000000"):
        LEARNING_DEGREE.observe(model)


def test_a_number_that_is_not_decided_rests_on_no_lemma() -> None:
    """In families of critical points: what is observed is no number."""
    counts = Counts(count=Count(dense=None, elsewhere=None), primes=PRIMES)
    model = SingleLayerAttention(2, 1)
    observed = ObservedLearningDegree(model=model, counts=counts, target=(1,) * 6)
    content = LEARNING_DEGREE.content(model, observed)
    (verdict,) = content.answer["verdicts"]
    assert (verdict["verdict"], content.trusted) == ("UNDECIDED", ())


def test_random_primes_are_heard_before_primes_that_follow_from_the_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The two primes of a case may be unlucky: then random ones decide, if enough of them agree."""
    loss = gaussian(LayerSizes(2, 1, 2, 2)).towards(random_function(LayerSizes(2, 1), 0), target="")
    counts = Counts(count=Count(dense=3, elsewhere=0), primes=PRIMES)

    def decided(*numbers: int) -> Counts:
        following = iter(numbers)
        with monkeypatch.context() as patch:
            patch.setattr(
                counting, "count_modulo", lambda prime, loss: Count(next(following), elsewhere=0)
            )
            found = counting.compared_modulo_random_primes(loss, counts)
        assert list(following) == []
        return found

    assert decided(3, 3) is counts
    assert decided(6, 3, 3, 3) is counts
    assert decided(6, 6).count.dense == 6
    assert not {*decided(6, 3, 6, 6).primes} & {*PRIMES}
    with pytest.raises(MethodUnavailableError, match="too few have the same numbers"):
        decided(6, 3, 6, 3, 6)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("evidence", "learning_degree"), 7),
        (("evidence", "learning_degree"), None),
        # the same prime twice, and no prime
        (("evidence", "primes", 0), 28537),
        (("evidence", "primes", 0), 19011),
        (("evidence", "primes", 1), 101),
        (("evidence", "target", 0), 5),
        (("answer", "verdicts", 0, "observed"), 7),
        (("answer", "verdicts", 0, "predicted"), 7),
    ],
)
def test_a_certificate_with_another_number_is_rejected(
    place: tuple[Any, ...], value: int | None
) -> None:
    certificate = read(SAMPLE)
    assert verify(certificate).accepted
    assert not verify(changed(certificate, place, value)).accepted


def test_large_cases_are_not_counted_again() -> None:
    certificate = changed(read(SAMPLE), ("case",), {"d": 5, "d_out": 1, "a": 5, "t": 2})
    with pytest.raises(TooExpensiveError, match="d ≤ 4"):
        checker.learning_degree(certificate)
