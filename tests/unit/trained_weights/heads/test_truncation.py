"""Singular vectors and truncated heads, compared with matrices that are multiplied out in NumPy, with
all that a norm and biases do to tokens written out.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from safetensors.numpy import save_file

from m2bridge import weights
from m2bridge.errors import InvalidCaseError
from tests.unit.trained_weights.models.stand_in import Recording

Arrays = dict[str, Any]


def llama(random: numpy.random.Generator, heads: int, groups: int) -> Arrays:
    """A layer of LLaMA's names with d = 6 and a = 3, of which heads share keys and values."""
    sizes = {"q": (3 * heads, 6), "k": (3 * groups, 6), "v": (3 * groups, 6), "o": (6, 3 * heads)}
    found = {
        f"layers.0.self_attn.{x}_proj.weight": random.standard_normal(size)
        for x, size in sizes.items()
    }
    return found | {"layers.0.input_layernorm.weight": 1 + random.standard_normal(6) / 4}


def gpt2(random: numpy.random.Generator) -> Arrays:
    """A layer of GPT-2's names with d = 6, two heads, LayerNorm and all biases."""
    sizes = {"attn.c_attn": (6, 18), "attn.c_proj": (6, 6), "ln_1": (6,)}
    found = {}
    for name, size in sizes.items():
        found[f"h.0.{name}.weight"] = random.standard_normal(size)
        found[f"h.0.{name}.bias"] = random.standard_normal(size[-1:])
    return found


def singular_values(matrix: Any) -> Any:
    return numpy.linalg.svd(matrix, compute_uv=False)


def check_nearest(before: Any, after: Any, rank: int) -> None:
    """Check that a matrix is the one of this rank nearest to another (Eckart, Young)."""
    sigma = singular_values(before)
    assert singular_values(after)[rank:] == pytest.approx(0, abs=1e-12 * sigma[0])
    assert numpy.linalg.norm(before - after) == pytest.approx(numpy.linalg.norm(sigma[rank:]))


@pytest.mark.parametrize("letter", ["A", "V"])
def test_singular_vectors_make_the_matrix(letter: str) -> None:
    random = numpy.random.default_rng(1)
    K, Q = random.standard_normal((2, 3, 5))
    V, O = random.standard_normal((4, 5)), random.standard_normal((6, 4))
    (head,) = weights(K=K, Q=Q, V=V, O=O).heads
    left, values, right = head.singular_vectors(letter)
    matrix = K.T @ Q if letter == "A" else O @ V
    assert (left * values) @ right.T == pytest.approx(matrix)
    rank = len(values)
    assert left.T @ left == pytest.approx(numpy.eye(rank))
    assert right.T @ right == pytest.approx(numpy.eye(rank))
    numbers = head.numerical.numbers_of(letter)
    assert values == pytest.approx(numbers.singular_values, abs=1e-12)
    assert set(head.matrices) == set("KQVO")
    with pytest.raises(InvalidCaseError, match="must be A or V"):
        head.singular_vectors("K")


def test_singular_vectors_of_numbers_beyond_the_squares_of_floats() -> None:
    K, Q, V = numpy.diag([3.0, 2.0]), numpy.diag([1.0, 1.0]), numpy.eye(2) * 1e200
    (head,) = weights(K=K * 1e200, Q=Q * 1e-200, V=V).heads
    assert head.singular_vectors("A").values == pytest.approx([3, 2])
    assert head.singular_vectors("V").values == pytest.approx([1e200, 1e200])


@pytest.mark.parametrize("softmax", [True, False])
def test_heads_behind_a_norm_with_biases(softmax: bool) -> None:
    """Behind a LayerNorm tokens are γ∘Bz + β for a basis B of Σ = 0; a bias is one more column."""
    state = gpt2(numpy.random.default_rng(2))
    found = weights(state, heads=2, normalization="softmax" if softmax else "none", skip=False)
    head = found.heads[1]
    gamma, beta = state["h.0.ln_1.weight"], state["h.0.ln_1.bias"]
    basis = numpy.linalg.svd(numpy.ones((1, 6)))[2][1:].T

    def on_tokens(W: Any, bias: Any, with_one: bool = True) -> Any:
        linear = (W * gamma) @ basis
        return numpy.column_stack([linear, W @ beta + bias]) if with_one else linear

    new = head.truncated(rank_A=2, rank_V=1)
    assert new.changed == ("Q", "O")
    assert repr(new) == "<TruncatedHead layer=1, head=2, changed=('Q', 'O')>"
    stored, bias = state["h.0.attn.c_attn.weight"].T, state["h.0.attn.c_attn.bias"]
    rows = {letter: slice(6 * place + 3, 6 * place + 6) for place, letter in enumerate("QKV")}
    O = state["h.0.attn.c_proj.weight"].T[:, 3:]
    K = on_tokens(stored[rows["K"]], bias[rows["K"]], not softmax)
    Q = on_tokens(stored[rows["Q"]], bias[rows["Q"]])
    V = on_tokens(stored[rows["V"]], bias[rows["V"]], not softmax)
    assert (stored[rows["K"]] == new.K).all()
    assert (stored[rows["V"]] == new.V).all()
    check_nearest(K.T @ Q, K.T @ on_tokens(new.Q, new.biases["Q"]), 2)
    check_nearest(O @ V, new.O @ V, 1)
    constant = stored[rows["V"]] @ beta + bias[rows["V"]]
    if softmax:
        assert new.O @ constant + new.output_shift == pytest.approx(O @ constant)
    else:
        assert new.output_shift is None
    # Vectors have all coordinates of x, and 1: behind the norm the entries of x have the sum 0.
    vectors = head.singular_vectors("A")
    assert vectors.left.shape == (6 if softmax else 7, 3)
    assert vectors.right.shape == (7, 3)
    assert vectors.right[:6].sum(axis=0) == pytest.approx(0, abs=1e-12)
    assert vectors.right.T @ vectors.right == pytest.approx(numpy.eye(3))
    in_all = numpy.zeros((7, 6))
    in_all[:6, :5], in_all[6, 5] = basis, 1
    rows_of_A = basis if softmax else in_all
    expected = rows_of_A @ (K.T @ Q) @ in_all.T
    assert (vectors.left * vectors.values) @ vectors.right.T == pytest.approx(expected)


