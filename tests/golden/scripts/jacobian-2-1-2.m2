-- The singular locus of an irreducible variety by the Jacobian criterion:
-- neuromanifold of lightning self-attention, (d, d', a) = (2, 1, 2), t = 2.
scan({"Elimination", "Saturation", "MinimalPrimes"}, needsPackage)

-- The source: parameters.
sourceRing = QQ[A_(1,1), A_(1,2), A_(2,1), A_(2,2), V_(1,1), V_(1,2)]
images = {A_(1,1)*V_(1,1),
    A_(2,1)*V_(1,1)+A_(1,1)*V_(1,2),
    A_(2,1)*V_(1,2),
    A_(1,2)*V_(1,1),
    A_(2,2)*V_(1,1)+A_(1,2)*V_(1,2),
    A_(2,2)*V_(1,2)}

-- The target. Each coordinate has the degree of its image, so that the map preserves degrees and the
-- elimination can use the Hilbert function.
targetRing = QQ[c_(1,1,1,1), c_(1,1,1,2), c_(1,1,2,2), c_(1,2,1,1), c_(1,2,1,2), c_(1,2,2,2), Degrees => {2, 2, 2, 2, 2, 2}]
kernelIdeal = trim kernel map(sourceRing, targetRing, images)

-- The same ideal in the standard grading.
coordinateRing = QQ[c_(1,1,1,1), c_(1,1,1,2), c_(1,1,2,2), c_(1,2,1,1), c_(1,2,1,2), c_(1,2,2,2)]
closureIdeal = sub(kernelIdeal, coordinateRing)

-- The singular locus of a variety by the Jacobian criterion, with as few minors as prove it.
--
-- Let J be the Jacobian matrix of a prime ideal P of codimension c, over a perfect field. For a prime ideal Q that
-- contains P, V(Q) lies in the singular locus of V(P) if the rank of J over the fraction field of R/Q is less than c.
-- Otherwise some minor of size c is not in Q, and what the locus has in V(Q) lies in the V(Q'), Q' the minimal primes
-- of Q and that minor and others. So V(P) is the root of a tree, which is finite because R is noetherian, and the
-- locus is the union of its leaves. Which minors are added besides decides about time only.

-- A minor of size c that is not in the prime Q, with its rows and columns, or null if there is none. A minor grows by a
-- row and a column as long as one of those that contain it is not in Q; if none is, the rank is its size (Kronecker),
-- because R/Q is a domain.
minorOutside = (J, c, Q) -> (
    reduced' := matrix(ring Q, apply(entries J, row -> apply(row, f -> f % Q)));
    rows' := {};
    columns' := {};
    minor' := 1_(ring Q);
    while #rows' < c do (
        places := sort flatten for i from 0 to numrows J - 1 list if member(i, rows') then continue else
            for j from 0 to numcols J - 1 list if member(j, columns') then continue else (size reduced'_(i,j), i, j);
        next := scan(places, (terms, i, j) -> (
            larger := det(submatrix(reduced', append(rows', i), append(columns', j)), Strategy => Cofactor) % Q;
            if larger != 0 then break (i, j, larger)));
        if next === null then return null;
        rows' = append(rows', next#0);
        columns' = append(columns', next#1);
        minor' = next#2);
    (minor', rows', columns'))

-- The minors modulo Q whose rows and columns are these, but for one row or one column.
minorsBeside = (J, Q, rows', columns') -> (
    exchanged := (chosen, count') -> flatten for place from 0 to #chosen - 1 list
        for j from 0 to count' - 1 list if member(j, chosen) then continue else replace(place, j, chosen);
    reduced' := matrix(ring Q, apply(entries J, row -> apply(row, f -> f % Q)));
    places := join(
        apply(exchanged(rows', numrows J), others -> (others, columns')),
        apply(exchanged(columns', numcols J), others -> (rows', others)));
    apply(places, (rows'', columns'') ->
        det(submatrix(reduced', rows'', columns''), Strategy => Cofactor) % Q))

-- The locus in V(Q) as the variety of an ideal: Q, the given minor, and others, some at a time until the dimension stays
-- the same twice, or is that of the points where J is zero. FastMinors chooses those of the lowest entries. A few minors
-- of high degree have Groebner bases that are larger than those of many, so more are taken where the entries of J are
-- not linear. Where the lowest entries have only minors that are zero modulo Q, as on P2 x E for a cubic E, the next are
-- those of least entries in orders that are lexicographic in the variables, and if these are zero too, as for Fermat's
-- cubic, those beside the given one, of which many are not. What is zero modulo Q is zero modulo all primes that contain
-- it, so those steps do not ask again: failed#"choices" counts the choices that had zeros only.
cutByMinors = (J, c, Q, minor', rows', columns', failed) -> (
    fastMinors := (needsPackage "FastMinors").Dictionary;
    chosenMinors := value fastMinors#"chooseGoodMinors";
    least := dim(Q + ideal J);
    entryDegree := max apply(flatten entries J, f -> if f == 0 then 0 else first degree f);
    most := min(60, 10 * (max(1, entryDegree))^2);
    byEntries := name -> () -> apply(
        first entries gens chosenMinors(most, c, J, Q, Strategy => value fastMinors#name), f -> f % Q);
    choices := {
        byEntries "StrategyGRevLexSmallest",
        byEntries "StrategyLexSmallest",
        () -> minorsBeside(J, Q, rows', columns')};
    cut := Q + ideal minor';
    size' := dim cut;
    same := 0;
    while same < 2 and size' > least do (
        further := (choices#(failed#"choices"))();
        if failed#"choices" < #choices - 1 and all(further, f -> f == 0) then
            failed#"choices" = failed#"choices" + 1
        else (
            cut = cut + ideal further;
            if dim cut == size' then same = same + 1 else (size' = dim cut; same = 0)));
    cut)

-- The minimal primes of an ideal. A cone of dimension zero is the origin, which takes no decomposition.
primesOf = I -> (
    if I == 1 then {}
    else if isHomogeneous I and dim I == 0 then {ideal vars ring I}
    else minimalPrimes I)

-- The smallest of some prime ideals, each once.
smallest = primes' -> (
    smallest := {};
    scan(primes', Q -> if not any(smallest, other -> isSubset(other, Q)) then
        smallest = append(select(smallest, other -> not isSubset(Q, other)), Q));
    smallest)

-- The primes of the components of the singular locus of V(P). After each step report(leaves, rest) gets the primes of
-- subvarieties of the locus, and those of varieties that contain the rest of it.
singularPart = (P, report) -> (
    J := jacobian P;
    c := codim P;
    failed := new MutableHashTable from {"choices" => 0};
    leaves := {};
    rest := if c == 0 then {} else {P};
    while #rest > 0 do (
        rest = apply(rsort apply(#rest, i -> (dim rest#i, -i)), (d, i) -> rest#(-i));
        Q := first rest;
        rest = drop(rest, 1);
        outside := minorOutside(J, c, Q);
        if outside === null then leaves = smallest append(leaves, Q)
        else (
            (minor', rows', columns') := outside;
            rest = smallest join(rest, primesOf cutByMinors(J, c, Q, minor', rows', columns', failed)));
        rest = select(rest, Q' -> not any(leaves, leaf -> isSubset(leaf, Q')));
        report(leaves, rest));
    leaves)

-- The same by all minors at once.
singularPartByAll = P -> primesOf(P + minors(codim P, jacobian P))

-- The primes of the components of the singular locus of the union of the V(P), P in a list of minimal primes: where
-- two components meet no local ring is a domain. With at most so many minors for a component, all are taken.
--
-- After each step "proved_n" are components of the locus, and "bound_n" bounds the dimension of what else it has.
singularPrimes = (varietyPrimes, most) -> (
    steps := 0;
    proved := {};
    undone := varietyPrimes;
    emitted := {};
    report := (leaves, rest) -> (
        certain := smallest join(proved, leaves);
        certain = select(certain, Q -> not any(join(rest, undone), other -> isSubset(other, Q)));
        if steps == 0 or certain =!= emitted then (
            mbEmit("proved_" | toString steps, certain);
            mbEmit("proved_dimensions_" | toString steps, apply(certain, dim));
            mbEmit("proved_degrees_" | toString steps, apply(certain, degree)));
        emitted = certain;
        mbEmit("bound_" | toString steps, max join({-1}, apply(rest, dim), apply(undone, P -> dim P - 1)));
        steps = steps + 1);
    report({}, {});
    proved = smallest flatten apply(subsets(varietyPrimes, 2), pair -> primesOf sum pair);
    while #undone > 0 do (
        P := first undone;
        undone = drop(undone, 1);
        count := binomial(numgens P, codim P) * binomial(numgens ring P, codim P);
        part := if count <= most then singularPartByAll P else singularPart(P, report);
        proved = smallest join(proved, part));
    proved)

-- The irreducible components of the locus, where the Jacobian matrix has rank below the codimension; all minors where
-- there are at most so many. Hartshorne, Algebraic Geometry, I.5.
primes = singularPrimes({closureIdeal}, 60)
mbEmit("minimal_primes", primes)
mbEmit("dimensions", apply(primes, dim))
mbEmit("degrees", apply(primes, degree))
