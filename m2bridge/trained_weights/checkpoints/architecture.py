"""The architecture that ``config.json`` says: the normalization, norms, positions and sizes of its
layers of attention.

Models are known by their ``model_type``, in the table ``architectures.toml``; a model of images and
texts has its model of texts as ``text_config``. A file ``params.json`` of Meta or Mistral has keys
of its own. A model that is not in the table is not guessed: :func:`read_architecture` returns
``None``.

``model`` is a row of the table: the norm of a model, its place, and words or keys of the
configuration for what else differs from model to model. ``text`` is the part of a configuration
that is about the model of texts. *Groups* are the heads of keys and values, which several heads
share where there are fewer of them than of queries.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

ARCHITECTURES = tomllib.loads(
    Path(__file__).with_name("architectures.toml").read_text(encoding="utf-8")
)
"""What is known of models, by ``model_type``, and the keys of their sizes."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """What ``config.json`` says of the layers of self-attention of a model.

    Parameters
    ----------
    name : str
        The name of the family of models, as people call it: ``GPT-2``.
    softmax : bool
        Whether scores are normalized by softmax.
    skip : bool
        Whether each layer adds its input to its output.
    norm : str or None
        The kind of the norm of each layer: ``layer`` or ``rms``; ``layer1`` or ``rms1``, if it
        multiplies by 1 + γ; ``None``, if layers have none.
    norm_place : str
        Where this norm stands: ``before`` or ``after`` the layer.
    rotary : bool
        Whether queries and keys are rotated by positions.
    heads, key_value_heads : int or None
        The number of heads of queries, and that of keys and values, which heads share if these are
        fewer; ``None`` where the model is known by its names alone, or layers differ.
    head_size : int or None
        The number of rows of Q of a head; ``None`` where it is not known.
    tied_embeddings : bool
        Whether the matrix of the outputs is that of the tokens.
    positions : str
        What else in the scores depends on positions, such as ``ALiBi``, which is not in the model
        here; empty if nothing.
    by_names : bool
        Whether the architecture is known by the names of arrays, as there is no ``config.json``.
    changes : str
        A clause on what makes the layer another function of the tokens than that of the model here;
        empty if nothing does.
    cut : str
        How one array with Q, K and V is cut, one of :data:`~.cutting.CUTS`, where names do not say
        it; empty if it is not known.
    norm_has_arrays : bool
        Whether its norm has an array γ; a norm that is not trained has none, and multiplies by 1.
    """

    name: str
    softmax: bool
    skip: bool
    norm: Literal["layer", "rms", "rms1", "layer1", None]
    norm_place: Literal["before", "after"]
    rotary: bool
    heads: int | None
    key_value_heads: int | None
    head_size: int | None
    tied_embeddings: bool
    positions: str = ""
    by_names: bool = False
    changes: str = ""
    cut: str = ""
    norm_has_arrays: bool = True


def read_architecture(config: Mapping[str, Any]) -> Architecture | None:
    """Return what this content of ``config.json`` or ``params.json`` says of the layers of
    attention; ``None`` if its model is not in the table, or the number of heads of keys is not
    known, or does not divide that of queries.
    """
    model, text = _model(config)
    if model is None:
        return None
    heads = groups = head_size = None
    # In a model with ``each`` = true the number of heads differs from layer to layer.
    if not model.get("each", False):
        heads = number_in(text, "heads")
    if heads is not None:
        groups = _key_value_heads(text, model.get("groups"), heads)
        # Equally many heads share each key.
        if groups is None or heads % groups:
            return None
        head_size = _head_size(text, heads)
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
        positions=_positions(model, text),
        changes=model.get("changes", ""),
        cut=_cut(model, text, groups, heads),
        norm_has_arrays=model.get("norm_has_arrays", True),
    )


def _norm_place(model: Mapping[str, Any], text: Mapping[str, Any]) -> Literal["before", "after"]:
    """Return on which side of its layers a model has their norms.

    ``model`` is the row of the table, and ``text`` the configuration of the model of texts.
    """
    place: str = model["norm_place"]
    is_before = place == "before"
    if place not in ("before", "after"):
        # Then it is a key of the configuration, whose value is true for norms before layers; if the
        # key is missing, the row says the default.
        is_before = text.get(place, model.get("before_by_default", True))
    return "before" if is_before else "after"


def _is_rotary(model: Mapping[str, Any], text: Mapping[str, Any]) -> bool:
    """Return whether a model rotates queries and keys by positions.

    ``model`` is the row of the table, and ``text`` the configuration of the model of texts.
    """
    # The table says True, False, or the key of the configuration that says it.
    rotary: bool | str = model.get("rotary", False)
    if isinstance(rotary, bool):
        return rotary
    if rotary == "position_embedding_type":
        return text.get(rotary) == "rotary"
    # The key, as ``alibi``, says that there are other positions in place of rotations.
    return not text.get(rotary, False)


def norms_add_one(config: Mapping[str, Any]) -> bool:
    """Return whether the norms of the model that this configuration says multiply by 1 + γ; False
    if the model is not in the table.
    """
    model, _ = _model(config)
    # The kind of such a norm ends with 1.
    return model is not None and str(model["norm"]).endswith("1")


def norm_epsilon(config: Mapping[str, Any]) -> Fraction | None:
    """Return the number that norms add to the variance, exactly the decimal that is written.

    ``None`` where the configuration says no number, or a number that is not positive, or different
    numbers under several keys.
    """
    text = text_model(config)
    values = [text[key] for key in ARCHITECTURES["norms"]["epsilon"] if key in text]
    # JSON's true is an int in Python, and no number here. The shortest decimal of a float, which
    # ``repr`` gives, is the one that was read.
    numbers = {Fraction(repr(value)) for value in values if type(value) in (int, float)}
    if len(numbers) != 1 or min(numbers) <= 0:
        return None
    return numbers.pop()


def unknown_model(config: Mapping[str, Any]) -> str:
    """Return the ``model_type`` of a configuration whose model is not in the table; empty if it is
    in the table, or the configuration has no ``model_type``.
    """
    model, _ = _model(config)
    if model is not None:
        return ""
    model_type = text_model(config).get("model_type") or config.get("model_type")
    return model_type if isinstance(model_type, str) else ""


def _cut(
    model: Mapping[str, Any], text: Mapping[str, Any], groups: int | None, heads: int | None
) -> str:
    """Return how one array with Q, K and V is cut, where the names of arrays do not say it; empty
    if the model does not say it either.

    ``model`` is the row of the table, ``text`` the configuration of the model of texts, ``groups``
    the number of heads of keys and values, and ``heads`` that of queries, both ``None`` if they are
    not known. The cut is one of :data:`~.cutting.CUTS`, such as ``q-k-v``, all of Q, then of K,
    then of V; or ``by-head``, for each head its q, its k and its v.
    """
    if model.get("groups") == "chatglm":
        # The first ChatGLM and ChatGLM2 have one model_type. The first one cuts by heads; the
        # second one, whose heads share keys, has all of Q, then of K, then of V.
        shares_keys = groups is not None and heads is not None and groups < heads
        return "q-k-v" if shares_keys else "by-head"
    # CodeGen2 has the model_type of CodeGen, code of its own, and another cut.
    if model["name"] == "CodeGen" and "auto_map" in text:
        return ""
    cut: str = model.get("cut", "")
    return cut


def architecture_by_names(names: Iterable[str]) -> Architecture | None:
    """Return the architecture of the model that has arrays of these names, without numbers of heads
    and sizes, which names do not say.

    ``None`` if the names do not show a model, as the names of a layer of attention alone do not.
    """
    present = list(names)
    for row in ARCHITECTURES["by_names"]:
        if _are_names_of(row, present):
            return _architecture_of_row(row)
    return None


def _are_names_of(row: Mapping[str, Any], present: Sequence[str]) -> bool:
    """Return whether the names ``present`` in a file are those of the model that a row of the table
    ``by_names`` is about.

    The row has regular expressions under ``names``, of which each has to fit a part of some name,
    and perhaps others, under ``without``, which may fit a part of none.
    """
    has_all = all(_fits(expression, present) for expression in row["names"])
    excluded = row.get("without", ())
    return has_all and not any(_fits(expression, present) for expression in excluded)


def _architecture_of_row(row: Mapping[str, Any]) -> Architecture:
    """Return the architecture that a row of the table ``by_names`` says, of models that are known
    by the names of their arrays, without a configuration: that of the ``model`` in the table of
    models, with the name of the row, and without sizes. All have softmax and skip connections.
    """
    model = ARCHITECTURES["models"][row["model"]]
    # Where the table names a key of the configuration, there is none: its default is taken.
    no_configuration: Mapping[str, Any] = {}
    return Architecture(
        name=row["name"],
        softmax=True,
        skip=True,
        norm=model["norm"],
        norm_place=_norm_place(model, no_configuration),
        rotary=_is_rotary(model, no_configuration),
        heads=None,
        key_value_heads=None,
        head_size=None,
        # Without a configuration nothing says that an array is missing as the copy of another.
        tied_embeddings=False,
        positions=model.get("positions", ""),
        by_names=True,
        changes=row.get("changes", ""),
    )


def known_architecture(config: Mapping[str, Any], names: Iterable[str]) -> Architecture | None:
    """Return what :func:`read_architecture` does of a configuration that names its model. Where it
    names none, as configurations of timm do not, or is empty, return the architecture that the
    names of the arrays show. ``None`` if it is not known.
    """
    text = text_model(config)
    names_model = any("model_type" in part for part in (config, text))
    # A file params.json names no model, but has keys by which it is known.
    if names_model or _has_all(text, ARCHITECTURES["parameters"]["keys"]):
        return read_architecture(config)
    return architecture_by_names(names)


def _fits(expression: str, names: Iterable[str]) -> bool:
    """Return whether a regular expression fits a part of one of these names."""
    return any(re.search(expression, name) for name in names)


def what_changes_scores(config: Mapping[str, Any]) -> str:
    """Return a clause on the key of this configuration that makes scores another function of the
    tokens than in the model here: ``'key' in config.json …``; empty if there is none.
    """
    for part in _parts_about_attention(config):
        # A row has keys, and the reason why a model with one of them set is another one.
        for row in ARCHITECTURES["changes"]:
            for key in row["keys"]:
                if part.get(key) not in (None, False, 0):
                    return f"'{key}' in config.json {row['reason']}"
    return ""


def attention_window(config: Mapping[str, Any]) -> int | None:
    """Return to how many tokens before it a token attends, as a configuration says; ``None`` if it
    says no such limit.
    """
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


def _parts_about_attention(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the parts of a configuration that have keys about attention: that of the model of
    texts, and a part of its own for attention.
    """
    text = text_model(config)
    yield text
    # MPT has a part of its own for attention.
    attention = text.get("attn_config")
    if isinstance(attention, Mapping):
        yield attention


