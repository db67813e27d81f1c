"""Stand-ins for recorded models: objects with the classes, attributes, children and arrays that
m2bridge reads of a module of PyTorch, made of a recording by :mod:`record`, without PyTorch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy

FOLDER = Path(__file__).with_name("recorded")


class Parameter:
    """An array as PyTorch has it, in the memory of the processor."""

    def __init__(self, entries: Any, dtype: str = "torch.float32", device: str = "cpu") -> None:
        self.entries = entries
        self.dtype = dtype
        self.device = device
        self.shape = entries.shape
        self.reads = 0

    def detach(self) -> Parameter:
        return self

    def cpu(self) -> Parameter:
        return self

    def float(self) -> Parameter:
        return self

    def data_ptr(self) -> int:
        return id(self.entries)

    def numpy(self) -> Any:
        if "float8" in self.dtype:
            raise TypeError
        self.reads += 1
        return self.entries


class StandIn:
    """A module; its class is made by :func:`module`."""

    def __init__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        self._children: dict[str, Any] = {}
        self._arrays: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        for found in (self.__dict__.get("_children", {}), self.__dict__.get("_arrays", {})):
            if name in found:
                return found[name]
        raise AttributeError(name)

    def __contains__(self, name: str) -> bool:
        return name in self._children

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._children.values())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        yield from self._children.items()

    def named_parameters(self, recurse: bool = True) -> Iterator[tuple[str, Any]]:
        assert not recurse
        yield from self._arrays.items()

    def named_buffers(self, recurse: bool = True) -> Iterator[tuple[str, Any]]:
        assert not recurse
        yield from ()


@cache
def classes(named: str) -> type:
    """The class with these names of itself and its bases, ``module:name``, each with () where it
    has a method ``forward``.
    """
    own, _, rest = named.partition(" ")
    base = classes(rest) if rest else StandIn
    where, _, name = own.removesuffix("()").partition(":")
    attributes = {"forward": lambda self: None} if own.endswith("()") else {}
    attributes |= {"__module__": where, "__qualname__": name}
    return type(name.rpartition(".")[2], (base,), attributes)


MODULE = "torch.nn.modules.module:Module"


def module(named: str, arrays: dict[str, Any], children: dict[str, Any], **attributes: Any) -> Any:
    """A module of a class with these names, with arrays and modules inside it."""
    made = classes(f"{named} {MODULE}")(attributes)
    made._arrays.update(arrays)
    made._children.update(children)
    return made


def _made(tree: dict[str, Any], arrays: dict[str, Any], path: str) -> Any:
    """The module of a recorded tree."""
    # The last class is object, which every class has.
    made = classes(tree["classes"].removesuffix(" builtins:object"))(tree.get("attributes", {}))
    if "cfg" in made.__dict__:
        made.cfg = SimpleNamespace(**made.cfg)
    for name in tree.get("arrays", ()):
        if isinstance(name, list):
            made._arrays[name[0]] = arrays[name[1]]
        else:
            made._arrays[name] = arrays[f"{path}.{name}".removeprefix(".")]
    for name, child in tree.get("children", {}).items():
        made._children[name] = _made(child, arrays, f"{path}.{name}".removeprefix("."))
    return made


class Recording:
    """A recorded model, and what its library computes."""

    def __init__(self, name: str) -> None:
        with numpy.load(FOLDER / f"{name}.npz") as stored:
            numbers = dict(stored)
        recorded = json.loads(numbers.pop("recorded").tobytes().decode())
        kinds = recorded["types"]
        self.arrays = {
            key.removeprefix("a:"): Parameter(
                value, kinds.get(key.removeprefix("a:"), "torch.float32")
            )
            for key, value in numbers.items()
            if key.startswith("a:")
        }
        self.model = _made(recorded["tree"], self.arrays, "")
        self.config = recorded.get("config", {})
        base = self.model
        if "peft" in recorded:
            kinds_of_adapters = [SimpleNamespace(peft_type=kind) for kind in recorded["peft"]]
            self.model.peft_config = dict(enumerate(kinds_of_adapters))
            base = self.model.base_model.model
        if "config" in recorded:
            base.config = SimpleNamespace(to_dict=lambda: json.loads(json.dumps(self.config)))
            inputs = SimpleNamespace(weight=object())
            outputs = inputs if recorded["tied"] else None
            base.get_input_embeddings = lambda: inputs
            base.get_output_embeddings = lambda: outputs
        self.tokens = numbers.get("tokens")  # with a row for each token
        self.outputs = numbers.get("outputs")


NAMES = tuple(sorted(file.stem for file in FOLDER.glob("*.npz")))
