"""Commands of README and docs: lines of their blocks that a shell would run."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = re.compile(r"(?:\$ )?((?:echo .*\| *)?m2bridge .*?)(?:\s{2,}#.*)?")


def blocks(text: str) -> Iterator[list[str]]:
    """The lines of each block, fenced or indented; a line that ends with a backslash goes on."""
    lines = iter(text.replace("\\\n", " ").splitlines())
    block: list[str] = []
    for line in lines:
        if line.startswith("```"):
            language = line.removeprefix("```").strip()
            inside = []
            for inner in lines:
                if inner.startswith("```"):
                    break
                inside.append(inner)
            if language in ("", "sh", "bash", "console", "shell"):
                yield inside
        elif line.startswith("    "):
            block.append(line.strip())
            continue
        if block and line.strip():
            yield block
            block = []
    yield block


def commands(block: list[str]) -> list[str]:
    """The commands of m2bridge in a block, without the comments at their ends."""
    return [found[1] for line in block if (found := COMMAND.fullmatch(line.strip()))]


def documented() -> dict[str, list[str]]:
    """The commands of each block that has any, by a name for the block."""
    return {
        f"{path.relative_to(ROOT)}-{number}": found
        for path in DOCUMENTS
        for number, block in enumerate(blocks(path.read_text(encoding="utf-8")))
        if (found := commands(block))
    }
