"""What ``config.json``, or ``params.json``, beside a file of weights says.

The content of either is a mapping from keys to values; of a model of images and texts, the model of
texts has a part of its own, ``text_config``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from m2bridge.convert.bounded_io import read_json, read_text
from m2bridge.errors import ConversionError
from m2bridge.trained_weights.checkpoints.architecture import read_architecture
from m2bridge.trained_weights.checkpoints.stored import MOST_CONFIGURATION
from m2bridge.trained_weights.checkpoints.tensors import NAMES


def configuration(path: str | Path) -> dict[str, Any]:
    """Return the content of ``config.json``, or, if there is none, of ``params.json``, in a folder,
    or in the folder of a file; empty if there is neither, or the content is not a JSON object.

    Raises
    ------
    ConversionError
        If the file cannot be read: it is not passed over, as it may say what the model is.
    """
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    for name in ("config.json", "params.json"):
        file = folder / name
        # A pipe or a device, which nobody named, is not waited for.
        if not file.is_file():
            continue
        try:
            content = read_json(read_text(file, MOST_CONFIGURATION))
        except ConversionError as reason:
            raise ConversionError(
                f"'{file}' next to the weights, which may say what model they are of, cannot be"
                f" read: {reason}"
            ) from None
        return content if isinstance(content, dict) else {}
    return {}


def has_rotary_positions(source: object, available: Iterable[str]) -> bool:
    """Return whether the names of arrays, ``available``, or ``config.json`` beside a file show that
    the model has rotary positions. ``source`` is a path, or anything else, as a mapping, for a
    source without a configuration.
    """
    usual = NAMES["rotary"]
    if any(re.search(usual["names"], name) for name in available):
        return True
    if not isinstance(source, str | Path):
        return False
    content = configuration(source)
    architecture = read_architecture(content)
    # A file params.json, without ``model_type``, has no key for it: its models have rotations.
    if "model_type" not in content and architecture is not None and architecture.rotary:
        return True
    # Keys of the configuration, and of its part about texts, that begin as ``rope_theta`` does.
    text = content.get("text_config")
    keys = [*content, *(text if isinstance(text, dict) else ())]
    return any(key.startswith(tuple(usual["keys"])) for key in keys)
