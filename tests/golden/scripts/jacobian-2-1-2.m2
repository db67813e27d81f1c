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

-- Where the Jacobian matrix has rank below the codimension. Hartshorne, Algebraic Geometry, I.5.
singularIdeal = closureIdeal + minors(codim closureIdeal, jacobian closureIdeal)

-- The irreducible components of the locus.
primes = if singularIdeal == 1 then {} else minimalPrimes singularIdeal
mbEmit("minimal_primes", primes)
mbEmit("dimensions", apply(primes, dim))
mbEmit("degrees", apply(primes, degree))
