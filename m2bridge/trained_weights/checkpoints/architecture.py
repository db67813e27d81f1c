"""What ``config.json``, or ``params.json``, beside a file of weights says of its model.

The *architecture* of a model is its normalization, norms, positions and sizes of its layers of
self-attention. Models are known by their ``model_type``, in the table ``architectures.toml``; a
model of images and texts has its model of texts as ``text_config``; a file ``params.json`` of Meta
or Mistral has keys of its own. Without a configuration that names its model, the names of all
arrays may show it. A model that is not in the table is not guessed: functions return ``None``.

``config`` is the content of the file, ``text`` its part about the model of texts, and ``model`` a
row of the table: the norm of a model, in the words of ``norms``, and words or keys of the
configuration for what else differs from model to model. *Groups* are the heads of keys and values,
which several heads share where there are fewer of them than of queries. JSON's true is an int in
Python, and no number here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from m2bridge.errors import ConversionError
from m2bridge.trained_weights.checkpoints.array_names import NAMES
from m2bridge.trained_weights.checkpoints.norms import NormPlace, norm_title
from m2bridge.trained_weights.checkpoints.stored import read_configuration

ARCHITECTURES = tomllib.loads(
    Path(__file__).with_name("architectures.toml").read_text(encoding="utf-8")
)
"""What is known of models, and the keys of their sizes."""


def _models() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield for each ``model_type`` the row of its model: the name, what its group says, and what
    else holds of models with this name.
    """
    for group in ARCHITECTURES["models"]:
        for model in group["models"]:
            model_type, name = model.split(": ")
            row = {"norm": "layer", "norm_place": "pre", **group, "name": name}
            for exception in ARCHITECTURES["exceptions"]:
                if name in exception["of"]:
                    row |= exception
            yield model_type, row


MODELS = dict(_models())


@dataclass(frozen=True, slots=True)
class Architecture:
    """What is known of the layers of self-attention of a model."""

    name: str  # of the family of models, as people call it: ``GPT-2``
    softmax: bool
    skip: bool  # whether each layer adds its input to its output
    norm: str | None  # the kind of the norm of each layer; ``None`` if layers have none
    norm_place: NormPlace
    rotary: bool  # whether queries and keys are rotated by positions
    heads: int | None  # ``None`` where it is not known, or layers differ
    key_value_heads: int | None
    head_size: int | None  # the number of rows of Q of a head
    tied_embeddings: bool  # whether the embeddings are the matrix of the outputs, too
    positions: str = ""  # what else in the scores depends on positions, such as ``ALiBi``
    by_names: bool = False  # whether it is known by the names of arrays, without a configuration
    changes: str = ""  # a clause on what makes the layer another function than the model here
    cut: str = ""  # how one array with Q, K and V is cut, where names do not say it
    norm_has_arrays: bool = True  # not if the norm is not trained, so that γ is 1
    rotates_a_part: bool = False  # whether only some coordinates are rotated by default

    @property
    def norm_words(self) -> str:
        """The norm and its place, as ``LayerNorm before``; empty if layers have none."""
        if self.norm is None:
            return ""
        return f"{norm_title(self.norm)} {'before' if self.norm_place == 'pre' else 'after'}"


def configuration(path: str | Path) -> dict[str, Any]:
    """Return the content of ``config.json``, or, if there is none, of ``params.json``, in a folder,
    or in the folder of a file; empty if there is neither, or the content is not a JSON object. A
    file that cannot be read is not passed over, as it may say what the model is.
    """
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    for name in ("config.json", "params.json"):
        file = folder / name
        # A pipe or a device, which nobody named, is not waited for.
        if not file.is_file():
            continue
        try:
            content = read_configuration(file)
        except ConversionError as reason:
            raise ConversionError(
                f"'{file}' next to the weights, which may say what model they are of, cannot be"
                f" read: {reason}"
            ) from None
        return content if isinstance(content, dict) else {}
    return {}


