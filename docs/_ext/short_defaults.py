"""Signatures with short defaults: a long one, such as a tuple of all statements, is ``...``."""

from __future__ import annotations

import inspect

from sphinx.application import Sphinx

LONGEST = 40
"""Characters of a default that is shown."""


class Omitted:
    """A default that is not shown."""

    def __repr__(self) -> str:
        return "..."


def shorten(app: Sphinx, function: object, bound: bool) -> None:
    """Leave long defaults out of the signature of a function."""
    if not inspect.isfunction(function):
        return
    signature = inspect.signature(function)
    parameters = []
    for parameter in signature.parameters.values():
        if len(repr(parameter.default)) > LONGEST and parameter.default is not parameter.empty:
            parameters.append(parameter.replace(default=Omitted()))
        else:
            parameters.append(parameter)
    if parameters != list(signature.parameters.values()):
        function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("autodoc-before-process-signature", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
