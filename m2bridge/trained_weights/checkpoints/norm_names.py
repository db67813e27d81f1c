"""Norms before or after a layer, by the names that libraries give them.

What names do not say:

* ``norm1`` beside ``self_attn.in_proj_weight`` (nn.TransformerEncoderLayer) is taken to stand after
  the layer; with ``norm_first`` it stands before it, which a user can say.
* ``self_attn_layer_norm`` stands before the layer in OPT and after it in BART: see
  :func:`_ends_without_norm`.
* ``input_layernorm`` without a bias is taken for an RMSNorm, as in LLaMA; Cohere's is a LayerNorm.
* A norm of Gemma has the factors 1 + γ, under the same names: ``config.json`` beside the file says
  so, or a user.

A *row* of the table of norms in ``names.toml`` has the names of a query matrix and of γ, in which
``*``, the *star*, stands for the same text, as ``layers.0.``; the place of the norm; and, where
models with these names differ, what distinguishes them or is assumed. ``available`` are all arrays
of a file by their names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.tensors import NAMES, NormTensors


def norm_by_name(query: str, available: Mapping[str, Tensor]) -> NormTensors | None:
    """Return the norm with a usual name beside the matrix Q whose array is called ``query``;
    ``None`` if there is none.

    Each row of the table has a name of Q, such as ``*self_attn.q_proj.weight``, and one of γ, in
    which ``*`` stands for the same text. The first row is taken whose arrays are there.
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
    """Return the name that γ has in a file: ``name``; or, if this ends in ``.weight``, the name
    with ``scale`` at the end, as in Flax, or ``gamma``, as in TensorFlow. ``None`` if there is no
    array with one of these names.
    """
    for end in ("weight", "scale", "gamma"):
        name_of_gamma = re.sub(r"(?<=\.)weight$", end, name)
        if name_of_gamma in available:
            return name_of_gamma
    return None


def _is_row_of(row: Mapping[str, Any], star: str, available: Mapping[str, Tensor]) -> bool:
    """Return whether the arrays are there that a row of the table of norms needs in addition to γ.

    Under ``adds_one`` and ``beside`` the row may have the name of an array, in which ``*`` stands
    for ``star``; under ``model`` an expression that has to fit a part of the name of some array.
    """
    needed = [row[key].replace("*", star) for key in ("adds_one", "beside") if key in row]
    if any(name not in available for name in needed):
        return False
    return "model" not in row or any(re.search(row["model"], name) for name in available)


def _norm_of_row(
    row: Mapping[str, Any], star: str, gamma: str, available: Mapping[str, Tensor]
) -> NormTensors:
    """Return the norm as a row of the table of norms says. Where the row leaves open the place or
    the kind of the norm, its clause ``asks`` says what a user has to say.

    ``gamma`` is the name of γ, and ``star`` what ``*`` in the row stands for.
    """
    beta = beta_beside(gamma, available)
    # A norm with β is a LayerNorm, whatever the row says.
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
        # A place that has to be asked for counts as before the layer until a user says it.
        place="post" if place == "post" else "pre",
        # The array under this key is there: ``_is_row_of``.
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

    Only for rows that do not say that the norm is an RMSNorm. ``star`` is what ``*`` in the row
    stands for, and ``available`` are the names of all arrays.
    """
    # Under ``asks_with`` is the name of an array. Models with it have norms of either kind under
    # the names of this row; without it the norm is a LayerNorm.
    if "asks_with" in row:
        return row["asks_with"].replace("*", star) in available
    # With ``layer`` the row says that the norm is a LayerNorm. With ``assumed_without_beta`` the
    # row says what is assumed of it, which results name, so that nobody has to be asked.
    return "layer" not in row and "assumed_without_beta" not in row


def beta_beside(gamma: str, available: Mapping[str, Tensor]) -> Tensor | None:
    """Return the β beside the γ with the name ``gamma``; ``None`` if there is none."""
    # Names of TensorFlow end with the number of an output, that of β, too.
    number = ":0" if gamma.endswith(":0") else ""
    for name in _beta_names(gamma.removesuffix(number)):
        if f"{name}{number}" in available:
            return available[f"{name}{number}"]
    return None


def _beta_names(gamma: str) -> Iterator[str]:
    """Yield the names that β may have beside a γ of this name, as ``norm.bias`` for
    ``norm.weight``.
    """
    # For each end that a name of γ may have, the ends that β may have in its place.
    ends_of_beta: dict[str, list[str]] = NAMES["beta"]
    for end_of_gamma, ends in ends_of_beta.items():
        if gamma.endswith(end_of_gamma):
            yield from (gamma.removesuffix(end_of_gamma) + end for end in ends)


def _ends_without_norm(layer: str, available: Mapping[str, Tensor]) -> bool | None:
    """Return whether the model of a layer has no norm at its end, so that the norms of its layers
    stand after them; ``None`` if that is not seen.

    ``layer`` is the beginning of the names of the arrays of the layer, ``encoder.layers.0.``.
    Models with norms before their layers have one more norm at their end (OPT, Whisper, mBART,
    ESM); BART and the OPT of 350 million weights have none, and norms after their layers.

    It is not seen in two cases: in a file without the embeddings of the model, which may lack the
    norm at the end, too; and of Fairseq's wav2vec 2.0, which has positions by convolutions
    (``pos_conv``), and a norm with such a name whatever the place of the others.
    """
    model = re.sub(r"layers\.\d+\.$", "", layer)
    if any(name.startswith(f"{model}pos_conv") for name in available):
        return None
    ends = ("layer_norm", "final_layer_norm", "emb_layer_norm_after")
    if any(f"{model}{name}.weight" in available for name in ends):
        return False
    # Without embeddings the file may be a part of a model, without its end.
    embeddings = ("embed_positions.weight", "embed_tokens.weight")
    has_embeddings = any(f"{model}{name}" in available for name in embeddings)
    return True if has_embeddings else None
