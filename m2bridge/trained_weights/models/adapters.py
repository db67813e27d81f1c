"""LoRA adapters of PEFT in memory: W + Σ s·B·A in place of W, exactly.

A layer with adapters has the adapters that are active, those that are merged into W already, and
for each the number s = α/r, or α/√r. While the layer counts as merged, W alone is used; what the
merge rounded is in W. Dropout acts in training only. Other kinds of adapters, as DoRA, and adapters
with biases are refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.stored import Adapter, changed

_LORA = "peft.tuners.lora.layer.Linear"
_MERGE = "merge it first (merge_and_unload)"


def is_adapter(module: Any) -> bool:
    """Return whether a module is a layer of PEFT around another module."""
    return type(module).__module__.startswith("peft.tuners.")


def with_adapters(
    path: str, layer: Any, weight: Tensor, available: Mapping[str, Tensor], *, columns: bool
) -> Tensor:
    """Return the matrix of a linear layer with the changes of its active adapters; ``available``
    are all arrays of the model by their names, and with ``columns`` matrices are (in, out).
    """
    own_class = type(layer)
    if f"{own_class.__module__}.{own_class.__qualname__}" != _LORA:
        raise _not_understood(path, f"is an adapter {own_class.__name__} of PEFT, and no LoRA")
    if layer.disable_adapters:
        if layer.merged:
            raise _not_understood(path, "has adapters that are merged and disabled")
        return weight
    if layer.merged:
        return weight
    for name in layer.active_adapters:
        if name not in layer.lora_A:
            continue
        is_variant = name in getattr(layer, "lora_variant", {}) or layer.use_dora.get(name, False)
        if is_variant or getattr(layer, "lora_bias", {}).get(name, False):
            raise _not_understood(path, f"has the adapter '{name:.60}', which adds more than B·A")
        A = available[f"{path}.lora_A.{name}.weight"]
        B = available[f"{path}.lora_B.{name}.weight"]
        alpha = _factor(layer, name) * A.shape[0]
        adapter = Adapter(arrays={}, alpha=alpha, by_root=False, columns=columns)
        weight = changed(weight, A, B, adapter)
    return weight


def _factor(layer: Any, name: str) -> Fraction:
    """Return the number by which B·A is multiplied: α/r exactly, where its float is the number that
    the layer has, else this float.
    """
    scaling = float(layer.scaling[name])
    exact = Fraction(layer.lora_alpha[name]) / layer.r[name]
    return exact if float(exact) == scaling else Fraction(scaling)


def _not_understood(path: str, reason: str) -> InvalidCaseError:
    """Return the error about the adapters of a layer."""
    return InvalidCaseError("weights", f"'{path:.120}' {reason}: {_MERGE}")


def merged_names(modules: Any) -> tuple[str, ...]:
    """Return the names of the adapters that layers among these modules have merged or active."""
    names: dict[str, None] = {}
    for module in filter(is_adapter, modules):
        if not getattr(module, "disable_adapters", False):
            merged = getattr(module, "merged_adapters", ())
            active = getattr(module, "active_adapters", ())
            own = getattr(module, "lora_A", {})
            names |= dict.fromkeys(merged or [name for name in active if name in own])
    return tuple(names)
