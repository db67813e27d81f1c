"""Macaulay2 for people: any code with its value as a Python object, and workspaces that stay.

The public class :class:`Macaulay2` is a session of isolated scripts, a process for single values,
and the maker of workspaces; each has a Macaulay2 of its own, so none sees symbols of another.
"""

import difflib
import os
import re
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Self

from m2bridge import errors
from m2bridge.engine import Candidate, Session
from m2bridge.limits import Limits
from m2bridge.results.sheet import quoted
from m2bridge.workspace.evaluation import (
    Display,
    EmittedFields,
    Evaluation,
    Evaluator,
    check_name,
    value_form,
    value_of,
)


class _WorkspaceProcess(Evaluator):
    """The process of a workspace; if it ends, no other one is started in its place until the user
    asks for a restart, since the symbols would be missing.
    """

    max_sources = 1000
    was_started = False
    """Whether a process was started, with which the symbols would be lost."""

    def check_open(self) -> None:
        """Raise WorkspaceLostError instead of starting a second process; called before a start."""
        super().check_open()
        if self.was_started:
            raise errors.WorkspaceLostError(
                f"the symbols of this workspace are gone ({self.why_ended}); restart() starts"
                " again without them"
            )
        self.was_started = True

    def answer(self, code: str, form: str = "", *more: str, **options: Any) -> EmittedFields:
        """Do what :meth:`Evaluator.answer` does; the message of an error that has ended the
        process, and so has cost the symbols, says so.
        """
        try:
            return super().answer(code, form, *more, **options)
        except errors.WorkspaceLostError:
            raise
        except errors.EngineError as error:
            # The command ``run`` uses the form ``text``, and ends after an error: nobody
            # would miss the symbols.
            if self.process is None and form != "text":
                error.message += "; the symbols of this workspace are gone"
            raise


