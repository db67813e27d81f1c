"""``m2bridge cite``: how to cite the program and the papers."""

from __future__ import annotations

import json

import click

from m2bridge.citation import WORKS
from m2bridge.cli.output import DONE, echo_json


def _text() -> str:
    return "\n".join(f"For {reason}:\n    {work}" for reason, work in WORKS)


def _bibtex() -> str:
    return "\n".join(f"% for {reason}\n{work.to_bibtex()}" for reason, work in WORKS).rstrip()


def _json() -> str:
    return json.dumps([work.to_csl() | {"note": f"For {reason}"} for reason, work in WORKS], ensure_ascii=False)


FORMS = {"text": _text, "bibtex": _bibtex, "json": _json}


@click.command("cite", epilog="Example: m2bridge cite --format bibtex")
@click.option("--format", "form", type=click.Choice(list(FORMS)), default="text", show_default=True, help="How.")
@click.option(
    "--json", "form", flag_value="json", help="The same as --format json: a list for CSL, which Zotero reads."
)
def cite_command(form: str) -> int:
    """How to cite m2bridge, and the papers behind it."""
    text = FORMS[form]()
    echo_json(text) if form == "json" else click.echo(text)
    return DONE
