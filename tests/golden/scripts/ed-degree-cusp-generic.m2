-- The number of critical points of a quadratic distance on the closure of the image of a map, modulo a prime:
-- cusp.
-- A run of m2bridge gives a prime and a seed of random numbers; else Macaulay2 draws them.
if not instance(givenPrime, ZZ) then givenPrime = first select(1, random toList(2^14 .. 2^15), isPrime)
if instance(givenSeed, ZZ) then setRandomSeed givenSeed
coefficients' = ZZ/givenPrime

fullRing = coefficients'[s]
images = matrix(fullRing, {{s^2,
    s^3}})
-- Some parameters are random numbers, so that general fibres are finite.
sourceRing = coefficients'[s]
randomNumber = () -> 1 + random(givenPrime - 1)
forms = (map(sourceRing, fullRing, {sub(s, sourceRing)})) images
tangents = diff(transpose vars sourceRing, forms)
quadraticForm = (entries' -> entries' + transpose entries') matrix table(2, 2, (i, j) -> random givenPrime)

-- The number of points of an ideal by the leading terms of its Gröbner basis, by Faugère's F4: its dimension, and the
-- number of points with multiplicity. Dimension -1 means that there is no point.
counted' = someIdeal -> (
    leading := ideal leadTerm groebnerBasis(someIdeal, Strategy => "F4");
    if leading == 1 then {-1, 0} else if dim leading > 0 then {dim leading, 0} else {0, degree leading})

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

-- Points of general fibres, and those that are critical for general data, are outside any smaller variety, so that one
-- minor is enough.
(rows, columns) = independentMinor(numgens sourceRing, tangents, ideal 0_sourceRing)
largerRing = coefficients'(monoid [vars(0 .. numgens sourceRing)])
lifted = map(largerRing, sourceRing, drop(gens largerRing, -1))
inverse' = ideal(1 - last gens largerRing * lifted det submatrix(tangents, rows, columns))
countPoints = equations -> counted'(lifted ideal equations + inverse')

general = matrix {apply(numgens sourceRing, i -> randomNumber())}
mbEmit("fibre", countPoints(forms - sub(sub(forms, sub(general, coefficients')), sourceRing)))
dataPoint = random(coefficients'^1, coefficients'^(numcols forms))
mbEmit("critical", countPoints((forms - dataPoint) * sub(quadraticForm, coefficients') * transpose tangents))
