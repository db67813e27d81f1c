-- The real critical points of a quadratic distance on a variety:
-- parabola.
scan({"Elimination", "Saturation", "MinimalPrimes", "RealRoots"}, needsPackage)

-- A run of m2bridge gives a prime and a seed of random numbers; else Macaulay2 draws them.
if not instance(givenPrime, ZZ) then givenPrime = first select(1, random toList(2^14 .. 2^15), isPrime)
if instance(givenSeed, ZZ) then setRandomSeed givenSeed
coefficients' = ZZ/givenPrime

givenRing = QQ[x, y]
givenIdeal = ideal matrix(givenRing, {{-x^2+y}})

-- The number of points of an ideal by the leading terms of its Gröbner basis, by Faugère's F4: its dimension, and the
-- number of points with multiplicity. Dimension -1 means that there is no point.
counted' = someIdeal -> (
    leading := ideal leadTerm groebnerBasis(someIdeal, Strategy => "F4");
    if leading == 1 then {-1, 0} else if dim leading > 0 then {dim leading, 0} else {0, degree leading})

-- The matrix of the quadratic form, or of a random one.
quadraticForm = matrix {{2,
    0},
    {0,
    1}}

-- The critical points x of q(x - u) on the variety of a prime ideal: half the gradient of q is a combination of the chosen
-- rows, which are combinations of the rows of the Jacobian matrix, as many as the codimension. After x there are the
-- multipliers.
criticalSystem = (prime', rowChoice, point') -> (
    field' := coefficientRing ring prime';
    count' := numgens ring prime';
    ring' := field'(monoid [vars(0 .. count' + numrows rowChoice - 1)]);
    lifted := map(ring', ring prime', take(gens ring', count'));
    gradient := (matrix {take(gens ring', count')} - point') * sub(quadraticForm, field');
    if numrows rowChoice > 0 then (
        gradient = gradient - matrix {drop(gens ring', count')} * lifted(rowChoice * transpose jacobian prime'));
    lifted prime' + ideal gradient)

-- The points of them where a polynomial in x is not zero; its inverse is the last unknown.
pointsOutside = (system, polynomial) -> (
    if polynomial == 1 then return system;
    ring' := (coefficientRing ring system)(monoid [vars(0 .. numgens ring system)]);
    lifted := map(ring', ring system, drop(gens ring', -1));
    inPoints := map(ring', ring polynomial, take(gens ring', numgens ring polynomial));
    lifted system + ideal(1 - last gens ring' * inPoints polynomial))

-- Random numbers, over QQ small ones.
randomEntry = field' -> random(1, if char field' > 0 then char field' - 1 else 9)
randomEntries = (field', rows, columns) -> matrix(field', table(rows, columns, (i, j) -> randomEntry field'))
combined' = generators' -> (
    sum(numgens generators', i -> randomEntry(coefficientRing ring generators') * generators'_i))

-- All critical points at regular points of the variety of several primes: on one component, and on no other one. The rows
-- are independent where a determinant is not zero. A hypersurface needs none if u is not on it: where its one row is zero,
-- a solution would be u.
systemsAt = (primes', point') -> apply(#primes', i -> (
    prime' := primes'#i;
    field' := coefficientRing ring prime';
    others := drop(primes', {i, i});
    rowChoice := if codim prime' == numgens prime' then id_(field'^(numgens prime')) else (
        randomEntries(field', codim prime', numgens prime'));
    outside := product(others, combined') * 1_(ring prime');
    if numgens prime' > 1 or sub(prime', point') == 0 then (
        columnChoice := randomEntries(field', numgens ring prime', codim prime');
        outside = outside * det(rowChoice * transpose jacobian prime' * columnChoice));
    pointsOutside(criticalSystem(prime', rowChoice, point'), outside)))

-- The components of a variety over a finite field. They are not separated where as many equations as the codimension
-- meet a random affine space of complementary dimension in simple points: then the ideal is radical, and where components
-- meet, rows of the Jacobian matrix are dependent.
areSimple = someIdeal -> (
    size := numgens someIdeal;
    if size == 0 or codim someIdeal != size then return false;
    sectionRing := (coefficientRing ring someIdeal)(monoid [vars(0 .. size - 1)]);
    places := apply(numgens ring someIdeal, i -> random(1, sectionRing) + random coefficientRing sectionRing);
    section := (map(sectionRing, ring someIdeal, places)) someIdeal;
    1 == ideal leadTerm groebnerBasis(section + ideal det jacobian section, Strategy => "F4"))

moduloPrime = sub(givenIdeal, coefficients'(monoid [gens givenRing]))
primes = if areSimple moduloPrime then {givenIdeal} else minimalPrimes givenIdeal
systems = systemsAt(primes, matrix {{0,
    3}})

-- Whether the random combinations leave no point out is seen modulo the prime.
reduced' = system -> sub(system, coefficients'(monoid [gens ring system]))
counts = apply(systems, system -> counted' reduced' system)
mbEmit("critical", counts)
systems = apply(positions(counts, pair -> pair#0 == 0), i -> systems#i)

-- The number of real points is the signature of the trace form; coordinates are eigenvalues of the matrices of
-- multiplication.
unknowns = system -> take(gens ring system, numgens givenRing)
mbEmit("trace_forms", apply(systems, system -> entries lift(traceForm(1_(ring system), system), QQ)))
mbEmit("multiplication", apply(systems, system -> apply(unknowns system, x -> entries lift(last regularRepresentation(x, system), QQ))))
