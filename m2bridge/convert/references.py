"""Where the works are that a text cites: papers at arXiv, and pages of the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from m2bridge.errors import InvalidCaseError

_CITED = re.compile(
    r"arXiv[ :](?P<number>[0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?)|docs/(?P<page>[\w-]+)\.md|(?P<address>https://[\w./-]*\w)",
    re.ASCII,
)
_SAFE = "/:?&=@+,;!*'~#%$"  # what an address may have besides letters, digits and -._


_SITE = re.compile(r"https?://[^\s/?#\\]+[^\s\\]*", re.IGNORECASE | re.ASCII)
_PATH = re.compile(r"(?!//|\\)[^:/]*(/.*)?")


def check_documentation(documentation: str) -> None:
    """Check where the documentation is said to be: others are no links, or such that a browser runs.

    Raises
    ------
    InvalidCaseError
        If it is neither an address with http or https nor a path from that of the page.
    """
    if not (_SITE.fullmatch(documentation) or (_PATH.fullmatch(documentation) and documentation.isprintable())):
        raise InvalidCaseError("docs", f"{documentation!r:.120} is neither an address (https://…) nor a relative path")


def references(text: str, documentation: str = "") -> Iterator[tuple[str, str]]:
    """The parts of a text, each with its address, which is empty where the part cites nothing.

    Parameters
    ----------
    text : str
    documentation : str
        Address of the site, or path of its folder from that of the page; if it is not said, the pages have no address.

    Raises
    ------
    InvalidCaseError
        As :func:`check_documentation`.

    Examples
    --------
    >>> list(references("as in arXiv 2408.17221, Theorem 3.4"))
    [('as in ', ''), ('arXiv 2408.17221', 'https://arxiv.org/abs/2408.17221'), (', Theorem 3.4', '')]
    >>> list(references("docs/trust.md", "../site"))
    [('docs/trust.md', '../site/trust.html')]
    """
    check_documentation(documentation)
    base, end = documentation.rstrip("/"), 0
    for found in _CITED.finditer(text):
        if address := _address(found, base):
            if found.start() > end:
                yield text[end : found.start()], ""
            yield found[0], address
            end = found.end()
    if end < len(text):
        yield text[end:], ""


def _address(found: re.Match[str], base: str) -> str:
    if found["number"]:
        return f"https://arxiv.org/abs/{found['number']}"
    if found["address"]:
        return found["address"]
    return quote(f"{base}/{found['page']}.html", safe=_SAFE) if base else ""
