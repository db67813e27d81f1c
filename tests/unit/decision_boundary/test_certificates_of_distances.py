"""Certificates of distances: true ones are accepted, and planted errors are refused by name."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any

import flint
import numpy
import pytest
from click import UsageError
from click.testing import CliRunner

from m2bridge import robustness
from m2bridge.cli.show import robustness_command
from m2bridge.decision_boundary import checker
from m2bridge.decision_boundary.checker import check_distance, digest_of
from m2bridge.errors import CertificateError, NotApplicableError, TooExpensiveError

Fields = dict[str, Any]


def layer_of(random: numpy.random.Generator, d: int, t: int, a: int, **more: Any) -> Fields:
    return {
        "K": random.normal(size=(a, d)),
        "Q": random.normal(size=(a, d)),
        "V": random.normal(size=(3, d)),
        "w": random.normal(size=3),
        "X": random.normal(size=(d, t)),
    } | more


def case(kind: str, seed: int = 0) -> tuple[Fields, Fields]:
    """A layer and its options."""
    random = numpy.random.default_rng(seed)
    d, t, a = (4, 3, 4) if kind == "more rows than tokens have entries" else (7, 4, 2)
    layer = layer_of(random, d, t, a)
    options: Fields = {}
    if kind == "two heads":
        layer["V"], layer["O"] = random.normal(size=(2, 2, d)), random.normal(size=(2, 3, 2))
        layer["K"], layer["Q"] = random.normal(size=(2, 2, a, d))
    elif kind == "rank 2":
        del layer["w"]
        layer["R"] = random.normal(size=(3, 2)) @ numpy.eye(2, t)
    elif kind == "skip":
        layer |= {"V": random.normal(size=(d, d)), "w": random.normal(size=d)}
        options["skip"] = True
    elif kind == "divided scores":
        options["scores_over"] = "sqrt(a)"
    elif kind == "dependent rows":
        layer["Q"][1] = layer["K"][0]
    elif kind == "one token is read":
        options["pool"] = "last"
    elif kind == "large numbers":
        layer["K"] = layer["K"] * 2.0**400
        layer["X"] = layer["X"] * 2.0**-300
    return layer, options


KINDS = (
    "one head",
    "two heads",
    "rank 2",
    "skip",
    "divided scores",
    "dependent rows",
    "one token is read",
    "more rows than tokens have entries",
    "large numbers",
)


def certificate_of(kind: str, part: float, seed: int = 0) -> Fields:
    """A certificate for a boundary whose distance is about this part of the size of X."""
    layer, options = case(kind, seed)
    value = robustness(layer, **options).value[0]
    at_origin = robustness(layer | {"X": 0 * layer["X"]}, bias=1.0, **options).value[0] - 1.0
    bias = -value + part * abs(value - at_origin)
    fields: Fields = json.loads(robustness(layer, bias=bias, **options).to_certificate())
    return fields


def checked(fields: Fields, *, sealed: bool = True) -> str:
    if sealed:
        fields = fields | {"digest": digest_of(fields)}
    return check_distance(json.dumps(fields).encode())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.02, 30.0])
def test_true_certificates_are_accepted(kind: str, part: float) -> None:
    fields = certificate_of(kind, part)
    assert "the distance is between" in checked(fields, sealed=False)
    assert flint.ctx.prec == 53


@pytest.fixture(scope="module")
def near() -> Fields:
    return certificate_of("one head", 0.02)


@pytest.fixture(scope="module")
def bounds() -> Fields:
    return certificate_of("one head", 1000.0)


@pytest.fixture(scope="module")
def far() -> Fields:
    """A certificate that needs part 3."""
    for seed in range(40):
        fields = certificate_of("skip", 1.0, seed)
        if fields["claim"] == "nearest" and fields["proof"]["away"] is not None:
            return fields
    raise AssertionError


def test_each_part_of_the_theorem_is_there(near: Fields, far: Fields, bounds: Fields) -> None:
    assert checked(near).endswith("(Theorem R4, 2 and 4)")
    assert checked(far).endswith("(Theorem R4, 2, 3 and 4)")
    assert checked(bounds).endswith("(Theorem R4, 1)")


def times(text: str, factor: float) -> str:
    return (float.fromhex(text) * factor).hex()


def changed(fields: Fields, place: str, change: Callable[[Any], Any]) -> Fields:
    """A copy with another value at a place, such as proof.multiplier."""
    copy: Fields = json.loads(json.dumps(fields))
    inner: Any = copy
    *path, last = [int(name) if name.isdigit() else name for name in place.split(".")]
    for name in path:
        inner = inner[name]
    inner[last] = change(inner[last])
    return copy


@pytest.mark.parametrize("which", ["near", "far", "bounds"])
@pytest.mark.parametrize("end", [0, 1])
def test_a_shrunk_interval_is_refused(which: str, end: int, request: pytest.FixtureRequest) -> None:
    """By a millionth at one end; for bounds the point that was found is taken, so the upper end."""
    fields = request.getfixturevalue(which)
    factor = 1 + 1e-6 if end == 0 else 1 - 1e-6
    with pytest.raises(CertificateError, match="distance: "):
        checked(changed(fields, f"distance.{end}", lambda text: times(text, factor)))


def test_a_point_beside_the_nearest_proves_no_larger_distance(near: Fields) -> None:
    """There the gradient has a part across the step, whose square is subtracted in part 4."""
    step = numpy.array([[float.fromhex(text) for text in row] for row in near["step"]])
    distance = float.fromhex(near["distance"][1])
    across = numpy.random.default_rng(0).normal(size=step.shape)
    across -= step * (across * step).sum() / (step * step).sum()
    beside = step + across * (1e-3 * distance / numpy.linalg.norm(across))
    fields = near | {"step": [[float(x).hex() for x in row] for row in beside]}

    def claimed(lower: float) -> str:
        ends = [lower * distance, 1.2 * distance]
        return checked(fields | {"distance": [end.hex() for end in ends]})

    assert "the nearest point is found" in claimed(0.99)
    with pytest.raises(CertificateError, match="the lower end is not proved"):
        claimed(1 + 1e-7)


REFUSED = [
    ("proof.multiplier", lambda text: times(text, 1.01), "less than the gradient"),
    ("proof.multiplier", lambda text: times(text, 1e-6), "not positive definite"),
    ("proof.multiplier", lambda text: "-" + text, "multiplier: must be positive"),
    ("proof.weights.0", lambda text: "-" + text, "weights: must be positive"),
    ("proof.weights.0", lambda text: times(text, 1e9), "not positive definite"),
    ("proof.weights", lambda _: [], "weights: must be a list of 1"),
    ("proof.part", lambda text: "0x0.0p+0", "part: must be positive"),
    ("readout.w.1", lambda text: times(text, -1.0), "change its sign"),
    ("readout.pool", lambda _: 4, "pool: must be an integer from 0 to 3"),
    ("step.0.0", lambda text: times(text, 1.001), "distance: "),
    ("bias", lambda _: "nan", "bias: must be a number in hexadecimal digits"),
    ("bias", lambda _: float("nan"), "bias: must be a number in hexadecimal digits"),
    ("bias", lambda _: "one", "bias: must be a number in hexadecimal digits"),
    ("bias", lambda _: "0x1.0p+1000000", "bias: must be a number in hexadecimal digits"),
    ("input.0.0", lambda _: "inf", "input: must be a number"),
    ("input.1", lambda row: row[1:], "input: must be a list of 4"),
    ("layer.heads.0.K.0", lambda row: row[1:], "K: must be a list of 7"),
    ("layer.heads.0.Q", lambda rows: rows[1:], "Q: must be a list of 2"),
    ("layer.heads.0.V", lambda rows: rows[1:], "w: must be a list of 2"),
    ("layer.heads.0.V", lambda _: None, "V: must be a list"),
    ("layer.heads.0.K", lambda _: None, "K: must be a list"),
    ("layer.heads.0.Q", lambda _: [], "Q: must be a list"),
    ("layer.heads.0.O", lambda _: 1, "O: must be a list"),
    ("version", lambda _: None, "of a version"),
    ("distance.0", lambda text: "-" + text, "distance: must be positive"),
    ("layer.heads", lambda _: [], "heads: must be a list"),
    ("layer.heads.0", lambda _: 3, "heads: must be an object"),
    ("layer.skip", lambda _: True, "skip: must be true or false"),
    ("layer.scores_over_root_of", lambda _: 0, "scores_over_root_of: must be an integer"),
    ("layer.scores_over_root_of", lambda _: True, "scores_over_root_of: must be an integer"),
    ("distance", lambda ends: ends[:1], "distance: must be a list of 2"),
    ("distance.1", lambda _: None, "needs an upper end"),
    ("step", lambda _: None, "step: must be a list"),
    ("claim", lambda _: "exact", "claim: must be"),
    ("form", lambda _: "m2bridge-distance-2", "form: must be"),
    ("proof", lambda proof: proof | {"more": 1}, "proof: there are unknown fields"),
    ("proof", lambda _: None, "proof: must be an object"),
]


@pytest.mark.parametrize(("place", "change", "words"), REFUSED)
def test_planted_errors_are_refused(
    near: Fields, place: str, change: Callable[[Any], Any], words: str
) -> None:
    with pytest.raises(CertificateError, match=words):
        checked(changed(near, place, change))


@pytest.mark.parametrize("which", ["near", "far", "bounds"])
def test_no_field_may_be_missing(which: str, request: pytest.FixtureRequest) -> None:
    fields = request.getfixturevalue(which)
    for place in ((), ("layer",), ("proof",), ("readout",), ("layer", "heads", 0)):
        inner: Any = fields
        for name in place:
            inner = inner[name]
        for missing in inner:
            copy = json.loads(json.dumps(fields))
            inner = copy
            for name in place:
                inner = inner[name]
            del inner[missing]
            with pytest.raises(CertificateError, match=rf"{missing} is missing"):
                checked(copy, sealed=missing != "digest")


def test_another_radius_is_refused(far: Fields, bounds: Fields) -> None:
    """A larger one where λ − q is no longer positive, a smaller one where more must be excluded."""
    with pytest.raises(CertificateError, match="not positive definite"):
        checked(changed(far, "proof.part", lambda text: times(text, 1.3)))
    with pytest.raises(CertificateError, match="far from the nearest are not excluded"):
        checked(changed(far, "proof.part", lambda text: times(text, 0.2)))
    with pytest.raises(CertificateError, match="not positive definite"):
        checked(changed(far, "proof.away", lambda _: None))
    with pytest.raises(CertificateError, match="weight: must be positive"):
        checked(changed(far, "proof.away.weight", lambda text: "-" + text))
    with pytest.raises(CertificateError, match="not proved to be free"):
        checked(changed(bounds, "proof.radius", lambda text: times(text, 1 + 1e-3)))
    with pytest.raises(CertificateError, match="lower end is not proved"):
        checked(changed(bounds, "proof.radius", lambda text: times(text, 1 - 1e-3)))


def test_other_files_are_refused(near: Fields) -> None:
    with pytest.raises(CertificateError, match="digest"):
        checked(near | {"version": "0"}, sealed=False)
    for text in (b"", b"\xff\xfe\x00", b"[" * 100_000, b"1" * 10_000, b"{'a': 1}"):
        with pytest.raises(CertificateError, match="not JSON"):
            check_distance(text)
    for text in (b"[]", b"null", b"{}"):
        with pytest.raises(CertificateError, match="certificate: "):
            check_distance(text)


def test_sizes_are_asked_before_anything_is_computed(near: Fields) -> None:
    """Without numbers: only lengths are looked at."""
    wide = changed(near, "input", lambda _: [[0] * 2_000] * 600)
    wide = changed(wide, "layer.heads.0.K", lambda _: [[0] * 600] * 2)
    with pytest.raises(TooExpensiveError, match="numbers"):
        checked(wide)
    deep = changed(near, "input", lambda _: [[0] * 2] * 900)
    deep = changed(deep, "layer.heads.0.K", lambda _: [[0] * 900] * 300)
    with pytest.raises(TooExpensiveError, match="matrices that are too large"):
        checked(deep)
    with pytest.raises(TooExpensiveError, match="bytes"):
        check_distance(b" " * (checker.MAX_BYTES + 1))


def test_a_readout_of_another_rank_is_refused() -> None:
    fields = certificate_of("rank 2", 0.02)
    for rows, words in (([0], "no basis"), ([0, 0], "independent"), ([0, 7], "from 0 to 2")):
        other = fields | {"readout": fields["readout"] | {"rows": rows}}
        with pytest.raises(CertificateError, match=words):
            checked(other)
    with pytest.raises(CertificateError, match=r"distance: |no basis"):
        checked(changed(fields, "readout.R.0.0", lambda text: times(text, -1.0)))


def form_of_all_variables(fields: Fields, layer: Fields) -> Any:
    """The matrix of q on all d·t variables, where c₂ is known from values of g alone."""
    K, Q, V, w, U = (layer[name] for name in ("K", "Q", "V", "w", "X"))
    (d, t), gamma = U.shape, numpy.ones(U.shape[1]) / sqrt(U.shape[1])
    R = numpy.outer(w, gamma) / sqrt(t)
    bias = float.fromhex(fields["bias"])

    def value(X: Any) -> float:
        return float((R * (V @ X @ X.T @ K.T @ Q @ X)).sum()) + bias

    step = numpy.array([[float.fromhex(x) for x in row] for row in fields["step"]])
    point, sign = U + step, -1 if value(U) > 0 else 1
    theta = float.fromhex(fields["proof"]["weights"][0])
    radius = numpy.linalg.norm(step) + float.fromhex(fields["distance"][1])
    beta = V.T @ w / sqrt(t)

    def form(E: Any) -> float:
        second = sign * ((value(point + E) + value(point - E)) / 2 - value(point))
        third = theta * ((E.T @ beta) ** 2).sum() + ((K.T @ (Q @ (E @ gamma))) ** 2).sum() / theta
        return float(second + radius / 2 * third)

    units = numpy.eye(d * t).reshape(d * t, d, t)
    single = numpy.array([form(E) for E in units])
    q = numpy.array([[form(E + F) for E in units] for F in units])
    return (q - single[:, None] - single[None, :]) / 2


def with_multiplier(fields: Fields, multiplier: float) -> Fields:
    """With another λ, and a lower end that this λ proves too."""
    wider = changed(fields, "distance.0", lambda text: times(text, 1 - 1e-6))
    return changed(wider, "proof.multiplier", lambda _: float(multiplier).hex())


def test_the_form_is_the_one_of_all_variables() -> None:
    """The smallest λ that is accepted is the largest eigenvalue of q."""
    fields = certificate_of("one head", 0.02, seed=3)
    largest = numpy.linalg.eigvalsh(form_of_all_variables(fields, case("one head", seed=3)[0]))[-1]
    assert "nearest" in checked(with_multiplier(fields, largest * (1 + 1e-9)))
    with pytest.raises(CertificateError, match="not positive definite"):
        checked(with_multiplier(fields, largest * (1 - 1e-9)))


def test_a_projection_that_forgets_the_transpose_is_refused() -> None:
    """A λ that is large enough on the columns of A and β, without the columns of Aᵀ."""
    fields = certificate_of("one head", 0.02, seed=3)
    layer, _ = case("one head", seed=3)
    q = form_of_all_variables(fields, layer)
    columns = numpy.vstack([layer["K"], layer["w"] @ layer["V"]]).T
    space = numpy.kron(numpy.linalg.qr(columns)[0], numpy.eye(layer["X"].shape[1]))
    forgetful = numpy.linalg.eigvalsh(space.T @ q @ space)[-1]
    assert 0 < forgetful < 0.95 * numpy.linalg.eigvalsh(q)[-1]
    with pytest.raises(CertificateError, match="not positive definite"):
        checked(with_multiplier(fields, 1.01 * forgetful))


def test_a_coupling_of_the_wrong_sign_is_refused() -> None:
    """The part of q that mixes η with F is to be subtracted, −¼ tr(LᵀN⁻¹L): a λ that is large enough
    if it is added is refused.
    """
    fields = certificate_of("one head", 0.02, seed=3)
    layer, _ = case("one head", seed=3)
    q = form_of_all_variables(fields, layer)
    d, t = layer["X"].shape
    first = numpy.eye(t)
    first[:, 0] = 1
    tokens = numpy.linalg.qr(first)[0]  # the first column is Γ
    q = numpy.kron(numpy.eye(d), tokens).T @ q @ numpy.kron(numpy.eye(d), tokens)
    is_eta = numpy.arange(d * t) % t == 0
    on_eta, on_F, mixed = q[is_eta][:, is_eta], q[~is_eta][:, ~is_eta], q[is_eta][:, ~is_eta]

    def is_positive(multiplier: float, sign: int) -> bool:
        N = multiplier * numpy.eye(len(on_F)) - on_F
        Z = multiplier * numpy.eye(d) - on_eta - sign * mixed @ numpy.linalg.inv(N) @ mixed.T
        return bool(numpy.linalg.eigvalsh(N)[0] > 0 and numpy.linalg.eigvalsh(Z)[0] > 0)

    largest = numpy.linalg.eigvalsh(q)[-1]
    assert is_positive(1.001 * largest, 1)
    assert not is_positive(0.999 * largest, 1)
    assert is_positive(0.95 * largest, -1)
    with pytest.raises(CertificateError, match="not positive definite"):
        checked(with_multiplier(fields, 0.95 * largest))


@pytest.mark.slow
def test_a_real_size() -> None:
    """Within ten seconds of processor time."""
    random = numpy.random.default_rng(64)
    d, t, a = 768, 128, 64
    layer = {
        "K": random.normal(size=(a, d)) / sqrt(d),
        "Q": random.normal(size=(a, d)) / sqrt(d * a),
        "V": random.normal(size=(1, d)) / sqrt(d),
        "w": [1],
        "X": random.normal(size=(d, t)),
    }
    value = robustness(layer).value[0]
    text = robustness(layer, bias=-value - 0.001).to_certificate().encode()
    before = time.process_time()
    assert "nearest" in check_distance(text)
    assert time.process_time() - before < 10


def test_distances_without_a_certificate() -> None:
    line = {"K": [[1]], "Q": [[1]], "V": [[1]], "w": [1], "X": [[3]]}
    for layer in (line, line | {"K": [[0]]}):
        with pytest.raises(NotApplicableError, match="no certificate"):
            robustness(layer, bias=-27).to_certificate()


def test_a_result_from_another_process_has_its_certificate() -> None:
    layer, options = case("one head")
    found = robustness(layer, bias=1.0, **options)
    assert pickle.loads(pickle.dumps(found)).to_certificate() == found.to_certificate()


def test_the_command_writes_and_verifies(tmp_path: Path) -> None:
    layer, _ = case("one head")
    numpy.savez(tmp_path / "layer.npz", **layer)
    path = tmp_path / "distance.json"
    run = partial(CliRunner().invoke, robustness_command, standalone_mode=False)
    made = run([str(tmp_path / "layer.npz"), "--bias", "3", "--certificate", str(path)])
    assert made.return_value == 0
    accepted = run([str(path), "--verify"])
    assert accepted.return_value == 0
    assert accepted.output.startswith("accepted: the distance is between")
    wrong = json.loads(path.read_text()) | {"bias": "0x1.0p+0"}
    path.write_text(json.dumps(wrong | {"digest": digest_of(wrong)}))
    rejected = run([str(path), "--verify", "--json"])
    assert rejected.return_value == 1
    assert json.loads(rejected.output)["outcome"] == "rejected"
    for words in (["--skip"], ["--timeout", "3"]):  # they would have no effect
        assert isinstance(run([str(path), "--verify", *words]).exception, UsageError)
