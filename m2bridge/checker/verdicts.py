"""Verdicts on statements, as certificates have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from m2bridge.certificate.schema import Content
from m2bridge.certificate.wording import Wording, Words

Json = dict[str, Any]


def verdict(words: Words, hypothesis: str | None, outcome: str, **found: Any) -> Json:
    """The verdict on one statement; ``hypothesis`` is the text of the first one that fails, if one does."""
    said: Json = {"predicted": None, "observed": None, "concerned": None, "failing": [], "undecided": []}
    said |= {"part": words.part, "text": words.text, "source": words.source, "hypothesis": hypothesis, "witness": None}
    return said | {"verdict": "NOT_APPLICABLE" if hypothesis else outcome} | found


def global_verdict(words: Words, hypothesis: str | None, predicted: int, observed: int | None) -> Json:
    """On a statement that predicts one number, or yes or no; ``None`` is what was not decided.

    Of special fibres there are none where 0 is observed, so what is said of them holds.
    """
    if observed is None:
        outcome = "UNDECIDED"
    else:
        vacuous = words.observable == "special_fibre_points" and observed == 0
        outcome = "CONFIRMED" if vacuous or observed == predicted else "REFUTED"
    return verdict(words, hypothesis, outcome, predicted=predicted, observed=observed)


def content(wording: Wording, key: str, verdicts: Sequence[Json], evidence: Json) -> Content:
    """Of a certificate on the statements with this key; it trusts the lemmas behind what is decided."""
    decided = [w for w, v in zip(wording.about(key), verdicts, strict=True) if v["verdict"] != "UNDECIDED"]
    lemmas = [lemma for words in decided for lemma in wording.trusted[words.observable]] if evidence else []
    return Content({"verdicts": list(verdicts)}, evidence, tuple(dict.fromkeys(lemmas)))
