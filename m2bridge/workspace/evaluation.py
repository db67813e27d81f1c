"""The process that evaluates any Macaulay2 code, and what can be known of code before it runs.

Values go in and come out through :mod:`m2bridge.convert`, which is imported when the first one does
so: Macaulay2 starts meanwhile.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from m2bridge.engine.discovery import Candidate
from m2bridge.engine.script import Transcript, fields_of
from m2bridge.engine.session import Conversation
from m2bridge.engine.trace import Source
from m2bridge.errors import InvalidCaseError, ScriptError
from m2bridge.limits import Limits
from m2bridge.results.sheet import quoted
from m2bridge.system import address_space, collection_paused

_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|///.*?///|-\*.*?\*-|--[^\n]*', re.DOTALL)

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9']*")
_BEGINS = r"(?<![\w'.#?])"
"""Nothing comes before that would make it a part of a name, or a key as in A.cache = 3."""
_ASSIGNS = r"\s*:?=(?![=>])"
"""The signs = and :=, but not == and =>."""
_ASSIGNED = re.compile(rf"{_BEGINS}({_NAME.pattern}){_ASSIGNS}")
_ASSIGNED_TOGETHER = re.compile(rf"{_BEGINS}\(([\w', ]*)\){_ASSIGNS}")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_VARIABLE = re.compile(rf"{_NAME.pattern}(?![A-Za-z0-9']|\s*\()")
"""A whole name that no bracket follows, as it would follow that of a function."""

_WORDS = """
and break breakpoint catch continue do elapsedTime elapsedTiming else except finish for
from global if in list local new not of or profile return shield SPACE step symbol TEST
then threadLocal threadVariable throw time timing to trap try when while xor
"""
KEYWORDS = frozenset(_WORDS.split())
"""Words of Macaulay2's language, of all versions together."""


def is_silent(code: str) -> bool:
    """Whether the last statement ends with a semicolon, and so has no value.

    Examples
    --------
    >>> is_silent("x = 5;  -- silent"), is_silent('"a;"')
    (True, False)
    """

    def without_content(match: re.Match[str]) -> str:
        """Return a blank in place of a comment, a word in place of a string."""
        is_comment = match[0].startswith("-")
        return " " if is_comment else "string"

    bare = _STRING_OR_COMMENT.sub(without_content, code)
    return bare.rstrip().endswith(";")


def defined_names(code: str) -> set[str]:
    """The symbols to which code assigns values, and those that seem to be variables of its rings.

    These are the names in square brackets that are not names of functions or of options.

    Examples
    --------
    >>> sorted(defined_names("R = QQ[x, y_1..y_3, MonomialOrder => Lex]; I := ideal x"))
    ['I', 'R', 'x', 'y']
    >>> sorted(defined_names("(a, b) = (1, 2); A.cache = 3; QQ[vars(0..3)]"))
    ['a', 'b']
    """
    bare = _STRING_OR_COMMENT.sub(" ", code)
    names = set(_ASSIGNED.findall(bare))
    for listed in _ASSIGNED_TOGETHER.findall(bare):
        names |= set(_NAME.findall(listed))
    for inside in _BRACKETS.findall(bare):
        for part in inside.split(","):
            # of a range such as y_1..y_3 this is the name y
            variable = _VARIABLE.match(part.strip())
            if variable is not None and "=>" not in part:
                names.add(variable[0])
    return names


def check_name(name: str) -> str:
    """Return the name, if it can be that of a symbol of users.

    Names that begin with mb are those of ``m2scripts``.

    Raises
    ------
    InvalidCaseError
        If it cannot.
    """
    if not isinstance(name, str) or not re.fullmatch(r"(?!mb)[A-Za-z][A-Za-z0-9']*", name):
        rule = "letters and digits such as I or newIdeal2, not beginning with mb"
        raise InvalidCaseError(str(name), f"is not a name in Macaulay2: {rule}")
    if name in KEYWORDS:
        raise InvalidCaseError(name, "is a word of Macaulay2's language: take another name")
    return name


_LIBRARIES = ("wire", "values", "workspace", "session")
"""The shared scripts that its process has loaded."""
_HEAP = "1g"
"""Large values come in without much collecting of garbage; unused address space costs nothing."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of evaluating Macaulay2 code.

    Parameters
    ----------
    value : object
        The value of its last statement; ``None`` if that ends with a semicolon.
    output : str
        What it printed.
    seconds : float
        Wall time.

    Examples
    --------
    >>> with Macaulay2() as m2:
    ...     m2.evaluate('print "so"; 6 * 7').value
    42
    """

    value: Any
    output: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Display(Evaluation):
    """An evaluation whose value is in the wire format, with its text as Macaulay2 writes it."""

    text: str


