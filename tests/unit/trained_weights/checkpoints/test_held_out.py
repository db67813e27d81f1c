"""Files as libraries write them: layers are read as their models are, or refused with the cause."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy
import pytest
from safetensors.numpy import save_file

from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.checkpoints.accounting import (
    REASONS,
    REASONS_BY_OPTIONS,
    StoredOptions,
    array_uses,
    left_out_words,
)
from m2bridge.trained_weights.checkpoints.files import tensors
from m2bridge.trained_weights.checkpoints.find_layers import find_layers
from m2bridge.trained_weights.checkpoints.model_choice import ModelChoice
from m2bridge.trained_weights.checkpoints.tensors import HeadArrays, LayerTensors
from tests.unit.trained_weights.checkpoints.held_out import (
    encoders,
    further,
    images,
    one_array,
    others,
    texts,
)
from tests.unit.trained_weights.checkpoints.held_out.files import File
from tests.unit.trained_weights.checkpoints.test_layouts import HEADS, Planted

FILES = {
    name: file
    for module in (texts, one_array, encoders, images, others, further)
    for name, file in module.FILES.items()
}


def layers_of(file: File, folder: Path) -> tuple[list[LayerTensors], int | None]:
    """The layers of a file, and the number of heads, as the command ``weights`` reads both."""
    options = dict(file.options)
    norm = options.pop("norm", None)
    source: Any = file.state
    if file.config:
        state = {name: numpy.ascontiguousarray(array) for name, array in file.state.items()}
        save_file(state, folder / "model.safetensors")
        (folder / "config.json").write_text(json.dumps(file.config))
        source = folder
    heads = None if file.config else HEADS
    stored = StoredOptions(norm=norm, **options)
    layers, available, heads = find_layers(source, {}, {}, heads, stored)
    # A model with other scores, or other norms, is refused as a whole.
    ModelChoice.of(
        file.config, names=available, kind=None, normalization=None, skip=None, norm=norm
    )
    return layers, heads


def read_in_whole(file: File, folder: Path) -> None:
    """Read a file, and cut its arrays into heads, where some shapes are seen first."""
    layers, heads = layers_of(file, folder)
    for layer in layers:
        list(layer.heads(1, heads))


def check_heads(found: list[HeadArrays], planted: Planted, factor: int) -> None:
    """Check that A = KᵀQ and OV are those of all heads that were planted, OV times this factor."""
    assert len(found) == HEADS
    sharing = HEADS // planted.groups
    for number, head in enumerate(found):
        group = number // sharing
        A = planted.k[group].T @ planted.q[number]
        assert (head.matrices["K"].T @ head.matrices["Q"] == A).all()
        OV = factor * planted.o[number] @ planted.v[group]
        assert "O" in head.matrices
        assert (head.matrices["O"] @ head.matrices["V"] == OV).all()


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_its_model_is_or_refused(name: str, tmp_path: Path) -> None:
    file = FILES[name]
    if file.refused:
        with pytest.raises(InvalidCaseError) as raised:
            read_in_whole(file, tmp_path)
        assert re.search(file.refused, str(raised.value), re.DOTALL)
        return
    layers, heads = layers_of(file, tmp_path)
    assert len(layers) == file.layers
    for layer in layers:
        check_heads(list(layer.heads(1, heads)), file.heads, file.factor)
        own = layer.norm
        place = None if own is None else (own.place, own.kind.removesuffix("1"), own.adds_one)
        assert place == file.norm
        assumed = layer.assumed + ("" if own is None else own.assumed)
        assert file.assumed in assumed


def test_codegen2_has_eight_parts() -> None:
    """``mp_num = 8`` in its code, which the option says."""
    random = numpy.random.default_rng(3)
    Q, K, V = random.integers(1, 50, (3, 8, 4)).astype(float)
    rows = [row for part in range(8) for row in (Q[part], V[part], K[part])]
    output = random.integers(1, 50, (4, 8)).astype(float)
    prefix = "transformer.h.0.attn"
    state = {f"{prefix}.qkv_proj.weight": numpy.array(rows), f"{prefix}.out_proj.weight": output}
    layers, _, _ = find_layers(state, {}, {}, 8, StoredOptions(layout="by-eighth"))
    for head, found in enumerate(layers[0].heads(1, 8)):
        expected = {"Q": Q[head], "K": K[head], "V": V[head]}
        assert all((found.matrices[x] == row).all() for x, row in expected.items())
    layers, _, _ = find_layers(state, {}, {}, 4, StoredOptions(layout="by-eighth"))
    with pytest.raises(InvalidCaseError, match="8 does not divide 4 heads"):
        list(layers[0].heads(1, 4))


@pytest.mark.slow
def test_the_text_and_the_list_of_arrays_have_the_same_reasons(tmp_path: Path) -> None:
    reasons = {*REASONS.values(), *REASONS_BY_OPTIONS.values()}
    for number, file in enumerate(file for file in FILES.values() if not file.refused):
        folder = tmp_path / str(number)
        folder.mkdir()
        layers, _ = layers_of(file, folder)
        options = {name: value for name, value in file.options.items() if name != "norm"}
        stored = StoredOptions(norm=file.options.get("norm"), **options)
        uses = array_uses(tensors(file.state), layers, stored)
        unused = [use for use in uses if not use.used_for]
        assert all(use.kind and use.reason in reasons for use in unused)
        text = left_out_words(uses)
        assert all(f": {use.reason}" in text for use in unused)
        counts = re.findall(r"\((\d+)\)", text)
        named = sum(use.kind.startswith("'") for use in unused)
        assert sum(map(int, counts)) + named == len(unused)
