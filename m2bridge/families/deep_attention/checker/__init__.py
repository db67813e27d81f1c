"""Deep attention: ranks at other points and modulo other primes, bounds and predictions of
docs/deep-attention.md.

For one head and no skip connections one block (docs/deep-attention.md#theorem-block); small
networks of lightning attention by the rank of the whole differential as well. Fibres by Gröbner
bases, the limit that is no network by its factors. Softmax with several heads or skip connections
is not decided.
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
    """The content of a certificate on the statements with a key."""
    case, about = read(certificate.case), WORDS.about(certificate.question)
    observations = {words.observable: observed(case, words.observable) for words in about}
    evidence = {
        observable: numbers for observable, (_, numbers) in sorted(observations.items()) if numbers
    }
    verdicts = []
    for words in about:
        predicted = prediction(case, words.key, words.part) if evidence else None
        fails = next(iter(hypotheses(case, words.key, words.part)), None)
        verdicts.append(global_verdict(words, fails, predicted, observations[words.observable][0]))
    return statements(WORDS, certificate.question, verdicts, evidence)


CHECKER = FamilyChecker("deep-attention", name, {key: expected for key, _ in STATEMENTS})
