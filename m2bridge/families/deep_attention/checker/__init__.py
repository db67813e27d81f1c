"""The checker of certificates about deep attention, by docs/deep-attention-programs.md.

``predictions`` has the numbers of a network, upper bounds and what statements predict;
``observables`` computes what they are about: by ranks of whole differentials, by one ``block`` for
one head and no skip connections (theorem-block in docs/deep-attention.md), ``fibres`` by Gröbner
bases, and by its factors the limit that is not a network (proposition-not-closed there).

Not decided here: softmax with several heads or skip connections.

*Notation.* A *statement* has a key, its number in the paper or its name in docs/statements.md, and
a part; it predicts the value of an *observable* of a network, such as its dimension. Its
*hypotheses* say of which networks. Each module of this package begins with its own notation.
"""

from typing import Any

from m2bridge.certificates.form import Certificate, Content
from m2bridge.certificates.wording import Words
from m2bridge.checker import FamilyChecker, global_verdict, statements
from m2bridge.families.deep_attention.checker.observables import observe
from m2bridge.families.deep_attention.checker.predictions import (
    STATEMENTS,
    WORDS,
    Network,
    hypotheses,
    name,
    prediction,
    read,
)


def expected(certificate: Certificate) -> Content:
    """The content of a certificate on all statements with the key that it asks about.

    The observables of these statements are recomputed for the network of the certificate, and
    each statement is compared with what it predicts. If none of the observables is computed, no
    prediction is given either.
    """
    network = read(certificate.case)
    # all statements with this key, each in the words of the certificate
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
        predicted = prediction(network, words.key, words.part) if evidence else None
        verdicts.append(_verdict(network, words, predicted, observed=values[words.observable]))
    return statements(WORDS, statements_in_words, verdicts, evidence)


def _verdict(
    network: Network, words: Words, predicted: int | None, observed: int | None
) -> dict[str, Any]:
    """The verdict on the statement in these words, with the first of its hypotheses that fails.

    ``predicted`` and ``observed`` are the values of its observable; None for one that is not known.
    """
    failing = hypotheses(network, words.key, words.part)
    # None says that all hypotheses hold
    first_failing = failing[0] if failing else None
    return global_verdict(words, hypothesis=first_failing, predicted=predicted, observed=observed)


CHECKER = FamilyChecker(
    family="deep-attention",
    name=name,
    questions={key: expected for key, _ in STATEMENTS},
    wordings=(WORDS,),
)
