"""The checker of certificates about deep attention, by docs/deep-attention-programs.md.

``predictions`` has the numbers of a network, upper bounds and what statements predict;
``observables`` computes what they are about: by ranks of whole differentials, by one ``block`` for
one head and no skip connections (theorem-block in docs/deep-attention.md), ``fibres`` by Gröbner
bases, and by its factors the limit that is no network (proposition-not-closed there).

Not decided here: softmax with several heads or skip connections.
"""

from m2bridge.certificates.schema import Certificate, Content
from m2bridge.checker import FamilyChecker, global_verdict, statements
from m2bridge.families.deep_attention.checker.observables import observed
from m2bridge.families.deep_attention.checker.predictions import (
    STATEMENTS,
    WORDS,
    hypotheses,
    name,
    prediction,
    read,
)


def expected(certificate: Certificate) -> Content:
    """The content of a certificate on the statements with a key.

    Where nothing is computed, nothing is predicted either.
    """
    network = read(certificate.case)
    about = WORDS.about(certificate.question)
    values, evidence = {}, {}
    for observable in sorted({words.observable for words in about}):
        values[observable], numbers = observed(network, observable)
        if numbers:
            evidence[observable] = numbers
    verdicts = []
    for words in about:
        failing = hypotheses(network, words.key, words.part)
        first = failing[0] if failing else None
        predicted = None
        if evidence:
            predicted = prediction(network, words.key, words.part)
        verdicts.append(global_verdict(words, first, predicted, values[words.observable]))
    return statements(WORDS, WORDS.about(certificate.question), verdicts, evidence)


CHECKER = FamilyChecker("deep-attention", name, {key: expected for key, _ in STATEMENTS})
