"""Signatures of dataclasses: a default that a function makes is written as Python reads it.

``<factory>``, as :mod:`dataclasses` writes it, is no Python, so that Sphinx would show a signature
with it as plain text, with the full names of all types.
"""

from typing import Any

from sphinx.application import Sphinx


def readable(
    _app: Sphinx,
    _what: str,
    _name: str,
    _object: Any,
    _options: Any,
    signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None]:
    """Return a signature with an ellipsis for each default that is made."""
    if signature is not None:
        signature = signature.replace("<factory>", "...")
    return signature, returns


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect it with autodoc."""
    app.connect("autodoc-process-signature", readable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
