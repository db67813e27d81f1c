"""Commands and outputs as a terminal shows them.

Cells of a shell have a prompt, and not the word that Jupyter needs. Long sentences in outputs go on
below where they began, as do those in the last column of a table. A block that is still wider than
the page scrolls, and much longer lines go on below; letters stay large enough to be read. In
running text and tables names of options, and numbers with their units, stay whole.
"""

from __future__ import annotations

import re
import textwrap

from docutils import nodes
from sphinx.application import Sphinx

from m2bridge.reports.forms import TEXT_LINE_CHARS

MAGIC = "%%bash\n"
WIDTH = 86
"""Characters that fit beside one another on the page."""
CODE = (
    "bash",
    "console",
    "docker",
    "doctest",
    "ipython3",
    "json",
    "macaulay2",
    "py",
    "pycon",
    "python",
    "sh",
    "toml",
    "yaml",
)
"""Languages in which a break of a line may mean something."""
COMMAND = re.compile(r"(\$|m2bridge|python3?|bash|\.venv/bin/\S+) ")
"""How a line begins that is typed, and no output."""
OPTION = re.compile(r"--?[\w-]{1,24}")
MAX_BEFORE = 58
"""Characters before the last column of a table, beside which a sentence is folded."""
LAST_COLUMN = re.compile(r"(?P<before>(?: *|.*\S {2,})(?:→ )?)(?P<words>\S+(?: \S+)+)")
"""A line that ends in words with single spaces, after indentation or other columns."""
RULE = re.compile("[ ─]+")
"""The line below the header of a table."""
MOST = 128
"""Characters of a line that can be scrolled; longer ones go on below."""
RELATION = re.compile(r"(?<=\w) ([=≤]) (?=\S)")
UNIT = re.compile(r"(?<=\d) (?=(s|MB|MiB|GB)\b)")
UNBROKEN = "\N{NO-BREAK SPACE}"
VERBATIM = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)
"""Elements whose text is shown letter by letter."""


def shown(app: Sphinx, document: nodes.document) -> None:
    """Write commands and outputs anew."""
    for block in list(document.findall(nodes.literal_block)):
        text = block.astext()
        language = block.get("language", "none")
        if text.startswith(MAGIC):
            lines = text.removeprefix(MAGIC).splitlines()
            typed = "\n".join(line if line.startswith(" ") else f"$ {line}" for line in lines)
            attributes = {**block.attributes, "language": "console"}
            block.replace_self(nodes.literal_block(typed, typed, **attributes))
        elif language not in CODE and any(len(line) > WIDTH for line in text.splitlines()):
            folded = "\n".join(map(fold, joined(text.split("\n"))))
            block.replace_self(nodes.literal_block(folded, folded, **block.attributes))
    for block in document.findall(nodes.literal_block):
        block["classes"] += width_classes(block.astext())
    for words in list(document.findall(nodes.Text)):
        if not isinstance(words.parent, VERBATIM):
            words.parent.replace(words, nodes.Text(UNIT.sub(UNBROKEN, words)))
    for name in document.findall(nodes.literal):
        if OPTION.fullmatch(name.astext()):
            name["classes"].append("unbroken")


def width_classes(text: str) -> list[str]:
    """Return the class of a block whose lines do not fit on the page, if it has any."""
    widest = max(map(len, text.splitlines()), default=0)
    if widest <= WIDTH:
        return []
    return ["wide"] if widest <= MOST else ["wide", "wrapped"]


def joined(lines: list[str]) -> list[str]:
    """Return lines, where those of a paragraph that is wider than the page are one."""
    found: list[str] = []
    for place, line in enumerate(lines):
        if place > 0 and goes_on(lines[place - 1], line):
            found[-1] += f" {line}"
        else:
            found.append(line)
    return found


def goes_on(line: str, following: str) -> bool:
    """Whether two lines belong to a paragraph of a report that is wider than the page.

    Such a line is filled: the first word of the following one did not fit. Lines that a program
    printed one by one are not.
    """
    if not (is_prose(line) and is_prose(following)):
        return False
    with_next_word = f"{line} {following.partition(' ')[0]}"
    return WIDTH < len(line) <= TEXT_LINE_CHARS < len(with_next_word)


def is_prose(line: str) -> bool:
    """Whether a line consists of words with single spaces, and is no command."""
    return re.fullmatch(r"\S+(?: \S+)*", line) is not None and COMMAND.match(line) is None


def fold(line: str) -> str:
    """Return a line, on several if it is a long sentence; ``t = 2`` and ``0.1 s`` stay whole."""
    if len(line) <= WIDTH or COMMAND.match(line) is not None:
        return line
    if RULE.fullmatch(line):  # it is cut where the last column is folded
        return line[:WIDTH] if line.rindex(" ") < MAX_BEFORE else line
    sentence = LAST_COLUMN.fullmatch(line)
    if sentence is None or len(sentence["before"]) > MAX_BEFORE:
        return line
    if sentence["words"].startswith("# "):  # a comment stands beside its command
        return line
    together = RELATION.sub(" \\1 ".replace(" ", UNBROKEN), sentence["words"])
    together = UNIT.sub(UNBROKEN, together)
    filled = textwrap.fill(
        together,
        width=WIDTH,
        initial_indent=sentence["before"],
        subsequent_indent=" " * len(sentence["before"]),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace(UNBROKEN, " ")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it for each page, after programs have run."""
    app.connect("doctree-read", shown, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