class Workspace:
    """A Macaulay2 of its own that keeps its symbols between calls, with the usual packages.

    Isolated runs and other workspaces see nothing of it. Its symbols outlive errors in the code.
    When a limit, an interrupt or a crash ends the process, they are gone: every call after that
    raises :class:`~m2bridge.WorkspaceLostError` until :meth:`restart` has been called. As at
    Macaulay2's prompt, ``oo``, ``ooo`` and ``oooo`` are the last values of statements that ended a
    call, with a semicolon or without one.

    Made by :meth:`Macaulay2.workspace`, and closed with that session's ``with`` block, by its own,
    or by :meth:`close`. Threads that share a workspace take turns.

    Parameters
    ----------
    locate : callable
        Finds the program, when it is needed.
    limits : Limits
        Limits for each call.
    packages : iterable of str
        Packages to load in addition to those that ``M2`` loads by itself.

    Examples
    --------
    >>> with Macaulay2() as m2, m2.workspace() as work:
    ...     _ = work.run("R = QQ[x,y]; I = ideal(x^2, x*y)")
    ...     work.value("codim I"), work.value("degree I")
    (1, 1)
    """

    def __init__(
        self, locate: Callable[[], Candidate], limits: Limits, packages: Iterable[str] = ()
    ) -> None:
        names = [packages] if isinstance(packages, str) else packages
        self._packages = tuple(errors.elements("packages", names, "names of packages"))
        for name in self._packages:
            if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", name):
                message = f"'{name}' is not the name of a package, such as Elimination"
                raise errors.InvalidCaseError("packages", message)
        self._process = _WorkspaceProcess(locate, limits, forgets_symbols=False)
        self._begin()

    @property
    def pid(self) -> int | None:
        """Process id of its Macaulay2, if it runs."""
        return self._process.pid

    def run(
        self, code: str, /, *, timeout: float | None = None, file: str = "", **inputs: Any
    ) -> str:
        """Run code, forget the value of its last statement, and return what the code printed.

        ``inputs`` are Python objects that are bound to symbols of these names before, which stay
        bound. ``timeout`` is in seconds (``None``: no more than the session's limit), and ``file``
        the name of the code in error messages. ScriptError is raised if Macaulay2 reports an error,
        WorkspaceLostError if the symbols are gone; for other errors see
        :meth:`Macaulay2.evaluate`.

        Examples
        --------
        >>> with Macaulay2() as m2, m2.workspace() as work:
        ...     work.run('print "hello"')
        'hello\\n'
        """
        # form="": no value is sent
        return self._process.evaluate(code, inputs, form="", file=file, timeout=timeout).output

    def value(
        self,
        code: str,
        /,
        *,
        timeout: float | None = None,
        references: bool = False,
        file: str = "",
        **inputs: Any,
    ) -> Any:
        """The value of the last statement of some code, as a Python object.

        The value is ``None`` if the statement ends with a semicolon. ``inputs`` are Python objects,
        bound to symbols of these names before, which stay bound. ``timeout`` is in seconds
        (``None``: no more than the session's limit). ``references`` says whether what has no
        counterpart in Python becomes a reference instead of an error, and ``file`` is the name of
        the code in error messages. ScriptError is raised if Macaulay2 reports an error,
        WorkspaceLostError if the symbols are gone; for other errors see
        :meth:`Macaulay2.evaluate`.

        Examples
        --------
        >>> with Macaulay2() as m2, m2.workspace() as work:
        ...     work.value("n^2", n=12), work.value("n + 1")
        (144, 13)
        """
        return self._process.evaluate(
            code, inputs, value_form(references), file, timeout=timeout
        ).value

    def evaluate(
        self,
        code: str,
        /,
        *,
        timeout: float | None = None,
        references: bool = False,
        file: str = "",
        **inputs: Any,
    ) -> Evaluation:
        """The value of the last statement of some code, what was printed, and the time.

        The value is ``None`` if the statement ends with a semicolon. ``inputs`` are Python objects,
        bound to symbols of these names before, which stay bound. ``timeout`` is in seconds
        (``None``: no more than the session's limit). ``references`` says whether what has no
        counterpart in Python becomes a reference instead of an error, and ``file`` is the name of
        the code in error messages. ScriptError is raised if Macaulay2 reports an error,
        WorkspaceLostError if the symbols are gone; for other errors see
        :meth:`Macaulay2.evaluate`.

        Examples
        --------
        >>> with Macaulay2() as m2, m2.workspace() as work:
        ...     work.evaluate("print 1; 2").output
        '1\\n'
        """
        return self._process.evaluate(code, inputs, value_form(references), file, timeout=timeout)

    def show(self, code: str, /, *, timeout: float | None = None, file: str = "") -> Display:
        """The value of the last statement, in the wire format and as Macaulay2 writes it.

        ``timeout`` and ``file`` have the meaning that they have for :meth:`run`, and the errors are
        the same.
        """
        return self._process.show(code, file, timeout=timeout)

    def __getitem__(self, name: str) -> Any:
        """The value of a symbol.

        Raises
        ------
        UnknownSymbolError
            If it has none.
        ValueTypeError
            If the value has no counterpart in Python.
        """
        return self.get(name)

    def get(self, name: str, *, references: bool = False) -> Any:
        """Return the value of a symbol, as ``work[name]``, which has the same errors.

        With ``references``, what has no counterpart in Python becomes a reference.
        """
        # Whether the symbol has a value is the field ``defined``: one without a value evaluates to
        # itself, which is not an error.
        fields, _ = self._process.answer(
            name,
            value_form(references),
            file=f"the symbol {name}",
            bindings=f'mbEmit("defined", {_definedness_test(name)})\n',
        )
        if not value_of(fields, "defined"):
            raise errors.UnknownSymbolError(f"the symbol '{name}' has no value in this workspace")
        return value_of(fields)

    def __setitem__(self, name: str, value: Any) -> None:
        """Bind an object to a symbol; ConversionError if Macaulay2 has no counterpart for it,
        InvalidCaseError if no symbol can have the name.
        """
        self._process.evaluate(code="", inputs={name: value}, form="", file=f"the symbol {name}")

    def __delitem__(self, name: str) -> None:
        """Forget a symbol; if it hid one of Macaulay2's own, that one is seen again.

        Raises
        ------
        UnknownSymbolError
            If it has no value.
        """
        if name not in self:
            raise errors.UnknownSymbolError(f"the symbol '{name}' has no value in this workspace")
        # null first: only a new value takes a ring or function out of Macaulay2's table of names
        self._process.evaluate(
            code=f"{name} = null; erase symbol {name};",
            inputs={},
            form="",
            file=f"the symbol {name}",
        )

    def __contains__(self, name: str) -> bool:
        """Whether a symbol has a value; InvalidCaseError if no symbol can have the name."""
        return bool(self._query(_definedness_test(name)))

    def names(self) -> list[str]:
        """All names that Macaulay2 knows now: its own, and those that code in this workspace used.

        They are in no order, and without the names of m2bridge's own scripts.
        """
        names = self._query("unique flatten apply(dictionaryPath, keys)")
        # names that begin with mb belong to the shared scripts of m2bridge
        return [name for name in names if not name.startswith("mb")]

    __iter__ = None  # else Python would take it for a sequence, and ask for work[0]

    def __repr__(self) -> str:
        state = f"process {self.pid}" if self.pid else "not running"
        return f"<workspace of Macaulay2 {self._process.candidate.version}, {state}>"

    def restart(self) -> None:
        """Start again with a fresh process and no symbols; packages are loaded again."""
        self._process.close("it was restarted")
        self._process.was_started = False  # so that another process may be started
        self._begin()

    def close(self) -> None:
        """End its Macaulay2. It cannot be used again."""
        self._process.remove("this workspace is closed: make another by Macaulay2().workspace()")

    def _query(self, expression: str) -> Any:
        """Return the value of a Macaulay2 expression, which may use functions of ``m2scripts``."""
        # in ``bindings`` the functions of m2scripts, such as mbEmit, can be called
        fields, _ = self._process.answer(code="", bindings=f'mbEmit("value", {expression})\n')
        return value_of(fields)

    def _begin(self) -> None:
        """Start the process, and load the packages; PackageError if one cannot be loaded."""
        self._process.start()
        for name in self._packages:
            self._load(name)

    def _load(self, name: str) -> None:
        """Load the package of this name; PackageError if Macaulay2 does not have it, or cannot load
        it.
        """
        version = f"Macaulay2 {self._process.candidate.version}"
        # the names of all packages if this one is not among them, else an empty list
        others = self._query(f"mbOthers {quoted(name)}")
        if others:
            near = difflib.get_close_matches(name, others, 3)
            advice = "its file must be in a folder of Macaulay2's path"
            if near:
                advice = f"did you mean {' or '.join(near)}?"
            raise errors.PackageError(f"{version} has no package '{name}'; {advice}")
        file = f"the call for the package {name}"
        try:
            self._process.answer(f"needsPackage {quoted(name)};", file=file)
        except errors.ScriptError as error:
            message = f"{version} cannot load the package '{name}': {error.error}"
            raise errors.PackageError(message, output=error.output) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _definedness_test(name: str) -> str:
    """Return Macaulay2 code for: the symbol has a value, and does not just stand for itself."""
    return f"value symbol {check_name(name)} =!= symbol {name}"