def text_model(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a configuration that is about the model of texts, or all of it."""
    text = config.get("text_config")
    return text if isinstance(text, Mapping) else config


def number_in(config: Mapping[str, Any], size: str) -> int | None:
    """Return a size, ``heads``, ``groups``, ``head_size``, ``layers`` or ``width``, under its usual
    keys with positive integers, as ``n_head`` for ``heads``.

    ``None`` where there is no such key, two of them differ, or another part of the model has a
    different number, as ``decoder_attention_heads``.
    """
    stated = _numbers_in(config, size)
    if len(stated) != 1:
        return None
    (value,) = stated
    # The numbers of other parts of the model, under keys of their own; ``None`` if a key is
    # missing. The numbers that are there have to be the same.
    others = [config.get(key) for key in ARCHITECTURES["sizes"].get(f"other_{size}", ())]
    return value if all(other in (None, value) for other in others) else None


def _numbers_in(config: Mapping[str, Any], size: str) -> set[int]:
    """Return the positive integers under the usual keys of a size: more than one if they differ."""
    values = [config.get(key) for key in ARCHITECTURES["sizes"][size]]
    # JSON's true is an int in Python, and no number of heads.
    return {value for value in values if type(value) is int and value > 0}


def number_of_layers(config: Mapping[str, Any]) -> int | None:
    """Return the number of layers that a configuration says."""
    return number_in(text_model(config), "layers")


def _has_all(config: Mapping[str, Any], keys: Iterable[str]) -> bool:
    """Return whether a configuration has all of these keys."""
    return all(key in config for key in keys)


def _model(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the row of the table for the model of a configuration."""
    text = text_model(config)
    params_json = ARCHITECTURES["parameters"]
    if "model_type" not in text and _has_all(text, params_json["keys"]):
        # This is a params.json. With ``kv_lora_rank`` keys and values are products of two matrices
        # each, which is a layer that is not in the table.
        has_products = any("lora_rank" in key for key in text)
        return None if has_products else MODELS[params_json["model_type"]]
    for part in (text, config):
        model_type = part.get("model_type")
        if isinstance(model_type, str) and model_type in MODELS:
            return MODELS[model_type]
    return None


def unknown_model(config: Mapping[str, Any]) -> str:
    """Return the ``model_type`` of a configuration whose model is not in the table; or empty."""
    if _model(config) is not None:
        return ""
    model_type = text_model(config).get("model_type") or config.get("model_type")
    return model_type if isinstance(model_type, str) else ""


def known_architecture(config: Mapping[str, Any], names: Iterable[str]) -> Architecture | None:
    """Return the architecture that a configuration says. Where it names no model, as configurations
    of timm do not, or is empty, return the architecture that the names of the arrays show.
    """
    text = text_model(config)
    names_model = any("model_type" in part for part in (config, text))
    # A file params.json names no model, but has keys by which it is known.
    if names_model or _has_all(text, ARCHITECTURES["parameters"]["keys"]):
        return read_architecture(config)
    return architecture_by_names(names)


def read_architecture(config: Mapping[str, Any]) -> Architecture | None:
    """Return what a configuration says of the layers of attention; ``None`` if its model is not in
    the table, or the number of heads of keys is not known, or does not divide the number of
    queries.
    """
    model, text = _model(config), text_model(config)
    if model is None:
        return None
    heads = groups = None
    # In a model with ``each`` = true the number of heads differs from layer to layer.
    if not model.get("each", False):
        heads = number_in(text, "heads")
    if heads is not None:
        groups = _key_value_heads(text, model.get("groups"), heads)
        # Equally many heads share each key.
        if groups is None or heads % groups:
            return None
    return _architecture(model, config, heads, groups)


def _architecture(
    model: Mapping[str, Any], config: Mapping[str, Any], heads: int | None, groups: int | None
) -> Architecture:
    """Return the architecture of a model with these numbers of heads. Where its row names a key
    that the configuration lacks, the default is taken.
    """
    text = text_model(config)
    head_size = None
    if heads is not None:
        head_size = number_in(text, "head_size")  # None if two keys differ
        width = number_in(text, "width")
        is_stated = bool(_numbers_in(text, "head_size"))
        if not is_stated and width is not None and width % heads == 0:
            head_size = width // heads
    positions = model.get("positions", "")
    attention = text.get("attn_config")
    # Falcon has ALiBi, if its key ``alibi`` is true, and else rotations.
    if model.get("rotary") == "alibi" and not text.get("alibi", False):
        positions = ""
    # MPT has ALiBi unless a part of its own says that it has not.
    if isinstance(attention, Mapping) and attention.get("alibi") is False:
        positions = ""
    cut = model.get("cut", "")
    if model.get("groups") == "chatglm":
        # The first ChatGLM and ChatGLM2 have one model_type. The first one cuts by heads; the
        # second one, whose heads share keys, has all of Q, then of K, then of V.
        shares_keys = groups is not None and heads is not None and groups < heads
        cut = "q-k-v" if shares_keys else "by-head"
    # CodeGen2 has the model_type of CodeGen, code of its own, and another cut.
    if model["name"] == "CodeGen" and "auto_map" in text:
        cut = ""
    return Architecture(
        name=model["name"],
        softmax=True,
        skip=True,
        norm=model["norm"],
        norm_place=_norm_place(model, text),
        rotary=_is_rotary(model, text),
        heads=heads,
        key_value_heads=groups,
        head_size=head_size,
        tied_embeddings=_has_tied_embeddings(config, text),
        positions=positions,
        changes=model.get("changes", ""),
        cut=cut,
        norm_has_arrays=model.get("norm_has_arrays", True),
        rotates_a_part=model.get("rotates_a_part", False),
    )


def architecture_by_names(names: Iterable[str]) -> Architecture | None:
    """Return the architecture of the model that has arrays of these names, without numbers of heads
    and sizes. The names of a layer of attention alone show no model.
    """
    present = list(names)

    def has(expression: str) -> bool:
        return any(re.search(expression, name) for name in present)

    for row in ARCHITECTURES["by_names"]:
        if all(map(has, row["names"])) and not any(map(has, row.get("without", ()))):
            return _architecture_of_row(row)
    return None


def _architecture_of_row(row: Mapping[str, Any]) -> Architecture:
    """Return the architecture of a model that is known by the names of its arrays."""
    known = _architecture(MODELS[row["model"]], {}, heads=None, groups=None)
    return replace(known, name=row["name"], by_names=True, changes=row.get("changes", ""))


def _norm_place(model: Mapping[str, Any], text: Mapping[str, Any]) -> NormPlace:
    """Return on which side of its layers a model has their norms."""
    place: str = model["norm_place"]
    is_before = place == "pre"
    if place not in ("pre", "post"):
        # Then it is a key of the configuration, whose value is true for norms before layers.
        is_before = text.get(place, model.get("before_by_default", True))
    return "pre" if is_before else "post"


def _is_rotary(model: Mapping[str, Any], text: Mapping[str, Any]) -> bool:
    """Return whether a model rotates queries and keys by positions."""
    # The table says True, False, or the key of the configuration that says it.
    rotary: bool | str = model.get("rotary", False)
    if isinstance(rotary, bool):
        return rotary
    if rotary == "position_embedding_type":
        return text.get(rotary) == "rotary"
    # The key, as ``alibi``, says that there are other positions in place of rotations.
    return not text.get(rotary, False)


def _key_value_heads(text: Mapping[str, Any], rule: str | None, heads: int) -> int | None:
    """Return the number of heads of keys and values, by the rule of the table: as many as queries
    where the configuration has no positive number for it. ``None`` if two keys differ, and for
    ``chatglm`` if its number of groups counts, and is no positive number.
    """
    # new models of falcon have a key with a number, read below as for other models
    is_old_falcon = rule == "falcon" and not text.get("new_decoder_architecture", False)
    if rule == "multi_query" or is_old_falcon:
        return 1 if text.get("multi_query", True) else heads
    if rule == "chatglm":
        # The number of groups counts only if this key is true.
        if not text.get("multi_query_attention", False):
            return heads
        groups = text.get("multi_query_group_num")
        return groups if type(groups) is int and groups > 0 else None
    if rule == "mpt":
        attention = text.get("attn_config")
        text = attention if isinstance(attention, Mapping) else {}
    return number_in(text, "groups") if _numbers_in(text, "groups") else heads


_WITH_OUTPUTS = re.compile(
    "LMHeadModel|DoubleHeadsModel|CausalLM|MaskedLM|PreTraining|ConditionalGeneration"
    "|GenerationDecoder"  # BertGenerationEncoder has none
)
"""A part of the names of classes that score all tokens, as ``LlamaForCausalLM``."""


def _has_tied_embeddings(config: Mapping[str, Any], text: Mapping[str, Any]) -> bool:
    """Return whether one matrix is for outputs and embeddings: as
    ``tie_word_embeddings`` says, unless the class under ``architectures`` has no such outputs.

    If this key is missing, a class with outputs has tied ones unless the file has another matrix:
    transformers writes only values that differ from the default, and the default is true.
    """
    classes = config.get("architectures")
    has_outputs = None
    if isinstance(classes, list) and classes:
        has_outputs = any(_WITH_OUTPUTS.search(str(name)) for name in classes)
    for part in (text, config):
        are_tied = part.get("tie_word_embeddings")
        if isinstance(are_tied, bool):
            return are_tied and has_outputs is not False
    return has_outputs is True


def norms_add_one(config: Mapping[str, Any]) -> bool:
    """Return whether norms of the model that a configuration says multiply by 1 + γ."""
    model = _model(config)
    return model is not None and str(model["norm"]).endswith("1")


def norm_epsilon(config: Mapping[str, Any]) -> Fraction | None:
    """Return the number that norms add to the variance, exactly the decimal that is written;
    ``None`` where there is none, none that is positive, or different ones under several keys.
    """
    text = text_model(config)
    values = [text[key] for key in ARCHITECTURES["sizes"]["epsilon"] if key in text]
    # The shortest decimal of a float, which ``repr`` gives, is the one that was read.
    numbers = {Fraction(repr(value)) for value in values if type(value) in (int, float)}
    if len(numbers) != 1 or min(numbers) <= 0:
        return None
    return numbers.pop()


def _parts_about_attention(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the parts of a configuration that have keys about attention."""
    text = text_model(config)
    yield text
    # MPT has a part of its own for attention.
    attention = text.get("attn_config")
    if isinstance(attention, Mapping):
        yield attention


def what_changes_scores(config: Mapping[str, Any]) -> str:
    """Return a clause on the key of a configuration that makes scores another function of the
    tokens than in the model here: ``'key' in config.json …``; empty if there is none.
    """
    for part in _parts_about_attention(config):
        for row in ARCHITECTURES["changes"]:
            for key in row["keys"]:
                if part.get(key) not in (None, False, 0):
                    return f"'{key}' in config.json {row['reason']}"
    return ""


def attention_window(config: Mapping[str, Any]) -> int | None:
    """Return to how many tokens before it a token attends; ``None`` if there is no such limit."""
    windows = ARCHITECTURES["windows"]
    for part in _parts_about_attention(config):
        # A key such as ``use_sliding_window`` may say that the number has no effect.
        if any(part.get(key) is False for key in windows["unless"]):
            continue
        for key in windows["keys"]:
            value = part.get(key)
            if type(value) is int and value > 0:
                return value
    return None


def has_rotary_positions(source: object, available: Iterable[str]) -> bool:
    """Return whether the names of arrays, or the configuration beside a file, if the source is a
    path, show that the model has rotary positions.
    """
    usual = NAMES["rotary"]
    if any(re.search(usual["names"], name) for name in available):
        return True
    if not isinstance(source, str | Path):
        return False
    content = configuration(source)
    architecture = read_architecture(content)
    # A file params.json, without ``model_type``, has no key for it: its models have rotations.
    if "model_type" not in content and architecture is not None and architecture.rotary:
        return True
    # Keys of the configuration, and of its part about texts, that begin as ``rope_theta`` does.
    text = content.get("text_config")
    keys = [*content, *(text if isinstance(text, dict) else ())]
    return any(key.startswith(tuple(usual["keys"])) for key in keys)
