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
"""The address of the published program; empty before its publication."""
PROGRAM = f"m2bridge {__version__}: {TITLE}"
HINT = "'m2bridge cite --format bibtex' for BibTeX"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A paper on arXiv, with the version that was read, or a program.

    Parameters
    ----------
    authors : tuple of str
        Names, the family name last; for a program perhaps the name of a group.
    title : str
    key : str
        The name of the entry in BibTeX.
    year : int or None
    venue : str
        The conference at which a paper was published; empty for a program.
    arxiv : str
        The number of a paper on arXiv; empty for a program.
    version : str
        The version of a program; the version of a paper is part of ``arxiv``: ``2408.17221v2``.
    url : str
        The address; empty if there is none.
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
        """Authors, title, venue with year, and number in arXiv or address, where they are known."""
        published = self.venue
        if self.year is not None:
            published = f"{self.venue} {self.year}".strip()
        place = self.url
        if self.arxiv:
            place = f"arXiv:{self.arxiv}"
        parts = (*self.authors, self.title, published, place)
        return ", ".join(part for part in parts if part)

    @property
    def _names(self) -> list[tuple[str, str]]:
        """The pair of the given and the family name of each author."""
        names = []
        for name in self.authors:
            # the family name is the last word
            given_name, _, family = name.rpartition(" ")
            names.append((given_name, family))
        return names

    def to_bibtex(self) -> str:
        """Return an entry for BibTeX and biber; fields that are empty are left out."""
        fields = {
            "author": self._bibtex_authors(),
            "title": f"{{{self.title}}}",
            "booktitle": self.venue,
            "version": self.version,
            "year": self.year,
            # without its version, such as v2
            "eprint": self.arxiv.partition("v")[0],
            "archivePrefix": "arXiv" if self.arxiv else "",
            "url": self.url,
        }
        kind = "inproceedings" if self.arxiv else "misc"
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
        return f"@{kind}{{{self.key},\n{lines}}}\n"

    def _bibtex_authors(self) -> str:
        """Return the authors as BibTeX reads them: of a paper with the family names first."""
        if self.arxiv:
            return " and ".join(f"{family}, {given_name}" for given_name, family in self._names)
        if self.year:  # m2bridge itself, the only program here with a year
            # Its authors are a group: braces keep BibTeX from splitting the name.
            return " and ".join(f"{{{name}}}" for name in self.authors)
        return " and ".join(self.authors)

    def to_csl(self) -> dict[str, Any]:
        """Return an item of the Citation Style Language, as Zotero and pandoc read it.

        Fields that are empty are left out.
        """
        item: dict[str, Any] = {
            "id": self.key,
            "type": "software",
            "title": self.title,
            "author": [{"literal": name} for name in self.authors],
            "container-title": self.venue,
            "version": self.version,
            "issued": {"date-parts": [[self.year]]} if self.year else None,
            "number": f"arXiv:{self.arxiv}" if self.arxiv else "",
            "URL": self.url,
        }
        if self.arxiv:
            item["type"] = "paper-conference"
            item["author"] = [
                {"given": given_name, "family": family} for given_name, family in self._names
            ]
        return {name: value for name, value in item.items() if value}


M2BRIDGE = Work(
    authors=(AUTHORS,), title=PROGRAM, key="m2bridge", year=YEAR, version=__version__, url=ADDRESS
)
MACAULAY2 = Work(
    authors=("Daniel R. Grayson", "Michael E. Stillman"),
    title="Macaulay2, a software system for research in algebraic geometry",
    key="M2",
    url="https://macaulay2.com",
)
LIGHTNING = Work(
    authors=("Nathan W. Henry", "Giovanni Luca Marchetti", "Kathlén Kohn"),
    title="Geometry of Lightning Self-Attention: Identifiability and Dimension",
    key="henry2025geometry",
    year=2025,
    venue="ICLR",
    arxiv="2408.17221v2",
    url="https://arxiv.org/abs/2408.17221v2",
)
POLYNOMIAL_NETWORKS = Work(
    authors=("Joe Kileel", "Matthew Trager", "Joan Bruna"),
    title="On the Expressive Power of Deep Polynomial Neural Networks",
    key="kileel2019expressive",
    year=2019,
    venue="NeurIPS",
    arxiv="1905.12207",
    url="https://arxiv.org/abs/1905.12207",
)
CONVOLUTIONAL_NETWORKS = Work(
    authors=("Vahid Shahverdi", "Giovanni Luca Marchetti", "Kathlén Kohn"),
    title="On the Geometry and Optimization of Polynomial Convolutional Networks",
    key="shahverdi2025geometry",
    year=2025,
    venue="AISTATS",
    arxiv="2410.00722v2",
    url="https://arxiv.org/abs/2410.00722v2",
)
WORKS: tuple[tuple[str, Work], ...] = (
    ("the program", M2BRIDGE),
    (
        "statements about attention, read from version 2 (a version 3 of June 2026 was not read)",
        LIGHTNING,
    ),
    ("statements about polynomial networks", POLYNOMIAL_NETWORKS),
    (
        "statements about convolutional networks, announced in the abstract of version 2",
        CONVOLUTIONAL_NETWORKS,
    ),
    ("what Macaulay2 computed", MACAULAY2),
)
"""The works, each with the reason for which it is cited."""
