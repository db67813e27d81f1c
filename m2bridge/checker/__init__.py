"""The checker of certificates, which stands alone: this room and ``m2bridge/families/*/checker*``.

It computes the content of a certificate from scratch, and compares it, value by value, with what is stored.

It trusts Python and FLINT (arithmetic, ranks, Gröbner bases), the lemmas that a certificate lists as ``trusted``,
and: rank conditions generate prime ideals (Bruns, Vetter, *Determinantal Rings*); modulo a homogeneous ideal the last
variable is no zero divisor if it divides no leading monomial, graded reverse lexicographic (Bayer, Stillman 1987),
and the Hilbert series is that modulo leading monomials; bounds for networks (docs/polynomial_networks.md).

It shares with the program that makes certificates the form of the file (``m2bridge.certificate``: ``schema``,
``files``, ``difference``; strict JSON), the wording of statements and lemmas (``wording``, ``families/*/words.toml``),
errors, the number of the release, and no mathematics: all of it is written anew, by other methods where there are any.

It does not check the Macaulay2 program in a certificate, and what stands under ``reported``.
"""
