"""Commands of README and docs: what their blocks say that a shell runs."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = ("", "sh", "bash", "console", "shell")
COMMAND = re.compile(r"(?:\$ )?((?:echo .*\| *)?m2bridge .*)")
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
    """The commands of m2bridge in a block."""
    return [found[1] for line in block if (found := COMMAND.fullmatch(line))]


def documented() -> dict[str, list[str]]:
    """The commands of each block that has any, by a name for the block: that of its document, and its first command."""
    return {
        f"{path.relative_to(ROOT)}: {found[0]}": found
        for path in DOCUMENTS
        for block in blocks(path.read_text(encoding="utf-8"))
        if (found := commands(block))
    }