def _positions(model: Mapping[str, Any], text: Mapping[str, Any]) -> str:
    """Return what in scores depends on positions in addition to rotations, such as ``ALiBi``; empty
    if nothing does.

    ``model`` is the row of the table, and ``text`` the configuration of the model of texts.
    """
    positions: str = model.get("positions", "")
    # Falcon has ALiBi, if its key ``alibi`` is true, and else rotations.
    if model.get("rotary") == "alibi" and not text.get("alibi", False):
        return ""
    # MPT has ALiBi unless a part of its own says that it has not.
    attention = text.get("attn_config")
    if isinstance(attention, Mapping) and attention.get("alibi") is False:
        return ""
    return positions


def text_model(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a configuration that is about the model of texts: ``text_config``, or, if
    there is no such part, all of the configuration.
    """
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


def _model(config: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, Mapping[str, Any]]:
    """Return the row of the table for the model of a configuration, ``None`` if it is not in the
    table, and the part of the configuration that is about the model of texts.
    """
    models: Mapping[str, Any] = ARCHITECTURES["models"]
    text = text_model(config)
    params_json = ARCHITECTURES["parameters"]
    if "model_type" not in text and _has_all(text, params_json["keys"]):
        # This is a params.json. With ``kv_lora_rank`` keys and values are products of two matrices
        # each, which is a layer that is not in the table.
        has_products = any("lora_rank" in key for key in text)
        return (None if has_products else models[params_json["model_type"]]), text
    for part in (text, config):
        model_type = part.get("model_type")
        if isinstance(model_type, str) and model_type in models:
            return models[model_type], text
    return None, text


def number_of_layers(config: Mapping[str, Any]) -> int | None:
    """Return the number of layers that a configuration says; ``None`` if it says none."""
    return number_in(text_model(config), "layers")


def _has_all(config: Mapping[str, Any], keys: Iterable[str]) -> bool:
    """Return whether a configuration has all of these keys."""
    return all(key in config for key in keys)


def _key_value_heads(text: Mapping[str, Any], rule: str | None, heads: int) -> int | None:
    """Return the number of heads of keys and values: that of the queries, ``heads``, where the
    configuration ``text`` has no positive number for it.

    ``rule`` is how it is said, by the row of the table: ``falcon``, ``multi_query``, ``chatglm`` or
    ``mpt``; ``None`` for a key such as ``num_key_value_heads``. Returned is ``None`` if two keys
    differ, and for ``chatglm`` if its number of groups counts, and is no positive number.
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
        if not isinstance(attention, Mapping):
            return heads
        return _groups_in(attention, heads)
    return _groups_in(text, heads)


def _groups_in(config: Mapping[str, Any], heads: int) -> int | None:
    """Return the number of heads of keys under a usual key, ``heads`` without one; ``None`` if two
    keys differ.
    """
    return number_in(config, "groups") if _numbers_in(config, "groups") else heads


def _head_size(text: Mapping[str, Any], heads: int) -> int | None:
    """Return the number of rows of Q of a head: as the configuration says it, else the width of
    tokens divided by the number of heads; ``None`` if the configuration says neither, or the
    quotient is not an integer.
    """
    if _numbers_in(text, "head_size"):
        return number_in(text, "head_size")  # None if two keys differ
    width = number_in(text, "width")
    if width is None or width % heads:
        return None
    return width // heads


_WITH_OUTPUTS = re.compile("LMHeadModel|DoubleHeadsModel|CausalLM|MaskedLM|PreTraining|Generation")
"""A part of the names of classes that score all tokens, as ``LlamaForCausalLM``."""


def _has_tied_embeddings(config: Mapping[str, Any], text: Mapping[str, Any]) -> bool:
    """Return whether the matrix of the outputs is that of the embeddings: as
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
