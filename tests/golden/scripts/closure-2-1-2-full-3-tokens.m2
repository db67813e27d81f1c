-- The ideal of the Zariski closure of the image of a polynomial map:
-- neuromanifold of lightning self-attention, (d, d', a) = (2, 1, 2), t = 3.

-- The source: parameters.
sourceRing = QQ[A_(1,1), A_(1,2), A_(2,1), A_(2,2), V_(1,1), V_(1,2)]
images = {A_(1,1)*V_(1,1),
    A_(1,2)*V_(1,1)+A_(2,1)*V_(1,1)+A_(1,1)*V_(1,2),
    A_(2,1)*V_(1,1)+A_(1,1)*V_(1,2),
    A_(2,2)*V_(1,1)+A_(1,2)*V_(1,2)+A_(2,1)*V_(1,2),
    A_(2,1)*V_(1,2),
    A_(2,2)*V_(1,2)}

-- The target. Each coordinate has the degree of its image, so that the map preserves degrees and the
-- elimination can use the Hilbert function.
targetRing = QQ[f_(1,1,1,1,1,1,1,1), f_(1,1,1,1,1,1,2,1), f_(1,1,1,1,1,2,2,2), f_(1,1,1,1,2,1,2,1), f_(1,1,1,1,2,2,2,2), f_(1,1,2,1,2,1,2,1), Degrees => {2, 2, 2, 2, 2, 2}]
kernelIdeal = trim kernel map(sourceRing, targetRing, images)

-- The same ideal in the standard grading.
coordinateRing = QQ[f_(1,1,1,1,1,1,1,1), f_(1,1,1,1,1,1,2,1), f_(1,1,1,1,1,2,2,2), f_(1,1,1,1,2,1,2,1), f_(1,1,1,1,2,2,2,2), f_(1,1,2,1,2,1,2,1)]
closureIdeal = sub(kernelIdeal, coordinateRing)
mbEmit("generators", closureIdeal)

-- Dimension, degree and Hilbert numerator over (1-T)^(number of coordinates).
mbEmitInvariants closureIdeal
