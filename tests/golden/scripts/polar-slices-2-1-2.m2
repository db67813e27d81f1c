-- Polar degrees of the closure of the image of a map, by counting points in generic slices modulo a prime:
-- (2, 1, 2).
scan({"Elimination", "Saturation"}, needsPackage)
setRandomSeed 1
coefficients' = ZZ/32003
fullRing = coefficients'[A_(1,1), A_(1,2), A_(2,1), A_(2,2), V_(1,1), V_(1,2)]
images = matrix(fullRing, {{A_(1,1)*V_(1,1),
    A_(2,1)*V_(1,1)+A_(1,1)*V_(1,2),
    A_(2,1)*V_(1,2),
    A_(1,2)*V_(1,1),
    A_(2,2)*V_(1,1)+A_(1,2)*V_(1,2),
    A_(2,2)*V_(1,2)}})
-- Some parameters are random numbers, so that general fibres are finite.
sourceRing = coefficients'[A_(1,1), A_(1,2), A_(2,1), V_(1,1)]
forms = (map(sourceRing, fullRing, {sub(A_(1,1), sourceRing),
    sub(A_(1,2), sourceRing),
    sub(A_(2,1), sourceRing),
    sub(26289, sourceRing),
    sub(V_(1,1), sourceRing),
    sub(2068, sourceRing)})) images
width' = numgens source forms
last' = numgens sourceRing

-- A covector is tangent where it is orthogonal to these rows.
tangents = forms || diff(transpose vars sourceRing, forms)

-- The number of points at which the rows are independent; -1 if they are not isolated.
countPoints = points -> (
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
