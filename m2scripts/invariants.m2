-- Numerical invariants of an ideal J of a polynomial ring with the standard grading.
--
-- The Hilbert series is that of the initial ideal, which is the same for a homogeneous ideal; for others it is the
-- series of the projective closure divided by the homogenizing variable, with the same dimension and degree.
mbEmitInvariants = J -> (
    mbEmit("dimension", dim J);
    mbEmit("degree", degree J);
    numerator' := poincare monomialIdeal leadTerm gens gb J;
    mbEmit("hilbert_numerator", apply(listForm numerator', t -> {first first t, lift(last t, ZZ)}));)
