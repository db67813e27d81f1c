-- The singular locus of a cone, by the double points of a map from a product of projective spaces onto its projective
-- variety:
-- polynomial convolutional network of filter sizes (2, 2) and activation degree 2.
--
-- Let the map be finite and birational. By Nakayama's lemma and because regular local rings are normal, a point is
-- smooth exactly where its fibre is one reduced point. So the locus is the image of the support of I_D/I_S, with the
-- ideals of the diagonal D and of the scheme S of pairs of points with the same image.
scan({"Elimination", "Saturation", "MinimalPrimes"}, needsPackage)

-- Two points of the source, each in coordinates of all factors; and a point with a multiple, for the cone.
doubleRing = QQ[w_(1,1), w_(1,2), w_(2,1), w_(2,2), mbvwZ5fZ1Z5fZ1Z5fZsecond, mbvwZ5fZ1Z5fZ2Z5fZsecond, mbvwZ5fZ2Z5fZ1Z5fZsecond, mbvwZ5fZ2Z5fZ2Z5fZsecond]
firstPoint = {w_(1,1), w_(1,2), w_(2,1), w_(2,2)}
secondPoint = {mbvwZ5fZ1Z5fZ1Z5fZsecond, mbvwZ5fZ1Z5fZ2Z5fZsecond, mbvwZ5fZ2Z5fZ1Z5fZsecond, mbvwZ5fZ2Z5fZ2Z5fZsecond}
images = {w_(1,1)^2*w_(2,1),
    2*w_(1,1)*w_(1,2)*w_(2,1),
    w_(1,2)^2*w_(2,1)+w_(1,1)^2*w_(2,2),
    2*w_(1,1)*w_(1,2)*w_(2,2),
    w_(1,2)^2*w_(2,2)}
coneRing = QQ[w_(1,1), w_(1,2), w_(2,1), w_(2,2), mbvmultiple]
targetRing = QQ[f_(2,0,0), f_(1,1,0), f_(0,2,0), f_(0,1,1), f_(0,0,2)]

-- The places of the coordinates of each factor. A chart is a choice of one in each factor, where the coordinate is 1;
-- its cell is the part where the coordinates before are 0. Charts cover the source, and cells are disjoint.
factors' = {{0, 1}, {2, 3}}
charts = {{}}
scan(factors', places -> charts = flatten apply(charts, chart -> apply(places, place -> append(chart, place))))

-- The coordinates of a point in a chart, or in its cell.
inChart = (chart, point') -> apply(#point', i -> if member(i, chart) then 1_doubleRing else point'#i)
inCell = (chart, point') -> (
    zeros := flatten apply(#chart, i -> select(factors'#i, place -> place < chart#i));
    apply(#point', i -> if member(i, zeros) then 0_doubleRing else (inChart(chart, point'))#i))
imageOf = point' -> (
    substitution := map(doubleRing, doubleRing, join(point', secondPoint));
    apply(images, image -> substitution image))

-- The ideal of the pairs with the same image. Where a coordinate of the first image is a constant, other minors of size
-- two are combinations of those with it.
samePlace = (one, other) -> (
    constant' := position(one, f -> f != 0 and first degree f == 0);
    if constant' === null then minors(2, matrix {one, other})
    else ideal apply(#one, j -> one#constant' * other#j - one#j * other#constant'))

-- What makes a pair of points one in the given charts or cells.
conditions = (one, other) -> ideal join(firstPoint - one, secondPoint - other)

-- Pairs in the same chart: the annihilator of I_D/I_S.
near = chart -> (
    one := inChart(chart, firstPoint);
    other := inChart(chart, secondPoint);
    equations := samePlace(imageOf one, imageOf other);
    differences := select(one - other, f -> f != 0);
    if #differences == 0 then ideal 1_doubleRing
    else intersect apply(differences, f -> equations : f) + conditions(one, other))

-- Pairs in different cells, which are different points.
distant = (chart, chart') -> (
    one := inCell(chart, firstPoint);
    other := inCell(chart', secondPoint);
    samePlace(imageOf one, imageOf other) + conditions(one, other))

withoutBasePoints = all(charts, chart -> ideal imageOf inChart(chart, firstPoint) == 1)
mbEmit("without_base_points", withoutBasePoints)
if withoutBasePoints then (
    loci = join(apply(charts, near), apply(subsets(charts, 2), distant @@ toSequence));
    loci = select(loci, pairs' -> pairs' != 1);
    pairsDimension = max prepend(-1, apply(loci, dim));
    mbEmit("pairs_dimension", pairsDimension);

    -- The images of their components, which are cones: the largest first, so that none lies in a later one.
    if pairsDimension < 2 then (
        sources := unique apply(flatten apply(loci, minimalPrimes), pairs' -> eliminate(secondPoint, pairs'));
        sources = rsort apply(#sources, i -> (dim sources#i, -i, sources#i));
        primes = {};
        scan(sources, (size', place, source') -> (
            onCone := coneRing / sub(source', coneRing);
            parametrized := map(onCone, targetRing, apply(images, f -> sub(mbvmultiple, onCone) * sub(sub(f, coneRing), onCone)));
            if not any(primes, prime' -> parametrized prime' == 0) then primes = append(primes, kernel parametrized)));
        mbEmit("minimal_primes", primes);
        mbEmit("dimensions", apply(primes, dim));
        mbEmit("degrees", apply(primes, degree))))
