"""Norms in the block around a layer whose names are in no row of the table.

A layer without its norm, or with a norm of ones, is another layer. So a norm that stands beside the
module of a layer, of which no norm is known, is asked for; where an option or ``config.json`` says
that there is a norm before the layer, it is that one if there is one alone.

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
    """Return the layers, each with the norm beside it if the name of that norm is in no row of the
    table, and an option or config.json says that it is before the layer.

    Parameters
    ----------
    layers : sequence of LayerTensors
    available : dict
        All arrays by their names.
    said : str or None
        The option ``norm``: ``layer``, ``rms`` or ``rms1`` of a norm before each layer, ``none`` of
        layers without norms, or ``None`` if it is not given.
    architecture : Architecture or None
        The model that config.json says.

    Raises
    ------
    InvalidCaseError
        If there is a norm of another name, and nothing says that it is before the layer; or if
        there are several, and one of them is before the layer.
    """
    used = file_names(part for layer in layers for part in layer.all_tensors())
    found = []
    for layer in layers:
        gammas: list[Tensor] = []
        if not _needs_no_norm(layer, said, architecture):
            gammas = list(_gammas_in_block(layer, available))
            # Without one in its block, the norm may be in a list of all norms.
            if not gammas:
                gammas = list(_gammas_with_number(layer, available))
        # A norm that is read with another layer is not that of this one.
        unread = [gamma for gamma in gammas if gamma.name not in used]
        kind = _kind_of_norm(said, architecture)
        found.append(_with_norm(layer, unread, available, kind))
    return found


def _needs_no_norm(
    layer: LayerTensors, said: str | None, architecture: Architecture | None
) -> bool:
    """Return whether no norm has to be looked for beside a layer: its norm is known, it is one head
    of given letters, or the option ``norm`` or the architecture says that none is before it.
    """
    if layer.norm is not None or layer.is_one_head or said == "none":
        return True
    # A norm after a layer changes nothing of what the layer determines.
    return said is None and architecture is not None and architecture.norm_place == "after"


def _kind_of_norm(said: str | None, architecture: Architecture | None) -> str | None:
    """Return the kind of the norm of each layer, ``layer``, ``rms``, or with 1 at the end where it
    multiplies by 1 + γ, as the option ``norm`` or config.json says it; ``none`` if the option says
    that there is no norm, and ``None`` if neither says a kind.
    """
    if said is not None or architecture is None:
        return said
    return architecture.norm


def _gammas_in_block(layer: LayerTensors, available: Mapping[str, Tensor]) -> Iterator[Tensor]:
    """Yield the arrays in the block of a layer that are taken for γ of a norm of its tokens: by
    their names, and as they have as many entries as tokens have.
    """
    modules = modules_of(layer)
    blocks = blocks_around(modules)
    # A block that is the whole file has no name: its norms have one dot in theirs, as norm1.weight.
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
    """Return the beginning of the names of the module before this one in a list of modules, as
    ``layers.0.`` for ``layers.1.``; empty if there is none.
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
    """Return whether an array is γ of a norm, and not β, by its name, and has as many entries as
    the tokens of a layer have.

    In a list of modules without names, as ``0.weight``, a vector of weights is taken for γ, too.
    """
    kinds = kinds_of(part.name)
    # a norm of cross-attention is not the one before this layer
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

    ``kind`` is ``layer`` or ``rms``, with 1 at the end if the norm multiplies by 1 + γ; ``None`` if
    it is not known that there is a norm before the layer.

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
    """Return the error about a layer beside which γ of one or several norms are found, of which it
    is not known whether one of them, and which, is before the layer.

    ``kind`` is ``None`` if not even that is known; else it is the kind of the norm that is before
    the layer, and there are several γ.
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
