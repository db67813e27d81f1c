-- Every value with a counterpart in Python, out and in; loaded in workspaces, after wire.m2 and the preloaded packages.
--
-- Out: mbEmit writes ["Value", rings, value]. A ring is in the table once, by its description, after the rings that it
-- is made of; values name it by its place there. The reader is m2bridge/workspace/decode.py.
-- The data of an element: text for ZZ, QQ and ZZ/p, [precision, sign, mantissa, exponent] for RR, two of them for CC,
-- [coefficient, variable, exponent, variable, exponent, ..] for each term of a polynomial, [numerator, denominator];
-- ["Text", variables, number of terms, text] for a large polynomial, as the engine prints it.
-- A value without a counterpart is ["Unknown", class], or on request a reference to what this process keeps.
--
-- In: m2bridge/workspace/encode.py writes calls of the functions in the second half, and nothing else.

mbReferences = false

-- What changes while values are written: names that begin with mb are protected, contents are not.
mbState = new MutableHashTable from {"serial" => 0, "in use" => null, "descriptions" => null}

mbCore = name -> value Core#"private dictionary"#name
mbRaw = mbCore "raw"
mbRawPairs = mbCore "rawPairs"
mbRawTerm = mbCore "rawTerm"
mbRawNumber = mbCore "rawFromNumber"
mbRawSparse = mbCore "rawSparseListFormMonomial"
mbRawMonomial = mbCore "rawMakeMonomial"

-- The rings of the record that is being written, and their descriptions.
mbPlaces = new MutableHashTable

-- The dictionary of the user's symbols; the shared functions may stand before it.
mbSymbols = () -> first select(dictionaryPath, d -> d =!= mbShared)

-- Rings that went out or came in, by description; those of the dictionary that is in use.
mbKnown = new MutableHashTable
mbKeptRings = () -> (
    if mbState#"in use" =!= mbSymbols() then (
        scan(keys mbKnown, k -> remove(mbKnown, k));
        mbState#"in use" = mbSymbols());
    mbKnown)

