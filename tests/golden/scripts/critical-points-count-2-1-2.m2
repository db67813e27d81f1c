-- The number of critical points of a squared loss, modulo a prime:
-- (2, 1, 2).
pointRing = ZZ/32003[a_(1,1), a_(1,2), a_(2,1), a_(2,2), v_(1,2)]
criticalEquations = ideal {25*a_(1,1)*v_(1,2)^2+31979*a_(1,1)*v_(1,2)+6*a_(1,1)+31999*a_(1,2)*v_(1,2)^2+2*a_(1,2)*v_(1,2)+31997*a_(2,1)*v_(1,2)^2+3*a_(2,1)*v_(1,2)+5*a_(2,2)*v_(1,2)^2+31999*a_(2,2)*v_(1,2)+a_(2,2)+53*v_(1,2)+31972,
    31999*a_(1,1)*v_(1,2)^2+2*a_(1,1)*v_(1,2)+9*a_(1,2)*v_(1,2)^2+31995*a_(1,2)*v_(1,2)+2*a_(1,2)+5*a_(2,1)*v_(1,2)^2+31999*a_(2,1)*v_(1,2)+a_(2,1)+31997*a_(2,2)*v_(1,2)^2+3*a_(2,2)*v_(1,2)+37*v_(1,2)+31982,
    31997*a_(1,1)*v_(1,2)^2+3*a_(1,1)*v_(1,2)+5*a_(1,2)*v_(1,2)^2+31999*a_(1,2)*v_(1,2)+a_(1,2)+6*a_(2,1)*v_(1,2)^2+31999*a_(2,1)*v_(1,2)+a_(2,1)+31999*a_(2,2)*v_(1,2)^2+2*a_(2,2)*v_(1,2)+11*v_(1,2)+31994,
    5*a_(1,1)*v_(1,2)^2+31999*a_(1,1)*v_(1,2)+a_(1,1)+31997*a_(1,2)*v_(1,2)^2+3*a_(1,2)*v_(1,2)+31999*a_(2,1)*v_(1,2)^2+2*a_(2,1)*v_(1,2)+10*a_(2,2)*v_(1,2)^2+31999*a_(2,2)*v_(1,2)+a_(2,2)+31956*v_(1,2)+31998,
    31991*a_(1,1)^2*v_(1,2)+6*a_(1,1)^2+2*a_(1,1)*a_(1,2)*v_(1,2)+3*a_(1,1)*a_(2,1)*v_(1,2)+31999*a_(1,1)*a_(2,2)*v_(1,2)+2*a_(1,1)*a_(2,2)+31972*a_(1,1)+31999*a_(1,2)^2*v_(1,2)+2*a_(1,2)^2+31999*a_(1,2)*a_(2,1)*v_(1,2)+2*a_(1,2)*a_(2,1)+3*a_(1,2)*a_(2,2)*v_(1,2)+31982*a_(1,2)+32001*a_(2,1)^2*v_(1,2)+a_(2,1)^2+2*a_(2,1)*a_(2,2)*v_(1,2)+31994*a_(2,1)+32001*a_(2,2)^2*v_(1,2)+a_(2,2)^2+31998*a_(2,2),
    a_(1,1)^2*v_(1,2)+31999*a_(1,1)*a_(1,2)*v_(1,2)+2*a_(1,1)*a_(1,2)+31997*a_(1,1)*a_(2,1)*v_(1,2)+3*a_(1,1)*a_(2,1)+2*a_(1,1)*a_(2,2)*v_(1,2)+31994*a_(1,1)+a_(1,2)^2*v_(1,2)+2*a_(1,2)*a_(2,1)*v_(1,2)+31997*a_(1,2)*a_(2,2)*v_(1,2)+3*a_(1,2)*a_(2,2)+31998*a_(1,2)+2*a_(2,1)^2*v_(1,2)+31999*a_(2,1)*a_(2,2)*v_(1,2)+2*a_(2,1)*a_(2,2)+31996*a_(2,1)+6*a_(2,2)^2*v_(1,2)+31946*a_(2,2)}

-- A Groebner basis as a matrix, and the dimension and the number of points with multiplicity by its leading terms;
-- dimension -1 means that there is no point.
basisOf = someIdeal -> groebnerBasis(someIdeal, Strategy => "F4")
countedIn = someBasis -> (
    leading := ideal leadTerm someBasis;
    if leading == 1 then {-1, 0} else if dim leading > 0 then {dim leading, 0} else {0, degree leading})
criticalBasis = basisOf criticalEquations
mbEmit("critical", countedIn criticalBasis)

-- A function is in the dense orbit where none of these ideals of minors vanishes.
fullRank = {{matrix(pointRing, {{32001*v_(1,2)+1, v_(1,2)}}), 1},
    {matrix(pointRing, {{a_(1,1), a_(1,2)}, {a_(2,1), a_(2,2)}}), 2}}
minorsOf = fullRank / (pair -> minors(pair#1, pair#0))
setRandomSeed 32003
-- Points where they do not vanish: those where a random combination of the minors of each does not.
vanishNowhere = someMinors -> first countedIn basisOf(ideal criticalBasis + someMinors) == -1
denseBasis = if all(minorsOf, vanishNowhere) then criticalBasis else (
    largerRing := ZZ/32003[a_(1,1), a_(1,2), a_(2,1), a_(2,2), v_(1,2), inverseOfMinors];
    intoLarger := map(largerRing, pointRing, drop(gens largerRing, -1));
    combination := product(minorsOf, someMinors -> (
        sum(numgens someMinors, i -> random(ZZ/32003) * intoLarger someMinors_i)));
    basisOf(intoLarger ideal criticalBasis + ideal(1 - inverseOfMinors * combination)))
mbEmit("dense", countedIn denseBasis)
