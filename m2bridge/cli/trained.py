"""The command about trained weights in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from m2bridge.cli import USAGE
from m2bridge.cli.families import tool
from m2bridge.cli.options import Number, form_options, timeout_option, within
from m2bridge.cli.output import progress, show
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.system import importing

NAMES = ("query", "key", "value", "output")


@click.command("weights", epilog="Example: m2bridge weights model.safetensors --heads 12")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--query", metavar="NAME", help="The array with Q; * stands for what differs from layer to layer.")
@click.option("--key", metavar="NAME", help="The array with K.")
@click.option("--value", metavar="NAME", help="The array with V.")
@click.option("--output", metavar="NAME", help="The array with the output matrix O, whose values are then OV.")
@click.option("--heads", type=Number(), help="Heads of each layer; what config.json beside FILE says, or 1.")
@click.option("--a", type=Number(), help="Where A = KᵀQ is given: its largest rank; d when left out.")
@click.option("--skip", is_flag=True, help="The network has skip connections: each layer adds its input.")
@click.option("--normalization", type=click.Choice(("none", "softmax")), default="none", show_default=True)
@click.option("--tolerance", type=float, help="For effective ranks, relative; the precision of the stored type.")
@timeout_option
@form_options
def weights_command(file: Path, timeout: float | None, form: str, **options: Any) -> int:
    """Say what trained weights determine: ranks, orbits and singular functions, exactly; distances, numerically.

    FILE is .npz, .npy, .safetensors, .json, a state dict of PyTorch, or a folder of such files. Usual names of arrays
    need not be given. Without them, and where no names are known, the arrays in FILE are listed.
    """
    with within(timeout=timeout) as clock, progress(f"weights in {file.name}"):
        with importing():
            weights, contents = tool("weights"), tool("contents")
        try:
            listed = contents(file) if not any(options[name] for name in NAMES) else None
            result = weights(file, **options) if listed is None else listed
        except ConversionError as reason:
            raise click.UsageError(str(reason)) from None
        except InvalidCaseError as reason:
            if reason.option in options:
                raise
            raise click.UsageError(f"{file.name}: {reason.message}") from None
    code = show(result, form, clock)
    if listed is None:
        return code
    click.echo("Error: no usual names are in it: say --query NAME --key NAME --value NAME (--output NAME)", err=True)
    return USAGE