-- Strings are bytes: those outside ASCII are numbers, in an array of their own kind.
mbBytes = apply(256, i -> (
    if i < 32 or i > 126 then concatenate("\\u00", mbHexDigits#(i // 16), mbHexDigits#(i % 16))
    else if i == 34 then "\\\"" else if i == 92 then "\\\\" else ascii {i}))
mbForeign = s -> concatenate("\"", apply(ascii s, byte -> mbBytes#byte), "\"")
mbString = s -> concatenate("\"", s, "\"")
mbEncode String := s -> (
    if not match("[^ !#-\\[\\]-~]", s) then mbString s
    else if any(ascii s, byte -> byte > 127) then mbArray {"\"Bytes\"", mbForeign s}
    else mbForeign s)

mbTagged = (tag, items) -> mbArray prepend(mbString tag, items)
mbValues = items -> mbArray apply(toList items, mbEncode)
mbIntegers = items -> mbArray apply(toList items, toString)

-- Numbers that are not exact: a mantissa times a power of two, exactly.
mbReal = x -> (
    p := precision x;
    if not isFinite x then mbArray {toString p, mbQuote toString x}
    else if x == 0 then mbArray {toString p, if toString x == "-0" then "\"-0\"" else "\"0\""}
    else (
        e := size2 x - p;
        mbArray {toString p, mbQuote toString floor(x * (numeric(p, 2))^(-e)), toString e}))
mbComplexNumber = x -> mbArray {mbReal realPart x, mbReal imaginaryPart x}

-- Rings.
mbVariableIndex = i -> (
    if instance(i, ZZ) then toString i
    else if instance(i, Symbol) then mbString toString i
    else if instance(i, RingElement) and member(i, gens ring i) then mbVariableIndex baseName i
    else error("no counterpart for the index ", toString i))
mbNameOf = x -> (
    if instance(x, Symbol) then mbArray {mbEncode toString x}
    else mbArray prepend(mbEncode toString x#0, apply(if instance(x#1, Sequence) then toList x#1 else {x#1}, mbVariableIndex)))

mbPosition = (R, x) -> if instance(x, ZZ) then x else position(gens R, y -> y === x or baseName y === baseName x)
mbWeyl = R -> mbArray apply(toList (options monoid R).WeylAlgebra, p -> (
    if not instance(p, BasicList) or #p != 2 then error "a homogenized Weyl algebra has no counterpart";
    mbIntegers apply(toList p, x -> mbPosition(R, x))))
mbSkew = R -> if R.?SkewCommutative then mbIntegers R.SkewCommutative else "[]"

mbOrderPart = (name, size) -> mbArray {mbString toString name,
    if instance(size, ZZ) then toString size else if instance(size, List) then mbIntegers size else mbString toString size}
mbDescribeAlgebra = R -> (
    k := coefficientRing R;
    o := options monoid R;
    mbTagged("Algebra", {mbRingPlace k, mbArray apply(gens R, x -> mbNameOf baseName x), toString o.DegreeRank,
        mbArray apply(o.Degrees, mbIntegers), mbArray apply(toList o.MonomialOrder, part -> mbOrderPart(part#0, part#1)),
        if o.Inverses === true then "true" else "false", if o.Join === false then "false" else "true", mbWeyl R, mbSkew R}))

mbIsReal = R -> instance(R, InexactField) and toString class R == "RealField"
mbDescribe = R -> (
    if R === ZZ then "[\"ZZ\"]"
    else if R === QQ then "[\"QQ\"]"
    else if mbIsPrimeField R then mbTagged("ZZ/p", {mbQuote toString char R})
    else if instance(R, InexactField) then (
        kind := toString class R;
        if kind == "RealField" then mbTagged("RR", {toString precision R})
        else if kind == "ComplexField" then mbTagged("CC", {toString precision R})
        else mbTagged("Unknown", {mbQuote kind}))
    else if instance(R, GaloisField) then (
        A := ambient R;
        mbTagged("GF", {mbRingPlace A, mbData(A, R.PrimitiveElement)}))
    else if instance(R, FractionField) then mbTagged("Fraction", {mbRingPlace last R.baseRings})
    else if instance(R, PolynomialRing) then mbDescribeAlgebra R
    else if instance(R, QuotientRing) then (
        S := ambient R;
        mbTagged("Quotient", {mbRingPlace S, mbArray apply(first entries gens ideal R, f -> mbData(S, f))}))
    else mbTagged("Unknown", {mbString toString class R}))

mbRingPlace = R -> (
    if not mbPlaces#?R then (
        description := mbDescribe R;
        listed := mbState#"descriptions";
        mbPlaces#R = #listed;
        listed#(#listed) = description);
    toString mbPlaces#R)

-- The data of an element of a ring. The engine prints a large polynomial in a tenth of the time that its terms take. Its
-- text has one meaning where a letter begins a variable and occurs nowhere else.
mbLarge = 200
mbIsSpelled = R -> (
    isCommutative R and (options monoid R).Inverses =!= true
    and all(gens R, x -> match("^[A-Za-z]'*(_[0-9]+|_\\([0-9,]+\\))?$", toString x)))
mbPolynomialData = (R, f) -> (
    k := coefficientRing R;
    if (k === ZZ or k === QQ or mbIsPrimeField k) and instance(R, PolynomialRing) and size f >= mbLarge and mbIsSpelled R
    then mbTagged("Text", {mbArray apply(gens R, x -> mbQuote toString x), toString size f, mbString toString mbRaw f})
    else mbTermData(R, k, f))
mbTermData = (R, k, f) -> (
    (cc, mm) := mbRawPairs(mbRaw k, mbRaw f);
    write := if k === ZZ or k === QQ or mbIsPrimeField k then (c -> concatenate("\"", toString new k from c, "\""))
        else if instance(k, InexactField) then (c -> mbData(k, promote(c, k)))  -- its elements have another class
        else (c -> mbData(k, new k from c));
    mbArray apply(toList cc, mbRawSparse \ toList mm, (c, m) ->
        concatenate("[", write c, apply(m, (v, e) -> (",", mbExponent v, ",", mbExponent e)), "]")))
mbData = (R, f) -> (
    if R === ZZ or R === QQ or mbIsPrimeField R then mbQuote toString f
    else if instance(R, InexactField) then (if mbIsReal R then mbReal f else mbComplexNumber f)
    else if instance(R, GaloisField) then mbPolynomialData(ambient R, lift(f, ambient R))
    else if instance(R, FractionField) then (
        S := last R.baseRings;
        mbArray {mbData(S, numerator f), mbData(S, denominator f)})
    else mbPolynomialData(R, f))

-- Values.
mbClassName = x -> toString class x
mbTable = new MutableHashTable
mbOrigin = concatenate(toString processID(), "-", toString currentTime())
mbForget = () -> scan(keys mbTable, k -> remove(mbTable, k))
mbUnknown = x -> (
    if not mbReferences then mbTagged("Unknown", {mbEncode mbClassName x})
    else (
        mbState#"serial" = mbState#"serial" + 1;
        key := concatenate(mbOrigin, "-", toString mbState#"serial");
        mbTable#key = x;
        text := try toString x else "";
        mbTagged("Reference", {mbEncode mbClassName x, mbEncode substring(0, 1000, text), mbQuote key})))
mbPairs = x -> mbArray apply(pairs x, (k, v) -> mbArray {mbEncode k, mbEncode v})

mbEncode Thing := mbUnknown
mbEncode RR := x -> mbTagged("RR", {mbReal x})
mbEncode CC := x -> mbTagged("CC", {mbComplexNumber x})
mbEncode InfiniteNumber := x -> mbTagged("Infinity", {if x > 0 then "1" else "-1"})
mbEncode IndeterminateNumber := x -> mbTagged("Infinity", {"0"})
mbEncode RRi := x -> mbTagged("RRi", {mbReal left x, mbReal right x})
mbEncode Constant := x -> mbTagged("Constant", {mbQuote toString x})
mbEncode Net := x -> mbTagged("Net", {toString height x, mbValues unstack x})
mbEncode Symbol := x -> mbTagged("Symbol", {mbEncode toString x})
mbEncode Keyword := x -> mbTagged("Symbol", {mbEncode toString x})
mbEncode IndexedVariable := x -> mbTagged("Symbol", {mbEncode toString x#0, mbEncode x#1})
mbLists = set {List, VerticalList} + set select({try value "NumberedVerticalList"}, x -> instance(x, Type))
mbEncode BasicList := x -> (
    kind := class x;
    if mbLists#?kind then mbTagged("List", {mbValues x})
    else if instance(x, Expression) then mbTagged("Expression", {mbString mbClassName x, mbValues x})
    else if member(kind, {Array, Option, MutableList, Partition}) then mbTagged(toString kind, {mbValues x})
    else mbUnknown x)
mbEncode List := lookup(mbEncode, BasicList)
mbEncode HashTable := x -> if class x === HashTable or class x === OptionTable then mbTagged("HashTable", {mbPairs x}) else mbUnknown x
mbEncode MutableHashTable := x -> if class x === MutableHashTable then mbTagged("MutableHashTable", {mbPairs x}) else mbUnknown x
mbEncode Set := x -> if class x === Set then mbTagged("Set", {mbValues keys x}) else mbUnknown x
mbEncode VirtualTally := x -> (
    if class x === Tally or class x === VirtualTally or class x === BettiTally then mbTagged(mbClassName x, {mbPairs x}) else mbUnknown x)
mbEncode Tally := lookup(mbEncode, VirtualTally)

mbEncode Ring := R -> mbTagged("Ring", {mbRingPlace R})
mbEncode InexactFieldFamily := R -> (
    if toString R == "RR" or toString R == "CC" then mbTagged("Ring", {mbRingPlace R_53}) else mbUnknown R)
mbEncode RingElement := f -> mbTagged("Element", {mbRingPlace ring f, mbData(ring f, f)})
mbEncode Ideal := I -> mbTagged("Ideal", {mbRingPlace ring I, mbArray apply(first entries gens I, f -> mbData(ring I, f))})
mbEncode MonomialIdeal := I -> mbTagged("MonomialIdeal", {mbRingPlace ring I, mbArray apply(first entries gens I, f -> mbData(ring I, f))})

mbModule = M -> mbArray {
    mbRingPlace ring M, mbArray apply(degrees ambient M, mbIntegers),
    if M.?generators then mbMatrix M.generators else "null",
    if M.?relations then mbMatrix M.relations else "null"}
mbMatrix = f -> mbArray {
    mbModule target f, mbModule source f, mbIntegers degree f,
    mbArray apply(entries f, row -> mbArray apply(row, x -> mbData(ring f, x)))}
mbEncode Module := M -> mbTagged("Module", {mbModule M})
mbEncode Matrix := f -> mbTagged("Matrix", {mbMatrix f})
mbEncode MutableMatrix := f -> mbTagged("MutableMatrix", {mbMatrix matrix f})
mbEncode Vector := v -> mbTagged("Vector", {mbModule class v, mbArray apply(entries v, x -> mbData(ring v, x))})
mbEncode GroebnerBasis := G -> mbTagged("GroebnerBasis", {mbMatrix generators G})
mbEncode RingMap := f -> mbTagged("RingMap", {mbRingPlace target f, mbRingPlace source f,
    mbArray apply(first entries matrix f, x -> mbData(target f, x))})
mbEncode ProjectiveHilbertPolynomial := h -> mbTagged("HilbertPolynomial", {mbPairs h})

-- Chain complexes: Macaulay2 1.21 has ChainComplex, 1.26 has Complex.
mbComplex = C -> (
    (low, high) := mbEnds C;
    {mbRingPlace ring C, toString low,
        mbArray apply(toList(low .. high), i -> mbModule C_i),
        mbArray apply(toList(low + 1 .. high), i -> mbMatrix C.dd_i)})
mbComplexMap = f -> (
    (low, high) := mbEnds source f;
    mbTagged("ComplexMap", {mbArray mbComplex source f, mbArray mbComplex target f, toString degree f,
        mbArray apply(toList(low .. high), i -> mbMatrix f_i)}))
mbTypeNamed = name -> if isGlobalSymbol name and instance(value name, Type) then value name
mbChainComplexes = mbTypeNamed "ChainComplex"
mbComplexes = mbTypeNamed "Complex"
mbEnds = C -> if mbChainComplexes =!= null and instance(C, mbChainComplexes) then (min C, max C) else concentration C
scan({mbChainComplexes, mbComplexes}, T -> if T =!= null then mbEncode T := C -> mbTagged("Complex", mbComplex C))
scan(mbTypeNamed \ {"ChainComplexMap", "ComplexMap"}, T -> if T =!= null then mbEncode T := mbComplexMap)

mbEmit = (name, x) -> (
    scan(keys mbPlaces, k -> remove(mbPlaces, k));
    mbState#"descriptions" = new MutableList;
    written := mbEncode x;
    rings := mbArray toList mbState#"descriptions";
    line := concatenate("{\"field\":", mbQuote name, ",\"value\":[\"Value\",", rings, ",", written, "]}\n");
    mbRecords = mbRecords + 1;
    mbOutput << line << flush;)

-- In: rings, made once for each dictionary of symbols.
mbSymbol = name -> (
    d := mbSymbols();
    if d#?name then d#name else getGlobalSymbol(d, name))
mbDefine = (name, x) -> (
    s := mbSymbol name;
    (mbCore "globalAssign")(s, x);)
mbVariableNamed = parts -> (
    s := mbSymbol first parts;
    if #parts == 1 then s
    else (
        index := apply(drop(parts, 1), i -> if instance(i, String) then mbSymbol i else i);
        new IndexedVariable from {s, if #index == 1 then first index else toSequence index}))
mbGiven = (key, make) -> (
    known := mbKeptRings();
    if not known#?key then known#key = make();
    use known#key)

mbPrimeField = p -> ZZ/p
mbRealField = p -> RR_p
mbComplexField = p -> CC_p
-- Macaulay2 calls the generator primitive where it looks for no other element, even if it is not.
mbGalois = (A, element) -> if element == A_0 then GF A else GF(A, PrimitiveElement => element)
mbFraction = R -> frac R
mbQuotient = (R, relations) -> R / ideal matrix(R, {relations})
mbAlgebra = (k, names, rank, degs, order, inverses, joined, weyl, skew) -> if #names == 0 and not joined then toField k else (
    variables := apply(names, mbVariableNamed);
    k(monoid(new Array from join(variables, {
        DegreeRank => rank, Degrees => degs, MonomialOrder => apply(order, (o, n) -> (value Core.Dictionary#o) => (
            if instance(n, String) then value Core.Dictionary#n else n)),
        Inverses => inverses, WeylAlgebra => apply(weyl, (a, b) -> variables#a => variables#b),
        SkewCommutative => apply(skew, i -> variables#i)}, if joined then {} else {Join => false}))))

-- Elements. Terms are added by halves, since a sum copies both of its parts.
mbSum = (start, end, term) -> if end == start + 1 then term start else (
    half := (start + end) // 2;
    mbSum(start, half, term) + mbSum(half, end, term))
-- {coefficient, variable, exponent, variable, exponent, ..} for each term
mbElement = (R, terms) -> (
    if #terms == 0 then 0_R
    else if not instance(R, PolynomialRing) then promote(mbElement(ambient R, terms), R)
    else (
        k := coefficientRing R;
        S := mbRaw R;
        new R from mbSum(0, #terms, j -> (
            t := terms#j;
            mbRawTerm(S, mbRaw promote(first t, k), mbRawMonomial apply(#t // 2, i -> (t#(2*i+1), t#(2*i+2))))))))
-- Large ones over ZZ, QQ or ZZ/p: a list of coefficients, the powers (variable, exponent) that occur, and a line for each
-- monomial, of characters that are 32 more than the places of its powers in that list.
mbPolynomial = (R, coefficients, powers, monomials) -> (
    (S, K) := (mbRaw R, mbRaw coefficientRing R);
    table := join(32 : null, toSequence powers);
    written := lines monomials;
    if #written < #coefficients then written = append(written, "");  -- a last line that is empty is the monomial 1
    new R from mbSum(0, #coefficients, j ->
        mbRawTerm(S, mbRawNumber(K, coefficients#j), mbRawMonomial apply(utf8 written#j, c -> table#c))))
-- As if typed: in the ring that has all these variables in sight, else in one that is made.
mbInSight = names -> (
    found := apply(names, parts -> value mbVariableNamed parts);
    if all(found, x -> instance(x, RingElement)) and #unique apply(found, ring) == 1 then (
        R := ring first found;
        if R.?generators and isCommutative R and isSubset(found, gens R) then R))
mbTyped = (names, make, write) -> (
    R := mbInSight names;
    if R === null then (
        R = make();
        names = toList(0 ..< #names))
    else names = apply(names, parts -> position(gens R, x -> x === value mbVariableNamed parts));
    write(R, names))
mbPlaced = (R, places, terms) -> (
    if instance(R, FractionField) then promote(mbPlaced(last R.baseRings, places, terms), R)
    else mbElement(R, apply(terms, t -> apply(#t, j -> if odd j then places#(t#j) else t#j))))
mbQuotientOf = (R, above, below) -> promote(above, R) / promote(below, R)
mbNumber = (p, mantissa, exponent) -> numeric(p, mantissa) * (numeric(p, 2))^exponent
mbSpecial = (p, name) -> (
    if name == "inf" then numeric(p, infinity) else if name == "-inf" then numeric(p, -infinity)
    else if name == "nan" then numeric(p, infinity) - numeric(p, infinity) else -numeric(p, 0))
mbComplexFrom = (p, a, b) -> toCC(p, a, b)
mbInterval = (a, b) -> interval(a, b)
mbConstant = name -> value Core.Dictionary#name
mbNet = (above, written) -> (
    n := stack written;
    n^(above - height n))

mbFree = (R, degs) -> if degreeLength R == 0 then R^(#degs) else R^(-degs)
mbSubquotient = (g, r) -> (
    if r === null then image g else if g === null then coker r else subquotient(g, r))
mbMap = (T, S, deg, rows) -> (
    R := ring T;
    options := if degreeLength R == 0 then () else (1 : (Degree => deg));
    if #rows == 0 or #first rows == 0 then map(T, S, 0) else map prepend(T, prepend(S, prepend(apply(rows, r -> apply(r, x -> promote(x, R))), options))))
mbIdeal = (R, generators) -> if #generators == 0 then ideal 0_R else ideal apply(generators, f -> promote(f, R))
mbMonomialIdeal = (R, generators) -> if #generators == 0 then monomialIdeal 0_R else monomialIdeal apply(generators, f -> promote(f, R))
mbVector = (M, items) -> (
    R := ring M;
    new M from (vector matrix(R, apply(items, x -> {promote(x, R)}))))
mbRingMap = (T, S, images) -> map(T, S, apply(images, x -> promote(x, T)))
mbChain = (R, low, modules, maps) -> (
    if mbComplexes =!= null then (
        make := value "complex";
        if #maps == 0 then make(first modules, Base => low) else make(maps, Base => low))
    else (
        C := new mbChainComplexes;
        C.ring = R;
        scan(#modules, i -> C#(low + i) = modules#i);
        scan(#maps, i -> C.dd#(low + i + 1) = maps#i);
        C))
mbMapOfComplexes = (D, C, d, maps) -> (
    table := new HashTable from maps;
    if mbComplexes =!= null then map(D, C, table, Degree => d) else map(D, C, i -> table#i, Degree => d))
mbExpression = (name, parts) -> new (value Core.Dictionary#name) from parts
mbHilbertPolynomial = items -> new ProjectiveHilbertPolynomial from items
mbBettiTable = items -> new BettiTally from items
mbReferenced = key -> if mbTable#?key then mbTable#key else error "the value of this reference is gone, or belongs to another workspace"
mbTogether = parts -> fold(join, {}, parts)
mbFactors = factors -> new Product from apply(factors, (base, n) -> new Power from {base, n})
mbSymbolGiven = name -> if match("^[[:alpha:]]", name) then (
    if isGlobalSymbol name then getGlobalSymbol name else mbSymbol name) else getGlobalSymbol(Core.Dictionary, name)
mbTableFrom = (kind, items) -> (
    if kind == "HashTable" then hashTable items
    else new (value Core.Dictionary#kind) from apply(items, (k, v) -> k => v))
