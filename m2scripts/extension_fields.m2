-- The wire format for polynomials over frac of a polynomial ring, and over toField of a quotient by one polynomial:
--   field = ["Extension",field,[[base,indices..],..],terms], with the polynomial, or no terms for fractions;
--   there a coefficient is terms, or [terms,terms] for a fraction.

mbBelow = k -> last k.baseRings
mbIsExtension = k -> (
    instance(k, FractionField) and instance(mbBelow k, PolynomialRing)
    or instance(k, PolynomialRing) and isField k and instance(mbBelow k, QuotientRing)
        and instance(ambient mbBelow k, PolynomialRing) and numgens ideal mbBelow k == 1)

mbPlainField = mbField
mbField = k -> if mbIsExtension k then (
    A := ambient mbBelow k;
    variables := mbArray apply(gens A, x -> mbVariable baseName x);
    relation := if instance(k, FractionField) then "[]" else mbTerms (ideal mbBelow k)_0;
    mbArray {"\"Extension\"", mbField coefficientRing A, variables, relation}) else mbPlainField k

mbFraction = c -> mbArray {mbTerms numerator c, mbTerms denominator c}
mbRoot = c -> (
    A := mbBelow ring c;
    mbTerms lift(lift(c, A), ambient A))

mbPlainTerms = mbTerms
mbTerms = f -> (
    k := coefficientRing ring f;
    if not mbIsExtension k then mbPlainTerms f
    else (
        write := if instance(k, FractionField) then mbFraction else mbRoot;
        mbArray apply(listForm f, t -> concatenate("[[", demark(",", apply(first t, mbExponent)), "],", write last t, "]"))))
