"""The command that certifies many cases."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from m2bridge.cli import families as completion
from m2bridge.cli.families import FamilyBatch, every_size
from m2bridge.cli.options import MemorySize, NewPath, Seconds, engine_option, exit_zero_option
from m2bridge.cli.output import exit_code
from m2bridge.engine import locate
from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import plural
from m2bridge.system import importing

if TYPE_CHECKING:
    from m2bridge.batch.executors import Executor
    from m2bridge.batch.plan import Plan
    from m2bridge.batch.store import Store


@click.command(
    "certify", cls=FamilyBatch, epilog="Example: m2bridge certify --d 1..3 --d-out 1..2 --a 1..3 --out results"
)
@click.option("--d", help="Input embedding dimensions d: 3, 1..4 or 1,3,5.")
@click.option("--d-out", help="Output embedding dimensions d'.")
@click.option("--a", help="Query/key dimensions a; d when left out.")
@click.option("--t", help="Numbers of tokens; 2 when left out.")
@click.option(
    "--family",
    default="attention",
    shell_complete=completion.families,
    help="Another family: --family polynomial-network --widths 1..3,2,1.",
)
@click.option("--all-sizes", is_flag=True, help="Theorems for all sizes at once, in place of a grid.")
@click.option("--all-a", is_flag=True, help="Take the cases with a > d too; they have the same functions as a = d.")
@click.option("--cases", "file", type=click.Path(path_type=Path), help="A .toml or .csv file of cases.")
@click.option(
    "--check",
    default="all",
    show_default=True,
    shell_complete=completion.questions,
    help="Questions: all, reachable, or 3.2,3.4 or all,closure.",
)
@click.option("--out", type=NewPath(path_type=Path), required=True, help="The folder of results.")
@click.option("--executor", type=click.Choice(["serial", "processes", "dask"]), default="processes", show_default=True)
@click.option("--workers", type=click.IntRange(min=1), help="How many; one for each core when left out.")
@click.option("--scheduler", metavar="ADDRESS", help="With --executor dask: tcp://host:port; else a local cluster.")
@click.option("--recycle", type=click.IntRange(min=1), default=200, show_default=True, help="Cases for each worker.")
@click.option("--timeout", type=Seconds(), help="Seconds for each case.")
@click.option("--memory", type=MemorySize(), help="Address space of Macaulay2 and of its worker, such as 4G.")
@click.option(
    "--retry",
    default="",
    shell_complete=completion.kinds,
    help="Outcomes to try again: timed-out,out-of-memory,failed,died,refused.",
)
@engine_option
@click.option("--quiet", is_flag=True, help="Print errors only.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@exit_zero_option
def certify_command(
    out: Path, check: str, retry: str, quiet: bool, as_json: bool, family: str, exit_zero: bool, **options: Any
) -> int:
    """Certify a grid of cases: one certificate for each case and question, in a folder.

    The folder is the state: the same command goes on from what is there. Exit code 0 when everything is confirmed,
    computed or not applicable, 1 when something is refuted (0 with --exit-zero), 3 when something has no answer.
    """
    from m2bridge.batch.cases import ordered
    from m2bridge.batch.plan import plan, run, shown
    from m2bridge.batch.store import Store
    from m2bridge.batch.task import tasks

    _check_workers(**options)
    asked = tasks(ordered(_cases(family, options)), check)
    store = Store(_folder(out), _kinds(retry))
    planned = plan(asked, store)
    if not quiet:
        click.echo(planned.to_text(), err=as_json)
    if planned.unusable:
        first, *others = planned.unusable
        more = f" and {plural(len(others), 'other')}" if others else ""
        click.echo(f"Note: not the certificate that the name says, and to be replaced: {first}{more}", err=True)
    summary = run(planned, partial(_executor, store, planned, options), shown(quiet))
    store.check(asked)
    if as_json:
        click.echo(json.dumps(summary.to_json()))
    elif not quiet:
        click.echo(summary.to_text())
    return exit_code(summary, exit_zero)


def _check_workers(executor: str, scheduler: str | None, workers: int | None, **others: Any) -> None:
    if scheduler is not None and executor != "dask":
        raise InvalidCaseError("scheduler", "only for --executor dask")
    if scheduler is not None and workers is not None:
        raise InvalidCaseError("workers", "the cluster of the scheduler has as many as it has")
    if executor == "serial" and workers not in (None, 1):
        raise InvalidCaseError("workers", "--executor serial works in one process, this one")


def _folder(path: Path) -> Path:
    """The folder of results, which is made if it is not there.

    Raises
    ------
    InvalidCaseError
        If there cannot be a folder of this name.
    """
    from m2bridge.batch.store import NO_ROOM

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        if reason.errno in NO_ROOM:
            raise
        raise InvalidCaseError("out", f"'{path}' cannot be made a folder: {reason.strerror}") from None
    return path.absolute()


def _cases(name: str, options: dict[str, Any]) -> Iterable[Any]:
    from m2bridge.batch.cases import grid, none_left, read_cases
    from m2bridge.families import family

    if options["all_sizes"]:
        return [every_size(name, options, ("file", "all_a")).build()]
    chosen = family(name)
    texts = {option.name: options.get(option.name) for option in chosen.options}
    if options["file"] is not None:
        if given := [name for name, value in texts.items() if value is not None]:
            raise InvalidCaseError(given[0], "a grid cannot be given together with --cases")
        return list(read_cases(options["file"], chosen, options["all_a"]))
    cases = grid(chosen, texts, options["all_a"])
    if not cases:
        raise InvalidCaseError("a", none_left(chosen))
    return cases


def _executor(store: Store, planned: Plan, options: dict[str, Any]) -> Executor:
    if options["executor"] == "processes":
        from m2bridge.batch.pool import prepare

        prepare("m2bridge.batch.executors")  # it imports what the workers need while this process does the same
    with importing():
        from m2bridge.batch.cluster import Dask
        from m2bridge.batch.executors import Processes, Serial, Settings

    needed = any(task.needs_engine for task in planned.left)
    limits = options["timeout"], options["memory"]
    settings = Settings(store, options["program"], *limits, needs_engine=needed, recycled_after=options["recycle"])
    if options["executor"] == "dask":
        return Dask(settings, options["scheduler"], options["workers"])  # each machine finds its own Macaulay2
    if needed:
        settings = replace(settings, program=str(locate(options["program"]).program))
    if options["executor"] == "serial":
        return Serial(settings)
    return Processes(settings, options["workers"])


def _kinds(text: str) -> frozenset[Any]:
    from m2bridge.batch.task import KINDS

    kinds = frozenset(part.strip() for part in text.split(",") if part.strip())
    if unknown := sorted(kinds - set(KINDS)):
        raise InvalidCaseError("retry", f"unknown kind '{unknown[0]}': use {', '.join(KINDS)}")
    return kinds


COMMANDS = (certify_command,)
