"""Macaulay2 scripts: their form, the protocol of engines that run them, and their templates.

HTML pages and documents are rendered here as well; no other module imports Jinja. Every value in a
script is already Macaulay2 code, by :mod:`m2bridge.convert.m2_syntax`, except ``title``.

A script answers by wire records, lines of JSON in the answer file: each has a field, which is a
name, and its value, as in ``{"field":"sum","value":["ZZ","2"]}``. The closing record, which shows
that the code has run to its end, is ``{"end":…,"records":1}`` with the name of the request.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from m2bridge._version import __version__
from m2bridge.errors import ParseError, RenderError
from m2bridge.results.sheet import in_brackets, printable, visible
from m2bridge.system import folder, m2script

if TYPE_CHECKING:  # Jinja is slow to import, and Macaulay2 can start before
    from jinja2 import Environment
    from markupsafe import Markup


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
    given : tuple of pairs of str and int
        Integers that a run sets before the program, by name. The program also works without them,
        and its text and digest do not depend on them.

    Examples
    --------
    >>> script = Script("sum", 'mbEmit("sum", 1 + 1)')
    >>> script.standalone().splitlines()[-2:]
    ['mbEmit("sum", 1 + 1)', 'mbFinish()']
    """

    name: str
    body: str
    libraries: tuple[str, ...] = ("wire",)
    given: tuple[tuple[str, int], ...] = ()

    def __repr__(self) -> str:
        return in_brackets(self, "name", "libraries", "given")

    @property
    def digest(self) -> str:
        """SHA-256 of the body."""
        import hashlib  # slow to import

        return hashlib.sha256(self.body.encode()).hexdigest()

    @property
    def code(self) -> str:
        """The body, with assignments of the given integers at the beginning of its first line."""
        return "".join(f"{name} = {value}; " for name, value in self.given) + self.body

    def standalone(self) -> str:
        """The complete program, which plain ``M2 --script`` runs; answers go to standard output."""
        shared = (m2script(library).read_text(encoding="utf-8") for library in self.libraries)
        title = f"-- m2bridge {__version__}: {self.name}. Run it with: M2 --script FILE\n"
        return "\n".join([title, *shared, self.body.rstrip(), "mbFinish()", ""])


@dataclass(frozen=True, slots=True)
class Transcript:
    """The result of one run.

    Parameters
    ----------
    records : tuple of str
        The wire records, without the closing one.
    output : str
        Other output of the script.
    seconds : float
        Wall time.
    version : str
        Version of Macaulay2.

    Examples
    --------
    >>> script = Script("sum", 'mbEmit("sum", 1 + 1)')
    >>> with Macaulay2() as engine:
    ...     transcript = engine.run(script)
    >>> transcript.records
    ('{"field":"sum","value":["ZZ","2"]}',)
    """

    records: tuple[str, ...]
    output: str
    seconds: float
    version: str

    def __repr__(self) -> str:
        return in_brackets(self, "version", "seconds", "records")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The reply of Macaulay2 to a request, which has run to its end or not."""

    nonce: str  # the name of the request, at random
    records: tuple[str, ...]  # all complete ones, with the closing record if there is one
    output: str
    seconds: float

    @property
    def answers(self) -> tuple[str, ...] | None:
        """The records without the closing one; ``None`` if the code has not run to its end."""
        if not self.records:
            return None
        *answers, last = self.records
        closing = {"end": self.nonce, "records": len(answers)}
        is_closed = last == json.dumps(closing, separators=(",", ":"))
        return tuple(answers) if is_closed else None


def fields_of(records: Iterable[str]) -> dict[str, Any]:
    """Return the fields of wire records by name, with values as JSON has them; ParseError if a
    record does not follow the wire format, or a field occurs twice.
    """
    fields: dict[str, Any] = {}
    for record in records:
        try:
            line = json.loads(record)
            if line["field"] in fields:
                raise ParseError(f"the field '{line['field']}' was emitted twice")
            fields[line["field"]] = line["value"]
        except (ValueError, KeyError, TypeError) as reason:
            raise ParseError(f"not a record of the wire format: {record[:120]}") from reason
    return fields


def answers_so_far(answers: Path | None) -> tuple[str, ...]:
    """Return the complete records of an answer file, for the error of a request that failed,
    without the closing record, which may have come just before the limit.
    """
    records = complete_records(answers)
    return tuple(record for record in records if not record.startswith('{"end":'))


def complete_records(answers: Path | None) -> tuple[str, ...]:
    """Return the lines of an answer file that are complete; none if there is no such file."""
    if answers is None or not answers.exists():
        return ()
    text = answers.read_bytes().decode("utf-8", errors="surrogateescape")
    *complete, _ = text.split("\n")  # what follows the last line end is incomplete, or empty
    return tuple(complete)


class Engine(Protocol):
    """An object that runs scripts one after the other, isolated from each other.

    Examples
    --------
    >>> def invariants(case: PolynomialMap, engine: Engine) -> tuple[int, int]:
    ...     locus = singular_locus(case, engine=engine)
    ...     return closure(case, engine=engine).degree, locus.dimension
    >>> from sympy import symbols
    >>> t = symbols("t")
    >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
    >>> with Macaulay2() as engine:
    ...     print(invariants(cusp, engine))
    (3, 0)
    """

    @property
    def version(self) -> str:
        """The version of Macaulay2, such as ``1.26.06``."""

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        """Run one script to its end; return its wire records, its output and the time.

        ``timeout`` is in seconds, ``None`` for no limit of its own; the limit of
        :func:`m2bridge.limits.clock` holds in any case.

        Raises
        ------
        EngineError
            If it did not finish; the exception contains the records that were complete.
        """


def render(
    name: str, libraries: tuple[str, ...] = ("wire",), values: Mapping[str, object] | None = None
) -> Script:
    """Return the script that ``templates/<name>.m2.j2`` becomes with these values and shared
    scripts.

    ``title`` is text of any origin, which stays within a comment because all line breaks and
    control characters become spaces.
    """
    variables = dict(values or {})
    if "title" in variables:
        variables["title"] = printable(str(variables["title"]))
    body = _filled(_script_environment(), f"{name}.m2.j2", variables)
    return Script(name=name, body=body, libraries=libraries)


def _filled(environment: Environment, template: str, values: Mapping[str, object]) -> str:
    """Return the text of a template; RenderError if it does not exist, or uses a value that is not
    given.
    """
    from jinja2 import TemplateError

    try:
        return environment.get_template(template).render(values)
    except TemplateError as reason:
        raise RenderError(f"the template '{template}' cannot be rendered: {reason}") from reason


def _environment(**options: Any) -> Environment:
    """Return Jinja's environment for templates: a value that is not given is an error, and lines
    with commands alone leave no trace.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **options,
    )


