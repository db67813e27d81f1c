"""The checker of certificates about deep attention, by docs/deep-attention.md.

``predictions`` has the numbers of a network, upper bounds, and what statements predict by the
formulas that the program reads, too. ``observables`` computes what they are about: by ranks of
whole differentials, by one ``block`` for one head and no skip connections (theorem-block in
docs/deep-attention.md), ``fibres`` by Gröbner bases, and by its factors the limit that is not a
network (proposition-not-closed there).

Not decided here: softmax with several heads or skip connections.

*Notation.* A *statement* has a key, its number in the paper or its name in docs/statements.md, and
a part; it predicts the value of an *observable* of a network, such as its dimension. Its
*hypotheses* say of which networks. Each module of this package begins with its own notation.
"""

from typing import Any

from m2bridge.certificates.form import Certificate, Content
from m2bridge.checker import FamilyChecker, excluding_bound, global_verdict, statements
from m2bridge.families.deep_attention.checker.observables import observe
from m2bridge.families.deep_attention.checker.predictions import (
    WORDS,
    hypotheses,
    name,
    prediction,
    read,
)


def expected(certificate: Certificate) -> Content:
    """The content of a certificate on all statements with the key that it asks about.

    If none of their observables is computed, no prediction is given either.
    """
    network = read(certificate.case)
    statements_in_words = WORDS.listed(certificate.question, certificate.answer)
    values = {}
    evidence = {}
    for observable in sorted({words.observable for words in statements_in_words}):
        values[observable], numbers = observe(network, observable)
        # without numbers nothing was computed
        if numbers:
            evidence[observable] = numbers
    verdicts = []
    for words in statements_in_words:
        failing = hypotheses(network, words)
        predicted = prediction(network, words) if evidence else None
        observed: Any = values[words.observable]
        numbers = evidence.get(words.observable, {})
        if words.observable == "dimension" and observed is None and "rank" in numbers:
            observed = excluding_bound(
                certificate, words, predicted, numbers["rank"], numbers["upper_bound"]
            )
        verdict = global_verdict(
            words, hypothesis=next(iter(failing), None), predicted=predicted, observed=observed
        )
        verdicts.append(verdict)
    return statements(WORDS, statements_in_words, verdicts, evidence)


CHECKER = FamilyChecker(
    family="deep-attention",
    name=name,
    questions={words.key: expected for words in WORDS.statements},
    wordings=(WORDS,),
)
