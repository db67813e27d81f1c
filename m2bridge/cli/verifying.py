"""Commands for certificates."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from m2bridge.cli.output import DONE, REFUTED, echo_json
from m2bridge.cli.progress import progress
from m2bridge.layout import line, plural, table

if TYPE_CHECKING:
    from m2bridge.certificate.finding import Finding


@click.command("verify")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH…")
@click.option("--workers", type=click.IntRange(min=1), help="Processes; one for each core when left out.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def verify_command(paths: Sequence[Path], workers: int | None, as_json: bool) -> int:
    """Check certificates, files or folders of them, without Macaulay2.

    Exit code 0 when all are accepted, 1 when some are rejected, malformed or for another release to verify. Outcomes of
    a batch (*.outcome.json), which say why there is no certificate, are counted and left out.
    """
    from m2bridge.batch.outcome import SUFFIX
    from m2bridge.batch.verifying import verify_files

    named = list(json_files(paths))
    files = [path for path in named if not path.name.endswith(SUFFIX)]
    outcomes = len(named) - len(files)
    left_out = f"{plural(outcomes, 'outcome')} of a batch without a certificate left out" if outcomes else ""
    if not files:
        raise click.UsageError("; ".join(filter(None, ("there are no certificates to verify", left_out))))
    with progress("verifying"):
        findings = verify_files(files, workers)
    counts = Counter(finding.outcome for finding in findings)
    if as_json:
        verified = [finding.to_json() for finding in findings]
        data = {"counts": counts, "outcomes": outcomes, "certificates": verified}
        echo_json(json.dumps(data, ensure_ascii=False))
    else:
        click.echo(to_text(findings))
        said = ", ".join(f"{n} {word}" for word, n in counts.items())
        click.echo("\n  " + "; ".join(filter(None, (f"{plural(len(findings), 'certificate')}: {said}", left_out))))
    return DONE if all(finding.accepted for finding in findings) else REFUTED


def json_files(paths: Sequence[Path]) -> Iterator[Path]:
    """The files named, and those that end in ``.json`` in the folders named and below them."""
    for path in paths:
        yield from sorted(path.rglob("*.json")) if path.is_dir() else [path]


def to_text(findings: Sequence[Finding]) -> str:
    """One line for each certificate."""
    return table(("certificate", "outcome", ""), [(line(f.name), f.outcome, line(_said(f))) for f in findings])


def _said(finding: Finding) -> str:
    if finding.outcome == "rejected" or finding.stored:
        said = f"{finding.check}: stored {finding.stored}, found {finding.found}"
        return "; ".join((said, *finding.remarks))
    return finding.found or "; ".join(finding.remarks)


COMMANDS = (verify_command,)