class Macaulay2(Session):
    """A Macaulay2 for any code, found and started at the first use, restarted after a failure.

    :meth:`value` and :meth:`evaluate` take any Macaulay2 code, :meth:`workspace` keeps its symbols
    between calls; they have processes of their own. :meth:`run` is for scripts of m2bridge, each
    with symbols of its own. After a time-out, a crash or an interrupt the process is killed with
    everything it started: a conversation is never repaired, and no script is run again unasked.

    Threads that share it take turns. A child made by ``fork`` leaves the process to its parent, and
    starts another when it runs something. A session that is dropped ends its process.

    Parameters
    ----------
    program : path, optional
        Which Macaulay2; found by :func:`m2bridge.engine.locate` when left out.
    limits : Limits, optional
        Limits for each run.
    timeout, memory : optional
        In place of ``limits``: seconds for each run, and its memory, as for :class:`Limits`.

    Raises
    ------
    InvalidCaseError
        If a limit is not valid, or is given twice.

    Examples
    --------
    >>> with Macaulay2() as m2:
    ...     m2.value("binomial(20, 10)")
    184756
    >>> with Macaulay2(timeout=60, memory="2G") as m2:
    ...     m2.value("2^10")
    1024
    >>> from sympy import symbols
    >>> t = symbols("t")
    >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
    >>> with Macaulay2() as engine:
    ...     locus = singular_locus(cusp)
    >>> locus.dimension
    0
    """

    def __init__(
        self,
        program: str | os.PathLike[str] | None = None,
        limits: Limits | None = None,
        *,
        timeout: float | None = None,
        memory: int | float | str | None = None,
    ) -> None:
        if timeout is not None or memory is not None:
            if limits is not None:
                message = "excludes timeout and memory, which Limits(timeout, memory) has already"
                raise errors.InvalidCaseError("limits", message)
            limits = Limits(timeout, memory)
        super().__init__(program, limits)
        self._values = Evaluator(self._locate, self.limits, forgets_symbols=True)
        self._workspaces: weakref.WeakSet[Workspace] = weakref.WeakSet()

    def value(
        self,
        code: str,
        /,
        *,
        timeout: float | None = None,
        references: bool = False,
        file: str = "",
        **inputs: Any,
    ) -> Any:
        """The value of the last statement of some code, as a Python object.

        It is ``None`` if the statement ends with a semicolon. ``inputs`` are Python objects, bound
        to symbols of these names before, which are forgotten afterwards. ``timeout`` (in seconds),
        ``references`` and ``file`` have the meaning that they have for :meth:`evaluate`, whose
        ``value`` this is; errors are the same.

        Examples
        --------
        >>> with Macaulay2() as m2:
        ...     m2.value("first entries gens gb ideal(n, 15)", n=6)
        [3]
        """
        evaluation = self._values.evaluate(
            code, inputs, value_form(references), file, timeout=timeout
        )
        return evaluation.value

    def evaluate(
        self,
        code: str,
        /,
        *,
        timeout: float | None = None,
        references: bool = False,
        file: str = "",
        **inputs: Any,
    ) -> Evaluation:
        """Evaluate Macaulay2 code with fresh symbols, and the packages that ``M2`` loads by itself.

        Symbols are forgotten afterwards; a :meth:`workspace` keeps them. Other state of Macaulay2,
        such as methods that the code installs, stays until the process ends: isolated runs have
        a different process and do not see it.

        Parameters
        ----------
        code : str
            A semicolon at its end says that there is no value: it is ``None`` then.
        timeout : float, optional
            Seconds, in which it also waits for its turn; never more than the session's own limit.
        references : bool
            Whether what has no counterpart in Python becomes a :class:`~m2bridge.Reference` instead
            of an error.
        file : str, optional
            The name of the code in error messages.
        **inputs
            Python objects, bound to symbols of these names.

        Raises
        ------
        ScriptError
            If Macaulay2 reports an error.
        ValueTypeError
            If the value has no counterpart in Python.
        ConversionError, InvalidCaseError
            If an input has no counterpart in Macaulay2, or its name cannot be one there.
        TimeLimitError, MemoryLimitError, EngineDiedError
            If it reached a limit or died; the next call starts a fresh process.
        EngineError
            If a signal handler calls it that has interrupted such a call of the same thread.

        Examples
        --------
        >>> with Macaulay2() as m2:
        ...     evaluation = m2.evaluate('print "hello"; 2^100')
        >>> evaluation.value, evaluation.output
        (1267650600228229401496703205376, 'hello\\n')
        """
        return self._values.evaluate(code, inputs, value_form(references), file, timeout=timeout)

    def workspace(self, packages: Iterable[str] = ()) -> Workspace:
        """A Macaulay2 of its own that keeps its symbols; it ends with the session's ``with`` block.

        Parameters
        ----------
        packages : iterable of str
            Packages to load in addition to those that ``M2`` loads by itself.

        Raises
        ------
        PackageError
            If Macaulay2 does not have one of them, or cannot load it.
        InvalidCaseError
            If one of them is not a name of a package.

        Examples
        --------
        >>> with Macaulay2() as m2, m2.workspace() as work:
        ...     _ = work.run("n = 3")
        ...     work.value("n + 1")
        4
        """
        self.check_open()
        workspace = Workspace(self._locate, self.limits, packages)
        self._workspaces.add(workspace)
        return workspace

    def close(self, reason: str = "it was closed") -> None:
        """End the processes of isolated runs, and of :meth:`value` and :meth:`evaluate`.

        The next call starts the one that it needs again. A run in another thread fails with
        :class:`~m2bridge.errors.EngineDiedError`. Workspaces continue.
        """
        super().close(reason)
        self._values.close(reason)

    def end(self, reason: str = "this session was ended: make another Macaulay2()") -> None:
        """End Macaulay2 for good, and all workspaces; ``reason`` is the message at a later use."""
        super().end(reason)
        self._values.remove(reason)
        for workspace in list(self._workspaces):
            workspace.close()
