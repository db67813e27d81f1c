-- Polar degrees of a projective variety, by the bidegree of its conormal variety modulo a prime:
-- nodal cubic.
scan({"Elimination", "Saturation", "MinimalPrimes"}, needsPackage)

-- A run of m2bridge gives a prime and a seed of random numbers; else Macaulay2 draws them.
if not instance(givenPrime, ZZ) then givenPrime = first select(1, random toList(2^14 .. 2^15), isPrime)
if instance(givenSeed, ZZ) then setRandomSeed givenSeed
coefficients' = ZZ/givenPrime

givenRing = coefficients'[x, y]
givenIdeal = ideal matrix(givenRing, {{-x^3-x^2+y^2}})

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

primes = minimalPrimes projectiveIdeal
mbEmit("dimensions", apply(primes, dim))

count' = numgens ring projectiveIdeal
bigradedRing = (coefficientRing givenRing)(monoid [vars(0 .. 2 * count' - 1),
    Degrees => join(toList(count' : {1, 0}), toList(count' : {0, 1}))])
covectors = matrix {drop(gens bigradedRing, count')}

-- Rows and columns of a minor of the Jacobian matrix, of the size of the codimension, that is not in the prime.
independentMinor = (matrix', prime') -> (
    rows := {};
    columns := {};
    while #rows < codim prime' do (
        others := toList(0 .. numrows matrix' - 1) ** toList(0 .. count' - 1);
        pair := select(1, others, pair -> not member(pair#0, rows) and not member(pair#1, columns) and
            det submatrix(matrix', append(rows, pair#0), append(columns, pair#1)) % prime' != 0);
        rows = append(rows, pair#0#0);
        columns = append(columns, pair#0#1));
    (rows, columns))

-- Where that minor is not zero, a covector vanishes on the tangent space if it depends on these rows.
conormal = prime' -> (
    if prime' == 0 then return ideal 1_bigradedRing;
    (rows, columns) := independentMinor(transpose jacobian prime', prime');
    lifted := map(bigradedRing, ring prime', take(gens bigradedRing, count'));
    chosen := submatrix(lifted transpose jacobian prime', rows, );
    others := select(toList(0 .. count' - 1), c -> not member(c, columns));
    dependent := apply(others, c -> det submatrix(chosen || covectors, , append(columns, c)));
    saturate(lifted prime' + ideal dependent, det submatrix(chosen, , columns)))

-- The coefficients of the class in the product of projective space and its dual; the i-th counts points on i hyperplanes.
polarDegrees = prime' -> if prime' == 0 then append(toList(count' - 1 : 0), 1) else (
    class := multidegree conormal prime';
    symbols := gens ring class;
    apply(count' - 1, i -> lift(coefficient((symbols#0)^(count' - 1 - i) * (symbols#1)^(i + 1), class), ZZ)))
mbEmit("polar_degrees", apply(primes, polarDegrees))
