"""Commands for certificates."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from m2bridge.batch.verifying import Allowance
from m2bridge.cli.options import MemorySize, Seconds
from m2bridge.cli.output import DONE, FAILED, REFUTED, UNDECIDED, echo_json, fitted, progress
from m2bridge.results.sheet import Sheet, Table, line, plural, table

if TYPE_CHECKING:
    from m2bridge.checker.verify import VerifyResult

_CODES = {"accepted": DONE, "program-not-checked": UNDECIDED, "too-expensive": UNDECIDED, "failed": FAILED}


@click.command("verify", epilog="Example: m2bridge verify results")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH…")
@click.option("--workers", type=click.IntRange(min=1), help="Processes; one for each core when left out.")
@click.option("--timeout", type=Seconds(), default=120.0, show_default=True, help="Seconds for each file.")
@click.option(
    "--memory",
    type=MemorySize(lambda size: Allowance(memory=size)),
    default="2G",
    show_default=True,
    help="Address space for each file.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def verify_command(paths: Sequence[Path], workers: int | None, timeout: float, memory: int, as_json: bool) -> int:
    """Check certificates, files or folders of them, without Macaulay2.

    Each file is checked apart, within limits. Exit code 0 when all are accepted; 1 when some are rejected, malformed or
    for another release to verify; else 5 when the check of some failed; else 3 when some are too expensive to check, or
    hold a program that nobody checked. Outcomes of a batch (*.outcome.json), which say why there is no certificate, are
    counted and left out.
    """
    from m2bridge.batch.task import SUFFIX
    from m2bridge.batch.verifying import verify_files

    named = list(json_files(paths))
    files = [path for path in named if not path.name.endswith(SUFFIX)]
    outcomes = len(named) - len(files)
    left_out = f"{plural(outcomes, 'outcome')} of a batch without a certificate left out" if outcomes else ""
    if not files:
        raise click.UsageError("; ".join(filter(None, ("there are no certificates to verify", left_out))))
    with progress("verifying"):
        findings = verify_files(files, Allowance(timeout, memory), workers)
    counts = Counter(finding.outcome for finding in findings)
    if as_json:
        verified = [finding.to_json() for finding in findings]
        data = {"counts": counts, "outcomes": outcomes, "certificates": verified}
        echo_json(json.dumps(data, ensure_ascii=False))
    else:
        click.echo(fitted(lambda: to_text(findings), lambda: Sheet("", [as_table(findings)])))
        said = ", ".join(f"{n} {word}" for word, n in counts.items())
        click.echo("\n  " + "; ".join(filter(None, (f"{plural(len(findings), 'certificate')}: {said}", left_out))))
    return exit_code(counts)


def exit_code(outcomes: Iterable[str]) -> int:
    """What is refused says more than what failed, and that more than what is left undecided."""
    codes = {_CODES.get(outcome, REFUTED) for outcome in outcomes}
    return next((code for code in (REFUTED, FAILED, UNDECIDED) if code in codes), DONE)


def json_files(paths: Sequence[Path]) -> Iterator[Path]:
    """The files named, and what ends in ``.json`` in the folders named and below them; and folders without a list."""
    for path in paths:
        yield from sorted(_below(path)) if path.is_dir() else [path]


def _below(folder: Path) -> Iterator[Path]:
    unreadable: list[Path] = []
    for parent, folders, files in os.walk(folder, onerror=lambda error: unreadable.append(Path(error.filename))):
        yield from (Path(parent, name) for name in (*folders, *files) if name.endswith(".json"))
    yield from unreadable


def to_text(findings: Sequence[VerifyResult]) -> str:
    """One line for each certificate."""
    shown = as_table(findings)
    return table(shown.header, shown.rows)


def as_table(findings: Sequence[VerifyResult]) -> Table:
    """Name, outcome and what is wrong."""
    return Table(("certificate", "outcome", ""), [(line(f.name), f.outcome, line(_said(f))) for f in findings])


def _said(finding: VerifyResult) -> str:
    if finding.outcome == "rejected" or finding.stored:
        said = f"{finding.check}: stored {finding.stored}, found {finding.found}"
        return "; ".join((said, *finding.remarks))
    if finding.outcome in ("too-expensive", "failed"):
        return f"{finding.check}: {finding.found}"
    return finding.found or "; ".join(finding.remarks)


COMMANDS = (verify_command,)
