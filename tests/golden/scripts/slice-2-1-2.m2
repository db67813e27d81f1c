-- A variety cut by an affine-linear space of dimension 3: neuromanifold of lightning self-attention, (d, d', a) = (2, 1, 2), t = 2.
scan({"Elimination", "Saturation", "MinimalPrimes"}, needsPackage)

sliceRing = QQ[c_(1,1,2,2), c_(1,2,1,2), c_(1,2,2,2)]
sliceIdeal = ideal {c_(1,1,2,2)*c_(1,2,1,2)^2+c_(1,2,2,2)^2}
primesOf = someIdeal -> if someIdeal == 1 then {} else minimalPrimes someIdeal

-- The irreducible components. Where all have codimension 1, they are one surface, with one equation.
slicePrimes = primesOf sliceIdeal
mbEmit("components", slicePrimes)
mbEmit("codimensions", apply(slicePrimes, codim))

if slicePrimes =!= {} and all(slicePrimes, prime -> codim prime == 1) then (
    surface := ideal product(slicePrimes, prime -> (trim prime)_0);
    mbEmit("equation", surface);
    -- Its singular points: where the equation and its derivatives vanish.
    singularPrimes := primesOf(surface + ideal jacobian surface);
    mbEmit("singular", singularPrimes);
    mbEmit("singular_dimensions", apply(singularPrimes, dim));
    -- Where functions may lack real weights.
    exceptionalPrimes := primesOf(surface + ideal {c_(1,2,1,2),
    c_(1,2,2,2),
    -c_(1,1,2,2)*c_(1,2,1,2)});
    mbEmit("exceptional", exceptionalPrimes);
    mbEmit("exceptional_dimensions", apply(exceptionalPrimes, dim));
    )
