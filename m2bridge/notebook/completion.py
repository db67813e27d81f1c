"""Completion of Macaulay2's names in cells that begin with ``%%m2``, and after ``%m2``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from m2bridge.errors import M2BridgeError

IDENTIFIER = "m2bridge"
_CELL, _LINE, _NAME = re.compile(r"\s*%%m2\b"), re.compile(r"\s*%m2\s"), re.compile(r"[A-Za-z][A-Za-z0-9']*$")


def completes(names: Callable[[], Iterable[str]]) -> Callable[[CompletionContext], SimpleMatcherResult]:
    """A matcher for IPython.

    Parameters
    ----------
    names : callable
        All names that Macaulay2 knows at the moment.
    """

    @context_matcher(identifier=IDENTIFIER)
    def matcher(context: CompletionContext) -> SimpleMatcherResult:
        begun = _NAME.search(context.text_until_cursor)
        if begun is None or not _is_macaulay2(context):
            return SimpleMatcherResult(completions=[])
        try:
            found = sorted({name for name in names() if name.startswith(begun[0])}, key=lambda name: (len(name), name))
        except M2BridgeError:  # no Macaulay2, or it is lost: the next cell says so
            found = []
        completions = [SimpleCompletion(name, type="Macaulay2") for name in found]
        return SimpleMatcherResult(completions=completions, matched_fragment=begun[0], suppress=bool(found))

    return matcher


def _is_macaulay2(context: CompletionContext) -> bool:
    if _CELL.match(context.full_text):
        return context.cursor_line > 0
    return _LINE.match(context.line_with_cursor) is not None