@cache
def _script_environment() -> Environment:
    """The settings for Macaulay2 scripts, where nothing is escaped: values are code already."""
    return _environment(autoescape=False, keep_trailing_newline=True)


def page(name: str, values: Mapping[str, object]) -> str:
    """Return the HTML page that ``templates/<name>.html.j2`` becomes with these values and
    ``version``; they are escaped, and their control characters are replaced by their numbers.
    """
    return _filled(_page_environment(), f"{name}.html.j2", {"version": __version__, **values})


def document(name: str, values: Mapping[str, object]) -> str:
    """Return the text that ``templates/<name>.j2``, Markdown or LaTeX, becomes with these values.

    Such a template has commands in ``<% %>`` and values in ``<< >>``. A value is escaped only by a
    filter that the template names, as ``<< title | latex >>``.
    """
    return _filled(_document_environment(), f"{name}.j2", values)


def cited(text: str, documentation: str = "") -> Markup:
    """Return HTML in which arXiv numbers are links, and pages of the documentation if its address,
    or its path relative to the page, is given.
    """
    from markupsafe import Markup, escape

    from m2bridge.results.markup import references

    parts = []
    # the text in pieces, each with the address to which it becomes a link, or an empty one
    for part, address in references(visible(text), documentation):
        link = Markup('<a href="{}">{}</a>')
        parts.append(link.format(address, part) if address else escape(part))
    return Markup("").join(parts)


@cache
def _page_environment() -> Environment:
    """The settings for HTML: text is escaped, and its control characters are made visible."""

    def finalize(value: Any) -> Any:
        """Return the value that Jinja writes in place of ``value``, before it is escaped."""
        # macros return text of type Markup, a subclass of str, which stays as it is
        return visible(value) if type(value) is str else value

    environment = _environment(autoescape=True, finalize=finalize)
    environment.filters["cited"] = cited
    return environment


@cache
def _document_environment() -> Environment:
    """The settings for Markdown and LaTeX, which use braces and percent signs themselves.

    Each value is escaped by a filter that the template names: a function of
    :mod:`m2bridge.results.markup`, by its name.
    """
    from m2bridge.results import markup

    environment = _script_environment().overlay(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    filters = (
        markup.latex,
        markup.latex_links,
        markup.line,
        markup.markdown,
        markup.markdown_links,
    )
    # an overlay shares the dictionary of filters with its original, so it gets one of its own
    environment.filters = environment.filters.copy()
    environment.filters.update({escape.__name__: escape for escape in filters})
    return environment
