"""Pages of the reference: in signatures a long default, such as a tuple of all statements, is
``...``; between a parameter and what it is stands a dash.
"""

from __future__ import annotations

import inspect

from docutils import nodes
from sphinx.application import Sphinx

LONGEST = 40
"""Characters of a default that is shown."""
HYPHENS = " -- "
"""What Sphinx writes between a parameter and its description."""


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


def dashes(app: Sphinx, document: nodes.document) -> None:
    """Write a dash where Sphinx writes two hyphens."""
    for text in list(document.findall(nodes.Text)):
        if text == HYPHENS:
            text.parent.replace(text, nodes.Text(" – "))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("autodoc-before-process-signature", shorten)
    app.connect("doctree-read", dashes, priority=400)  # before texts are joined
    return {"parallel_read_safe": True, "parallel_write_safe": True}
