"""The works to cite: this program, Macaulay2, and the papers whose statements are checked.

Nothing else names them in full; ``CITATION.cff`` and the metadata of the package say the same, and a
test compares them.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

from m2bridge._version import __version__

AUTHORS = "The m2bridge authors"
TITLE = "Macaulay2 from Python for the algebraic geometry of neural networks"
YEAR = 2026
PROGRAM = f"m2bridge {__version__}: {TITLE}"
HINT = "'m2bridge cite --format bibtex' for BibTeX"


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper; ``arxiv`` is its number there, with the version that was read where one was."""

    authors: str
    title: str
    published: str
    arxiv: str

    def __str__(self) -> str:
        return f"{self.authors}, {self.title}, {self.published}, arXiv:{self.arxiv}"

    @property
    def names(self) -> list[tuple[str, str]]:
        """Given and family name of each author."""
        return [(given, family) for given, _, family in (name.rpartition(" ") for name in self.authors.split(", "))]

    @property
    def key(self) -> str:
        """``henry2025geometry``."""
        first_word = self.title.removeprefix("On the ").split()[0]
        return f"{self.names[0][1]}{self.year}{first_word}".lower()

    @property
    def venue(self) -> str:
        """The conference or journal."""
        return self.published.rpartition(" ")[0]

    @property
    def year(self) -> int:
        """The year of publication."""
        return int(self.published.rpartition(" ")[2])

    @property
    def url(self) -> str:
        """Its page at arXiv."""
        return f"https://arxiv.org/abs/{self.arxiv}"

    def to_bibtex(self) -> str:
        """An entry for BibTeX and biber."""
        number, _, _ = self.arxiv.partition("v")
        fields = {
            "author": " and ".join(f"{family}, {given}" for given, family in self.names),
            "title": f"{{{self.title}}}",
            "booktitle": self.venue,
            "year": self.year,
            "eprint": number,
            "archivePrefix": "arXiv",
            "url": self.url,
        }
        return _entry("inproceedings", self.key, fields)

    def to_csl(self) -> dict[str, Any]:
        """An item of the Citation Style Language, as Zotero and pandoc read it."""
        return {
            "id": self.key,
            "type": "paper-conference",
            "title": self.title,
            "author": [{"given": given, "family": family} for given, family in self.names],
            "container-title": self.venue,
            "issued": {"date-parts": [[self.year]]},
            "number": f"arXiv:{self.arxiv}",
            "URL": self.url,
        }


@dataclass(frozen=True, slots=True)
class Software:
    """A program, by the words in which its authors want it cited."""

    key: str
    authors: tuple[str, ...]
    title: str
    version: str = ""
    year: int | None = None
    url: str = ""

    def __str__(self) -> str:
        said = (", ".join(self.authors), self.title, str(self.year or ""), self.url)
        return ", ".join(filter(None, said))

    def to_bibtex(self) -> str:
        """An entry for BibTeX and biber."""
        fields = {
            "author": " and ".join(f"{{{name}}}" if self.year else name for name in self.authors),
            "title": f"{{{self.title}}}",
            "version": self.version,
            "year": self.year,
            "url": self.url,
        }
        return _entry("misc", self.key, fields)

    def to_csl(self) -> dict[str, Any]:
        """An item of the Citation Style Language."""
        item: dict[str, Any] = {
            "id": self.key,
            "type": "software",
            "title": self.title,
            "author": [{"literal": name} for name in self.authors],
            "version": self.version,
            "issued": {"date-parts": [[self.year]]} if self.year else None,
            "URL": self.url,
        }
        return {name: value for name, value in item.items() if value}


Work: TypeAlias = Paper | Software


def _entry(kind: str, key: str, fields: dict[str, Any]) -> str:
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{key},\n{lines}}}\n"


M2BRIDGE = Software("m2bridge", (AUTHORS,), PROGRAM, __version__, YEAR)
MACAULAY2 = Software(
    "M2",
    ("Daniel R. Grayson", "Michael E. Stillman"),
    "Macaulay2, a software system for research in algebraic geometry",
    url="https://macaulay2.com",
)
LIGHTNING = Paper(
    "Nathan W. Henry, Giovanni Luca Marchetti, Kathlén Kohn",
    "Geometry of Lightning Self-Attention: Identifiability and Dimension",
    "ICLR 2025",
    "2408.17221v2",
)
POLYNOMIAL_NETWORKS = Paper(
    "Joe Kileel, Matthew Trager, Joan Bruna",
    "On the Expressive Power of Deep Polynomial Neural Networks",
    "NeurIPS 2019",
    "1905.12207",
)
WORKS: tuple[tuple[str, Work], ...] = (
    ("the program", M2BRIDGE),
    ("statements about attention", LIGHTNING),
    ("statements about polynomial networks", POLYNOMIAL_NETWORKS),
    ("what Macaulay2 computed", MACAULAY2),
)
"""The works, each with what it is cited for."""
