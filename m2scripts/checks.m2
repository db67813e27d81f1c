-- Checks of answers about ideals, and intersections and quotients by elimination.
--
-- An answer is emitted first and checked then, by identities that follow from what it is the answer to. They cost
-- remainders modulo Groebner bases that the answer needed or nearly is; what takes a new long computation is not checked.
-- "failed_checks" is emitted only if there are some, each in words.

-- Checks are pairs of words and a function that returns whether this is true.
mbEmitFailedChecks = checks -> (
    failed := for check' in checks list if (last check')() then continue else first check';
    if #failed > 0 then mbEmit("failed_checks", failed);)

-- Are all entries of a matrix in an ideal?
mbLieIn = (elements, I) -> elements % I == 0

-- The same for products of the generators of two ideals, of which at most about a thousand are taken.
mbProductsLieIn = (J, Q, I) -> (
    most := max(1, 1000 // max(1, numgens Q));
    some' := (gens J)_(toList(0 .. min(most, numgens J) - 1));
    mbLieIn(some' ** gens Q, I))

-- The ring with a further variable, which is the largest and can be eliminated, and the map into it.
mbWithParameter = R -> (
    n := numgens R;
    S := (coefficientRing R)(monoid [Variables => n + 1, MonomialOrder => Eliminate 1]);
    (S, map(S, R, drop(gens S, 1))))

-- Is f in I : g^infinity? A small power of g shows it; else f is in the ideal of I and 1 - t g.
mbLiesInSaturation = (f, I, g) -> (
    rest := f % I;
    for n from 1 to 20 do (
        if rest == 0 then return true;
        rest = (rest * g) % I);
    (S, toS) := mbWithParameter ring I;
    toS f % (toS I + ideal(1 - S_0 * toS g)) == 0)

mbIsNilpotent = (f, I) -> mbLiesInSaturation(1_(ring I), I, f)

-- A combination of the generators, an element that is seldom in another prime ideal.
mbCombination = J -> sum(numgens J, i -> (2 * i + 1) * J_i)
mbDegree = f -> if f == 0 then 0 else max apply(listForm f, term' -> sum first term')

-- Does each element that lies in all of these ideals have a power in I? Tried by one product, where its degree is small.
mbHaveNilpotentProduct = (ideals, I) -> (
    factors := apply(ideals, mbCombination);
    if sum(factors, mbDegree) > 12 then return true;
    mbIsNilpotent(fold((f, g) -> (f * g) % I, 1_(ring I), factors), I))

-- The same for I : J^infinity, of all generators of which the products with powers of those of J lie in I.
mbPowersLieIn = (J, saturation', I) -> (
    most := max(1, 100 // max(1, numgens saturation'));
    some' := take(J_*, most);
    all(saturation'_*, f -> all(some', g -> mbLiesInSaturation(f, I, g))))

-- Is a product of elements of these ideals, of small degree, in I?
mbProductLiesIn = (ideals, I) -> (
    factors := apply(toList ideals, mbCombination);
    sum(factors, mbDegree) > 12 or fold((f, g) -> (f * g) % I, 1_(ring I), factors) % I == 0)

-- Is Q all of the ideal of those g for which each g f_i is in I_i? It lies in this ideal by other checks. Then R/Q has the
-- Hilbert series of the submodule of the sum of all R/I_i that the column of the f_i generates: the series of the sum less the
-- series of what is left of it modulo the column. The Groebner basis that this takes is the one of the syzygies by which
-- quotients and intersections are found. Not tried of ideals that are not homogeneous, nor of many.
mbIsAll = (Q, elements, ideals) -> (
    places := select(toList(0 .. #elements - 1), i -> elements#i != 0);
    if #places > 8 or not all(append(ideals, Q), isHomogeneous) or not all(elements, isHomogeneous) then return true;
    if #places == 0 then return Q == 1;
    -- each R/I_i in the degrees in which the column has the degree 0
    relations := directSum apply(places, i -> (ring Q)^{degree elements#i} ** gens ideals#i);
    column := map(target relations, (ring Q)^1, matrix apply(places, i -> {elements#i}));
    poincare coker gens Q == poincare coker relations - poincare coker (column | relations))

mbAreIncomparable = (P, Q) -> not mbLieIn(gens P, Q) and not mbLieIn(gens Q, P)

-- Do these ideals, each of which contains I, intersect in I? Not tried if they are many.
mbIntersectIn = (ideals, I) -> (
    #ideals > 8 or (
        if #ideals == 0 then I == 1 else mbLieIn(gens intersect ideals, I)))

-- By elimination, Cox, Little, O'Shea, Ideals, Varieties, and Algorithms, section 4.3: I and J meet in the elements of
-- t I + (1 - t) J without t. The syzygies that Macaulay2 uses give false quotients over ZZ.
mbMeet = (I, J) -> (
    (S, toS) := mbWithParameter ring I;
    back := map(ring I, S, prepend(0_(ring I), gens ring I));
    both := S_0 * toS I + (1 - S_0) * toS J;
    ideal back selectInSubring(1, gens gb both))

-- I : f has the elements of (I meet (f)) / f, and I : J is where all I : f meet, f the generators of J.
mbQuotientByElement = (I, f) -> (
    if f == 0 then return ideal 1_(ring I);
    multiples := first entries gens mbMeet(I, ideal f);
    ideal gens gb ideal matrix(ring I, {apply(multiples, g -> g // f)}))
mbQuotient = (I, J) -> fold(mbMeet, ideal 1_(ring I), apply(J_*, f -> mbQuotientByElement(I, f)))

-- I : f^infinity by quotients until they stay the same.
mbSaturationByElement = (I, f) -> (
    while (larger := mbQuotientByElement(I, f); not isSubset(larger, I)) do I = larger;
    I)
mbSaturation = (I, J) -> fold(mbMeet, ideal 1_(ring I), apply(J_*, f -> mbSaturationByElement(I, f)))
