"""What the name of an array says: its kind, and the module and the block in which it stands.

``NAMES`` are the tables of ``names.toml``, with regular expressions for names. The *kind* of an
array, such as ``norms`` or ``MLPs``, is what a model has in addition to the matrices of attention
to the same tokens.

Names are paths: in ``layers.0.attn.q_proj.weight`` the *module* of attention is
``layers.0.attn.``, and ``layers.0.`` is the *block* around it, in which MLPs and norms stand beside
the module. Paths of modules end with a dot or a slash; the empty path is the whole file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from os.path import commonprefix
from pathlib import Path

from m2bridge.trained_weights.checkpoints.arrays import Tensor, file_names

NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
"""The usual names of arrays in files."""


def full_name(name: str) -> str:
    """Return a name of the tables, in which ``q_proj`` is short for ``*q_proj.weight``."""
    return name if "*" in name else f"*{name}.weight"


def kinds_of(name: str) -> list[str]:
    """Return the kinds that the name of an array shows, in the order of the table."""
    return [kind for kind, part in NAMES["others"].items() if re.search(part, name, re.IGNORECASE)]


def kinds_beside(name: str) -> list[str]:
    """Return the kinds of arrays that belong to a layer and change nothing of what is said of it,
    such as masks, that the name of an array shows.
    """
    return [kind for kind, part in NAMES["beside"].items() if re.search(part, name)]


def without_last_word(module: str, separators: str = "./") -> str:
    """Return the path of the module around a module: ``layers.0.`` for ``layers.0.attn.``, and the
    empty text for ``attn.``; what is not a path is returned as it is.
    """
    # A regular expression would take a time that grows with the square of the length.
    path = module[:-1]
    if module[-1:] not in tuple(separators) or path[-1:] in ("", *separators):
        return module
    end_of_outer = max(path.rfind(separator) for separator in separators) + 1
    return module[:end_of_outer]


def common_module(parts: Mapping[str, Tensor]) -> str:
    """Return the beginning that the names of all matrices of a layer have in common, up to the last
    dot or slash in it, as ``layers.0.attn.``; empty if there is none.
    """
    common = commonprefix(sorted(file_names(parts.values())))  # noqa: RUF071
    return common[: max(common.rfind("."), common.rfind("/")) + 1]


def modules_of(parts: Mapping[str, Tensor]) -> tuple[str, ...]:
    """Return the beginnings of names such that all arrays whose names begin so belong to a layer:
    its module, as ``layers.0.attn.``, if that is one of attention by its name, and the modules of
    its matrices, as ``layers.0.attn.q_proj.``.
    """
    modules: set[str] = set()
    for name in file_names(parts.values()):
        if matrix := re.fullmatch(r"(.*[./])(weight|kernel)(:0)?", name):
            modules.add(matrix[1])
        # nn.MultiheadAttention has ``bias_k`` and ``bias_v`` beside its matrices, or one bias for
        # three of them; it may stand alone, without a module around it.
        if name.endswith("in_proj_weight"):
            modules.add(name.removesuffix("in_proj_weight") + "bias_")
        if name.endswith("q_proj_weight"):
            modules.add(name.removesuffix("q_proj_weight") + "in_proj_bias")
    module = common_module(parts)
    # Without O among the matrices, it may stand in the module around Q, K and V (BERT).
    outer = [] if "O" in parts else [without_last_word(module)]
    return (*modules, *(path for path in (module, *outer) if re.search(NAMES["attention"], path)))


def blocks_around(modules: Iterable[str]) -> tuple[str, ...]:
    """Return the beginnings of the names of all that stands beside modules in their blocks:
    ``layers.0.`` for ``layers.0.attn.``. Where one module of attention is around another one, both
    are in the block; without a block around a module, what is beside it is not seen.
    """
    blocks = set()
    for module in modules:
        block = without_last_word(module) if module[-1] in "./" else ""
        # The pattern fits the last word of a path, which is taken away each time.
        while re.search(NAMES["attention"], block):
            block = without_last_word(block)
        blocks.add(block)
    return tuple(blocks - {""})
