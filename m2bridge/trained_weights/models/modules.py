"""The modules of a model in memory, as a tree of paths, and the arrays that they hold.

PyTorch is met, and never imported: a module is what has ``torch.nn.Module`` among its classes by
name, and what is read of it are attributes. What a module computes is known by the first of its
classes that has methods, the *computing class*, as ``torch.nn.modules.linear.Linear``: a subclass
with methods of its own may be another function, and is not known.

Some modules are around another one and take its place, as ``base_layer`` is inside an adapter of
PEFT: the path says the place, and the modules there form a *chain*, from the outermost to the
innermost. So names of arrays are as in the files of the model alone.

No entry is read or copied before it is needed. What is not understood is an InvalidCaseError with
the name of the module and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.trained_weights.checkpoints.arrays import Tensor, torch_kind
from m2bridge.trained_weights.models.adapters import is_adapter, with_adapters

ADVICE = "give its matrices as arrays K, Q, V and O, or a dictionary from names to arrays"
"""What to do where an object is not known."""


def classes_of(module: Any) -> list[str]:
    """Return the names of the classes of an object with their modules, its own class first."""
    return [f"{one.__module__}.{one.__qualname__}" for one in type(module).__mro__]


def is_module(value: Any) -> bool:
    """Return whether an object is a module of PyTorch."""
    return "torch.nn.modules.module.Module" in classes_of(value)


def class_name(module: Any) -> str:
    """Return the name of the class of a module."""
    return type(module).__name__


def computing_class(module: Any) -> str:
    """Return the name, with its module, of the first class of a module that has methods or
    properties, but for how it is made and printed; empty where the object has a ``forward`` itself.
    """
    # accelerate puts a function around ``forward`` that moves arrays between devices.
    if "forward" in vars(module) and "_hf_hook" not in vars(module):
        return ""
    for one in type(module).__mro__:
        names = [name for name, value in vars(one).items() if isinstance(value, _METHODS)]
        if not _CHANGE_NOTHING.issuperset(names):
            return f"{one.__module__}.{one.__qualname__}"
    return ""


def is_of(module: Any, *packages: str) -> bool:
    """Return whether what a module computes is written in one of these packages."""
    return computing_class(module).startswith(tuple(f"{package}." for package in packages))


_METHODS = (FunctionType, property, staticmethod, classmethod)
_CHANGE_NOTHING = frozenset(("__init__", "__repr__", "extra_repr"))
"""The methods that a subclass may have of its own, and computes the same."""
_INSIDE = ("base_layer", "_original_component", "_orig_mod")
"""The attributes under which PEFT, TransformerLens and ``torch.compile`` have the module in whose
place they stand.
"""
_LINEAR = {
    "torch.nn.modules.linear.Linear": False,
    "transformers.models.falcon.modeling_falcon.FalconLinear": False,
    "transformers.pytorch_utils.Conv1D": True,
}
"""The computing classes of linear maps: whether their matrix has the shape (in, out)."""
_TENSORS = ("Tensor", "Parameter")
"""The classes of arrays of PyTorch whose entries are the numbers themselves."""


class Linear(NamedTuple):
    """A linear map: its matrix as it is stored, and its bias."""

    weight: Tensor
    bias: Tensor | None
    is_in_out: bool  # whether the matrix has the shape (in, out)


@dataclass(frozen=True, slots=True, eq=False)
class ModuleTree:
    """The modules of a model, and their arrays."""

    root: Any
    chains: Mapping[str, tuple[Any, ...]]  # by paths the modules there, from the outermost on
    tensors: Mapping[str, Tensor]  # all parameters and stored buffers by their names

    @classmethod
    def of(cls, root: Any) -> ModuleTree:
        """Return the tree of a module."""
        chains: dict[str, tuple[Any, ...]] = {}
        tensors: dict[str, Tensor] = {}
        seen: set[int] = set()  # an array that several modules share has the first of its names
        for path, module in _walk(root, ""):
            chains[path] = (*chains.get(path, ()), module)
            for name, value in _own_arrays(module):
                if id(value) in seen:
                    continue
                seen.add(id(value))
                full_name = f"{path}.{name}".removeprefix(".")
                read = partial(_entries, full_name, value)
                shape = tuple(map(int, value.shape))
                tensors[full_name] = Tensor(full_name, shape, torch_kind(value), read)
        # In the order of names, as arrays are in files.
        return cls(root, chains, {name: tensors[name] for name in sorted(tensors)})

    def module(self, path: str) -> Any:
        """Return the innermost module of a path; ``None`` where there is none."""
        chain = self.chains.get(path)
        return None if chain is None else chain[-1]

    def children(self, path: str) -> set[str]:
        """Return the names of the modules directly inside the one of a path."""
        module = self.module(path)
        return set() if module is None else {name for name, _ in module.named_children()}

    def linear(self, path: str) -> Linear:
        """Return the linear map of a path, with adapters merged; InvalidCaseError for a module that
        is, or may be, another function of its input.
        """
        *around, module = self.chains[path]
        own = {name for name, _ in _own_arrays(module)}
        if "weight" not in own or own - {"weight", "bias"}:
            raise not_known(
                path,
                module,
                "has no matrix of its own, as pruning, weight_norm and parametrizations have it",
                "remove them first, as torch.nn.utils.parametrize.remove_parametrizations does",
            )
        is_in_out = _LINEAR.get(computing_class(module))
        if is_in_out is None:
            raise not_known(path, module, "is not a linear layer that is understood")
        weight = self.tensors[f"{path}.weight"]
        for wrapper in reversed(around):
            if is_adapter(wrapper):
                weight = with_adapters(path, wrapper, weight, self.tensors, columns=is_in_out)
            elif not _is_of_bridge(wrapper):
                raise not_known(path, wrapper, "is around a linear layer and is not understood")
        return Linear(weight, self.tensors.get(f"{path}.bias"), is_in_out)


def _is_of_bridge(module: Any) -> bool:
    """Return whether a module is one that TransformerLens puts around a module and calls it."""
    return classes_of(module)[0].startswith("transformer_lens.model_bridge.")


def not_known(path: str, module: Any, reason: str, advice: str = "") -> InvalidCaseError:
    """Return the error about a module: its path, its class, the reason, and what to do next."""
    next_steps = f"{advice}; or {ADVICE}" if advice else ADVICE
    named = f"'{path:.120}' ({class_name(module):.60})" if path else f"{class_name(module):.60}"
    return InvalidCaseError("weights", f"{named} {reason}: {next_steps}")


def _walk(module: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield a module and all modules inside it with their paths, each module after the one that it
    is in; what stands in the place of a module has the path of that.
    """
    yield path, module
    children = dict(module.named_children())
    # What TransformerLens puts beside the module inside, as parts of one array, are copies.
    if "_original_component" in children:
        children = {"_original_component": children["_original_component"]}
    for name, child in children.items():
        inner = path if name in _INSIDE else f"{path}.{name}".removeprefix(".")
        yield from _walk(child, inner)


def _own_arrays(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters and stored buffers of a module itself with their names."""
    yield from module.named_parameters(recurse=False)
    not_stored = getattr(module, "_non_persistent_buffers_set", ())
    for name, value in module.named_buffers(recurse=False):
        if name not in not_stored:
            yield name, value


def _entries(name: str, value: Any) -> Any:
    """Return an array of PyTorch, if its entries are its numbers and are there."""
    if class_name(value) not in _TENSORS:
        raise ConversionError(
            f"'{name:.120}' is of the type {class_name(value):.60}, whose entries are not the"
            " weights: load the model in float32, float16 or bfloat16, on one device"
        )
    if str(value.device) == "meta":
        raise ConversionError(
            f"'{name:.120}' has no entries in memory (device meta): load the model on one device"
        )
    return value
