-- The Jacobian criterion at one point of each orbit:
-- neuromanifold of lightning self-attention, (d, d', a) = (2, 2, 2), t = 2.

-- The source: parameters.
sourceRing = QQ[A_(1,1), A_(1,2), A_(2,1), A_(2,2), V_(1,1), V_(1,2), V_(2,1), V_(2,2)]
images = {A_(1,1)*V_(1,1),
    A_(2,1)*V_(1,1)+A_(1,1)*V_(1,2),
    A_(2,1)*V_(1,2),
    A_(1,2)*V_(1,1),
    A_(2,2)*V_(1,1)+A_(1,2)*V_(1,2),
    A_(2,2)*V_(1,2),
    A_(1,1)*V_(2,1),
    A_(2,1)*V_(2,1)+A_(1,1)*V_(2,2),
    A_(2,1)*V_(2,2),
    A_(1,2)*V_(2,1),
    A_(2,2)*V_(2,1)+A_(1,2)*V_(2,2),
    A_(2,2)*V_(2,2)}

-- The target. Each coordinate has the degree of its image, so that the map preserves degrees and the
-- elimination can use the Hilbert function.
targetRing = QQ[c_(1,1,1,1), c_(1,1,1,2), c_(1,1,2,2), c_(1,2,1,1), c_(1,2,1,2), c_(1,2,2,2), c_(2,1,1,1), c_(2,1,1,2), c_(2,1,2,2), c_(2,2,1,1), c_(2,2,1,2), c_(2,2,2,2), Degrees => {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}]
kernelIdeal = trim kernel map(sourceRing, targetRing, images)

-- The same ideal in the standard grading.
coordinateRing = QQ[c_(1,1,1,1), c_(1,1,1,2), c_(1,1,2,2), c_(1,2,1,1), c_(1,2,1,2), c_(1,2,2,2), c_(2,1,1,1), c_(2,1,1,2), c_(2,1,2,2), c_(2,2,1,1), c_(2,2,1,2), c_(2,2,2,2)]
closureIdeal = sub(kernelIdeal, coordinateRing)
mbEmit("dimension", dim closureIdeal)

-- For each orbit (rk A, rk V, dim of the intersection of column space and row space) the function coordinates of a
-- representative, and the tangent dimension there. A point is singular when it exceeds the dimension.
jacobianMatrix = jacobian closureIdeal
tangentDimension = point -> numgens coordinateRing - rank sub(jacobianMatrix, matrix {point} ** QQ)
mbEmit("tangent_dimension 1 1 0", tangentDimension { 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 })
mbEmit("tangent_dimension 1 1 1", tangentDimension { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 })
mbEmit("tangent_dimension 1 2 1", tangentDimension { 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0 })
mbEmit("tangent_dimension 2 1 1", tangentDimension { 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0 })
mbEmit("tangent_dimension 2 2 2", tangentDimension { 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1 })
