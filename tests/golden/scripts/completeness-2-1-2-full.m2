-- The ideal of the image modulo a prime, its generators' degrees and its Hilbert numerator; with the Hilbert function
-- over QQ in these degrees they show that the equations of the image over QQ have no further generators:
-- neuromanifold of lightning self-attention, (d, d', a) = (2, 1, 2), t = 2, over GF(32003).

-- The source: parameters.
sourceRing = ZZ/32003[A_(1,1), A_(1,2), A_(2,1), A_(2,2), V_(1,1), V_(1,2)]
images = {A_(1,1)*V_(1,1),
    A_(2,1)*V_(1,1)+A_(1,1)*V_(1,2),
    A_(1,2)*V_(1,1),
    A_(2,2)*V_(1,1)+A_(1,2)*V_(1,2),
    A_(2,1)*V_(1,2),
    A_(2,2)*V_(1,2)}

-- The target. Each coordinate has the degree of its image, so that the map preserves degrees and the
-- elimination can use the Hilbert function.
targetRing = ZZ/32003[f_(1,1,1,1,1,1,1,1), f_(1,1,1,1,1,1,2,1), f_(1,1,1,1,1,2,2,2), f_(1,1,1,1,2,1,2,1), f_(1,1,1,1,2,2,2,2), f_(1,1,2,1,2,1,2,1), Degrees => {2, 2, 2, 2, 2, 2}]
kernelIdeal = trim kernel map(sourceRing, targetRing, images)

-- The same ideal in the standard grading.
coordinateRing = ZZ/32003[f_(1,1,1,1,1,1,1,1), f_(1,1,1,1,1,1,2,1), f_(1,1,1,1,1,2,2,2), f_(1,1,1,1,2,1,2,1), f_(1,1,1,1,2,2,2,2), f_(1,1,2,1,2,1,2,1)]
closureIdeal = sub(kernelIdeal, coordinateRing)
mbEmit("largest_degree", max({0} | apply(closureIdeal_*, g -> first degree g)))
mbEmitInvariants closureIdeal
