"""Commands that run Macaulay2 code, print programs, and cite.

Where a command takes a file, a tool of ``mcp`` may pass a :class:`Text` in its place: a name for
messages, and the content.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import escape, iglob
from pathlib import Path
from typing import Any

import click

from m2bridge.citation import WORKS
from m2bridge.cli import DONE, common
from m2bridge.cli.cases import Text
from m2bridge.cli.common import echo_json, show_batch
from m2bridge.convert import MAX_FILE_BYTES
from m2bridge.convert.bounded_io import read_bytes, read_open
from m2bridge.errors import ConversionError, EngineError, InvalidCaseError, ScriptError
from m2bridge.limits import Limits, check_deadline_in, importing
from m2bridge.results.sheet import quoted, visible


@click.command("run", epilog="Example: m2bridge run code.m2 --json --timeout 60")
@common.file_argument(allow_dash=True)
@click.option(
    "--packages",
    default="",
    metavar="A,B,…",
    help="Packages to load in addition to those that Macaulay2 preloads.",
)
@click.option(
    "--each",
    metavar="GLOB",
    help="Run the code for each of these files, such as 'ideals/*.toml', in parallel processes.",
)
@click.option(
    "--out", type=common.NewPath(path_type=Path), help="With --each: the folder for results."
)
@click.option(
    "--executor",
    type=click.Choice(["processes", "dask"]),
    help="With --each: where the code runs [default: processes].",
)
@click.option("--quiet", is_flag=True, help="With --each: print errors only.")
# with --each it holds for each file
@click.option("--timeout", type=common.seconds, help="Time limit for the whole computation.")
@common.batch_options
@click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON object: value, text, output, seconds."
)
def run_command(
    file: Path | Text, packages: str, as_json: bool, each: str | None, **options: Any
) -> int:
    """Run the Macaulay2 code in FILE (- for standard input); print its output and the value of the
    last statement.

    The value is printed as Macaulay2 prints it; nothing if the statement ends with a semicolon.
    With --json it is also given in m2bridge's wire format, exact and with its rings. An error in
    the code has file, line and column.

    With --each the code runs once for each file; in it 'item' is the ideal in a file in TOML, JSON
    or .mrdi, and the text of any other file. Limits hold for each file. The folder has a result or
    an outcome for each, and an interrupted command resumes when it is run again. Exit code 3 if
    some have no result.
    """
    source = CodeSource(file)
    package_names = packages.replace(",", " ").split()
    if each is not None:
        return _run_each(source, package_names, each, as_json, options)
    for option in _OPTIONS_OF_EACH:
        if options[option]:
            raise click.UsageError(f"--{option} has no effect without --each")
    request = common.Run.of(options)  # --timeout, --memory and --m2
    with common.time_limit(timeout=request.timeout):
        with importing():
            from m2bridge.workspace.macaulay2 import Macaulay2

        with (
            Macaulay2(request.program, Limits(memory=request.memory)) as m2,
            m2.workspace(package_names) as work,
        ):
            code = source.read()
            if source.folder:  # so that the code can load files in its folder
                work.run(f"path = prepend({quoted(f'{source.folder}/')}, path);")
            try:
                display = work.show(code, file=source.name)
            except EngineError as error:
                if not as_json:
                    _print(error.output)  # what the code had printed before
                _begin_with_place(error, source.name)
                raise
    if as_json:
        data = {
            "value": display.value,
            "text": display.text,
            "output": display.output,
            "seconds": round(display.seconds, 6),
        }
        echo_json(json.dumps(data, ensure_ascii=False))
    else:
        _print(display.output)
        _print(display.text)
    return DONE


@dataclass(frozen=True, slots=True)
class CodeSource:
    """The place of code: a file, ``-`` for standard input, or a text of a tool of ``mcp``."""

    file: Path | Text

    @property
    def name(self) -> str:
        """The name of the code in messages."""
        return "standard input" if str(self.file) == "-" else str(self.file)

    @property
    def folder(self) -> str:
        """The folder of the file, where its code may load other files; empty if it is in none."""
        if isinstance(self.file, Text) or str(self.file) == "-":
            return ""
        return str(self.file.resolve().parent)

    def read(self) -> str:
        """Return the code; bytes that are not UTF-8 become surrogates, as in names of files."""
        if isinstance(self.file, Text):
            return self.file.content
        try:
            if str(self.file) == "-":
                data = read_open(0, MAX_FILE_BYTES)  # 0 is the descriptor of standard input
            else:
                data = read_bytes(self.file, MAX_FILE_BYTES)
        except ConversionError as reason:
            raise click.UsageError(f"{self.name}: {reason}") from None
        return data.decode("utf-8-sig", errors="surrogateescape")


def _begin_with_place(error: EngineError, name: str) -> None:
    """Let the message of an error in code begin with its place, as in ``FILE:3:5: …``; the place
    may be in another file, which the code of this name had loaded.
    """
    if not isinstance(error, ScriptError) or error.line is None:
        return
    place = f"{visible(error.file)}:{error.line}:{error.column}"
    caller = f" (called from {visible(name)})" if error.file != name else ""
    error.message = f"{place}: {error.error}{caller}\n{error.excerpt}"


_OPTIONS_OF_EACH = ("out", "workers", "executor", "retry", "quiet")
"""The options of ``run`` that have an effect only with ``--each``."""


def _run_each(
    source: CodeSource, packages: Sequence[str], each: str, as_json: bool, options: dict[str, Any]
) -> int:
    """Perform ``run --each``, which runs code for each matching file; return the exit code."""
    code = source.read()
    # the limit is for each file, and for the search: a pattern such as '/**' may take very long
    with common.time_limit(timeout=options["timeout"]):
        matching = check_deadline_in(matching_paths(each))
        paths = [Path(path) for path in sorted(set(matching)) if os.path.isfile(path)]
    if not paths:
        raise click.UsageError(f"--each: there is no file '{each}'")
    if options["out"] is None:
        raise click.UsageError("--each needs --out, the folder for results")
    with importing():
        from m2bridge.batch.items import ItemWork
        from m2bridge.batch.plan import outcome_kinds, progress_display, results_folder
        from m2bridge.batch.run_many import file_jobs, run_jobs

    work = ItemWork(
        code,
        file=source.name,
        packages=tuple(packages),
        code_folder=source.folder,
        folder=results_folder(options["out"]),
        retry=outcome_kinds(options["retry"]),
        program=options["program"],
        timeout=options["timeout"],
        memory=options["memory"],
    )
    # the outcomes themselves are in the folder
    _, summary = run_jobs(
        work=work,
        jobs=file_jobs(work, paths),
        workers=options["workers"],
        executor=options["executor"] or "processes",
        scheduler=None,  # Dask makes a cluster of this machine
        progress=progress_display(options["quiet"]),
    )
    return show_batch(summary, as_json, options["quiet"])


def matching_paths(pattern: str) -> Iterator[str]:
    """Yield the paths that a pattern means as Python's ``glob`` reads it, some of them repeatedly.

    ``**`` stands for any folders but links to folders, of which two may lead anywhere without end.
    """
    parts = pattern.split("/")
    if "**" not in parts:
        yield from iglob(pattern)
        return
    stars = parts.index("**")
    head, tail = "/".join(parts[:stars]), "/".join(parts[stars + 1 :] or ["*"])
    if stars == 1 and not head:  # as in /**/x
        head = "/"
    for top in iglob(head) if head else [""]:
        for parent, folders, _ in check_deadline_in(os.walk(top or os.curdir)):
            folders[:] = [name for name in folders if not name.startswith(".")]  # hidden ones
            place = parent if top else os.path.relpath(parent)
            prefix = "" if place == os.curdir else os.path.join(escape(place), "")
            yield from matching_paths(prefix + tail)


def _print(text: str) -> None:
    """Print a text, unless it is empty, with the end of a line if it lacks one."""
    if text:
        click.echo(text, nl=not text.endswith("\n"))


SCRIPTS = ("orbits", "jacobian")
"""The methods of ``script singular-locus``."""


@click.command("script", epilog="Example: m2bridge script closure --d 3 --d-out 1")
@click.argument(
    "computation",
    type=click.Choice(["closure", "dimension", "singular-locus", "fibres", "polar-degrees"]),
    metavar="COMPUTATION",
)
@common.case_options
@click.option(
    "--method",
    type=click.Choice(SCRIPTS),
    default="orbits",
    show_default=True,
    help="The method of 'script singular-locus'.",
)
@common.timeout_option
def script_command(computation: str, method: str, **options: Any) -> int:
    """Print the complete Macaulay2 program of a computation, which runs with M2 --script.

    The computation is closure, dimension, singular-locus, fibres or polar-degrees.
    """
    explicit_names = common.explicit_options(click.get_current_context())
    if "method" in explicit_names and computation != "singular-locus":
        raise InvalidCaseError("method", "has no effect without singular-locus")
    if "coordinates" in explicit_names and computation == "fibres":
        raise InvalidCaseError("coordinates", "has no effect with fibres")
    request = common.case_request(options)
    with common.time_limit(timeout=request.timeout):
        with importing():
            from m2bridge.families.attention.closure_answers import standalone

        text = standalone(
            computation,
            request.model,
            field=request.field,
            coordinates=request.coordinates,
            method=method,
        )
    click.echo(text, nl=False)
    return DONE


@click.command("cite", epilog="Example: m2bridge cite --format bibtex")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "bibtex", "json"]),
    default="text",
    show_default=True,
    help="The output format.",
)
@click.option(
    "--json",
    "form",
    flag_value="json",
    help="Short for --format json: a list in CSL, which Zotero reads.",
)
def cite_command(form: str) -> int:
    """Print how to cite m2bridge, and the papers on which it is based."""
    if form == "json":
        entries = [work.to_csl() | {"note": f"For {reason}"} for reason, work in WORKS]
        echo_json(json.dumps(entries, ensure_ascii=False))
    elif form == "bibtex":
        entries_of_bibtex = [f"% for {reason}\n{work.to_bibtex()}" for reason, work in WORKS]
        click.echo("\n".join(entries_of_bibtex).rstrip())
    else:
        click.echo("\n".join(f"For {reason}:\n    {work}" for reason, work in WORKS))
    return DONE
