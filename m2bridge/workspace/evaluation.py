"""The process that evaluates any Macaulay2 code, and what can be known of code before it runs.

Values go in and come out through :mod:`m2bridge.convert`, which is imported when the first one does
so: Macaulay2 starts meanwhile. Inputs are Python objects, bound before to symbols of their names.
An answer has fields, values by name in the wire format, which is JSON: ``["ZZ","2"]``; ``value`` is
the value of the last statement, and is ``None`` if that ends with a semicolon. A value without a
counterpart in Python can be sent as a reference, an object that stands for it.

``file`` is the name of the code in error messages, made here if it is empty; ``given`` is code of
m2bridge that runs first, and sees the shared functions, such as ``mbEmit``. The form in which the
value is sent is ``value``, ``reference`` (with references for what has no counterpart), ``text``
(with its text) or, for no value, empty. An error that Macaulay2 reports in ``code`` is a
ScriptError, an input without a counterpart a ConversionError, a value without one a ValueTypeError.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from m2bridge.engine.discovery import Candidate
from m2bridge.engine.script import Transcript, fields_of
from m2bridge.engine.session import Conversation
from m2bridge.engine.trace import Source
from m2bridge.errors import (
    InvalidCaseError,
    ScriptError,
    check_flag,
    check_kind,
    class_with_article,
)
from m2bridge.limits import Limits
from m2bridge.results.sheet import in_brackets, quoted
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
"""A whole name that no bracket follows, as one follows the name of a function."""

_WORDS = """
and break breakpoint catch continue do elapsedTime elapsedTiming else except finish for
from global if in list local new not of or profile return shield SPACE step symbol TEST
then threadLocal threadVariable throw time timing to trap try when while xor
"""
KEYWORDS = frozenset(_WORDS.split())
"""Words of Macaulay2's language, of all versions together."""


def is_silent(code: str) -> bool:
    """Whether the last statement ends with a semicolon, and so has no value.

    >>> is_silent("x = 5;  -- silent"), is_silent('"a;"')
    (True, False)
    """

    def without_content(match: re.Match[str]) -> str:
        """Return a blank for a comment, which begins with a minus sign, and a word for a string."""
        is_comment = match[0].startswith("-")
        return " " if is_comment else "string"

    bare = _STRING_OR_COMMENT.sub(without_content, code)
    return bare.rstrip().endswith(";")


def defined_names(code: str) -> set[str]:
    """The symbols to which code assigns values, and those that seem to be ring variables: names in
    square brackets, but not of functions or of options.

    >>> sorted(defined_names("R = QQ[x, y_1..y_3, MonomialOrder => Lex]; I := ideal x"))
    ['I', 'R', 'x', 'y']
    >>> sorted(defined_names("(a, b) = (1, 2); A.cache = 3; QQ[vars(0..3)]"))
    ['a', 'b']
    """
    bare = _STRING_OR_COMMENT.sub(" ", code)
    names = set(_ASSIGNED.findall(bare))
    for listed in _ASSIGNED_TOGETHER.findall(bare):  # as in (a, b) = (1, 2)
        names |= set(_NAME.findall(listed))
    for content in _BRACKETS.findall(bare):
        for part in content.split(","):
            # of a range such as y_1..y_3 this is the name y
            variable = _VARIABLE.match(part.strip())
            is_option = "=>" in part  # as in MonomialOrder => Lex
            if variable is not None and not is_option:
                names.add(variable[0])
    return names


MAX_SYMBOL_CHARS = 1000
"""The longest name of a symbol; Macaulay2 takes seconds for names of megabytes."""


def check_name(name: str) -> str:
    """Return the name, or raise InvalidCaseError if no symbol of users may have it: names that
    begin with mb are left to the shared scripts of m2bridge.
    """
    if isinstance(name, str) and len(name) > MAX_SYMBOL_CHARS:
        raise InvalidCaseError(
            f"{name:.20}…", f"has {len(name)} characters: names have at most {MAX_SYMBOL_CHARS}"
        )
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

    def __repr__(self) -> str:
        return in_brackets(self, "value", "output", "seconds")


@dataclass(frozen=True, slots=True)
class Display(Evaluation):
    """An evaluation whose value is in the wire format, with the text that Macaulay2 writes for it,
    which is empty if there is no value.
    """

    text: str


class EmittedFields(NamedTuple):
    """The fields that a run of code emitted, and its transcript."""

    fields: dict[str, Any]  # in the wire format
    transcript: Transcript


