"""The exceptions of m2bridge.

::

    M2BridgeError
    ├── ResourceError            a template or Macaulay2 script is missing from the installation
    ├── UnsupportedSystemError   m2bridge does not work on this operating system
    ├── InvalidCaseError         an argument is invalid, or the case cannot be stored
    ├── ConversionError          a value has no counterpart on the other side of the bridge
    ├── ValueTypeError           a value of Macaulay2 has no counterpart in Python
    ├── UnknownSymbolError       a symbol of a workspace has no value
    ├── RenderError              a template could not be filled in
    ├── ParseError               an answer does not follow the wire format
    ├── MethodUnavailableError   the method does not apply to this case
    │   └── NotApplicableError   the question does not apply to this case by any method
    ├── TooLargeError            the problem is valid, but exceeds a size limit of m2bridge
    ├── ContradictionError       two exact methods gave different answers
    │   └── WrongAnswerError     an answer of Macaulay2 fails its check
    ├── CertificateError         a file is not a certificate
    │   ├── OtherReleaseError    the certificate has the format of another release
    │   └── TooExpensiveError    the certificate is too large to be checked
    ├── BatchError               a batch cannot continue
    └── EngineError              Macaulay2 did not answer
        ├── EngineNotFoundError
        ├── EngineVersionError
        ├── TimeLimitError
        ├── MemoryLimitError
        ├── EngineDiedError
        ├── PackageError         Macaulay2 has no such package, or cannot load it
        ├── WorkspaceLostError   the process of a workspace has ended, its symbols are lost
        └── ScriptError          Macaulay2 reported an error in the code

Mathematical outcomes (a unit ideal, an empty locus, a refuted statement) are results, never
exceptions. All errors can be pickled, so that they can be sent between processes.
"""

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, get_args


class M2BridgeError(Exception):
    """Base class of all errors raised by m2bridge.

    Attributes
    ----------
    exit_code : int
        The exit code of a command that ends with this error; the command line lists their meanings.

    Examples
    --------
    >>> try:
    ...     CoefficientField.parse("GF(4)")
    ... except M2BridgeError as error:
    ...     print(error)
    Argument 'field': GF(4) is not a prime field: 4 is not a prime number.
    """

    exit_code: ClassVar[int] = 5


class ResourceError(M2BridgeError):
    """A template or Macaulay2 script that belongs to m2bridge is missing."""


class UnsupportedSystemError(M2BridgeError):
    """The operating system lacks what m2bridge needs."""


class InvalidCaseError(M2BridgeError):
    """A case, field or option that is invalid, or a case that cannot be stored.

    Attributes
    ----------
    option : str
        Name of the offending argument, as in Python (``d_out``); the command line turns it into
        ``--d-out``.
    message : str
        What is wrong: either a predicate, whose subject is the argument (``must be at least 1``),
        or a clause of its own (``there is no family 'x'``).

    Examples
    --------
    >>> try:
    ...     SingleLayerAttention(d=0, d_out=1)
    ... except InvalidCaseError as error:
    ...     print(error)
    Argument 'd' must be at least 1, not 0.
    """

    exit_code = 2

    def __init__(self, option: str, message: str) -> None:
        super().__init__(option, message)
        self.option = option
        self.message = message

    def __str__(self) -> str:
        return as_sentence(f"Argument {self.with_name(self.option)}")

    @property
    def is_predicate(self) -> bool:
        """Whether the argument is the subject of the message, as its first word, a verb, tells."""
        return self.message.partition(" ")[0] in _VERBS_OF_PREDICATES

    def with_name(self, name: str) -> str:
        """Return the message after the name of the argument: ``'d' must be at least 1, not 0``."""
        separator = " " if self.is_predicate else ": "
        return f"'{name}'{separator}{self.message}"


_VERBS_OF_PREDICATES = frozenset({"must", "is", "has", "does", "needs", "excludes"})


