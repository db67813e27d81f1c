"""A small atlas of all families, made with the site."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

from m2bridge.families.registry import family

FOLDER = "small-atlas"
COMMAND = ("m2bridge", "atlas", "--docs", "../..")


def questions(name: str) -> Iterator[str]:
    """The questions about the statements of a family that are decided together."""
    for statement in family(name).statements():
        if not getattr(statement, "separate_computation", False):
            yield statement.key


STATEMENTS = ",".join(dict.fromkeys((*questions("attention"), "polar-degrees")))
FIBRES = ",".join(dict.fromkeys(questions("convolutional-network")))
GRIDS = (
    ("--d", "1..2", "--d-out", "1..2"),
    # the closures of these take longer than all else of the site
    ("--d", "3", "--d-out", "1..2", "--check", STATEMENTS),
    ("--family", "deep-attention", "--widths", "2..3,1..2,1..2", "--a", "1"),
    ("--family", "polynomial-network", "--widths", "1..3,1..2,1..2"),
    ("--family", "convolutional-network", "--filters", "1..3,1..2", "--check", FIBRES),
)
"""The cases of each family; a folder that has an atlas gets further cases."""


def make(app: Sphinx, exception: Exception | None) -> None:
    """Write it beside the pages, which it refers to."""
    if exception is None and app.builder.format == "html":
        folder = str(Path(app.outdir) / FOLDER)
        for grid in GRIDS:
            subprocess.run([*COMMAND, *grid, folder], check=True, stdout=subprocess.DEVNULL)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("build-finished", make)
    return {"parallel_read_safe": True}
