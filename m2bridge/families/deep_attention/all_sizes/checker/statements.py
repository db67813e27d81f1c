"""Verdicts on statements for all sizes, and the content of certificates."""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

from m2bridge.certificates.schema import Certificate, Content
from m2bridge.certificates.wording import Words, wording
from m2bridge.errors import CertificateError, ContradictionError
from m2bridge.families.deep_attention.all_sizes.checker.layers import identities, sums_agree
from m2bridge.families.deep_attention.checker.block import columns_and_rank, unseen
from m2bridge.families.deep_attention.checker.case import Case, upper_bound, virtual
from m2bridge.families.deep_attention.checker.case import name as case_name
from m2bridge.families.deep_attention.checker.observed import observed
from m2bridge.families.deep_attention.checker.predicted import WORDS as SAID
from m2bridge.families.deep_attention.checker.predicted import hypotheses, prediction

WORDS = wording(Path(__file__).parents[1] / "words.toml")
KINDS = {"3.5": "virtual_weights", "V": "virtual_weights", "3.6": "normal_form", "3.8": "lightning", "3.9": "softmax"}
KINDS |= {"3.10": "softmax", "L": "lightning", "S": "softmax"}
Json = dict[str, Any]


def name(case: Mapping[str, Any]) -> str:
    """There is one case, which no number names."""
    if case:
        raise CertificateError("all sizes at once: no number names the case")
    return "deep-attention-all-sizes"


@cache
def content(key: str) -> Content:
    """The content of a certificate on the statement with this key."""
    if not sums_agree():
        raise ContradictionError("the number of a layer is not the stated one")
    (words,) = SAID.about(key)
    said: Json = {"text": words.text, "source": words.source, "verdict": "CONFIRMED", "counterexample": None}
    return Content({"verdicts": [said | {"outside": outside(words)}]}, _evidence(), WORDS.trusted[KINDS[key]])


def _stored(key: str, certificate: Certificate) -> Content:
    return content(key)


QUESTIONS = {key: partial(_stored, key) for key in KINDS}


@cache
def _evidence() -> Json:
    """The identities, and the ranks of all blocks of at most three layers, for softmax at most two."""
    return {"identities": identities(), "blocks": [_block(case) for case in _blocks()]}


def _blocks() -> Iterator[Case]:
    kinds = [(layers, False, t) for layers in (1, 2, 3) for t in (1, 2)] + [(layers, True, 2) for layers in (1, 2)]
    for layers, softmax, t in kinds:
        for wide in range(layers + 1):
            for ranks in product((1, 2), repeat=wide):
                behind = layers - wide
                yield Case((2,) * wide + (1,) * (behind + 1), ranks + (1,) * behind, t, 1, False, softmax)


def _block(case: Case) -> Json:
    columns, rank = columns_and_rank(case)
    if rank != columns - unseen(case):
        raise ContradictionError(f"the kernel of {case} is larger than it always is")
    return {"network": _key(case), "columns": columns, "rank": rank}


def _key(case: Case) -> str:
    data = {"widths": [*case.d], "a": [*case.a], "t": case.t, "heads": 1, "skip": False}
    return case_name(data | {"normalization": "softmax" if case.softmax else "none"}).removeprefix("deep-attention-")


def outside(words: Words) -> list[Json]:
    """For each hypothesis the first small network that it alone excludes, and whose dimension is not the stated number.

    ContradictionError if none excludes such a network: then the statement is not what ``sums_agree`` compares.
    """
    found: dict[str, Json] = {}
    for case in _small(KINDS[words.key] == "softmax") if words.observable != "normal_form" else ():
        reasons, stated = hypotheses(case, words.key, words.part), prediction(case, words.key, words.part)
        known = virtual(case, len(case.a)) if words.observable == "virtual_weights" else upper_bound(case)
        if stated is None or stated == known:
            continue
        if not reasons:
            raise ContradictionError(f"{words.key} says {stated} for {_key(case)}, and the dimension is {known}")
        kind = reasons[0].split(";")[0]
        if len(reasons) == 1 and kind not in found:
            computed, _ = observed(case, words.observable)
            found[kind] = {"hypothesis": reasons[0], "network": _key(case), "computed": computed, "stated": stated}
    return list(found.values())


@cache
def _small(softmax: bool) -> tuple[Case, ...]:
    """At most three layers, widths and ranks at most three; the smallest sum of all numbers first."""
    numbers, found = (1, 2, 3), []
    for layers in numbers:
        for d, a, t in product(product(numbers, repeat=layers + 1), product(numbers, repeat=layers), (1, 2)):
            found.append(Case(d, a, t, 1, False, softmax))
    return tuple(
        sorted(found, key=lambda case: (sum(case.d) + sum(case.a) + case.t, len(case.a), case.d, case.a, case.t))
    )
