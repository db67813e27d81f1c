"""The works to cite: this program, Macaulay2, and the papers whose statements are checked.

Nothing else names them in full; ``CITATION.cff`` and the metadata of the package say the same, and
a test compares them.
"""

from dataclasses import dataclass
from typing import Any

from m2bridge._version import __version__

AUTHORS = "The m2bridge authors"
TITLE = "Macaulay2 from Python for the algebraic geometry of neural networks"
YEAR = 2026
ADDRESS = ""
"""Where the program is published, empty before; a test asks metadata and ``CITATION.cff`` for the
same.
"""
PROGRAM = f"m2bridge {__version__}: {TITLE}"
HINT = "'m2bridge cite --format bibtex' for BibTeX"


@dataclass(frozen=True, slots=True)
class Work:
    """A paper, with its number at arXiv and the version that was read; or a program, as its authors
    want it cited.
    """

    authors: tuple[str, ...]
    title: str
    key: str
    year: int | None = None
    venue: str = ""
    arxiv: str = ""
    version: str = ""
    url: str = ""

    def __str__(self) -> str:
        published = " ".join(filter(None, (self.venue, str(self.year or ""))))
        place = f"arXiv:{self.arxiv}" if self.arxiv else self.url
        return ", ".join(filter(None, (*self.authors, self.title, published, place)))

    @property
    def _names(self) -> list[tuple[str, str]]:
        """The given and the family name of each author."""
        return [
            (given, family) for given, _, family in (name.rpartition(" ") for name in self.authors)
        ]

    def to_bibtex(self) -> str:
        """An entry for BibTeX and biber."""
        authors = [f"{{{name}}}" if self.year else name for name in self.authors]
        fields = {
            "author": (
                " and ".join(f"{family}, {given}" for given, family in self._names)
                if self.arxiv
                else " and ".join(authors)
            ),
            "title": f"{{{self.title}}}",
            "booktitle": self.venue,
            "version": self.version,
            "year": self.year,
            "eprint": self.arxiv.partition("v")[0],
            "archivePrefix": self.arxiv and "arXiv",
            "url": self.url,
        }
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
        return f"@{'inproceedings' if self.arxiv else 'misc'}{{{self.key},\n{lines}}}\n"

    def to_csl(self) -> dict[str, Any]:
        """An item of the Citation Style Language, as Zotero and pandoc read it."""
        people = [{"given": given, "family": family} for given, family in self._names]
        item: dict[str, Any] = {
            "id": self.key,
            "type": "paper-conference" if self.arxiv else "software",
            "title": self.title,
            "author": people if self.arxiv else [{"literal": name} for name in self.authors],
            "container-title": self.venue,
            "version": self.version,
            "issued": {"date-parts": [[self.year]]} if self.year else None,
            "number": self.arxiv and f"arXiv:{self.arxiv}",
            "URL": self.url,
        }
        return {name: value for name, value in item.items() if value}


M2BRIDGE = Work((AUTHORS,), PROGRAM, "m2bridge", YEAR, version=__version__, url=ADDRESS)
MACAULAY2 = Work(
    ("Daniel R. Grayson", "Michael E. Stillman"),
    "Macaulay2, a software system for research in algebraic geometry",
    "M2",
    url="https://macaulay2.com",
)
LIGHTNING = Work(
    ("Nathan W. Henry", "Giovanni Luca Marchetti", "Kathlén Kohn"),
    "Geometry of Lightning Self-Attention: Identifiability and Dimension",
    "henry2025geometry",
    2025,
    "ICLR",
    "2408.17221v2",
    url="https://arxiv.org/abs/2408.17221v2",
)
POLYNOMIAL_NETWORKS = Work(
    ("Joe Kileel", "Matthew Trager", "Joan Bruna"),
    "On the Expressive Power of Deep Polynomial Neural Networks",
    "kileel2019expressive",
    2019,
    "NeurIPS",
    "1905.12207",
    url="https://arxiv.org/abs/1905.12207",
)
WORKS: tuple[tuple[str, Work], ...] = (
    ("the program", M2BRIDGE),
    ("statements about attention", LIGHTNING),
    ("statements about polynomial networks", POLYNOMIAL_NETWORKS),
    ("what Macaulay2 computed", MACAULAY2),
)
"""The works, each with what it is cited for."""