def as_sentence(text: str) -> str:
    """Return a text with a full stop, unless it already ends as a sentence does."""
    return text if text.endswith((".", "?", "!", "…")) else f"{text}."


def check_choice(option: str, value: object, choices: Any) -> None:
    """Raise InvalidCaseError unless ``value`` is one of ``choices``, a type such as ``Literal["a",
    "b"]``; ``option`` is the name of the argument for the message.
    """
    values = get_args(choices)
    # types first: an array of NumPy compares with a text entry by entry
    if not any(isinstance(value, type(choice)) and value == choice for choice in values):
        raise InvalidCaseError(option, f"must be {alternatives(values)}, not {value!r:.60}")


def alternatives(names: Sequence[str]) -> str:
    """Return names in an English list, such as ``auto, formula or all``."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def check_kind(option: str, value: object, kind: type | tuple[type, ...], requirement: str) -> None:
    """Raise InvalidCaseError unless ``value`` is an instance of ``kind``, a class or several.

    ``option`` is the name of the argument, and ``requirement`` the kind in words, for the message.
    """
    if not isinstance(value, kind):
        raise InvalidCaseError(
            option, f"must be {requirement}, not {class_with_article(type(value))}"
        )


def class_with_article(kind: type) -> str:
    """Return the name of a class with its article, such as ``a str`` and ``an Ideal``."""
    name = kind.__name__
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def check_flag(option: str, value: object) -> None:
    """Raise InvalidCaseError unless ``value`` is true or false: a bool, 0 or 1, or None for false.

    A text such as ``"no"``, which Python would take for true, is refused.
    """
    # booleans of NumPy have no class that is known here, and can be compared
    if not isinstance(value, Hashable) or value not in (True, False, None):
        raise InvalidCaseError(option, f"must be true or false, not {value!r:.60}")


def elements(option: str, values: Any, requirement: str) -> list[Any]:
    """Return the elements of an iterable; InvalidCaseError if it is none, or is a text.

    ``option`` is the name of the argument, and ``requirement`` what it has to be, for the message.
    """
    try:
        # an array of NumPy without axes has the method, and cannot be gone through
        if not isinstance(values, str | bytes):
            return list(values)
    except TypeError:
        pass
    raise InvalidCaseError(option, f"must be {requirement}, not {values!r:.60}")


class ConversionError(M2BridgeError):
    """A value has no counterpart on the other side of the bridge.

    Attributes
    ----------
    place : str
        For a file that is not valid TOML, JSON or text: the format and the position, such as ``not
        TOML (line 3, column 5)``, without any of the content. Empty for other errors.

    Examples
    --------
    >>> try:
    ...     read_map("[map]\\nparameters = 5\\n[coordinates]\\nx = 's'")
    ... except ConversionError as error:
    ...     print(error)
    [map] parameters: must be a list of texts in quotes, such as ["s", "t"]
    """

    def __init__(self, message: str, *, place: str = "") -> None:
        super().__init__(message)
        self.place = place


class UnknownSymbolError(M2BridgeError, KeyError):
    """A symbol of a workspace that has no value.

    Examples
    --------
    >>> with Macaulay2() as m2, m2.workspace() as work:
    ...     try:
    ...         work["K"]
    ...     except UnknownSymbolError as error:
    ...         print(error)
    the symbol 'K' has no value in this workspace
    """

    __str__ = Exception.__str__


class ValueTypeError(M2BridgeError):
    """A value of Macaulay2 whose type has no counterpart in Python.

    Attributes
    ----------
    kind : str
        The class of the value in Macaulay2.

    Examples
    --------
    >>> try:
    ...     raise ValueTypeError("FunctionClosure")
    ... except ValueTypeError as error:
    ...     print(error)
    a value of the class FunctionClosure has no counterpart in Python: ask for parts of it, or give
    references=True
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind

    def __str__(self) -> str:
        advice = "ask for parts of it, or give references=True"
        return f"a value of the class {self.kind} has no counterpart in Python: {advice}"


class RenderError(M2BridgeError):
    """A template could not be rendered."""


