"""The checker of certificates, which stands alone.

These modules and the checkers of the families (``m2bridge/families/*/checker*``) are all of it: at most a thousand
lines, to be read from top to bottom. They compute the content of a certificate from scratch, without Macaulay2 and
without SymPy, and compare it, value by value, with what is stored.

What it trusts
    Python and FLINT (python-flint): arithmetic of integers and polynomials, ranks, Gröbner bases by Buchberger's
    algorithm. The lemmas that a certificate lists under ``trusted``, besides:

    * determinantal ideals are prime (Bruns, Vetter, *Determinantal Rings*, section 2);
    * a homogeneous ideal has no zero divisor c, the last variable, in its quotient if c divides no leading monomial in
      the graded reverse lexicographic order (Bayer, Stillman, Invent. Math. 87, 1987);
    * the Hilbert series of an ideal is that of its leading monomials (Macaulay);
    * the upper bounds for dimensions in docs/polynomial_networks.md.

What it shares with the program that makes certificates
    The form of the file (``m2bridge.certificate``: ``schema``, ``files``, ``difference``), the wording of statements
    and lemmas (``wording``, ``families/*/words.toml``), reading of strict JSON, errors, the number of the release. No
    mathematics: orbits and their representatives, fibres, ranks, degrees, predictions and ideals are written anew
    here, by other methods where there are any.

What it does not check
    The Macaulay2 program in a certificate and what stands under ``reported``.
"""
