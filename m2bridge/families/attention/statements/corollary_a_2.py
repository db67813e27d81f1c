"""Corollary A.2: the parametrization is birational."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements.statement import about_the_whole, paper_hypotheses


def _birational(model: SingleLayerAttention) -> bool:
    return True


def _special_fibre_points(model: SingleLayerAttention) -> int:
    return 2


STATEMENTS = (
    about_the_whole("A.2", "birational", predict=_birational, hypotheses=paper_hypotheses),
    about_the_whole("A.2", "special fibres", predict=_special_fibre_points, hypotheses=paper_hypotheses, nothing=0),
)
