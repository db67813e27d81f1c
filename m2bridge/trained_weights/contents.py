"""The arrays in a file whose names are not usual ones, so that they have to be named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from m2bridge.results.base import Result
from m2bridge.results.sheet import Sheet, Table, quoted, visible
from m2bridge.trained_weights.checkpoints.files import Tensor, tensors
from m2bridge.trained_weights.checkpoints.find_layers import is_understood


@dataclass(frozen=True, slots=True)
class Contents(Result):
    """The arrays in a file: what can be named in ``--query``, ``--key`` and ``--value``."""

    source: str
    tensors: tuple[Tensor, ...]

    def to_sheet(self) -> Sheet:
        """Return a table with a line for each array."""
        rows = [(visible(item.name), item.size_text, item.kind) for item in self.tensors]
        return Sheet(f"Arrays in {visible(self.source)}", [Table(("name", "shape", "type"), rows)])

    def to_json(self) -> dict[str, Any]:
        """Return names, shapes and types for ``json.dumps``."""
        arrays = [{"name": t.name, "shape": list(t.shape), "type": t.kind} for t in self.tensors]
        return {"source": self.source, "arrays": arrays}

    def to_macaulay2(self) -> str:
        """Return the names as a list of Macaulay2."""
        names = (item.name.encode("utf-8", "surrogatepass") for item in self.tensors)
        return f"names = {{{', '.join(map(quoted, names))}}}"


def contents(source: Any) -> Contents | None:
    """Return the arrays in a file without usual names; ``None`` where layers are recognized."""
    available = tensors(source)
    return None if is_understood(available) else Contents(str(source), tuple(available.values()))
