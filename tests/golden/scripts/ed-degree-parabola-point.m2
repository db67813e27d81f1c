-- The number of critical points of a quadratic distance on a variety, modulo a prime:
-- parabola.
scan({"Elimination", "Saturation", "MinimalPrimes"}, needsPackage)

-- A run of m2bridge gives a prime and a seed of random numbers; else Macaulay2 draws them.
if not instance(givenPrime, ZZ) then givenPrime = first select(1, random toList(2^14 .. 2^15), isPrime)
if instance(givenSeed, ZZ) then setRandomSeed givenSeed
coefficients' = ZZ/givenPrime

givenRing = coefficients'[x, y]
givenIdeal = ideal matrix(givenRing, {{-x^2+y}})

primes = minimalPrimes givenIdeal
mbEmit("dimensions", apply(primes, dim))

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

-- The critical points x of q(x - u) on the variety of a prime ideal, where f' is not zero: half the gradient of q is a
-- combination of the chosen rows, which are combinations of the rows of the Jacobian matrix, as many as the codimension.
-- They are independent where the determinant with the columns is not zero. After x there are the multipliers and the
-- inverse of this determinant and f'.
criticalSystem = (prime', rowChoice, columnChoice, point', f') -> (
    field' := coefficientRing ring prime';
    count' := numgens ring prime';
    size := numrows rowChoice;
    ring' := field'(monoid [vars(0 .. count' + size)]);
    lifted := map(ring', ring prime', take(gens ring', count'));
    gradient := (matrix {take(gens ring', count')} - point') * sub(quadraticForm, field');
    determinant' := 1_ring';
    if size > 0 then (
        tangents := lifted(rowChoice * transpose jacobian prime');
        multipliers := matrix {take(drop(gens ring', count'), size)};
        gradient = gradient - multipliers * tangents;
        determinant' = det(tangents * columnChoice));
    lifted prime' + ideal gradient + ideal(1 - last gens ring' * determinant' * lifted f'))

-- Random numbers, over QQ small ones.
randomEntry = field' -> random(1, if char field' > 0 then char field' - 1 else 9)
randomEntries = (field', rows, columns) -> matrix(field', table(rows, columns, (i, j) -> randomEntry field'))
combined' = generators' -> (
    sum(numgens generators', i -> randomEntry(coefficientRing ring generators') * generators'_i))

-- All critical points at regular points of the variety of several primes: on one component, and on no other one.
systemsAt = (primes', point') -> apply(#primes', i -> (
    prime' := primes'#i;
    field' := coefficientRing ring prime';
    others := drop(primes', {i, i});
    rowChoice := if codim prime' == numgens prime' then id_(field'^(numgens prime')) else (
        randomEntries(field', codim prime', numgens prime'));
    columnChoice := randomEntries(field', numgens ring prime', codim prime');
    criticalSystem(prime', rowChoice, columnChoice, point', product(others, combined') * 1_(ring prime'))))

mbEmit("critical", apply(systemsAt(primes, sub(matrix {{0,
    3}}, coefficients')), counted'))