class Evaluator(Conversation):
    """A process that evaluates code.

    Parameters
    ----------
    locate : callable
        Finds the program, when it is needed.
    limits : Limits
    passing : bool
        Whether symbols are forgotten after each call.
    """

    def __init__(self, locate: Callable[[], Candidate], limits: Limits, passing: bool) -> None:
        super().__init__(locate, limits, (), _LIBRARIES)
        self._passing = passing
        self._count = 0
        self._forgotten: set[str] = set()

    def settings(self) -> Mapping[str, str]:
        """A larger heap to begin with, where address space is not limited."""
        if self.limits.memory is not None or address_space() is not None:
            return {}
        return {"GC_INITIAL_HEAP_SIZE": _HEAP}

    def evaluate(
        self,
        code: str,
        inputs: Mapping[str, Any],
        form: str,
        file: str,
        *,
        timeout: float | None = None,
    ) -> Evaluation:
        """Return the value of the last statement, what was printed, and the time.

        ``inputs`` are Python objects by the names of symbols; the other parameters, and the errors,
        are those of :meth:`answer`.
        """
        try:
            fields, transcript = self.answer(
                code, form, file, bindings_of(inputs), output=True, timeout=timeout
            )
        except ScriptError as error:
            # only where symbols are forgotten can one be missing for this reason
            if self._passing:
                error.message += self._advice(code, inputs)
            raise
        if self._passing:
            self._forgotten |= defined_names(code).union(inputs)
        return Evaluation(
            value=value_of(fields), output=transcript.output, seconds=transcript.seconds
        )

    def _advice(self, code: str, inputs: Mapping[str, Any]) -> str:
        """Return what to do if code uses a symbol that only an earlier call has defined, else ''.

        ``inputs`` has the symbols that are set for this code.
        """
        used = _NAME.findall(_STRING_OR_COMMENT.sub(" ", code))
        own = defined_names(code).union(inputs)
        missing = [name for name in used if name in self._forgotten and name not in own]
        if not missing:
            return ""
        return (
            f"\n'{missing[0]}' was defined in an earlier call, and value() and evaluate() forget"
            " symbols: with m2.workspace() as work: work.value(…) keeps them"
        )

    def show(self, code: str, file: str, given: str = "", *, timeout: float | None) -> Display:
        """Return the value of the last statement as Macaulay2 writes it; empty if it has none.

        The parameters and errors are those of :meth:`answer`.
        """
        fields, transcript = self.answer(code, "text", file, given, output=True, timeout=timeout)
        text = value_of(fields, "text") or ""
        return Display(fields.get("value"), transcript.output, transcript.seconds, text)

    def answer(
        self,
        code: str,
        form: str = "",
        file: str = "",
        given: str = "",
        *,
        output: bool = False,
        timeout: float | None = None,
    ) -> tuple[dict[str, Any], Transcript]:
        """Run code to its end; return the fields that it emits, undecoded, and the transcript.

        Parameters
        ----------
        form : str
            How the value is sent: ``value``, ``reference`` or ``text`` (see
            ``m2scripts/workspace.m2``); not at all if it is empty, or the code ends with a
            semicolon.
        file : str
            The name of the code in error messages.
        given : str
            Code that comes first, and sees the shared functions.
        output : bool
            Whether the value becomes ``oo``, as at the prompt; only where symbols are kept.

        Raises
        ------
        ScriptError, ConversionError
            If Macaulay2 reports an error in the code; in the code given.
        ParseError
            If a record does not follow the wire format.
        """
        if not isinstance(code, str):
            raise InvalidCaseError(
                "code", f"must be Macaulay2 code as text, not a {type(code).__name__}"
            )
        if not file:
            self._count += 1
            file = "the code" if self._passing else f"input {self._count}"
        source = Source(file, code)
        if is_silent(code):
            form = ""
        flags = [self._passing, bool(given), output and not self._passing]
        arguments = [quoted(form), *map(_boolean, flags)]
        transcript = self.request("mbEvaluate", source, arguments, given=given, timeout=timeout)
        return fields_of(transcript.records), transcript


def _boolean(flag: bool) -> str:
    """Return a truth value as Macaulay2 writes it."""
    return "true" if flag else "false"


def bindings_of(inputs: Mapping[str, Any]) -> str:
    """Return Macaulay2 code that binds Python objects to their names; empty without objects.

    Raises
    ------
    ConversionError, InvalidCaseError
        If an object has no counterpart in Macaulay2, or its name cannot be one there.
    """
    if not inputs:
        return ""
    from m2bridge.convert.bindings import bindings

    with collection_paused():  # large polynomials become many objects
        return bindings({check_name(name): value for name, value in inputs.items()})


def form(references: bool) -> str:
    """Return the name of the form in which a value is sent, perhaps with references.

    With them, what has no counterpart in Python is sent as a reference to it.
    """
    return "reference" if references else "value"


def value_of(fields: Mapping[str, Any], name: str = "value") -> Any:
    """Return a field of an answer as a Python object; ``None`` if there is no field of this name.

    ``fields`` are those that :meth:`Evaluator.answer` returns; ``value`` has that of the code.

    Raises
    ------
    ValueTypeError
        If it has no counterpart in Python.
    """
    # Slow to import, and Macaulay2 can start before.
    from m2bridge.convert.decode import decode_value
    from m2bridge.ideals.ideal import Ideal

    with collection_paused():
        return decode_value(fields.get(name), Ideal)
