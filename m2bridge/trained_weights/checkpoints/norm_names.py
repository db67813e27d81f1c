"""Norms before or after a layer, by the names that libraries give them.

What names do not say:

* ``norm1`` beside ``self_attn.in_proj_weight`` (nn.TransformerEncoderLayer) is taken to stand after
  the layer; with ``norm_first`` it stands before it, which a user can say.
* ``self_attn_layer_norm`` stands before the layer in OPT and after it in BART: see
  :func:`_ends_without_norm`.
* ``input_layernorm`` without a bias is taken for an RMSNorm, as in LLaMA; Cohere's is a LayerNorm.
* Gemma's has the factors 1 + γ, under the same names: ``config.json`` beside the file tells it, or
  a user.

A *row* of the table of norms in ``names.toml`` has the names of a query matrix and of γ, in which
``*``, the *star*, stands for the same text, as ``layers.0.``; the place of the norm; and, where
models with these names differ, what tells them apart or is assumed. ``available`` are all arrays of
a file by their names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.tensors import NAMES, NormTensors


def norm_by_name(query: str, available: Mapping[str, Tensor]) -> NormTensors | None:
    """Return the norm with a usual name beside the queries of this name; ``None`` if there is none.

    Each row of the table has a name of queries, such as ``*self_attn.q_proj.weight``, and one of γ,
    in which ``*`` stands for the same text. The first row is taken whose arrays are there.
    """
    for row in NAMES["norms"]:
        end = row["query"].removeprefix("*")
        if not query.endswith(end):
            continue
        star = query.removesuffix(end)
        gamma = _name_of_gamma(row["gamma"].replace("*", star), available)
        if gamma is not None and _is_row_of(row, star, available):
            return _norm_of_row(row, star, gamma, available)
    return None


def _name_of_gamma(name: str, available: Mapping[str, Tensor]) -> str | None:
    """Return the name that γ has in a file: ``name``, which ends in ``weight``, or with ``scale``,
    as in Flax, or ``gamma``, as in TensorFlow, in place of it; ``None`` if there is none of these.
    """
    for end in ("weight", "scale", "gamma"):
        name_of_gamma = re.sub(r"(?<=\.)weight$", end, name)
        if name_of_gamma in available:
            return name_of_gamma
    return None


def _is_row_of(row: Mapping[str, Any], star: str, available: Mapping[str, Tensor]) -> bool:
    """Return whether the arrays are there that a row of the table of norms needs besides γ.

    Under ``adds_one`` and ``beside`` it may have the name of an array, in which ``*`` stands for
    ``star``; under ``model`` an expression that the name of some array has to fit.
    """
    needed = [row[key].replace("*", star) for key in ("adds_one", "beside") if key in row]
    if any(name not in available for name in needed):
        return False
    return "model" not in row or any(re.search(row["model"], name) for name in available)


def _norm_of_row(
    row: Mapping[str, Any], star: str, gamma: str, available: Mapping[str, Tensor]
) -> NormTensors:
    """Return the norm as a row of the table of norms says. Where the row leaves open its place or
    its kind, the clause ``asks`` of the norm says what a user has to say.

    ``gamma`` is the name of γ, and ``star`` what ``*`` in the row stands for.
    """
    beta = beta_beside(gamma, available)
    # A norm with β is a LayerNorm.
    is_rms = beta is None and row.get("rms", False)
    place = _place_of_row(row, star, available)
    is_kind_open = beta is None and not is_rms and _kind_has_to_be_asked(row, star, available)
    asks = ""
    if place == "asked":
        asks = _ASKS_FOR_PLACE
    # Of a norm after a layer the kind does not have to be known, as the norm changes nothing of
    # what the layer determines.
    elif is_kind_open and place != "post":
        asks = _ASKS_FOR_KIND
    # What the row takes for granted where only the name says it, empty if nothing.
    assumption = "assumed_without_beta" if beta is None else "assumed"
    return NormTensors(
        kind="rms" if is_rms else "layer",
        gamma=available[gamma],
        beta=beta,
        # A place that has to be asked for counts as before the layer until it is said.
        place="post" if place == "post" else "pre",
        adds_one="adds_one" in row,
        asks=asks,
        assumed=row.get(assumption, ""),
    )


_ASKS_FOR_PLACE = (
    "stands before the layer in some models and after it in others: say that it is layer or rms,"
    " before the layer, or none, after it"
)
"""What a user is asked about a norm of which the name does not say its place."""
_ASKS_FOR_KIND = (
    "is a LayerNorm without β in some models and an RMSNorm in others: say layer or rms"
)
"""What a user is asked about a norm without β of which the name does not say its kind."""


def _place_of_row(
    row: Mapping[str, Any], star: str, available: Mapping[str, Tensor]
) -> Literal["pre", "post", "asked"]:
    """Return where a norm stands by its row of the table of norms: ``pre``, before the layer,
    ``post``, after it, or ``asked``, if a user has to say it.

    ``star`` is what ``*`` in the row stands for.
    """
    place: Literal["pre", "post", "asked", "of the model"] = row["place"]
    if place != "of the model":
        return place
    # All norms of such a model have one place, which its last norm shows.
    is_after = _ends_without_norm(star, available)
    if is_after is None:
        return "asked"
    return "post" if is_after else "pre"


def _kind_has_to_be_asked(row: Mapping[str, Any], star: str, available: Collection[str]) -> bool:
    """Return whether a row of the table of norms leaves open if a norm without β is a LayerNorm or
    an RMSNorm, so that a user has to say it.

    The row does not say that it is an RMSNorm. ``star`` is what ``*`` in the row stands for.
    """
    # Under ``asks_with`` is the name of an array. Models with it have norms of either kind under
    # the names of this row; without it the norm is a LayerNorm.
    if "asks_with" in row:
        return row["asks_with"].replace("*", star) in available
    # With ``layer`` the row says that it is a LayerNorm. With ``assumed_without_beta`` it says what
    # is assumed, which is told to the user and not asked.
    return "layer" not in row and "assumed_without_beta" not in row


def beta_beside(gamma: str, available: Mapping[str, Tensor]) -> Tensor | None:
    """Return the β beside a γ of this name; ``None`` if there is none."""
    # TensorFlow's names end with the number of an output.
    number = ":0" if gamma.endswith(":0") else ""
    for name in _beta_names(gamma.removesuffix(number)):
        if f"{name}{number}" in available:
            return available[f"{name}{number}"]
    return None


def _beta_names(gamma: str) -> Iterator[str]:
    """Yield the names that β may have beside a γ of this name, as ``norm.bias`` for
    ``norm.weight``.
    """
    ends_of_beta: dict[str, list[str]] = NAMES["beta"]  # by the end of the name of γ
    for end_of_gamma, ends in ends_of_beta.items():
        if gamma.endswith(end_of_gamma):
            yield from (gamma.removesuffix(end_of_gamma) + end for end in ends)


def _ends_without_norm(layer: str, available: Mapping[str, Tensor]) -> bool | None:
    """Return True if the model of a layer has no norm at its end, so that its norms stand after
    layers; False if it has one, and norms before layers; ``None`` if that is not seen.

    ``layer`` is the beginning of the names of its arrays, ``encoder.layers.0.``. Models with norms
    before their layers have one more at their end (OPT, Whisper, mBART, ESM); BART and the OPT of
    350 million weights have none, and norms after their layers.

    It is not seen of a layer in a file without the embeddings of its model, which may lack the norm
    too. Nor is it of Fairseq's wav2vec 2.0, which has positions by convolutions (``pos_conv``): it
    has a norm of this name whatever the place of the others.
    """
    model = re.sub(r"layers\.\d+\.$", "", layer)
    if any(name.startswith(f"{model}pos_conv") for name in available):
        return None
    ends = ("layer_norm", "final_layer_norm", "emb_layer_norm_after")
    if any(f"{model}{name}.weight" in available for name in ends):
        return False
    embeddings = ("embed_positions.weight", "embed_tokens.weight")
    has_embeddings = any(f"{model}{name}" in available for name in embeddings)
    return True if has_embeddings else None
