-- Do equations of the image modulo a prime generate its whole ideal? On the chart where the first coordinate is not
-- zero they do if they do so on a slice that meets every orbit of a unipotent group once, and then everywhere if that
-- coordinate is no zero divisor modulo the equations:
-- neuromanifold of lightning self-attention, (d, d', a) = (2, 1, 2), t = 2, over GF(32003).

-- The ideal of the image on the slice.
-- The source: parameters.
sourceRing = ZZ/32003[A_(1,1), V_(1,1)]
images = {-V_(1,1)^2,
    A_(1,1),
    A_(1,1)*V_(1,1)}

-- The target. Each coordinate has the degree of its image, so that the map preserves degrees and the
-- elimination can use the Hilbert function.
targetRing = ZZ/32003[c_(1,1,2,2), c_(1,2,1,2), c_(1,2,2,2), Degrees => {2, 1, 2}]
kernelIdeal = trim kernel map(sourceRing, targetRing, images)

-- The same ideal in the standard grading.
coordinateRing = ZZ/32003[c_(1,1,2,2), c_(1,2,1,2), c_(1,2,2,2)]
closureIdeal = sub(kernelIdeal, coordinateRing)

-- The equations; the first coordinate of the image is the last variable of the graded reverse lexicographic order.
equationRing = ZZ/32003[c_(1,1,1,2), c_(1,1,2,2), c_(1,2,1,1), c_(1,2,1,2), c_(1,2,2,2), c_(1,1,1,1)]
equations = ideal matrix(equationRing, {{c_(1,1,2,2)^2*c_(1,2,1,1)^2-c_(1,1,1,2)*c_(1,1,2,2)*c_(1,2,1,1)*c_(1,2,1,2)+c_(1,1,1,1)*c_(1,1,2,2)*c_(1,2,1,2)^2+c_(1,1,1,2)^2*c_(1,2,1,1)*c_(1,2,2,2)-2*c_(1,1,1,1)*c_(1,1,2,2)*c_(1,2,1,1)*c_(1,2,2,2)-c_(1,1,1,1)*c_(1,1,1,2)*c_(1,2,1,2)*c_(1,2,2,2)+c_(1,1,1,1)^2*c_(1,2,2,2)^2}})
onSlice = map(coordinateRing, equationRing, {0,
    coordinateRing_0,
    0,
    coordinateRing_1,
    coordinateRing_2,
    1})
completeOnSlice = isSubset(closureIdeal, onSlice equations)
mbEmit("complete_on_slice", completeOnSlice)

-- Is it a zero divisor? Not if it divides no leading term.
if completeOnSlice then (
    leadTerms = flatten entries leadTerm gens gb equations;
    mbEmit("saturated", all(leadTerms, term -> term % last gens equationRing != 0));
    mbEmitInvariants equations)
