"""Norms in the block around a layer whose names are in no row of the table.

A layer without its norm, or with a norm of ones, is another layer. So a norm that stands beside the
module of a layer whose norm is not known is not passed over: where an option or ``config.json``
says that there is a norm before the layer, it is taken for this norm if it is the only one; else a
user is asked.

The *module* of a layer is what the names of its arrays begin with, as ``layers.0.attn.``, and the
*block* is the module around that, ``layers.0.``. γ are the factors of a norm, and β is its shift.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.accounting import blocks_around, common_module, modules_of
from m2bridge.trained_weights.checkpoints.architecture import Architecture
from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.names import file_names, kinds_of
from m2bridge.trained_weights.checkpoints.norm_names import beta_beside
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors, NormTensors

_OF_BETA = re.compile(r"(bias|beta|shift|b_2|\.b)(:0)?$")
"""The end of the name of a β."""
_OF_UNNAMED = re.compile(r"(^|[./])\d+[./](weight|gamma|scale|g)(:0)?$")
"""The end of the name of a vector of weights in a module that has a number for a name."""


def with_norms_beside(
    layers: Sequence[LayerTensors],
    available: Mapping[str, Tensor],
    *,
    said: str | None,
    architecture: Architecture | None,
) -> list[LayerTensors]:
    """Return the layers. A layer whose norm is not known by the table gets the norm beside it, if
    there is one, and an option or config.json says that a norm is before the layer.

    Parameters
    ----------
    layers : sequence of LayerTensors
    available : dict
        All arrays by their names.
    said : str or None
        The option ``norm``: ``layer`` or ``rms``, or one of them with 1 at the end, if such a norm
        is before each layer, ``none`` if no norm is, ``None`` if the option is not given.
    architecture : Architecture or None
        The model that config.json says; ``None`` if that is not known.

    Raises
    ------
    InvalidCaseError
        If norms whose names are not in the table stand beside a layer, and nothing says that a norm
        is before the layer, or there are several of them.
    """
    used = file_names(part for layer in layers for part in layer.all_tensors())
    found = []
    for layer in layers:
        gammas: list[Tensor] = []
        if not _needs_no_norm(layer, said, architecture):
            gammas = list(_gammas_in_block(layer, available))
            # If there is none in the block, the norm may be in a list of all norms of the model.
            if not gammas:
                gammas = list(_gammas_with_number(layer, available))
        # A norm that is read with another layer is not the norm of this one.
        unread = [gamma for gamma in gammas if gamma.name not in used]
        kind = _kind_of_norm(said, architecture)
        found.append(_with_norm(layer, unread, available, kind))
    return found


def _needs_no_norm(
    layer: LayerTensors, said: str | None, architecture: Architecture | None
) -> bool:
    """Return whether no norm has to be looked for beside a layer, in one of three cases: its norm
    is known; its names or shapes are those of one head, which was taken out of a model; or the
    option ``norm``, ``said``, or else the architecture, says that no norm is before it.
    """
    if layer.norm is not None or layer.is_one_head or said == "none":
        return True
    # A norm after a layer changes nothing of what the layer determines.
    return said is None and architecture is not None and architecture.norm_place == "after"


def _kind_of_norm(said: str | None, architecture: Architecture | None) -> str | None:
    """Return the kind of the norm of each layer, as the option ``norm``, ``said``, or else
    config.json says it: ``layer`` or ``rms``, with 1 at the end if it multiplies by 1 + γ.

    The result is ``none`` if the option says that there is no norm, and ``None`` if neither says
    that there is one.
    """
    if said is not None or architecture is None:
        return said
    return architecture.norm


def _gammas_in_block(layer: LayerTensors, available: Mapping[str, Tensor]) -> Iterator[Tensor]:
    """Yield the arrays in the block of a layer that :func:`_is_gamma` takes for γ of a norm of its
    tokens.
    """
    modules = modules_of(layer)
    blocks = blocks_around(modules)
    # Around a module as ``attn.`` the block is the whole file: its norms have names with one dot,
    # as ``norm1.weight``.
    is_whole_file = any(re.fullmatch(r"[^./]+[./]", module) for module in modules)
    # In a list of modules without names the norm may be the module before that of attention.
    module_before = _module_before(common_module(layer))
    for name, part in available.items():
        is_in_block = name.startswith(blocks)
        if is_whole_file and len(re.findall("[./]", name)) < 2:
            is_in_block = True
        own_module = name[: max(name.rfind("."), name.rfind("/")) + 1]
        is_in_module_before = module_before != "" and own_module == module_before
        if (is_in_block or is_in_module_before) and _is_gamma(part, layer):
            yield part


def _module_before(module: str) -> str:
    """Return the path of the module before this one in a list of modules, as ``layers.0.`` for
    ``layers.1.``; empty if it is the first one, or its path does not end with a number.
    """
    match = re.fullmatch(r"(.*[./]|)(\d{1,9})([./])", module)
    if match is None:
        return ""
    before, number, separator = match.groups()
    return "" if number == "0" else f"{before}{int(number) - 1}{separator}"


def _gammas_with_number(layer: LayerTensors, available: Mapping[str, Tensor]) -> Iterator[Tensor]:
    """Yield the arrays that have the number of a layer in their names and are γ of a norm of its
    tokens: a model may have one list of all its norms beside that of its modules of attention.
    """
    numbers = re.findall(r"\d+", layer.name)
    for name, part in available.items():
        # The last number in a name counts layers; those before it may count stages of a model.
        if numbers and numbers[-1] in re.split(r"[./]", name) and _is_gamma(part, layer):
            yield part


def _is_gamma(part: Tensor, layer: LayerTensors) -> bool:
    """Return whether an array may be γ of the norm of a layer: it is a vector with as many entries
    as the tokens of the layer have, and its name is that of a γ, not of a β.

    In a list of modules without names, as ``0.weight``, a vector of weights is taken for γ, too.
    """
    kinds = kinds_of(part.name)
    # A norm of cross-attention is not the norm of this layer.
    is_of_norm = "norms" in kinds and "attention to other tokens" not in kinds
    may_be_norm = not kinds and _OF_UNNAMED.search(part.name) is not None
    # V has a column for each entry of a token.
    width = layer.parts["V"].shape[-1]
    has_width_of_tokens = part.shape == (width,)
    is_beta = _OF_BETA.search(part.name) is not None
    return has_width_of_tokens and (is_of_norm or may_be_norm) and not is_beta


def _with_norm(
    layer: LayerTensors, gammas: Sequence[Tensor], available: Mapping[str, Tensor], kind: str | None
) -> LayerTensors:
    """Return the layer with the norm before it whose γ is the one of ``gammas``; without any γ, the
    layer as it is.

    ``kind`` is the kind of the norm before the layer: ``layer`` or ``rms``, with 1 at the end if it
    multiplies by 1 + γ; ``None`` if it is not known that there is such a norm. It is ``none`` only
    without any γ.

    Raises
    ------
    InvalidCaseError
        If there is a γ and the kind is not known, or there are several.
    """
    if not gammas:
        return layer
    if kind is None or len(gammas) > 1:
        raise _is_not_known(layer, gammas, kind)
    # A 1 at the end of the kind is not part of it: it says that factors are 1 + γ.
    kind_without_one: Literal["layer", "rms"] = "layer" if kind.startswith("layer") else "rms"
    (gamma,) = gammas
    norm = NormTensors(
        kind=kind_without_one,
        gamma=gamma,
        beta=beta_beside(gamma.name, available),
        place="pre",
        adds_one=kind.endswith("1"),
    )
    return replace(layer, norm=norm)


def _is_not_known(
    layer: LayerTensors, gammas: Sequence[Tensor], kind: str | None
) -> InvalidCaseError:
    """Return the error about a layer beside which γ of one or several norms are found. If ``kind``
    is ``None``, it is not known whether one of these norms is before the layer; else one of several
    is, of this kind, and it is not known which.
    """
    named = " and ".join(f"'{visible(gamma.name):.120}'" for gamma in gammas[:2])
    of_layer = f"the layer of '{visible(layer.parts['V'].name):.120}'"
    if kind is None:
        verb = "stands" if len(gammas) == 1 else "stand"
        return InvalidCaseError(
            "norm",
            f"{named} {verb} beside {of_layer}, and whether one is before it is not known by such"
            " names: say that norm is layer or rms, before the layer, or none",
        )
    return InvalidCaseError(
        "ignore",
        f"{named} stand beside {of_layer}, and which one is before it is not known by such names:"
        " say which are ignored",
    )
