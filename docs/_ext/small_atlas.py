"""A small atlas, made with the site."""

from __future__ import annotations

import subprocess
from pathlib import Path

from sphinx.application import Sphinx

FOLDER = "small-atlas"
COMMAND = ("m2bridge", "atlas", "--d", "1..3", "--d-out", "1..2", "--docs", "../..")


def make(app: Sphinx, exception: Exception | None) -> None:
    """Write it beside the pages, which it refers to."""
    if exception is None and app.builder.format == "html":
        subprocess.run(
            [*COMMAND, str(Path(app.outdir) / FOLDER)], check=True, stdout=subprocess.DEVNULL
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("build-finished", make)
    return {"parallel_read_safe": True}
