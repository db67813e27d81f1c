"""Folders of certificates. A folder that is named here is verified, altered and reported by all
tests that go through samples.
"""

COMPLETE = ("accepted", "all-sizes", "networks", "deep", "convolutional")
"""Folders of certificates that ``verify`` accepts."""

VERIFIED = (*COMPLETE, "accepted-on-trust")
"""Folders of certificates that ``verify`` accepts, on trust in Macaulay2 or in primes too."""
