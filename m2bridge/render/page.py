"""A template of a page filled in; every value is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError
from markupsafe import Markup, escape

from m2bridge._version import __version__
from m2bridge.convert.references import references
from m2bridge.errors import RenderError
from m2bridge.layout import visible
from m2bridge.resources import templates


def page(name: str, values: Mapping[str, object]) -> str:
    """Fill in ``templates/<name>.html.j2``; ``version`` is known to it. Control characters become their numbers.

    Raises
    ------
    RenderError
        If the template does not exist, or uses a value that is not given.
    """
    try:
        return _environment().get_template(f"{name}.html.j2").render({"version": __version__, **values})
    except TemplateError as reason:
        raise RenderError(f"the page '{name}' cannot be rendered: {reason}") from reason


def cited(text: str, documentation: str = "") -> Markup:
    """Text in which arXiv numbers are links, and pages of the documentation, if it is said where that is.

    Parameters
    ----------
    text : str
    documentation : str
        Address of the site, or path of its folder from that of the page.
    """
    return Markup("").join(
        Markup('<a href="{}">{}</a>').format(address, said) if address else escape(said)
        for said, address in references(visible(text), documentation)
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(templates()),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,  # not what a macro wrote
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cited"] = cited
    return environment
