"""Arrays that are no weights as they stand: they are dequantized, merged, or refused by name."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest
from click.testing import CliRunner
from safetensors.numpy import save_file

from m2bridge import weights
from m2bridge.cli.commands import cli
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.trained_weights.checkpoints.arrays import tensor
from m2bridge.trained_weights.checkpoints.stored import Adapter, changed
from tests.unit.trained_weights.checkpoints.test_layouts import (
    HEADS,
    D,
    L,
    Planted,
    found_ranks,
    llama,
)

REFUSED = {
    "mlp.kv_a_proj_with_mqa.weight": r"multi-head latent attention \(MLA\)",
    "self_attn.q_proj.weight.absmax": "4-bit weights",
    "self_attn.q_proj.qweight": r"GPTQ, AWQ",
    "self_attn.q_proj.weight_scale_inv": "fp8",
    "self_attn.q_proj.lora_A.weight": "LoRA adapter",
}


@pytest.mark.parametrize("name", REFUSED)
def test_forms_that_are_no_weights_are_refused_by_name(name: str, tmp_path: Path) -> None:
    state = llama(Planted()) | {f"model.layers.0.{name}": numpy.ones((2, 2), numpy.uint8)}
    save_file(state, tmp_path / "model.safetensors")
    with pytest.raises(InvalidCaseError, match=REFUSED[name]):
        weights(tmp_path, heads=HEADS)
    arguments = ["weights", str(tmp_path / "model.safetensors"), "--heads", "4"]
    assert CliRunner().invoke(cli, arguments).exit_code == 2


def test_integers_of_bitsandbytes_are_multiplied_by_their_scales() -> None:
    """The scale of a row is left out of none: a row of scale 0 is a row of zeros."""
    p = Planted()
    state = llama(p)
    name = f"{L}.k_proj"
    integers = (p.K % 50).astype(numpy.int8)
    scale = numpy.array([1, 0.5, 3, 2, 0, 0, 1, 7], numpy.float32)
    quantized = state | {
        f"{name}.weight": integers,
        f"{name}.SCB": scale,
        f"{name}.weight_format": numpy.array(0, numpy.uint8),
    }
    exact = [
        [Fraction(float(s)) * int(x) / 127 for x in row]
        for s, row in zip(scale, integers, strict=True)
    ]
    expected = weights(state | {f"{name}.weight": exact}, heads=HEADS)
    found = weights(quantized, heads=HEADS)
    assert found.to_json()["heads"] == expected.to_json()["heads"]
    assert [head.ranks.r for head in found.heads] == [2, 1, 0, 2]
    assert found.left_out == ()
    with pytest.raises(InvalidCaseError, match="the integers are in tiles"):
        weights(quantized | {f"{name}.weight_format": numpy.array(1)}, heads=HEADS)
    with pytest.raises(InvalidCaseError, match="no matrix of integers with as many rows"):
        weights(quantized | {f"{name}.SCB": scale[:3]}, heads=HEADS)


def test_an_adapter_is_merged_exactly(tmp_path: Path) -> None:
    """A row of K that the adapter makes equal to another one, which floats would not."""
    p = Planted()
    state = llama(p)
    down = numpy.zeros((1, D), numpy.float32)
    up = numpy.zeros((D, 1), numpy.float32)
    down[0] = (p.K[0] - p.K[1]) * 2
    up[1] = 1
    save_file(state, tmp_path / "model.safetensors")
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    prefix = f"base_model.model.{L}.k_proj.lora"
    arrays = {f"{prefix}_A.weight": down, f"{prefix}_B.weight": up}
    save_file(arrays, adapter / "adapter_model.safetensors")
    config = adapter / "adapter_config.json"
    config.write_text(json.dumps({"r": 1, "lora_alpha": 0.5, "bias": "none"}))
    ranks = found_ranks(tmp_path / "model.safetensors", heads=HEADS, adapter=adapter)
    assert ranks == ((1, 1), *p.ranks[1:])
    found = weights(tmp_path / "model.safetensors", heads=HEADS, adapter=adapter)
    assert f"the weights are those with the adapter '{adapter}' merged, exactly" in found.remarks
    assert "merged, exactly" in str(found)
    assert found.to_json()["adapter"] == str(adapter)
    assert weights(tmp_path / "model.safetensors", heads=HEADS).to_json()["adapter"] is None
    with pytest.raises(
        InvalidCaseError, match=r"LoRA adapter: give the base model .* by --adapter"
    ):
        weights(adapter, heads=HEADS)
    for start in ("pissa_niter_4", "olora", "corda_1", "loftq", "lora_ga", "of another release"):
        config.write_text(json.dumps({"lora_alpha": 1, "init_lora_weights": start}))
        with pytest.raises(InvalidCaseError, match="belongs to weights that were changed"):
            weights(tmp_path / "model.safetensors", heads=HEADS, adapter=adapter)
    # aLoRA changes the tokens behind its words alone, QALoRA takes sums of the inputs.
    for key, value in {
        "use_dora": True,
        "alora_invocation_tokens": [7],
        "use_qalora": True,
    }.items():
        config.write_text(json.dumps({"r": 1, "lora_alpha": 1, key: value}))
        with pytest.raises(InvalidCaseError, match=rf"'{key}' in 'adapter_config.json'"):
            weights(tmp_path / "model.safetensors", heads=HEADS, adapter=adapter)
    config.write_text(json.dumps({"peft_type": "ADALORA", "lora_alpha": 1}))
    with pytest.raises(InvalidCaseError, match="says 'ADALORA': adapters of the type LORA"):
        weights(tmp_path / "model.safetensors", heads=HEADS, adapter=adapter)
    # These begin with a product B·A of 0, and leave W as it is.
    for start in ("gaussian", "orthogonal"):
        said = {"peft_type": "LORA", "lora_alpha": 0.5, "init_lora_weights": start}
        config.write_text(json.dumps(said | {"alora_invocation_tokens": None}))
        found = found_ranks(tmp_path / "model.safetensors", heads=HEADS, adapter=adapter)
        assert found == ranks
    # Of rank 0 the factor α/r is no number.
    empty = {f"{prefix}_A.weight": down[:0], f"{prefix}_B.weight": up[:, :0]}
    save_file(empty, adapter / "adapter_model.safetensors")
    config.write_text(json.dumps({"lora_alpha": 1}))
    with pytest.raises(InvalidCaseError, match=f"its change is {D} × 0 times 0 × {D}"):
        weights(tmp_path / "model.safetensors", heads=HEADS, adapter=adapter)


def test_two_changes_of_one_matrix_are_refused(tmp_path: Path) -> None:
    """Under names with and without the prefix of PEFT: one of them would be lost."""
    arrays = {}
    for prefix in ("", "base_model.model."):
        arrays[f"{prefix}{L}.k_proj.lora_A.weight"] = numpy.ones((1, D), numpy.float32)
        arrays[f"{prefix}{L}.k_proj.lora_B.weight"] = numpy.ones((D, 1), numpy.float32)
    save_file(arrays, tmp_path / "adapter_model.safetensors")
    (tmp_path / "adapter_config.json").write_text(json.dumps({"lora_alpha": 1}))
    with pytest.raises(InvalidCaseError, match="which another array of the adapter changes"):
        weights(llama(Planted()), heads=HEADS, adapter=tmp_path)


@pytest.mark.parametrize("shapes", [((), ()), ((3,), (4,))])
def test_an_adapter_of_a_number_is_refused(shapes: tuple[tuple[int, ...], ...]) -> None:
    """Numbers and vectors have no product B·A, which could be added to a number W."""
    arrays = [tensor(name, numpy.ones(shape)) for name, shape in zip("AB", shapes, strict=True)]
    adapter = Adapter(arrays={}, alpha=Fraction(1), by_root=False, columns=False)
    with pytest.raises(InvalidCaseError, match="'W' is a number, and its change is"):
        changed(tensor("W", 1.0), *arrays, adapter)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("model.safetensors", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("model.gguf", b"GGUF", "is of llama.cpp"),
        ("model.h5", b"x", "is of Keras"),
        ("config.json", b"{}", "says what a model is, and has no weights"),
        ("pytorch_model.bin", b"GGUF\x03", "is of llama.cpp"),
    ],
)
def test_messages_name_the_cause(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConversionError, match=said):
        weights(tmp_path / name)
    assert CliRunner().invoke(cli, ["weights", str(tmp_path / name)]).exit_code == 2


OTHER_ADAPTERS = {
    "lora_a": "is of an adapter of MLX",
    "hada_w1_a": "is of a LoHa adapter",
    "lokr_w2": "is of a LoKr adapter",
    "ia3_l": "is of an adapter that multiplies weights",
    "lora_magnitude_vector.weight": "is of a DoRA adapter",
    "lora_down.weight": "is of a LoRA adapter of kohya",
}


@pytest.mark.parametrize("name", OTHER_ADAPTERS)
def test_adapters_that_are_not_read_are_named(name: str, tmp_path: Path) -> None:
    """Whatever their configurations lack: these are of other libraries, or of other kinds."""
    arrays = {f"model.layers.0.self_attn.q_proj.{name}": numpy.ones((D, 1), numpy.float32)}
    save_file(arrays, tmp_path / "adapters.safetensors")
    for config in ({"lora_parameters": {"rank": 1, "scale": 2}}, {"peft_type": "LOHA", "alpha": 1}):
        (tmp_path / "adapter_config.json").write_text(json.dumps(config))
        with pytest.raises(InvalidCaseError, match=rf"'adapter': .*{OTHER_ADAPTERS[name]}"):
            weights(llama(Planted()), heads=HEADS, adapter=tmp_path)
        if not name.startswith("lora_down"):
            with pytest.raises(InvalidCaseError, match="merge it first"):
                weights(tmp_path, heads=HEADS)


def test_an_adapter_of_another_type_is_named_before_its_factor(tmp_path: Path) -> None:
    arrays = {f"{L}.k_proj.lora_A.weight": numpy.ones((1, D), numpy.float32)}
    save_file(arrays, tmp_path / "adapter_model.safetensors")
    with pytest.raises(ConversionError, match=r"the adapter has no .*adapter_config.json"):
        weights(llama(Planted()), heads=HEADS, adapter=tmp_path)
    (tmp_path / "adapter_config.json").write_text(json.dumps({"peft_type": "LOHA", "alpha": 1}))
    with pytest.raises(InvalidCaseError, match="says 'LOHA': adapters of the type LORA are read"):
        weights(llama(Planted()), heads=HEADS, adapter=tmp_path)
    (tmp_path / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA"}))
    with pytest.raises(ConversionError, match="does not say lora_alpha"):
        weights(llama(Planted()), heads=HEADS, adapter=tmp_path)


def contiguous(state: dict[str, Any]) -> dict[str, Any]:
    return {name: numpy.ascontiguousarray(array) for name, array in state.items()}


@pytest.mark.parametrize("kept", [5, 40, 0.5, 0.99])
def test_a_truncated_file_is_an_incomplete_download(kept: float, tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    save_file(contiguous(llama(Planted())), file)
    content = file.read_bytes()
    file.write_bytes(content[: int(kept if kept > 1 else kept * len(content))])
    with pytest.raises(ConversionError, match=r"model.safetensors.*the download is incomplete"):
        weights(file, heads=HEADS)


@pytest.mark.parametrize("ending", ["npz", "npy", "pt"])
def test_truncated_arrays_of_numpy_and_pytorch_are_incomplete_downloads(
    ending: str, tmp_path: Path
) -> None:
    file = tmp_path / f"model.{ending}"
    if ending == "pt":
        torch = pytest.importorskip("torch")
        torch.save({"K": torch.ones(50, 50)}, file)
    elif ending == "npz":
        numpy.savez(file, K=numpy.ones((50, 50)))
    else:
        numpy.save(file, numpy.ones((3, 50, 50)))
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(ConversionError, match="the download is incomplete"):
        weights(file)


OTHER_CONTENTS = {
    "html": (b"<!DOCTYPE html><html><body>Log in</body></html>", "is a page of HTML"),
    "a word in HTML": (b"\n<html lang='en'>", "is a page of HTML"),
    "an answer": (b"Entry not found", "is a text and no weights"),
    "an answer in JSON": (b'{"error": "Access to this model is restricted"}', "is a text and no"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\n", "is a pointer of git-lfs"),
    "PyTorch": (b"PK\x03\x04" + bytes(60), "is a file of PyTorch"),
}


@pytest.mark.parametrize("name", OTHER_CONTENTS)
def test_what_is_no_safetensors_is_named(name: str, tmp_path: Path) -> None:
    content, cause = OTHER_CONTENTS[name]
    file = tmp_path / "model.safetensors"
    file.write_bytes(content)
    with pytest.raises(ConversionError, match=cause):
        weights(file)


def test_a_former_index_beside_a_model_is_refused(tmp_path: Path) -> None:
    """A model that was saved again, as one file: the files that the index names are another one."""
    old, new = contiguous(llama(Planted(seed=1))), contiguous(llama(Planted(seed=2)))
    shard = "model-00001-of-00001.safetensors"
    save_file(old, tmp_path / shard)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": dict.fromkeys(old, shard)}))
    assert weights(tmp_path, heads=HEADS).heads
    # Another file is of no other model if it has no array of the same name.
    save_file({"tokens": numpy.ones(3)}, tmp_path / "tokens.safetensors")
    assert weights(tmp_path, heads=HEADS).heads
    save_file(new, tmp_path / "model.safetensors")
    with pytest.raises(ConversionError, match=r"the same arrays twice, in 'model.safetensors' and"):
        weights(tmp_path, heads=HEADS)
    (tmp_path / shard).unlink()
    with pytest.raises(ConversionError, match=r"the same arrays twice, in 'model.safetensors' and"):
        weights(tmp_path, heads=HEADS)
    known = weights(tmp_path / "model.safetensors", heads=HEADS)
    assert known.to_json()["heads"] == weights(new, heads=HEADS).to_json()["heads"]


def test_gates_among_the_rows_of_queries_are_named(tmp_path: Path) -> None:
    """Qwen3-Next has 2·a rows of q_proj for each head."""
    state = contiguous(llama(Planted()))
    name = f"{L}.q_proj.weight"
    gated = state | {name: numpy.concatenate([state[name], state[name]])}
    with pytest.raises(InvalidCaseError, match=r"q_proj.weight' is .* half of its rows are gates"):
        weights(gated, heads=HEADS)
    save_file(gated, tmp_path / "model.safetensors")
    config = {"model_type": "llama", "num_attention_heads": HEADS}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InvalidCaseError, match="half of its rows are gates"):
        weights(tmp_path)
    save_file(state, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(config | {"attn_output_gate": True}))
    with pytest.raises(InvalidCaseError, match="multiplies the outputs of heads by gates"):
        weights(tmp_path)


def test_a_header_whose_length_looks_like_pytorch_is_read(tmp_path: Path) -> None:
    """A header of 640 bytes: its length is written as the first bytes of a pickle are."""
    file = tmp_path / "model.safetensors"
    arrays = {letter: numpy.eye(2) for letter in "KQV"}
    for padding in range(640):
        save_file(arrays, file, metadata={"padding": "x" * padding})
        if file.read_bytes()[:2] == b"\x80\x02":
            break
    assert file.read_bytes()[:9] == b"\x80\x02" + bytes(6) + b"{"
    assert len(weights(file).heads) == 1


def test_an_array_with_a_very_long_name_is_refused_at_once(tmp_path: Path) -> None:
    """Rules for names take a time that grows with them: a name of 10 MB took 20 seconds."""
    file = tmp_path / "model.safetensors"
    save_file({"a.b" * 1_000_000: numpy.zeros(1)}, file)
    with pytest.raises(ConversionError, match="has 3000000 characters; at most 100000 are read"):
        weights(file)