class ParseError(M2BridgeError):
    """An answer of Macaulay2 does not follow the wire format."""


class MethodUnavailableError(M2BridgeError):
    """The chosen method does not apply; the message names the hypothesis and another method.

    Examples
    --------
    >>> try:
    ...     hilbert_function(ideal("x^2 - y"))
    ... except MethodUnavailableError as error:
    ...     print(str(error).partition(",")[0])
    the ideal is not homogeneous as given
    """

    exit_code = 2


class NotApplicableError(MethodUnavailableError):
    """The question does not apply by any method; the message names the hypothesis that fails."""


class TooLargeError(M2BridgeError):
    """A valid problem that exceeds a size limit of m2bridge.

    The message gives the size, the limit and an alternative. As when a time limit is reached,
    nothing is known about the answer.

    Examples
    --------
    >>> try:
    ...     closure(SingleLayerAttention(d=60, d_out=60))
    ... except TooLargeError as error:
    ...     print(error)
    this case has 6588000 coordinates; at most 20000 can be stored: take smaller numbers, or ask for
    its dimension
    """

    exit_code = 3


class ContradictionError(M2BridgeError):
    """Two exact methods disagree, so at least one of the programs involved is wrong.

    Examples
    --------
    >>> from m2bridge.results.known import Bounds, intersect_bounds
    >>> try:
    ...     intersect_bounds(
    ...         Bounds.at_least(6, "by tangent vectors"), Bounds.at_most(5, "by equations")
    ...     )
    ... except ContradictionError as error:
    ...     print(error)
    the lower bound 6 exceeds the upper bound 5: by tangent vectors; by equations
    """


class WrongAnswerError(ContradictionError):
    """An answer of Macaulay2 that is false: an identity that follows from it does not hold.

    Macaulay2 tests the identities in the program that has the answer, see ``m2scripts/checks.m2``.

    Examples
    --------
    >>> issubclass(WrongAnswerError, ContradictionError)
    True
    """


class CertificateError(M2BridgeError):
    """A file is not a certificate that this version of m2bridge can read."""


class OtherReleaseError(CertificateError):
    """A certificate in the format of another release of m2bridge, which can read it."""


class TooExpensiveError(CertificateError):
    """A certificate that is refused before its check because it is too large.

    Attributes
    ----------
    place : str
        The part of it that is too large.
    message : str
    """

    def __init__(self, place: str, message: str) -> None:
        super().__init__(place, message)
        self.place = place
        self.message = message

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class BatchError(M2BridgeError):
    """A batch cannot continue: its results cannot be stored, or its workers do not start.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     try:
    ...         Store(folder).check(tasks([SingleLayerAttention(d=2, d_out=1)], "3.3"))
    ...     except BatchError as error:
    ...         print(str(error).partition(" in ")[0])
    1 of 1 results are not
    """


class EngineError(M2BridgeError):
    """Macaulay2 did not answer.

    Attributes
    ----------
    message : str
        What happened, and what to do.
    records : tuple of str
        Complete wire records that arrived before the failure.
    output : str
        What Macaulay2 printed.
    progress : str
        How far the computation had come, in words; empty if unknown.

    Examples
    --------
    >>> with Macaulay2() as m2:
    ...     try:
    ...         m2.value("print 5; 1/0")
    ...     except EngineError as error:
    ...         print(type(error).__name__, error.output.strip())
    ScriptError 5
    """

    records: tuple[str, ...] = ()
    output: str = ""
    progress: str = ""

    def __init__(self, message: str, **attributes: object) -> None:
        """Set the message, and attributes of the class by their names, such as ``records=``."""
        super().__init__(message)
        self.message = message
        self.__dict__.update(attributes)

    def __str__(self) -> str:
        return f"{self.message} ({self.progress})" if self.progress else self.message


class EngineNotFoundError(EngineError):
    """No Macaulay2 was found.

    Examples
    --------
    >>> try:
    ...     Macaulay2("/nowhere/M2").value("2 + 2")
    ... except EngineNotFoundError as error:
    ...     print(str(error).partition(".")[0])
    /nowhere/M2 is not an executable program
    """

    exit_code = 4


