"""Layers that ``robustness`` reads from files, against the same matrices and exact values of g."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest
from click.testing import CliRunner
from safetensors.numpy import save_file

from m2bridge import ConversionError, InvalidCaseError, Robustness, robustness
from m2bridge.cli.commands import cli
from m2bridge.decision_boundary.figure import plane_of_inputs
from m2bridge.decision_boundary.options import OPTIONS, BoundaryOptions
from m2bridge.decision_boundary.radii import radii_of_inputs

Array = numpy.ndarray[Any, Any]
Arrays = dict[str, Any]

ATTENTION = "model.layers.{}.self_attn."
RANDOM = numpy.random.default_rng(59)
K, Q, V = (RANDOM.integers(-8, 9, (2, 2, 3)) / 4 for _ in range(3))
"""Two heads, with a = v = 2 and d = 3."""
O = RANDOM.integers(-8, 9, (2, 3, 2)) / 4
INPUT = {"X": RANDOM.integers(-8, 9, (3, 2)) / 4, "w": numpy.array([1.0, -2, 3])}
PLAIN = {"K": K, "Q": Q, "V": V, "O": O} | INPUT
ROWS = {name: matrices.reshape(4, 3) for name, matrices in (("K", K), ("Q", Q), ("V", V))}
OUTPUT = numpy.concatenate(list(O), axis=1)


def value_of_g(layer: Mapping[str, Any], *, skip: bool = False, divisor: int = 1) -> Fraction:
    """⟨w, mean of the outputs⟩, token by token, in fractions."""
    exact = {
        name: numpy.vectorize(Fraction, otypes=[object])(numpy.asarray(array))
        for name, array in layer.items()
    }
    X, w = exact["X"], exact["w"]
    d, t = X.shape
    total = Fraction(0)
    for j in range(t):
        output = X[:, j] * int(skip)
        for h in range(len(exact["V"])):
            for i in range(t):
                score = ((exact["K"][h] @ X[:, i]) @ (exact["Q"][h] @ X[:, j])) / divisor
                output = output + score * (exact["O"][h] @ (exact["V"][h] @ X[:, i]))
        total += w @ output / t
    assert len(w) == d
    return total


def checkpoint(number: int = 0) -> Arrays:
    """The layer with the names of many models."""
    before = ATTENTION.format(number)
    return {
        f"{before}q_proj.weight": ROWS["Q"],
        f"{before}k_proj.weight": ROWS["K"],
        f"{before}v_proj.weight": ROWS["V"],
        f"{before}o_proj.weight": OUTPUT,
    }


def stacked(order: str) -> Array:
    """Q, K and V in one array: all of each, or head by head."""
    if order == "q-k-v":
        return numpy.concatenate([ROWS[letter] for letter in "QKV"])
    return numpy.concatenate([matrices[h] for h in range(2) for matrices in (Q, K, V)])


STORED: dict[str, tuple[Arrays, dict[str, Any]]] = {
    "q_proj": (checkpoint(), {"heads": 2}),
    "nn.MultiheadAttention": (
        {"in_proj_weight": stacked("q-k-v"), "out_proj.weight": OUTPUT},
        {"heads": 2},
    ),
    "kernels": (
        {
            "attention.query.kernel": ROWS["Q"].T,
            "attention.key.kernel": ROWS["K"].T,
            "attention.value.kernel": ROWS["V"].T,
            "attention.out.kernel": OUTPUT.T,
        },
        {"heads": 2},
    ),
    "letters": ({"W_Q": Q, "W_K": K, "W_V": V, "W_O": O}, {"layout": "heads-a-d"}),
    "names": (
        {"one": ROWS["Q"].T, "two": ROWS["K"].T, "three": ROWS["V"].T, "four": OUTPUT.T},
        {"query": "one", "key": "two", "value": "three", "output": "four", "heads": 2}
        | {"layout": "columns"},
    ),
    "head by head": (
        {"fused": stacked("by-head"), "out": OUTPUT},
        {"stacked": "fused", "output": "out", "heads": 2, "layout": "rows,by-head"},
    ),
    "A": ({"A": [k.T @ q for k, q in zip(K, Q, strict=True)], "V": V, "O": O}, {}),
    "float32": (
        {name: array.astype(numpy.float32) for name, array in checkpoint().items()},
        {"heads": 2},
    ),
}


def write_npz(path: Path, arrays: Arrays) -> Path:
    numpy.savez(path / "layer.npz", **arrays)
    return path / "layer.npz"


def write_json(path: Path, arrays: Arrays) -> Path:
    lists = {name: numpy.asarray(array).tolist() for name, array in arrays.items()}
    (path / "layer.json").write_text(json.dumps(lists))
    return path / "layer.json"


def write_safetensors(path: Path, arrays: Arrays) -> Path:
    own = {name: numpy.ascontiguousarray(array) for name, array in arrays.items()}
    save_file(own, path / "layer.safetensors")
    return path / "layer.safetensors"


def same(found: Robustness, expected: Robustness) -> bool:
    """Whether two results are equal, but for their times."""
    one, other = found.to_json(), expected.to_json()
    return {**one, "seconds": 0} == {**other, "seconds": 0}


@pytest.mark.parametrize("name", STORED)
def test_however_it_is_stored_it_is_the_same_layer(name: str) -> None:
    arrays, options = STORED[name]
    found = robustness(arrays | INPUT, bias=20.0, **options)
    low, high = found.value
    exact = value_of_g(PLAIN) + 20
    assert low <= exact <= high
    assert high - low <= 1e-14 * abs(exact)
    if name != "A":  # there 1 and A stand for K and Q, and roundings of the search differ
        assert same(found, robustness(PLAIN, bias=20.0))


@pytest.mark.parametrize("write", [write_npz, write_json, write_safetensors])
def test_files_of_all_formats(write: Callable[[Path, Arrays], Path], tmp_path: Path) -> None:
    path = write(tmp_path, checkpoint() | INPUT)
    expected = robustness(PLAIN, threshold=-20.0, skip=True, scores_over="t")
    found = robustness(path, threshold=-20.0, skip=True, scores_over="t", heads=2)
    assert same(found, expected)
    exact = value_of_g(PLAIN, skip=True, divisor=2) + 20
    assert found.value[0] <= exact <= found.value[1]


def test_one_of_several_layers() -> None:
    """The second one has −V; embeddings and what is in the block of the first change nothing."""
    other = checkpoint(1)
    other[f"{ATTENTION.format(1)}v_proj.weight"] = -ROWS["V"]
    around = {"embed_tokens.weight": numpy.ones((5, 3)), "lm_head.weight": numpy.ones((5, 3))}
    of_first = {"model.layers.0.mlp.up_proj.weight": numpy.ones((4, 3))}
    model = checkpoint() | other | around | of_first | INPUT
    found = robustness(model, bias=20.0, heads=2, layer=2)
    exact = 20 - value_of_g(PLAIN)
    assert found.value[0] <= exact <= found.value[1]
    with pytest.raises(InvalidCaseError, match="there are 2 layers: give one of 1 to 2") as asked:
        robustness(model, heads=2)
    assert asked.value.option == "layer"
    for wrong in (0, 3, True, "1"):
        with pytest.raises(InvalidCaseError, match=r"layer"):
            robustness(model, heads=2, layer=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidCaseError, match=r"up_proj\.weight' \(MLPs\)"):
        robustness(model, heads=2, layer=1)


def test_heads_that_share_their_keys() -> None:
    before = ATTENTION.format(0)
    shared = checkpoint() | {f"{before}k_proj.weight": K[0], f"{before}v_proj.weight": V[0]}
    found = robustness(shared | INPUT, bias=20.0, heads=2)
    exact = value_of_g(PLAIN | {"K": [K[0]] * 2, "V": [V[0]] * 2}) + 20
    assert found.value[0] <= exact <= found.value[1]


def test_the_input_may_be_in_a_second_file(tmp_path: Path) -> None:
    expected = robustness(PLAIN, bias=20.0)
    weights = write_safetensors(tmp_path, checkpoint())
    readout = {"w": INPUT["w"]}
    for first, second in (({}, INPUT), (readout, {"X": INPUT["X"]})):
        numpy.savez(tmp_path / "input.npz", **second)
        source = weights if not first else checkpoint() | first
        assert same(robustness(source, input=tmp_path / "input.npz", bias=20.0, heads=2), expected)
        assert same(robustness(source, input=second, bias=20.0, heads=2), expected)
    with pytest.raises(InvalidCaseError, match="X is missing, also in the input"):
        robustness(weights, heads=2)
    with pytest.raises(InvalidCaseError, match="has 'K'; the arrays of an input are X, R and w"):
        robustness(weights, heads=2, input=PLAIN)
    with pytest.raises(InvalidCaseError, match="has X, which is beside the weights, too"):
        robustness(checkpoint() | INPUT, heads=2, input=INPUT)
    with pytest.raises(ConversionError):
        robustness(weights, heads=2, input=tmp_path / "no.npz")


BLOCK = "model.layers.0."


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (f"{BLOCK}self_attn.q_proj.bias", "bias of Q"),
        (f"{BLOCK}self_attn.o_proj.bias", "bias of O"),
        (f"{BLOCK}input_layernorm.weight", "norms"),
        (f"{BLOCK}mlp.down_proj.weight", "MLPs"),
        (f"{BLOCK}self_attn.rotary_emb.inv_freq", "positions"),
        (f"{BLOCK}self_attn.mask", "masks"),
        (f"{BLOCK}strange", ""),
        ("model.norm.weight", "norms"),
        ("gate", ""),
    ],
)
def test_what_makes_the_layer_another_function_is_refused_by_name(name: str, kind: str) -> None:
    shape = (4,) if "q_proj" in name else (3,)
    model = checkpoint() | {name: numpy.ones(shape)} | INPUT
    with pytest.raises(InvalidCaseError) as refused:
        robustness(model, heads=2, as_="lightning")
    assert f"'{name}'" in str(refused.value)
    assert kind in str(refused.value)
    without_it = robustness(model, heads=2, as_="lightning", ignore=f"{name}, nothing", bias=20.0)
    assert same(without_it, robustness(PLAIN, bias=20.0))


def test_a_norm_of_queries_is_refused() -> None:
    model = checkpoint() | {f"{BLOCK}self_attn.q_norm.weight": numpy.ones(2)} | INPUT
    with pytest.raises(InvalidCaseError, match=r"q_norm\.weight'"):
        robustness(model, heads=2, as_="lightning")


@pytest.mark.parametrize(
    ("configuration", "words"),
    [
        ({"model_type": "llama", "num_attention_heads": 2}, "softmax, skip connections, norms and"),
        ({"model_type": "own", "rope_theta": 10000.0}, "rotary positions"),
        ({"model_type": "own", "attn_logit_softcapping": 50.0}, "attn_logit_softcapping"),
    ],
)
def test_what_config_json_says_is_refused(
    configuration: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = write_safetensors(tmp_path, checkpoint() | INPUT)
    (tmp_path / "config.json").write_text(json.dumps(configuration))
    with pytest.raises(InvalidCaseError, match=words) as refused:
        robustness(path, heads=2)
    assert refused.value.option == "as_"
    alone = robustness(path, heads=2, as_="lightning", bias=20.0)
    assert same(alone, robustness(PLAIN, bias=20.0))


@pytest.mark.parametrize(
    ("arrays", "options", "words"),
    [
        (checkpoint(), {}, "nothing says how many heads"),
        (checkpoint(), {"heads": 3}, "heads"),
        (checkpoint(), {"heads": 2, "as_": "softmax"}, "must be lightning"),
        (checkpoint(), {"heads": 2, "query": "nowhere"}, "query"),
        (checkpoint(), {"heads": 2, "ignore": 3}, "ignore"),
        ({"K": ROWS["K"], "Q": ROWS["Q"], "V": ROWS["V"]}, {"heads": 2}, "need an output matrix O"),
        ({"K": [["1/3"]], "Q": [[1]], "V": [[1]]}, {}, "'K' has entries that no float is equal to"),
        ({"K": [[10**400]], "Q": [[1]], "V": [[1]]}, {}, "no float is equal to"),
        ({"K": [[1.0]], "Q": [[1.0]], "V": [[float("inf")]]}, {}, "not a finite number"),
        ({}, {}, "no usual names"),
    ],
)
def test_wrong_weights(arrays: Arrays, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidCaseError, match=words):
        robustness(arrays | INPUT, **options)


def test_objects_are_refused() -> None:
    """A module has functions of its own, of which its arrays say nothing."""
    for options in ({"source": object()}, {"source": PLAIN, "input": object()}):
        with pytest.raises(InvalidCaseError, match="such as a state dict"):
            robustness(**options)  # type: ignore[arg-type]


def test_the_command_reads_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    write_safetensors(folder, checkpoint() | checkpoint(1))
    numpy.savez(tmp_path / "input.npz", **INPUT)
    options = ["--input", str(tmp_path / "input.npz"), "--layer", "2", "--heads", "2"]
    words = ["robustness", str(folder), *options, "--bias", "20", "--json"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    expected = robustness(PLAIN, bias=20.0).to_json()
    assert json.loads(done.stdout) | {"seconds": 0} == expected | {"seconds": 0}


def test_pictures_read_the_same_and_have_all_options(tmp_path: Path) -> None:
    one_head: Arrays = {"K": [[-1, -1, 3]], "Q": [[0, 2, -3]], "V": [[-2, 3, 1]]}
    X = numpy.array([[[1.0, 2], [0, 1], [3, 1]], [[1, 1], [2, 0], [0, 1]]])
    names = {"K": "k", "Q": "q", "V": "v"}
    renamed = {f"a.{name}_proj.weight": one_head[letter] for letter, name in names.items()}
    found = radii_of_inputs(
        renamed | {"w": [1]}, input={"X": X}, heads=1, threshold=40.0, skip=False, scores_over="t"
    )
    for one, radius in zip(X, found.inputs, strict=True):
        by_itself = robustness(one_head | {"w": [1], "X": one}, threshold=40.0, scores_over="t")
        assert radius.distance == by_itself.distance
    pictures = [
        plane_of_inputs(one_head | {"w": [1], "X": X[0]}, bias=-20.0, pixels=3),
        plane_of_inputs(renamed | {"w": [1]}, input={"X": X[0]}, heads=1, threshold=20.0, pixels=3),
    ]
    assert (pictures[0].counts == pictures[1].counts).all()
    with pytest.raises(InvalidCaseError, match="no skip connection"):
        plane_of_inputs({"K": [[1]], "Q": [[1]], "V": [[1]], "w": [1], "X": [[3, 1]]}, skip=True)
    for figure in ("robustness", "radii"):
        shown = CliRunner().invoke(cli, ["figure", figure, "--help"]).output
        for option in ("--threshold", "--scores-over", "--skip", "--pool", "--input", "--layer"):
            assert option in shown


def test_options_are_declared_once() -> None:
    """The keywords of Python are the options of the command and of the pictures."""
    names = {option.name for option in OPTIONS}
    assert names == set(BoundaryOptions.__annotations__)
    assert names == set(robustness.__annotations__) - {"source", "timeout", "return"}
