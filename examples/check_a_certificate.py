"""A certificate is checked without Macaulay2, and one that says something else is rejected."""

from dataclasses import replace

from m2bridge import SingleLayerAttention, certify, verify

certificate = certify(SingleLayerAttention(d=2, d_out=1), "degree")
print(certificate.name, verify(certificate).outcome)
forged = replace(certificate, evidence={**certificate.evidence, "degree": 5}).sealed()
print("with another degree:", verify(forged).outcome)

# It prints:
#   d2-dout1-a2-t2 accepted
#   with another degree: rejected
