"""Commands of README and docs, which their blocks say that a shell runs; those that the site's build runs; Python."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = ("", "sh", "bash", "console", "shell")
COMMAND = re.compile(r"(?:\$ )?((?:echo .*\| *)?m2bridge .*)")
COMMENT = re.compile(r"\s+#\s.*")
ON_SITE = re.compile(r"^```\{command-output\} (.*)$", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = "```"


def blocks(text: str) -> Iterator[list[str]]:
    """The lines of each block, fenced (of a language that a shell runs, or of none) or indented."""
    inside: str | None = None
    block: list[str] = []
    for line in [*text.replace("\\\n", " ").splitlines(), "end"]:
        if line.startswith(FENCE):
            if inside in SHELL:
                yield block
            block, inside = [], line.removeprefix(FENCE).strip() if inside is None else None
        elif inside is not None or line.startswith("    "):
            block.append(line.strip())
        elif block and line.strip():
            yield block
            block = []


def commands(block: list[str]) -> list[str]:
    """The commands of m2bridge in a block, without comments."""
    return [COMMENT.sub("", found[1]) for line in block if (found := COMMAND.fullmatch(line))]


def outputs(block: list[str]) -> dict[str, list[str]]:
    """The lines that a block shows below a command with a prompt, as its output, by the command."""
    found: dict[str, list[str]] = {}
    command = None
    for line in block:
        if line.startswith("$ "):
            command = (commands([line]) or [None])[0]
        elif command and line:
            found.setdefault(command, []).append(line)
    return found


def shown() -> dict[str, list[str]]:
    """The output that README and docs show, by the command; ``…`` stands for lines that are left out."""
    texts = (path.read_text(encoding="utf-8") for path in DOCUMENTS)
    return {command: lines for text in texts for block in blocks(text) for command, lines in outputs(block).items()}


def documented() -> dict[str, list[str]]:
    """The commands of each block that has any, by a name for the block: that of its document, and its first command."""
    return {
        f"{path.relative_to(ROOT)}: {found[0]}": found
        for path in DOCUMENTS
        for block in blocks(path.read_text(encoding="utf-8"))
        if (found := commands(block))
    }


def on_site() -> set[str]:
    """The commands whose output the site shows: building it runs them, and a wrong exit code is an error."""
    return {command for path in DOCUMENTS for command in ON_SITE.findall(path.read_text(encoding="utf-8"))}


def to_run() -> dict[str, list[str]]:
    """The blocks of README, and what those of ``docs/`` have besides: neither the site runs it nor a block before."""
    elsewhere, found = on_site(), {}
    for name, block in documented().items():
        new = block if name.startswith("README") else [command for command in block if command not in elsewhere]
        elsewhere |= set(block)
        if new:
            found[name] = new
    return found


def programs() -> dict[str, str]:
    """The Python of each document that no cell of the site is, by the name and the place of the block."""
    return {
        f"{path.relative_to(ROOT)}: {number}": found[1]
        for path in DOCUMENTS
        for number, found in enumerate(PYTHON.finditer(path.read_text(encoding="utf-8")), 1)
    }