class Evaluator(Conversation):
    """A process of Macaulay2 that evaluates code, and may forget its symbols after each call."""

    def __init__(
        self, locate: Callable[[], Candidate], limits: Limits, forgets_symbols: bool
    ) -> None:
        super().__init__(locate, limits, options=(), scripts=_LIBRARIES)
        self._forgets_symbols = forgets_symbols
        self._count = 0  # of calls without a name of the code
        self._forgotten: set[str] = set()  # names that earlier calls have defined

    def settings(self) -> Mapping[str, str]:
        """Return the environment variables of the process: a larger heap to begin with, where
        memory is not limited.
        """
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
        """Return the value of the last statement, what was printed, and the time; ``timeout``, in
        seconds, is a limit in addition to the limits of the process and the computation.
        """
        bindings = bindings_of(inputs)  # code that runs first
        try:
            # output: the value becomes ``oo``, as at the prompt
            fields, transcript = self.answer(
                code, form, file, bindings, output=True, timeout=timeout
            )
        except ScriptError as error:
            # the code may use a symbol that was forgotten after an earlier call
            if self._forgets_symbols:
                error.message += self._advice(code, inputs)
            raise
        if self._forgets_symbols:
            self._forgotten |= defined_names(code).union(inputs)
        return Evaluation(
            value=value_of(fields), output=transcript.output, seconds=transcript.seconds
        )

    def _advice(self, code: str, inputs: Mapping[str, Any]) -> str:
        """Return advice, on a line of its own, for code with a symbol that only an earlier call has
        defined; it is empty if there is none.
        """
        names = _NAME.findall(_STRING_OR_COMMENT.sub(" ", code))
        own = defined_names(code).union(inputs)
        forgotten = [name for name in names if name in self._forgotten and name not in own]
        if not forgotten:
            return ""
        return (
            f"\n'{forgotten[0]}' was defined in an earlier call, and value() and evaluate() forget"
            " symbols: with m2.workspace() as work: work.value(…) keeps them"
        )

    def show(self, code: str, file: str, bindings: str = "", *, timeout: float | None) -> Display:
        """Return the value of the last statement, also as the text that Macaulay2 writes for it."""
        fields, transcript = self.answer(code, "text", file, bindings, output=True, timeout=timeout)
        text = value_of(fields, "text") or ""
        return Display(
            value=fields.get("value"),
            output=transcript.output,
            seconds=transcript.seconds,
            text=text,
        )

    def answer(
        self,
        code: str,
        form: str = "",
        file: str = "",
        bindings: str = "",
        *,
        output: bool = False,
        timeout: float | None = None,
    ) -> EmittedFields:
        """Run code to its end; return the fields that it emits, undecoded, and the transcript. With
        ``output`` the value becomes ``oo``, as at the prompt, where symbols are kept. Raises
        ConversionError for an error in ``bindings``, ParseError for a record that does not follow
        the wire format.
        """
        if not isinstance(code, str):
            raise InvalidCaseError(
                "code", f"must be Macaulay2 code as text, not {class_with_article(type(code))}"
            )
        check_kind("file", file, str, "the name of a file, as text")
        if not file:
            self._count += 1
            file = "the code" if self._forgets_symbols else f"input {self._count}"
        source = Source(file, code)
        if is_silent(code):
            form = ""
        # whether symbols are forgotten, whether there is a file with ``bindings``, and ``output``
        flags = [self._forgets_symbols, bool(bindings), output and not self._forgets_symbols]
        arguments = [quoted(form), *(str(flag).lower() for flag in flags)]
        transcript = self.request(
            "mbEvaluate", source, arguments, bindings=bindings, timeout=timeout
        )
        return EmittedFields(fields_of(transcript.records), transcript)


def bindings_of(inputs: Mapping[str, Any]) -> str:
    """Return Macaulay2 code that binds objects to symbols of their names; it is empty without
    objects.
    """
    if not inputs:
        return ""
    from m2bridge.convert.bindings import bindings

    with collection_paused():  # large polynomials become many objects
        return bindings({check_name(name): value for name, value in inputs.items()})


def value_form(references: bool) -> str:
    """Return the form in which a value is sent: with references, or without."""
    check_flag("references", references)
    return "reference" if references else "value"


def value_of(fields: Mapping[str, Any], name: str = "value") -> Any:
    """Return a field of an answer as a Python object; ``None`` if there is no field ``name``."""
    # Slow to import, and Macaulay2 can start before.
    from m2bridge.convert.decode_values import decode_value
    from m2bridge.ideals.ideal import Ideal

    with collection_paused():
        return decode_value(fields.get(name), make_ideal=Ideal)