class EngineVersionError(EngineError):
    """The program is not Macaulay2, or is older than the oldest supported version.

    Examples
    --------
    >>> try:
    ...     Macaulay2("/bin/sh").value("2 + 2")
    ... except EngineVersionError as error:
    ...     print(str(error).partition(":")[0])
    /bin/sh is not Macaulay2
    """

    exit_code = 4


class TimeLimitError(EngineError):
    """The time limit was reached by Macaulay2, which was killed, or by m2bridge itself.

    Attributes
    ----------
    of_session : bool
        Whether the limit was the one that the session has for each run.

    Examples
    --------
    >>> with Macaulay2() as engine:
    ...     try:
    ...         engine.run(Script("long", "while true do ()"), timeout=0.1)
    ...     except TimeLimitError as error:
    ...         print(error)
    Macaulay2 did not finish within the limit of 0.1 seconds and was stopped; raise timeout=
    """

    exit_code = 3
    of_session: bool = False


class MemoryLimitError(EngineError):
    """The memory limit was reached; Macaulay2 was killed.

    Examples
    --------
    >>> try:
    ...     found = '{"field":"n","value":["ZZ","2"]}'
    ...     raise MemoryLimitError("the memory limit was reached", records=(found,))
    ... except M2BridgeError as error:
    ...     print(error, error.records)
    the memory limit was reached ('{"field":"n","value":["ZZ","2"]}',)
    """

    exit_code = 3


class EngineDiedError(EngineError):
    """Macaulay2 ended, crashed or was killed from outside.

    Examples
    --------
    >>> with Macaulay2() as m2:
    ...     try:
    ...         m2.value("exit 3")
    ...     except EngineDiedError as error:
    ...         print(error)
    Macaulay2 ended with exit status 3
    """


class PackageError(EngineError):
    """A package that Macaulay2 does not have or cannot load; the message says what to do.

    Examples
    --------
    >>> with Macaulay2() as m2:
    ...     try:
    ...         m2.workspace(packages=["Elimnation"])
    ...     except PackageError as error:
    ...         print("did you mean Elimination" in str(error))
    True
    """

    exit_code = 2


class WorkspaceLostError(EngineError):
    """The process of a workspace has ended, and its symbols are gone.

    It is raised at every use until :meth:`~m2bridge.Workspace.restart` is called, so that no code
    continues without the symbols that it defined.

    Examples
    --------
    >>> with Macaulay2() as m2, m2.workspace() as work:
    ...     for code in ("n = 5; exit 1", "n + 1"):
    ...         try:
    ...             work.run(code)
    ...         except (EngineDiedError, WorkspaceLostError) as error:
    ...             print(error)
    ...     work.restart()
    Macaulay2 ended with exit status 1; the symbols of this workspace are gone
    the symbols of this workspace are gone (Macaulay2 ended with exit status 1); restart() starts
    again without them
    """


class ScriptError(EngineError):
    """Macaulay2 reported an error in the code of a script or a user.

    Attributes
    ----------
    error : str
        The message of Macaulay2.
    file : str
        The name of the code with the error: a file, ``input 3`` of a workspace, or a script.
    line, column : int or None
        The position of the error in this code, both counted from 1; ``None`` if Macaulay2 did not
        report it. It is the innermost position in the user's own code, such as a line of a function
        that another line calls.
    excerpt : str
        The lines around the error, with its position marked.
    output : str
        What the code had printed before the error.

    Examples
    --------
    >>> with Macaulay2() as m2:
    ...     try:
    ...         m2.value("n = 3\\n1/(n - 3)")
    ...     except ScriptError as error:
    ...         print(error.error, error.line, error.column)
    division by zero 2 2
    """

    error: str = ""
    file: str = ""
    line: int | None = None
    column: int | None = None
    excerpt: str = ""
