"""A template filled in: the Macaulay2 program of one computation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from m2bridge._version import __version__
from m2bridge.errors import RenderError
from m2bridge.layout import printable
from m2bridge.resources import m2script, templates

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, slots=True)
class Script:
    """A Macaulay2 program that answers in the wire format.

    Parameters
    ----------
    name : str
        Name of the computation.
    body : str
        The program, without the shared scripts that it uses.
    libraries : tuple of str
        The shared scripts (``m2scripts/<name>.m2``) that it uses, in the order of loading.

    Examples
    --------
    >>> script = Script("sum", 'mbEmit("sum", 1 + 1)')
    >>> script.standalone().splitlines()[-2:]
    ['mbEmit("sum", 1 + 1)', 'mbFinish()']
    """

    name: str
    body: str
    libraries: tuple[str, ...] = ("wire",)

    @property
    def digest(self) -> str:
        """SHA-256 of the body."""
        return hashlib.sha256(self.body.encode()).hexdigest()

    def standalone(self) -> str:
        """The complete program, which plain ``M2 --script`` runs; answers go to standard output."""
        shared = (m2script(library).read_text(encoding="utf-8") for library in self.libraries)
        title = f"-- m2bridge {__version__}: {self.name}. Run it with: M2 --script FILE\n"
        return "\n".join([title, *shared, self.body.rstrip(), "mbFinish()", ""])


def render(name: str, libraries: tuple[str, ...] = ("wire",), values: Mapping[str, object] | None = None) -> Script:
    """Fill in ``templates/<name>.m2.j2``.

    Every value is Macaulay2 code, except ``title``: words of any origin, which stand in a comment and cannot leave it,
    because all line breaks and control characters become spaces.

    Raises
    ------
    RenderError
        If the template does not exist, or uses a value that is not given.
    """
    from jinja2 import TemplateError  # slow to import, and Macaulay2 can start before

    given = dict(values or {})
    if "title" in given:
        given["title"] = printable(str(given["title"]))
    try:
        body = _environment().get_template(f"{name}.m2.j2").render(given)
    except TemplateError as reason:
        raise RenderError(f"the template '{name}' cannot be rendered: {reason}") from reason
    return Script(name, body, libraries)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(templates()),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
