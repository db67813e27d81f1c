"""The norm of a layer: which array is its γ, of which kind it is, and on which side it stands.

One vocabulary holds for the option ``norm``, for ``config.json`` and for the tables of names. The
*kind* of a norm is ``layer`` (LayerNorm) or ``rms`` (RMSNorm), and ``layer1`` or ``rms1`` if it
multiplies by 1 + γ, as in Gemma. Its *place* is ``pre``, before the layer, or ``post``, after it.

The first of these that says it decides, and a norm with β is a LayerNorm whatever is said:

1. the option ``norm``, one of the kinds, before the layer, or ``none``: no norm is before it;
2. the model, by ``config.json`` or by the names of all its arrays;
3. the rules of ``names.toml`` on the names of Q and γ.

A layer without its norm, or with a norm of ones, is another layer. So a norm that stands beside a
layer under a name that no rule has is not passed over: where the option or the model says that a
norm is before the layer, it is taken for this norm if it is the only one; else a user is asked. Of
a norm after a layer the kind need not be known: it changes nothing of what the layer determines.

What names do not say:

* ``norm1`` beside ``self_attn.in_proj_weight`` (nn.TransformerEncoderLayer) is taken to stand after
  the layer; with ``norm_first`` it stands before it, which a user can say.
* ``self_attn_layer_norm`` stands before the layer in OPT and after it in BART: see
  :func:`_ends_without_norm`.
* ``input_layernorm`` without a bias is taken for an RMSNorm, as in LLaMA; Cohere's is a LayerNorm.
* A norm of Gemma has the factors 1 + γ, under the same names.

``available`` are all arrays of a file by their names; ``*``, the *star*, stands for the text that
the names of one layer have in common, as ``layers.0.``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.checkpoints.array_names import (
    NAMES,
    blocks_around,
    common_module,
    full_name,
    kinds_of,
    modules_of,
)
from m2bridge.trained_weights.checkpoints.arrays import NeededVector, Tensor, as_fractions

NormPlace = Literal["pre", "post"]
TITLES = {"layer": "LayerNorm", "rms": "RMSNorm"}


def norm_title(kind: str) -> str:
    """Return a kind of norms as it is usually written: ``LayerNorm`` or ``RMSNorm``."""
    return TITLES[kind.removesuffix("1")]


def is_before(name: str, place: str, norm: str | None) -> bool:
    """Return whether a norm with this name of γ, and this place by its name, is before its layer;
    ``norm`` is the option, ``None`` if nothing is said.
    """
    if norm is None:
        return place == "pre"
    if norm == "none":
        return False
    # Some names belong to norms before a layer in one model and after it in another: of these the
    # option says that they are before. Other names of norms after a layer are not moved.
    return place == "pre" or bool(re.search(NAMES["either"], name))


@dataclass(frozen=True, slots=True, eq=False)
class Norm:
    """The norm of a layer, with its arrays."""

    kind: Literal["layer", "rms"]
    gamma: Any  # the factors, 1 included, as an array of length d; ``None`` stands for ones
    beta: Any  # what is added, of length d; ``None`` stands for 0
    name: str  # of γ in the file; empty if there is none
    place: NormPlace

    @property
    def title(self) -> str:
        """The kind as it is usually written: ``LayerNorm`` or ``RMSNorm``."""
        return norm_title(self.kind)

    @property
    def is_invertible(self) -> bool:
        """Whether no γ_i is 0, so that diag(γ) loses nothing."""
        return self.gamma is None or bool((self.gamma != 0).all())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NormTensors:
    """The norm of a layer in a file."""

    kind: str
    gamma: Tensor
    beta: Tensor | None
    place: NormPlace
    asks: str = ""  # a clause on what has to be asked for, as models of this name differ in it
    assumed: str = ""  # a clause on what is taken for granted, as only the name says it

    @property
    def adds_one(self) -> bool:
        """Whether the factors are 1 + γ, as in Gemma."""
        return self.kind.endswith("1")

    def tensors(self) -> Iterator[Tensor]:
        """Yield γ, and β if there is one."""
        yield self.gamma
        if self.beta is not None:
            yield self.beta

    def adding_one(self, adds_one: bool = True) -> NormTensors:
        """Return the norm as one that multiplies by 1 + γ, or by γ."""
        kind = self.kind.removesuffix("1")
        return replace(self, kind=f"{kind}1" if adds_one else kind)

    def in_model(self, kind: str, place: NormPlace) -> NormTensors:
        """Return the norm with the kind and the place that its model says, so that nothing is asked
        and nothing is taken for granted; by which factors it multiplies is not changed.
        """
        kind = kind if self.beta is None else "layer"
        norm = replace(self, kind=kind, place=place, asks="", assumed="")
        return norm.adding_one(self.adds_one)

    def with_option(self, norm: str | None) -> NormTensors | None:
        """Return the norm as the option says: before the layer, multiplying by γ or 1 + γ; ``None``
        if no norm is before the layer. A norm after it stays, unless the option moves it.

        The kind is said by the file: the kind of the option replaces it when heads are reduced.
        """
        if not is_before(self.gamma.name, self.place, norm):
            return None if self.place == "pre" else self
        if norm is None:
            return self
        # What the option says is not taken for granted.
        return replace(self, place="pre", assumed="").adding_one(norm.endswith("1"))

    def read(self, width: int) -> Norm:
        """Return the norm, read now, of vectors with ``width`` entries: tokens, or the outputs of
        the layer for a norm after it; InvalidCaseError if γ or β has another length.
        """
        needed = NeededVector(
            kind="norm",
            entries="one for each coordinate of the tokens that it acts on",
            advice="say norm='none'" if self.place == "pre" else "",
        )
        gamma = needed.read(self.gamma, (width,))
        if self.adds_one:
            # As fractions: a small γ would be lost in the sum of floating-point numbers.
            gamma = 1 + as_fractions(gamma)
        beta = None if self.beta is None else needed.read(self.beta, (width,))
        kind: Literal["layer", "rms"] = "rms" if self.kind.startswith("rms") else "layer"
        return Norm(kind=kind, gamma=gamma, beta=beta, name=self.gamma.name, place=self.place)


class _Rule(NamedTuple):
    """A rule for a name of Q, as it ends behind the star, and a name of γ; ``says`` is the row of
    ``names.toml``.
    """

    query: str
    gamma: str
    says: Mapping[str, str]


def _rules() -> Iterator[_Rule]:
    """Yield the rules of the table in their order."""
    for row in NAMES["norms"]:
        for names in row["names"]:
            query, gamma = map(full_name, names.split(": "))
            yield _Rule(query.removeprefix("*"), gamma, row)


_RULES = tuple(_rules())
_ASKS_FOR_PLACE = (
    "stands before the layer in some models and after it in others: say that it is layer or rms,"
    " before the layer, or none, after it"
)
_ASKS_FOR_KIND = (
    "is a LayerNorm without β in some models and an RMSNorm in others: say layer or rms"
)


def norm_by_name(query: str, available: Mapping[str, Tensor]) -> NormTensors | None:
    """Return the norm beside the matrix Q whose array is called ``query``, by the first rule whose
    arrays are there; ``None`` if there is none.
    """
    for rule in _RULES:
        if not query.endswith(rule.query):
            continue
        star = query.removesuffix(rule.query)
        gamma = _name_of_gamma(rule.gamma.replace("*", star), available)
        beside = rule.says.get("beside", "").replace("*", star)
        if gamma is None or (beside and beside not in available):
            continue
        model = rule.says.get("model", "")
        if model and not any(re.search(model, name) for name in available):
            continue
        return _norm_by_rule(rule.says, star, gamma, available)
    return None


def _name_of_gamma(name: str, available: Mapping[str, Tensor]) -> str | None:
    """Return the name that γ has in a file: ``name``, or, for one that ends in ``.weight``, the
    name with ``scale``, as in Flax, or ``gamma``, as in TensorFlow.
    """
    for end in ("weight", "scale", "gamma"):
        name_of_gamma = re.sub(r"(?<=\.)weight$", end, name)
        if name_of_gamma in available:
            return name_of_gamma
    return None


def _norm_by_rule(
    says: Mapping[str, str], star: str, gamma: str, available: Mapping[str, Tensor]
) -> NormTensors:
    """Return the norm with this name of γ as a row of the table says it."""
    beta = beta_beside(gamma, available)
    kind = says.get("kind", "layer")
    assumed = says.get("assumed", "")
    if beta is None:
        kind = says.get("without_beta", "asked")
        assumed = says.get("assumed_without_beta", "")
    place = says.get("place", "pre")
    if place == "model":
        # All norms of such a model have one place, which its last norm shows.
        place = {None: "asked", True: "post", False: "pre"}[_ends_without_norm(star, available)]
    asks = ""
    if place == "asked":
        asks = _ASKS_FOR_PLACE
    elif kind == "asked" and place != "post":
        asks = _ASKS_FOR_KIND
    return NormTensors(
        # What has to be asked for counts as a LayerNorm before the layer until a user says it.
        kind="layer" if kind == "asked" else kind,
        gamma=available[gamma],
        beta=beta,
        place="post" if place == "post" else "pre",
        asks=asks,
        assumed=assumed,
    )


def _ends_without_norm(layer: str, available: Mapping[str, Tensor]) -> bool | None:
    """Return whether the model of a layer, ``encoder.layers.0.``, has no norm at its end, so that
    the norms of its layers stand after them; ``None`` if that is not seen.

    Models with norms before their layers have one more norm at their end (OPT, Whisper, mBART,
    ESM); BART and the OPT of 350 million weights have none, and norms after their layers.
    """
    model = re.sub(r"layers\.\d+\.$", "", layer)
    # Fairseq's wav2vec 2.0, with positions by convolutions, has a norm with such a name whatever
    # the place of the others.
    if any(name.startswith(f"{model}pos_conv") for name in available):
        return None
    ends = ("layer_norm", "final_layer_norm", "emb_layer_norm_after")
    if any(f"{model}{name}.weight" in available for name in ends):
        return False
    # Without embeddings the file may be a part of a model, without its end.
    embeddings = ("embed_positions.weight", "embed_tokens.weight")
    has_embeddings = any(f"{model}{name}" in available for name in embeddings)
    return True if has_embeddings else None


def beta_beside(gamma: str, available: Mapping[str, Tensor]) -> Tensor | None:
    """Return the β beside the γ with the name ``gamma``; ``None`` if there is none."""
    # Names of TensorFlow end with the number of an output, also of β.
    number = ":0" if gamma.endswith(":0") else ""
    name = gamma.removesuffix(number)
    for end_of_gamma, ends_of_beta in NAMES["beta"].items():
        if name.endswith(end_of_gamma):
            for end in ends_of_beta:
                beta = f"{name.removesuffix(end_of_gamma)}{end}{number}"
                if beta in available:
                    return available[beta]
    return None


_OF_BETA = re.compile(r"(bias|beta|shift|b_2|\.b)(:0)?$")
"""The end of the name of a β."""
_OF_UNNAMED = re.compile(r"(^|[./])\d+[./](weight|gamma|scale|g)(:0)?$")
"""The end of the name of a vector of weights in a module that has a number for a name."""


def norm_beside(
    name: str,
    parts: Mapping[str, Tensor],
    available: Mapping[str, Tensor],
    used: frozenset[str],
    kind: str | None,
) -> NormTensors | None:
    """Return the norm beside the layer with this name and these matrices under a name that no rule
    has; ``None`` if there is none. γ in ``used`` are norms of other layers.

    ``kind`` is the kind of the norm before the layer; ``None`` if it is not known that there is
    one: InvalidCaseError then, if there is a γ, and if there are several.
    """
    gammas = list(_gammas_in_block(parts, available))
    numbers = re.findall(r"\d+", name)
    if numbers and not gammas:
        # A model may have one list of all its norms beside the list of its modules of attention.
        # The last number in a name counts layers; numbers before it may count stages of a model.
        for other, part in available.items():
            if numbers[-1] in re.split(r"[./]", other) and _is_gamma(part, parts):
                gammas.append(part)
    unread = [gamma for gamma in gammas if gamma.name not in used]
    if not unread:
        return None
    if kind is None or len(unread) > 1:
        raise _is_not_known(parts["V"], unread, kind)
    (gamma,) = unread
    beta = beta_beside(gamma.name, available)
    return NormTensors(kind=kind, gamma=gamma, beta=beta, place="pre")


def _gammas_in_block(
    parts: Mapping[str, Tensor], available: Mapping[str, Tensor]
) -> Iterator[Tensor]:
    """Yield the arrays in the block of a layer that may be γ of a norm of its tokens."""
    modules = modules_of(parts)
    blocks = blocks_around(modules)
    # Around a module as ``attn.`` the block is the whole file: its norms have names with one dot,
    # as ``norm1.weight``.
    is_whole_file = any(re.fullmatch(r"[^./]+[./]", module) for module in modules)
    # In a list of modules without names the norm may be the module before attention.
    module_before = ""
    if numbered := re.fullmatch(r"(.*[./]|)(\d{1,9})([./])", common_module(parts)):
        before, number, separator = numbered.groups()
        if number != "0":
            module_before = f"{before}{int(number) - 1}{separator}"
    for name, part in available.items():
        is_in_block = name.startswith(blocks)
        if is_whole_file and len(re.findall("[./]", name)) < 2:
            is_in_block = True
        own_module = name[: max(name.rfind("."), name.rfind("/")) + 1]
        is_in_module_before = module_before != "" and own_module == module_before
        if (is_in_block or is_in_module_before) and _is_gamma(part, parts):
            yield part


def _is_gamma(part: Tensor, parts: Mapping[str, Tensor]) -> bool:
    """Return whether an array may be γ of the norm of a layer: it is a vector with as many entries
    as the tokens of the layer have, and its name is of a γ, not of a β.

    In a list of modules without names, as ``0.weight``, a vector of weights is taken for γ, too.
    """
    kinds = kinds_of(part.name)
    # A norm of cross-attention is not the norm of this layer.
    is_of_norm = "norms" in kinds and "attention to other tokens" not in kinds
    may_be_norm = not kinds and _OF_UNNAMED.search(part.name) is not None
    # V has a column for each entry of a token.
    has_width_of_tokens = part.shape == (parts["V"].shape[-1],)
    is_beta = _OF_BETA.search(part.name) is not None
    return has_width_of_tokens and (is_of_norm or may_be_norm) and not is_beta


def _is_not_known(V: Tensor, gammas: Sequence[Tensor], kind: str | None) -> InvalidCaseError:
    """Return the error about the layer of V, beside which γ of norms are found: whether one is
    before the layer is not known if ``kind`` is ``None``, else which one.
    """
    named = " and ".join(gamma.quoted for gamma in gammas[:2])
    if kind is None:
        verb = "stands" if len(gammas) == 1 else "stand"
        return InvalidCaseError(
            "norm",
            f"{named} {verb} beside the layer of {V.quoted}, and whether one is before it is not"
            " known by such names: say norm='layer' or norm='rms' if it is, or norm='none'",
        )
    return InvalidCaseError(
        "ignore",
        f"{named} stand beside the layer of {V.quoted}, and which one is before it is not known by"
        " such names: say which are ignored",
    )
