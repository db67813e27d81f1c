"""Commands for certificates: ``certify`` makes them for many cases, ``verify`` checks them.

A certificate is a JSON file with the answer to one question about one case, and with the
evidence that is needed to check it. A task of a batch is one case with the questions about it; its
store is the folder of results, which has a certificate for each question, or an outcome that says
why there is none.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from m2bridge.cli import DONE, FAILED, OTHER_RELEASE, REFUTED, UNDECIDED, common
from m2bridge.cli.cases import (
    FamilyBatch,
    complete_families,
    complete_questions,
    family_with_all_sizes,
)
from m2bridge.cli.common import echo_json, fitted, progress, show_batch
from m2bridge.engine import locate
from m2bridge.errors import InvalidCaseError
from m2bridge.families import registry
from m2bridge.limits import importing, limited
from m2bridge.results.sheet import Sheet, Table, line as on_one_line, plural, visible

if TYPE_CHECKING:
    from m2bridge.batch.executors import Dask, Serial
    from m2bridge.batch.plan import Plan
    from m2bridge.batch.pool import Pool
    from m2bridge.batch.store import Store, Task, TaskResult
    from m2bridge.checker.verify import VerifyResult
    from m2bridge.maps.model import Model


@click.command(
    "certify",
    cls=FamilyBatch,
    epilog="Example: m2bridge certify --d 1..3 --d-out 1..2 --a 1..3 --out results",
)
@click.option("--d", help="Input embedding dimensions d: 3, 1..4 or 1,3,5.")
@click.option("--d-out", help="Output embedding dimensions d'.")
@click.option("--a", help="Query/key dimensions a [default: d].")
@click.option("--t", help="Numbers of tokens [default: 2].")
@click.option(
    "--family",
    default="attention",
    shell_complete=complete_families,
    help="A different family of models: --family polynomial-network --widths 1..3,2,1.",
)
@click.option(
    "--all-sizes", is_flag=True, help="Certify theorems for all sizes at once, not a grid."
)
@click.option(
    "--all-a",
    is_flag=True,
    help="Include the cases with a > d, which have the same functions as a = d.",
)
@click.option(
    "--cases", "file", type=click.Path(path_type=Path), help="A .toml or .csv file with cases."
)
@click.option(
    "--check",
    default="all",
    show_default=True,
    shell_complete=complete_questions,
    help="Questions to answer: all, reachable, or a list such as 3.2,3.4 or all,closure. Of deep"
    " attention and convolutional networks, all are those that need no Macaulay2.",
)
@click.option(
    "--out", type=common.NewPath(path_type=Path), required=True, help="The folder of results."
)
@click.option(
    "--executor",
    type=click.Choice(["serial", "processes", "dask"]),
    default="processes",
    show_default=True,
    help="Where cases are computed: in this process, in processes, or in a Dask cluster.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Address of a Dask cluster, tcp://host:port, for --executor dask [default: a local one].",
)
@click.option(
    "--recycle",
    type=common.Integer(min=1),
    default=200,
    show_default=True,
    help="Number of cases after which a worker process is replaced.",
)
@click.option(
    "--timeout", type=common.seconds, help="Time limit for each case, and for reading --cases."
)
@common.batch_options
@click.option("--quiet", is_flag=True, help="Print errors only.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@common.exit_zero_option
def certify_command(
    out: Path,
    check: str,
    retry: str,
    quiet: bool,
    as_json: bool,
    family: str,
    exit_zero: bool,
    **options: Any,
) -> int:
    """Certify a grid of cases: write one certificate for each case and question to a folder.

    The folder is the whole state: an interrupted command resumes when it is run again. Exit code
    0 when everything is confirmed, computed or not applicable, 1 when something is refuted (0 with
    --exit-zero), 3 when something has no answer.
    """
    from m2bridge.batch.cases import ordered
    from m2bridge.batch.plan import outcome_kinds, plan, progress_display, results_folder, run
    from m2bridge.batch.plan_file import write_plan
    from m2bridge.batch.pool import prepare
    from m2bridge.batch.store import Store, tasks

    _check_workers(**options)
    cases = ordered(_cases(family, options))
    if options["executor"] == "processes":
        # the process from which workers are forked imports the modules of families meanwhile
        names = sorted({case.family for case in cases})
        modules = chain.from_iterable(registry.family(name).modules for name in names)
        prepare("m2bridge.batch.executors", *modules)
    all_tasks = tasks(cases, check)
    store = Store(results_folder(out), outcome_kinds(retry))
    planned = plan(all_tasks, store)
    if not quiet:
        click.echo(planned.to_text(), err=as_json)  # the JSON is alone on standard output
    if planned.unusable:
        first, *others = map(visible, planned.unusable)
        more = f" and {plural(len(others), 'other')}" if others else ""
        click.echo(
            "Note: files that are not the certificate of their name will be replaced:"
            f" {first}{more}",
            err=True,
        )
    # The plan comes first, so that it also says what an interrupted batch left out. A complete
    # folder that can only be read stays as it is.
    if planned.left or os.access(store.folder, os.W_OK):
        write_plan(all_tasks, store)
    # run makes the executor itself, and only if a task is left
    start = partial(_executor, store, planned, options)
    summary = run(planned, start, progress_display(quiet))
    store.check(all_tasks)  # a file may have been deleted meanwhile
    return show_batch(summary, as_json, quiet, exit_zero)


def _check_workers(
    executor: str, scheduler: str | None, workers: int | None, **others: Any
) -> None:
    """Raise InvalidCaseError if these options exclude each other; others are accepted."""
    if scheduler is not None and executor != "dask":
        raise InvalidCaseError("scheduler", "has no effect without --executor dask")
    if scheduler is not None and workers is not None:
        raise InvalidCaseError("workers", "has no effect with --scheduler")
    is_given = "recycle" in common.explicit_options(click.get_current_context())
    if is_given and executor != "processes":
        raise InvalidCaseError("recycle", "has no effect without --executor processes")
    if executor == "serial" and workers not in (None, 1):
        raise InvalidCaseError("workers", "must be 1 with --executor serial")


def _cases(name: str, options: dict[str, Any]) -> Iterable[Model]:
    """Return the cases of the named family that the options name: a grid (all combinations of
    numbers), the cases in the file ``--cases``, or with ``--all-sizes`` the one case about all
    sizes.
    """
    from m2bridge.batch.cases import grid, read_cases

    if options["all_sizes"]:
        of_one_size = family_with_all_sizes(name, options, without_effect=("file", "all_a"))
        # all_sizes is the name of another family, whose one case is all sizes of this family
        return [registry.family(of_one_size.all_sizes).build()]
    named_family = registry.family(name)
    texts = {option.name: options.get(option.name) for option in named_family.options}
    if options["file"] is not None:
        for option, value in texts.items():
            if value is not None:
                raise InvalidCaseError(option, "has no effect with --cases")
        with limited(options["timeout"]):  # a pipe could otherwise block for ever
            return list(read_cases(options["file"], named_family, options["all_a"]))
    return grid(named_family, texts, options["all_a"])


def _executor(
    store: Store, planned: Plan, options: dict[str, Any]
) -> Serial | Dask[Task, TaskResult] | Pool[Task, TaskResult]:
    """Return the executor that performs the unfinished tasks: serial, a pool, or Dask."""
    executor, program = options["executor"], options["program"]
    with importing():
        from m2bridge.batch.executors import Dask, Serial, Settings
        from m2bridge.batch.pool import Pool

    needs_engine = any(task.needs_engine for task in planned.left)
    if needs_engine and executor != "dask":  # there each machine finds its own Macaulay2
        program = str(locate(program).program)
    settings = Settings(
        store,
        program,
        timeout=options["timeout"],
        memory=options["memory"],
        needs_engine=needs_engine,
        recycled_after=options["recycle"],
    )
    if executor == "dask":
        return Dask(settings, options["scheduler"], options["workers"])
    if executor == "serial":
        return Serial(settings)
    return Pool(settings, options["workers"])


_CODES = {
    "accepted": DONE,
    "accepted-on-trust": DONE,
    "program-not-checked": UNDECIDED,
    "too-expensive": UNDECIDED,
    "other-release": OTHER_RELEASE,
    "failed": FAILED,
    "malformed": REFUTED,
    "rejected": REFUTED,
}
"""The exit code for each outcome of a check."""

_WORST_FIRST = (REFUTED, FAILED, OTHER_RELEASE, UNDECIDED)

_SENTENCES = {
    "accepted-on-trust": "accepted on trust in Macaulay2, or in primes, where no proof decides",
    "other-release": "for another release to verify; nothing is decided here",
}
"""What the summary adds about the certificates with an outcome."""


@click.command("verify", epilog="Example: m2bridge verify results")
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH…"
)
@click.option(
    "--workers",
    type=common.Integer(min=1),
    help="Number of processes [default: one for each core].",
)
@click.option(
    "--timeout",
    type=common.seconds,
    default=120.0,
    show_default=True,
    help="Time limit for each file.",
)
@click.option(
    "--memory",
    type=common.memory_size,
    metavar="SIZE",
    default="2G",
    show_default=True,
    help="Limit on the address space for each file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of a table.")
def verify_command(
    *, paths: Sequence[Path], workers: int | None, timeout: float, memory: int, as_json: bool
) -> int:
    """Verify certificates, files or folders of them, without Macaulay2.

    Each file is verified separately, within limits. Exit code 0 when all are accepted (some perhaps
    on trust in the Macaulay2 program that made them, which a separate line counts); else 1 when
    some are rejected or malformed; else 5 when some could not be checked because of a failure; else
    6 when some need another release to verify them; else 3 when some are too expensive to check,
    or contain a program that was not checked, or when something is missing that a batch asked. A
    folder without certificates is wrong usage, with exit code 2. Outcomes of a batch
    (*.outcome.json), which say why there is no certificate, are counted and skipped. The plans of
    batches (*.plan) say what was asked, and what has neither certificate nor outcome is named.
    """
    from m2bridge.batch.plan_file import PLAN_SUFFIX, compare_with_plans
    from m2bridge.batch.store import SUFFIX, certificate_of_outcome
    from m2bridge.batch.verifying import Verification, verify_files

    files, outcomes, plans = list[Path](), list[Path](), list[Path]()
    for path in files_of_batches(paths):
        if path.name.endswith(PLAN_SUFFIX):
            plans.append(path)
        elif path.name.endswith(SUFFIX):
            outcomes.append(path)
        else:
            files.append(path)
    skipped = ""  # the words about outcomes
    if outcomes:
        skipped = f"; {plural(len(outcomes), 'outcome')} of a batch without a certificate skipped"
    if not files:
        why = _why_nothing_to_verify(paths, skipped)
        question_count = compare_with_plans(plans, certificates=(), outcomes=()).asked
        if question_count:
            why += f"; plans there have {plural(question_count, 'question')}"
        raise click.UsageError(why)
    with progress("verifying"):
        findings = verify_files(files, Verification(timeout, memory), workers)
        answered = set(filter(None, map(certificate_of_outcome, outcomes)))
        compared = compare_with_plans(plans, {path.name for path in files}, answered)
    counts: Counter[str] = Counter(finding.outcome for finding in findings)
    rows = [(finding.name, finding.outcome, _remark(finding)) for finding in findings]
    cells = [tuple(map(on_one_line, row)) for row in rows]
    table = Sheet("", [Table(("certificate", "outcome", ""), cells)])
    words = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
    summary = f"  {plural(counts.total(), 'certificate')}: {words}{skipped}"
    for outcome, sentence in _SENTENCES.items():
        if counts[outcome]:
            summary += f"\n  {plural(counts[outcome], 'certificate')} {sentence}"
    if plans or any(path.is_dir() for path in paths):  # whoever names certificates chooses them
        summary += "".join(f"\n  {sentence}" for sentence in compared.sentences)
    if as_json:
        verified = [finding.to_json() for finding in findings]
        data = {
            "counts": counts,
            "outcomes": len(outcomes),
            "certificates": verified,
            "plan": compared.to_json(),
        }
        echo_json(json.dumps(data, ensure_ascii=False))
    else:
        click.echo(fitted(table).removeprefix("\n"))  # without the line of the empty title
        click.echo(f"\n{summary}")
    for listener in common.listeners:  # in a worker of mcp, which shows the text to people
        listener(f"{summary}\n{table.text()}")
    codes = {_CODES[outcome] for outcome in counts}
    if not compared.complete:
        codes.add(UNDECIDED)
    return next((code for code in _WORST_FIRST if code in codes), DONE)


def _why_nothing_to_verify(paths: Sequence[Path], skipped: str) -> str:
    """Return the message that the folders have no certificate, only what was ``skipped``."""
    if skipped:
        return f"there are no certificates to verify{skipped}; 'm2bridge report' shows the reasons"
    first = on_one_line(str(paths[0]))
    state = "has no file whose name ends in .json"
    if not any(paths[0].iterdir()):
        state = "is empty"
    others = ""
    if len(paths) > 1:
        others = f", and {plural(len(paths) - 1, 'other folder')} without certificates"
    return (
        f"there are no certificates to verify: the folder '{first}' {state}{others};"
        " 'm2bridge certify … --out FOLDER' writes some"
    )


def files_of_batches(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield named files and, of named folders, the files ``.json``, plans and unreadable folders
    below.

    Links to folders are not followed.
    """
    from m2bridge.batch.plan_file import PLAN_SUFFIX

    for path in paths:
        if not path.is_dir():
            yield path
            continue
        unreadable: list[OSError] = []  # folders that ``os.walk`` would leave out without a word
        matching: list[Path] = []
        for parent, folders, files in os.walk(path, onerror=unreadable.append):
            # a folder with such a name is yielded too, so that its check says that it is not a file
            names = [name for name in (*folders, *files) if name.endswith((".json", PLAN_SUFFIX))]
            matching.extend(Path(parent, name) for name in names)
        yield from sorted([*matching, *(Path(error.filename) for error in unreadable)])


def _remark(finding: VerifyResult) -> str:
    """Return the cell of the table for a certificate: a difference, a reason, or remarks."""
    if finding.outcome == "rejected" or finding.stored:
        difference = f"{finding.check}: stored {finding.stored}, found {finding.found}"
        return "; ".join((difference, *finding.remarks))
    if finding.outcome in ("too-expensive", "failed"):
        return f"{finding.check}: {finding.found}"
    return finding.found or "; ".join(finding.remarks)
