"""What to cite: this program, and the papers whose statements it is about. Nothing else names them in full."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge._version import __version__

PROGRAM = f"m2bridge {__version__}: Macaulay2 from Python for the algebraic geometry of neural networks"


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper; ``arxiv`` is its number there, with the version that was read where one was."""

    authors: str
    title: str
    published: str
    arxiv: str

    def __str__(self) -> str:
        return f"{self.authors}, {self.title}, {self.published}, arXiv:{self.arxiv}"


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
