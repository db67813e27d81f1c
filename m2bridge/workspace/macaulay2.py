"""Macaulay2 for people: any code with its value as a Python object, workspaces, and the scripts of m2bridge."""

import os
import weakref
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from m2bridge.engine import Limits, Session
from m2bridge.workspace.evaluation import Evaluation, Evaluator, form
from m2bridge.workspace.workspace import Workspace


class Macaulay2(Session):
    """A Macaulay2 for any code, found and started at the first use, restarted after a failure.

    :meth:`value` and :meth:`evaluate` take any Macaulay2 code, :meth:`workspace` keeps its symbols between calls; they
    have processes of their own. :meth:`run` is for scripts of m2bridge, each with symbols of its own. After a time-out,
    a crash or an interrupt the process is killed with everything it started: a conversation is never repaired, and no
    script is run again unasked.

    Threads that share it take turns. A child made by ``fork`` leaves the process to its parent, and starts another when
    it runs something. A session that is dropped ends its process.

    Parameters
    ----------
    program : path, optional
        Which Macaulay2; found by :func:`m2bridge.engine.locate` when left out.
    limits : Limits
        Limits for each run.

    Examples
    --------
    >>> with Macaulay2() as m2:
    ...     m2.value("binomial(20, 10)")
    184756
    >>> from sympy import symbols
    >>> t = symbols("t")
    >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
    >>> with Macaulay2() as engine:
    ...     locus = singular_locus(cusp, engine=engine)
    >>> locus.dimension
    0
    """

    def __init__(self, program: str | os.PathLike[str] | None = None, limits: Limits | None = None) -> None:
        super().__init__(program, limits)
        self._values: Evaluator | None = None
        self._workspaces: weakref.WeakSet[Workspace] = weakref.WeakSet()

    def value(
        self, code: str, /, *, timeout: float | None = None, references: bool = False, file: str = "", **inputs: Any
    ) -> Any:
        """The value of the last statement of some Macaulay2 code, as a Python object; see :meth:`evaluate`.

        Examples
        --------
        >>> with Macaulay2() as m2:
        ...     m2.value("first entries gens gb ideal(n, 15)", n=6)
        [3]
        """
        return self.evaluate(code, timeout=timeout, references=references, file=file, **inputs).value

    def evaluate(
        self, code: str, /, *, timeout: float | None = None, references: bool = False, file: str = "", **inputs: Any
    ) -> Evaluation:
        """Evaluate Macaulay2 code, with fresh symbols, in a process with the packages that ``M2`` loads by itself.

        Symbols are forgotten afterwards; a :meth:`workspace` keeps them. Other state of Macaulay2, such as methods
        that the code installs, stays until the process ends: isolated runs have another one and see nothing of it.

        Parameters
        ----------
        code : str
            A semicolon at its end says that there is no value: it is ``None`` then.
        timeout : float, optional
            Seconds; never more than the session's own limit.
        references : bool
            Whether what has no counterpart in Python becomes a :class:`~m2bridge.Reference` instead of an error.
        file : str, optional
            What errors call the code.
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

        Examples
        --------
        >>> with Macaulay2() as m2:
        ...     evaluation = m2.evaluate('print "hello"; 2^100')
        >>> evaluation.value, evaluation.output
        (1267650600228229401496703205376, 'hello\\n')
        """
        self._runs.may_begin()
        self._values = self._values or Evaluator(self._locate, self.limits, passing=True)
        return self._values.evaluate(code, inputs, form(references), file, timeout=timeout)

    def workspace(self, packages: Iterable[str] = ()) -> Workspace:
        """A Macaulay2 of its own that keeps its symbols between calls; it ends with the session's ``with`` block.

        Parameters
        ----------
        packages : iterable of str
            What to load besides the packages that ``M2`` loads by itself.

        Raises
        ------
        PackageError
            If Macaulay2 does not have one of them, or cannot load it.

        Examples
        --------
        >>> with Macaulay2() as m2, m2.workspace() as work:
        ...     _ = work.run("n = 3")
        ...     work.value("n + 1")
        4
        """
        self._runs.may_begin()
        workspace = Workspace(self._locate, self.limits, packages)
        self._workspaces.add(workspace)
        return workspace

    def close(self) -> None:
        """End the Macaulay2 of isolated runs and that of :meth:`value`, and all they started; the next call starts it.

        A run that another thread is at fails with :class:`~m2bridge.errors.EngineDiedError`. Workspaces go on.
        """
        super().close()
        if self._values is not None:
            self._values.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if self._values is not None:
            self._values.remove()
        for workspace in list(self._workspaces):
            workspace.close()
