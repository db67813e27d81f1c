"""The whole road without Macaulay2: computations answered from recorded transcripts."""

import pytest

from m2bridge import SingleLayerAttention, closure, singular_locus
from m2bridge.engine.protocol import Engine
from m2bridge.errors import EngineNotFoundError
from tests.remembering import RecordedEngine


def test_closure(recorded: Engine) -> None:
    found = closure(SingleLayerAttention(2, 2), engine=recorded)
    assert (found.dimension, found.degree, str(found.completeness)) == (7, 20, "proved")
    assert found.ideal is not None
    assert found.ideal.generator_degrees == {2: 5, 4: 10}
    assert "5 quadrics, 10 quartics" in found.to_text()
    assert found.to_json()["hilbert_series"] == {"numerator": [1, 5, 10, 10, -5, -1], "denominator_exponent": 7}


def test_singular_locus(recorded: Engine) -> None:
    found = singular_locus(SingleLayerAttention(2, 1), engine=recorded, method="all", ideals=True)
    assert found.dimension == 4
    assert r"$\operatorname{Sing} = \overline{\mathcal O_{(1,1,0)}}\;(\dim 4,\ \deg 3)$" in found.to_latex()
    assert r"$f_{3} = c_{" in found.to_latex()  # the ideal of the component
    assert "\n    c_1_1_2_2*c_1_2_1_1 - c_1_1_1_1*c_1_2_2_2\n" in found.to_text()
    assert "3 quadrics" in found.to_text()


def test_a_script_that_was_never_recorded(recorded: Engine) -> None:
    if isinstance(recorded, RecordedEngine):
        with pytest.raises(EngineNotFoundError, match="no transcript"):
            closure(SingleLayerAttention(3, 3), engine=recorded, strategy="elimination")
