-- The number of critical points of a quadratic distance on a variety, modulo a prime:
-- parabola.
scan({"Elimination", "Saturation", "MinimalPrimes"}, needsPackage)

-- A run of m2bridge gives a prime and a seed of random numbers; else Macaulay2 draws them.
if not instance(givenPrime, ZZ) then givenPrime = first select(1, random toList(2^14 .. 2^15), isPrime)
if instance(givenSeed, ZZ) then setRandomSeed givenSeed
coefficients' = ZZ/givenPrime

givenRing = coefficients'[x, y]
givenIdeal = ideal matrix(givenRing, {{-x^2+y}})

-- The closure in projective space, unless the ideal is homogeneous. As many equations as the codimension that have no
-- component at infinity are homogenized one by one: a complete intersection has no embedded components.
projectiveIdeal = if isHomogeneous givenIdeal then givenIdeal else (
    largerRing = (coefficientRing givenRing)(monoid [vars(0 .. numgens givenRing)]);
    inAffine = map(largerRing, givenRing, drop(gens largerRing, -1));
    homogenized = someIdeal -> ideal homogenize(inAffine gens someIdeal, last gens largerRing);
    equations = homogenized givenIdeal;
    if codim equations == numgens equations and codim(equations + ideal last gens largerRing) == numgens equations + 1 then (
        equations)
    else homogenized ideal gens gb givenIdeal)

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

variety' = projectiveIdeal
primes = if areSimple variety' then {variety'} else minimalPrimes variety'
mbEmit("dimensions", apply(primes, dim))

-- The number of points of an ideal by the leading terms of its Gröbner basis, by Faugère's F4: its dimension, and the
-- number of points with multiplicity. Dimension -1 means that there is no point.
counted' = someIdeal -> (
    leading := ideal leadTerm groebnerBasis(someIdeal, Strategy => "F4");
    if leading == 1 then {-1, 0} else if dim leading > 0 then {dim leading, 0} else {0, degree leading})

-- The matrix of the quadratic form, or of a random one.
quadraticForm = (entries' -> entries' + transpose entries') matrix table(3, 3, (i, j) -> random givenPrime)

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

-- Rows and columns of a minor, of this size, that is not in a prime ideal.
independentMinor = (size, matrix', prime') -> (
    rows := {};
    columns := {};
    while #rows < size do (
        others := toList(0 .. numrows matrix' - 1) ** toList(0 .. numcols matrix' - 1);
        pair := select(1, others, pair -> not member(pair#0, rows) and not member(pair#1, columns) and
            det submatrix(matrix', append(rows, pair#0), append(columns, pair#1)) % prime' != 0);
        rows = append(rows, pair#0#0);
        columns = append(columns, pair#0#1));
    (rows, columns))

-- Rows of the Jacobian matrix, as many as the codimension, that are independent at general points.
independentRows = prime' -> if numgens prime' == codim prime' then toList(0 .. numgens prime' - 1) else (
    first independentMinor(codim prime', transpose jacobian prime', prime'))

-- Where the rows are dependent, or components meet, x and the multipliers have fewer than n dimensions together, so that
-- they reach no general data point.
criticalAtRandom = prime' -> (
    rowChoice := (id_(coefficients'^(numgens prime')))^(independentRows prime');
    point' := random(coefficients'^1, coefficients'^(numgens ring prime'));
    counted' criticalSystem(prime', rowChoice, point'))
mbEmit("critical", apply(primes, criticalAtRandom))
