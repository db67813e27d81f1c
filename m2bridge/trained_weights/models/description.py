"""What a model in memory says of itself, and its layers: the result of reading any library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from m2bridge.results.sheet import enumeration, visible
from m2bridge.trained_weights.checkpoints.architecture import Architecture
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectDescription:
    """What an object says of its model and the results do not depend on, or only through A."""

    library: str  # as ``transformers``
    class_name: str  # as ``LlamaForCausalLM``
    scales: tuple[float, ...] = ()  # by what each layer multiplies its scores; empty if unknown
    causal: bool | None = None  # whether tokens attend to tokens before them only
    dropout: float = 0.0  # of the scores in training
    is_processed: bool = False  # whether a bridge has folded norms and centered matrices
    adapters: tuple[str, ...] = ()  # names of adapters of PEFT whose changes are in the matrices

    @property
    def sentence(self) -> str:
        """All of it as one sentence, without a full stop."""
        said = []
        if self.is_processed:
            said.append("its weights are processed, with norms folded into matrices")
        if self.adapters:
            names = enumeration([f"'{visible(name):.60}'" for name in self.adapters])
            said.append(
                f"the adapters {names} are in the matrices"
                if len(self.adapters) > 1
                else f"the adapter {names} is in the matrices"
            )
        if len(set(self.scales)) == 1 and self.scales[0] != 1:
            said.append(f"scores are multiplied by {self.scales[0]:.4g}, which scales A")
        elif len(set(self.scales)) > 1:
            said.append("scores are multiplied by a number of each layer, which scales A")
        if self.causal:
            said.append("a causal mask changes nothing of what is said")
        if self.dropout:
            said.append(f"dropout ({self.dropout:g}), which acts in training, is left out")
        words = f"read from the object: {self.class_name} of {self.library}"
        return "; ".join([words, *said])

    def to_json(self) -> dict[str, Any]:
        """Return all of it for ``json.dumps``; what is not known is ``None``."""
        return {
            "library": self.library,
            "class": self.class_name,
            "scales": list(self.scales) or None,
            "causal": self.causal,
            "dropout": self.dropout,
            "processed": self.is_processed,
            "adapters": list(self.adapters),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadModel:
    """The layers of a model in memory, with their numbers of heads, and what it says of itself."""

    description: ObjectDescription
    layers: tuple[LayerTensors, ...]
    config: Mapping[str, Any]  # in the words of config.json
    architecture: Architecture