def test_a_head_that_shares_its_key_is_put_back_alone() -> None:
    state = llama(numpy.random.default_rng(3), heads=4, groups=2)
    found = weights(state, heads=4, as_="softmax")
    new = found.heads[2].truncated(rank_A=1, rank_V=2)
    q, o = (f"layers.0.self_attn.{x}_proj.weight" for x in "qo")
    changed = {name: array.copy() for name, array in state.items()}
    changed[q][6:9], changed[o][:, 6:9] = new.Q, new.O
    again = weights(changed, heads=4, as_="softmax", tolerance=1e-12)
    effective = [
        (head.numerical.effective_rank_A, head.numerical.effective_rank_V) for head in again.heads
    ]
    assert effective == [(3, 3), (3, 3), (1, 2), (3, 3)]
    before, after = found.heads[2].numerical, again.heads[2].numerical
    assert after.singular_values_A[:1] == pytest.approx(before.singular_values_A[:1])
    assert after.singular_values_V[:2] == pytest.approx(before.singular_values_V[:2])
    assert again.heads[2].rank_within("A", 0.01) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["attention", "hooked_grouped", "lora_gpt2", "qwen2"])
def test_heads_of_models_in_memory_are_truncated(name: str) -> None:
    """Their matrices are read again from the modules, with adapters merged."""
    head = weights(Recording(name).model).heads[-1]
    new = head.truncated(rank_V=1)
    stored = {letter: array.astype(float) for letter, array in head.matrices.items()}
    assert new.O.shape == stored["O"].shape
    sigma = singular_values(new.O @ new.V)
    assert sigma[1:] == pytest.approx(0, abs=1e-12 * sigma[0])
    assert (stored["V"] == new.V).all()
    assert (stored["Q"] == new.Q).all()


def test_a_value_matrix_that_heads_share_is_not_changed_alone() -> None:
    random = numpy.random.default_rng(4)
    K, V = random.standard_normal((2, 2, 4))
    found = weights(K=K, Q=random.standard_normal((4, 4)), V=V, heads=2)
    with pytest.raises(InvalidCaseError, match="2 heads share"):
        found.heads[0].truncated(rank_V=1)
    assert found.heads[0].truncated(rank_A=1).changed == ("Q",)
    with pytest.raises(InvalidCaseError, match="must be at least 0"):
        found.heads[0].truncated(rank_A=-1)


def test_a_given_A_and_ranks_that_change_nothing() -> None:
    random = numpy.random.default_rng(5)
    A, V = random.standard_normal((2, 4, 4))
    (head,) = weights(A=A, V=V).heads
    new = head.truncated(rank_A=2, rank_V=4)
    check_nearest(A, new.A, 2)
    assert pytest.approx(V) == new.V
    assert not head.truncated(rank_A=0).A.any()
    assert head.truncated().changed == ()


def test_a_head_of_low_rank_acts_like_it() -> None:
    """Singular values from the fourth on are 1e-4 of the others."""
    random = numpy.random.default_rng(0)
    left, right = (numpy.linalg.qr(random.standard_normal((8, 8)))[0] for _ in range(2))
    V = (left * [3, 2, 1, 3e-4, 2e-4, 1e-4, 1e-4, 1e-4]) @ right
    # A = 1 has no lower rank nearby.
    found = weights(K=numpy.eye(8), Q=numpy.eye(8), V=V.astype("float32"))
    assert "V of head 1.1 acts like rank 3 of 8 (error 0.0001)." in found.in_short
    assert "degrees of freedom" in found.in_short
    assert "of rank 3; replacing it changes the layer's output" in found.sentence_on_ranks
    assert found.to_json()["heads"][0]["rank_within_one_percent"] == {"A": 8, "V": 3}
    assert found.to_json()["in_short"] == found.in_short
    # The lines for everybody come before the words of geometry.
    names = [name for name, _value in found.to_sheet().blocks[0].rows]
    assert names[:2] == ["in short", "summary"]


