-- How the value of code that a user wrote is sent; loaded in workspaces only, after values.m2.

-- The packages that there are if there is none of this name.
mbOthers = name -> (
    folders := select(path, d -> fileExists d);
    if any(folders, d -> fileExists(d | name | ".m2")) then {}
    else flatten apply(folders, d -> apply(select(readDirectory d, f -> match("^[A-Za-z0-9]+\\.m2$", f)),
        f -> substring(0, #f - 3, f))))

-- Classes without a text that Macaulay2 can read again; some are of packages that need not be loaded.
mbDrawn = set {"BettiTally", "Complex", "ChainComplex", "ComplexMap", "ChainComplexMap", "ProjectiveHilbertPolynomial"}

-- As people read it: tables and complexes as Macaulay2 draws them, all else in a line that it can read again.
mbShown = x -> (
    if x === null then ""
    else if mbDrawn#?(toString class x) or instance(x, BettiTally) then toString net x
    else toString x)

-- form: "" for nothing, "value", "reference" (the value, with references for what has no counterpart),
-- "text" (as Macaulay2 writes it, and the value).
mbSend = (x, form) -> if form != "" then (
    mbReferences = form == "reference";
    if form == "text" then mbEmit("text", mbShown x);
    mbEmit("value", x))
