"""Why the number of critical points of training is not known, in words."""

import pytest

from m2bridge import SingleLayerAttention
from m2bridge.families.attention.observations.learning_degree import (
    ObservedLearningDegree,
    observe_learning_degree,
)
from m2bridge.families.attention.training_loss.counting import Count, Counts

SEVERAL_TOKENS = SingleLayerAttention(d=2, d_out=1)
IN_FAMILIES = Counts(Count(dense=None, elsewhere=None), (16411, 16417))


@pytest.mark.parametrize(
    ("observed", "reason"),
    [
        (
            observe_learning_degree(SingleLayerAttention(d=2, d_out=1, t=1), {"learning_degree"}),
            "nothing is counted for one token",
        ),
        (ObservedLearningDegree(model=SEVERAL_TOKENS, limit="time limit"), "time limit"),
        (
            ObservedLearningDegree(model=SEVERAL_TOKENS, counts=IN_FAMILIES),
            "no number was counted, as critical points come in families",
        ),
    ],
)
def test_reasons(observed: ObservedLearningDegree, reason: str) -> None:
    assert observed.value("learning_degree") is None
    assert observed.unknown("learning_degree") == reason
