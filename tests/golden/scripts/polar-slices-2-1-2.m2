-- Polar degrees of the closure of the image of a map, by counting points in generic slices modulo a prime:
-- (2, 1, 2).
scan({"Elimination", "Saturation"}, needsPackage)

-- A run of m2bridge gives a prime and a seed of random numbers; else Macaulay2 draws them.
if not instance(givenPrime, ZZ) then givenPrime = first select(1, random toList(2^14 .. 2^15), isPrime)
if instance(givenSeed, ZZ) then setRandomSeed givenSeed
coefficients' = ZZ/givenPrime

fullRing = coefficients'[A_(1,1), A_(1,2), A_(2,1), A_(2,2), V_(1,1), V_(1,2)]
images = matrix(fullRing, {{A_(1,1)*V_(1,1),
    A_(2,1)*V_(1,1)+A_(1,1)*V_(1,2),
    A_(2,1)*V_(1,2),
    A_(1,2)*V_(1,1),
    A_(2,2)*V_(1,1)+A_(1,2)*V_(1,2),
    A_(2,2)*V_(1,2)}})
-- Some parameters are random numbers, so that general fibres are finite.
sourceRing = coefficients'[A_(1,1), A_(1,2), A_(2,1), V_(1,1)]
randomNumber = () -> 1 + random(givenPrime - 1)
forms = (map(sourceRing, fullRing, {sub(A_(1,1), sourceRing),
    sub(A_(1,2), sourceRing),
    sub(A_(2,1), sourceRing),
    randomNumber(),
    sub(V_(1,1), sourceRing),
    randomNumber()})) images
width' = numgens source forms
last' = numgens sourceRing

-- A covector is tangent where it is orthogonal to these rows.
tangents = forms || diff(transpose vars sourceRing, forms)

-- The ideal with a Gröbner basis by Faugère's F4, which is the quicker the smaller the prime.
withBasis = points -> (
    basis := groebnerBasis(points, Strategy => "F4");
    forceGB basis;
    ideal basis)

-- The number of points at which the rows are independent; -1 if they are not isolated.
countPoints = points -> (
    points = withBasis points;
    while points != 1 and (
        dependent = coker sub(tangents, sourceRing / points);
        dependent != 0) do points = points : lift(annihilator dependent, sourceRing);
    if points == 1 then 0 else if dim points > 0 then -1 else degree points)

randomMatrix = (rows, columns) -> random(coefficients'^rows, coefficients'^columns)
mbEmit("fibre", countPoints minors(2, forms || sub(forms, randomMatrix(1, last'))))

-- The points on so many hyperplanes, where a general linear space of covectors has one that is tangent.
for cut in reverse toList(0 .. last') do (
    section = ideal(forms * randomMatrix(width', cut));
    if cut < last' then section = section + minors(cut + 2, tangents * randomMatrix(width', cut + 2), Strategy => Cofactor);
    mbEmit("polar_" | cut, countPoints section))