def test_degrees_of_freedom_that_are_bounded_alone() -> None:
    """Two layers of softmax attention, too large for ranks, and of the 2176 parameters 592 are
    directions of the listed symmetries.
    """
    found = weights("examples/weights.npz", heads=4, as_="softmax")
    assert "2176 parameters, but at most 1584 degrees of freedom: in 592 dir" in found.in_short
    assert found.network is not None
    assert (found.network.dimension.lower, found.network.dimension.upper) == (None, 1584)


def test_each_change_alone_and_both() -> None:
    random = numpy.random.default_rng(6)
    K, Q, V = random.standard_normal((3, 4, 4))
    found = weights(K=K, Q=Q, V=V, as_="softmax")
    (both,) = found.changes(2)
    (of_A,) = found.changes(rank_A=2)
    (of_V,) = found.changes(rank_V=2)
    assert (both.change_by_A, both.change_by_V) == (of_A.change, of_V.change)
    # A value changes by at most the first singular value that is left out.
    assert of_V.change == pytest.approx(singular_values(V)[2], rel=0.1)
    assert of_V.change >= singular_values(V)[2]
    assert max(of_A.change, of_V.change) <= both.change
    (mixed,) = found.changes(rank_A=1, rank_V=3)
    assert (mixed.rank_A, mixed.rank_V, mixed.rank) == (1, 3, 3)
    with pytest.raises(InvalidCaseError, match="without a rank of A"):
        weights(K=K, Q=Q, V=V, rank=2, rank_V=1)
    at_rank = weights(K=K, Q=Q, V=V, as_="softmax", rank_V=2).to_json()["heads"][0]["at_rank"]
    assert at_rank["largest_change_of_output"] == of_V.change
    assert (at_rank["rank_A"], at_rank["rank_V"]) == (None, 2)


def test_results_are_shown_on_one_line() -> None:
    random = numpy.random.default_rng(7)
    found = weights(gpt2(random), heads=2, as_="softmax")
    (change, _other) = found.changes(1)
    head = found.heads[0]
    for value in (
        found,
        head,
        head.shape,
        head.ranks,
        head.numerical,
        change,
        found.layers[1],
        found.symmetries[1],
        found.choice,
        found.scope,
        head.truncated(rank_A=1),
    ):
        assert len(repr(value)) <= 220
        assert type(value).__name__ in repr(value)


def test_a_rank_of_A_is_refused_where_positions_are_rotated(tmp_path: Path) -> None:
    random = numpy.random.default_rng(8)
    names = [f"model.layers.0.self_attn.{x}_proj.weight" for x in "qkvo"]
    state = {name: random.standard_normal((4, 4)).astype("float32") for name in names}
    save_file(state, tmp_path / "model.safetensors")
    config = {"model_type": "llama", "num_attention_heads": 2, "hidden_size": 4}
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = weights(tmp_path, rank=1)
    assert found.is_rotary
    (change, _other) = found.changes(1)
    assert (change.rank_A, change.rank_V) == (None, 1)
    assert "V replaced by rank ≤ 1" in str(found)
    for refused in (lambda: found.changes(rank_A=1), lambda: weights(tmp_path, rank_A=1)):
        with pytest.raises(InvalidCaseError, match="without rotary positions"):
            refused()


def test_matrices_that_are_zero_or_within_rounding_of_a_rank() -> None:
    random = numpy.random.default_rng(9)
    K, Q = random.standard_normal((2, 3, 6))
    u, v, W = random.standard_normal(6), random.standard_normal(6), random.standard_normal((6, 6))
    rank_one = numpy.outer(u, v)
    zero = weights(K=K, Q=Q, V=0 * W)
    assert "V of head 1.1 is zero." in zero.in_short
    within = weights(K=K, Q=Q, V=(rank_one + 1e-9 * W).astype("float32"))
    assert "V of head 1.1 acts like rank 1 of 6 (within rounding)." in within.in_short
    # Three heads, of which two are near rank one, at distances of about 1e-4 and 1e-3.
    scale = numpy.linalg.norm(rank_one) / numpy.linalg.norm(W)
    values = numpy.stack([rank_one + size * scale * W for size in (1e-4, 1e-3, 1)])
    three = weights(K=numpy.stack([K] * 3), Q=numpy.stack([Q] * 3), V=values)
    assert "V of heads 1.1 and 1.2 acts like rank 1 of 6 (error at most 0.0009)." in three.in_short
    # Of a rank within one per cent and another one within rounding both are said.
    left, right = (numpy.linalg.qr(random.standard_normal((6, 6)))[0] for _ in range(2))
    V = ((left * [1, 1, 1e-3, 1e-3, 1e-12, 1e-12]) @ right).astype("float32")
    both = weights(K=K, Q=Q, V=V)
    assert "acts like rank 2 of 6 (error 0.001; rank 4 within rounding)." in both.in_short
