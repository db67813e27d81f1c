-- Every value with a counterpart in Python, out and in; loaded in workspaces, after wire.m2 and the preloaded packages.
--
-- Out: mbEmit writes ["Value", rings, value]. A value is [type, part, ..] with the name of a class of
-- m2bridge.workspace.values and the fields of that class, or with one of those names of Macaulay2 that
-- m2bridge/convert/decode_values.py reads. A part is a value, an integer, or a list of parts that does not begin with a string.
-- A ring is in the table once, after the rings that it is made of; values name it by its place there, as ["Ring", place].
-- Elements are ["Element", place, data] and ["Elements", place, data, ..], where the data are text for ZZ, QQ and ZZ/p,
-- [mantissa, exponent, precision] for RR, two of them for CC, [numerator, denominator],
-- [coefficient, variable, exponent, variable, exponent, ..] for each term of a polynomial;
-- ["Text", variables, number of terms, text] for a large polynomial, as the engine prints it.
-- A value without a counterpart is ["Unknown", class], or on request a reference to what this process keeps.
--
-- In: m2bridge/convert/encode.py writes calls of the functions in the second half, and nothing else: mbMatrix makes what
-- the fields of the class Matrix say, and so on.

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

mbClassName = x -> toString class x
mbTagged = (tag, items) -> mbArray prepend(mbString tag, items)
mbValues = items -> mbTagged("Sequence", apply(toList items, mbEncode))
mbIntegers = items -> mbArray apply(toList items, toString)
mbBoolean = x -> if x then "true" else "false"

-- Numbers that are not exact: a mantissa times a power of two, exactly.
mbSpecials = new HashTable from {"0" => "", "-0" => "-0", "infinity" => "inf", "-infinity" => "-inf", "NotANumber" => "nan"}
mbRealData = x -> (
    p := precision x;
    if not isFinite x or x == 0 then mbArray {"\"0\"", "0", toString p, mbString mbSpecials#(toString x)}
    else (
        e := size2 x - p;
        mbArray {mbQuote toString floor(x * (numeric(p, 2))^(-e)), toString e, toString p}))

-- Rings.
mbVariableIndex = i -> (
    if instance(i, ZZ) then toString i
    else if instance(i, Symbol) then mbString toString i
    else if instance(i, RingElement) and member(i, gens ring i) then mbVariableIndex baseName i
    else error("no counterpart for the index ", toString i))
mbNameOf = x -> mbTagged("Variable",
    if instance(x, Symbol) then {mbEncode toString x}
    else prepend(mbEncode toString x#0, apply(if instance(x#1, Sequence) then toList x#1 else {x#1}, mbVariableIndex)))

mbPosition = (R, x) -> if instance(x, ZZ) then x else position(gens R, y -> y === x or baseName y === baseName x)
mbWeyl = R -> mbArray apply(toList (options monoid R).WeylAlgebra, p -> (
    if not instance(p, BasicList) or #p != 2 then error "a homogenized Weyl algebra has no counterpart";
    mbIntegers apply(toList p, x -> mbPosition(R, x))))
mbSkew = R -> if R.?SkewCommutative then mbIntegers R.SkewCommutative else "[]"

mbOrderPart = (name, size) -> mbTagged("Sequence", {mbString toString name,
    if instance(size, ZZ) then toString size else if instance(size, List) then mbIntegers size else mbString toString size})
mbDescribeAlgebra = R -> (
    o := options monoid R;
    mbTagged("Algebra", {mbEncode coefficientRing R, mbArray apply(gens R, x -> mbNameOf baseName x),
        mbArray apply(o.Degrees, mbIntegers), mbArray apply(toList o.MonomialOrder, part -> mbOrderPart(part#0, part#1)),
        mbBoolean(o.Inverses === true), mbWeyl R, mbSkew R, toString o.DegreeRank, mbBoolean(o.Join =!= false)}))

mbDescribe = R -> (
    if R === ZZ then mbTagged("IntegerRing", {})
    else if R === QQ or mbIsPrimeField R then mbTagged("CoefficientField", {toString char R})
    else if instance(R, InexactField) and member(mbClassName R, {"RealField", "ComplexField"})
    then mbTagged(mbClassName R, {toString precision R})
    else if instance(R, GaloisField) then mbTagged("GaloisField", {mbEncode ambient R, mbElement(ambient R, R.PrimitiveElement)})
    else if instance(R, FractionField) then mbTagged("FractionField", {mbEncode last R.baseRings})
    else if instance(R, PolynomialRing) then mbDescribeAlgebra R
    else if instance(R, QuotientRing)
    then mbTagged("QuotientRing", {mbEncode ambient R, mbElements(ambient R, first entries gens ideal R)})
    else mbTagged("Unknown", {mbString mbClassName R}))

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
    else if instance(R, InexactField) then (
        if mbClassName R == "RealField" then mbRealData f else mbArray {mbRealData realPart f, mbRealData imaginaryPart f})
    else if instance(R, GaloisField) then mbPolynomialData(ambient R, lift(f, ambient R))
    else if instance(R, FractionField) then (
        S := last R.baseRings;
        mbArray {mbData(S, numerator f), mbData(S, denominator f)})
    else mbPolynomialData(R, f))

mbElement = (R, f) -> mbTagged("Element", {mbRingPlace R, mbData(R, f)})
mbElements = (R, items) -> mbTagged("Elements", prepend(mbRingPlace R, apply(items, f -> mbData(R, f))))

-- Values.
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
mbPairs = x -> mbArray apply(pairs x, mbValues)

mbEncode Thing := mbUnknown
mbEncode InfiniteNumber := x -> mbTagged("Infinity", {if x > 0 then "1" else "-1"})
mbEncode IndeterminateNumber := x -> mbTagged("Infinity", {"0"})
mbEncode RRi := x -> mbTagged("RealInterval", {mbEncode left x, mbEncode right x})
mbEncode Constant := x -> mbTagged("Constant", {mbQuote toString x})
mbEncode Net := x -> mbTagged("Net", {mbValues unstack x, toString height x})
mbEncode Symbol := x -> mbTagged("Symbol", {mbEncode toString x})
mbEncode Keyword := x -> mbTagged("Symbol", {mbEncode toString x})
mbEncode IndexedVariable := x -> mbTagged("Symbol", {mbEncode toString x#0, mbEncode x#1})
mbLists = set {List, VerticalList} + set select({try value "NumberedVerticalList"}, x -> instance(x, Type))
mbEncode BasicList := x -> (
    kind := class x;
    if mbLists#?kind then mbTagged("List", apply(toList x, mbEncode))
    else if instance(x, Expression) then mbTagged("Expression", {mbString toString kind, mbValues x})
    else if kind === Option then mbTagged("Option", apply(toList x, mbEncode))
    else if member(kind, {Array, MutableList, Partition}) then mbTagged(toString kind, {mbValues x})
    else mbUnknown x)
mbEncode List := lookup(mbEncode, BasicList)
mbEncode Sequence := mbValues
mbEncode HashTable := x -> if class x === HashTable or class x === OptionTable then mbTagged("HashTable", {mbPairs x}) else mbUnknown x
mbEncode MutableHashTable := x -> if class x === MutableHashTable then mbTagged("MutableHashTable", {mbPairs x}) else mbUnknown x
mbEncode Set := x -> if class x === Set then mbTagged("Set", apply(keys x, mbEncode)) else mbUnknown x
mbEncode VirtualTally := x -> (
    if class x === BettiTally then mbTagged("BettiTable", {mbArray apply(pairs x, (k, n) -> mbValues((k#0, toSequence k#1, k#2), n))})
    else if class x === Tally or class x === VirtualTally then mbTagged(mbClassName x, {mbPairs x})
    else mbUnknown x)
mbEncode Tally := lookup(mbEncode, VirtualTally)

mbEncode Ring := R -> mbTagged("Ring", {mbRingPlace R})
mbEncode InexactFieldFamily := R -> if toString R == "RR" or toString R == "CC" then mbEncode R_53 else mbUnknown R
scan({RR, CC, RingElement}, T -> mbEncode T := f -> mbElement(ring f, f))
mbEncode Ideal := I -> mbTagged("Ideal", {mbEncode ring I, mbElements(ring I, first entries gens I)})
mbEncode MonomialIdeal := I -> mbTagged("MonomialIdeal", {mbEncode ring I, mbElements(ring I, first entries gens I)})
mbEncode Module := M -> mbTagged("Module", {
    mbEncode ring M, mbArray apply(degrees ambient M, mbIntegers),
    if M.?generators then mbEncode M.generators else "null",
    if M.?relations then mbEncode M.relations else "null"})
mbEncode Matrix := f -> mbTagged("Matrix", {
    mbEncode target f, mbEncode source f, mbArray apply(entries f, row -> mbElements(ring f, row)), mbIntegers degree f})
mbEncode MutableMatrix := f -> mbTagged("MutableMatrix", {mbEncode matrix f})
mbEncode Vector := v -> mbTagged("Vector", {mbEncode class v, mbElements(ring v, entries v)})
mbEncode GroebnerBasis := G -> mbTagged("GroebnerBasis", {mbEncode generators G})
mbEncode RingMap := f -> mbTagged("RingMap", {
    mbEncode target f, mbEncode source f, mbElements(target f, first entries matrix f)})
mbEncode ProjectiveHilbertPolynomial := h -> mbTagged("HilbertPolynomial", {mbPairs h})

-- Chain complexes: Macaulay2 1.21 has ChainComplex, 1.26 has Complex.
mbTypeNamed = name -> if isGlobalSymbol name and instance(value name, Type) then value name
mbChainComplexes = mbTypeNamed "ChainComplex"
mbComplexes = mbTypeNamed "Complex"
mbEnds = C -> if mbChainComplexes =!= null and instance(C, mbChainComplexes) then (min C, max C) else concentration C
scan({mbChainComplexes, mbComplexes}, T -> if T =!= null then mbEncode T := C -> (
    (low, high) := mbEnds C;
    mbTagged("Complex", {mbEncode ring C, toString low,
        mbArray apply(toList(low .. high), i -> mbEncode C_i),
        mbArray apply(toList(low + 1 .. high), i -> mbEncode C.dd_i)})))
scan(mbTypeNamed \ {"ChainComplexMap", "ComplexMap"}, T -> if T =!= null then mbEncode T := f -> (
    (low, high) := mbEnds source f;
    mbTagged("ComplexMap", {mbEncode source f, mbEncode target f, toString degree f,
        mbArray apply(toList(low .. high), i -> mbEncode f_i)})))

mbEmit = (name, x) -> (
    scan(keys mbPlaces, k -> remove(mbPlaces, k));
    mbState#"descriptions" = new MutableList;
    written := mbEncode x;
    rings := mbArray toList mbState#"descriptions";
    line := concatenate("{\"field\":", mbQuote name, ",\"value\":[\"Value\",", rings, ",", written, "]}\n");
    mbRecords = mbRecords + 1;
    mbOutput << line << flush;)

-- In: rings, made once for each dictionary of symbols.
mbSymbolNamed = name -> (
    d := mbSymbols();
    if d#?name then d#name else getGlobalSymbol(d, name))
-- All values are made before the first name is given: rings among them have variables of these names, too.
mbDefine = (names, objects) -> scan(#names, i -> (mbCore "globalAssign")(mbSymbolNamed names#i, objects#i))
mbVariableNamed = parts -> (
    s := mbSymbolNamed first parts;
    if #parts == 1 then s
    else (
        index := apply(drop(parts, 1), i -> if instance(i, String) then mbSymbolNamed i else i);
        new IndexedVariable from {s, if #index == 1 then first index else toSequence index}))
mbGiven = (key, make) -> (
    known := mbKeptRings();
    if not known#?key then known#key = make();
    use known#key)

mbIntegerRing = () -> ZZ
mbCoefficientField = p -> if p == 0 then QQ else ZZ/p
mbRealField = p -> RR_p
mbComplexField = p -> CC_p
-- Macaulay2 calls the generator primitive where it looks for no other element, even if it is not.
mbGaloisField = (A, element) -> if element == A_0 then GF A else GF(A, PrimitiveElement => element)
mbFractionField = R -> frac R
mbQuotientRing = (R, relations) -> if R === ZZ then ZZ/(first relations) else R / ideal matrix(R, {relations})
-- An order in which a variable is less than 1 was allowed by Global => false, and is again.
mbAlgebra = (k, names, degs, order, inverses, weyl, skew, rank, joined) -> if #names == 0 and not joined then toField k else (
    variables := apply(names, mbVariableNamed);
    make := more -> k(monoid(new Array from join(variables, {
        DegreeRank => rank, Degrees => degs, MonomialOrder => apply(order, o -> (value Core.Dictionary#(o#0)) => (
            if instance(o#1, String) then value Core.Dictionary#(o#1) else o#1)),
        Inverses => inverses, WeylAlgebra => apply(weyl, p -> variables#(p#0) => variables#(p#1)),
        SkewCommutative => apply(skew, i -> variables#i)},
        if joined then {} else {Join => false}, more)));
    try make {} else make {Global => false})

-- Elements. Terms are added by halves, since a sum copies both of its parts.
mbSum = (start, end, term) -> if end == start + 1 then term start else (
    half := (start + end) // 2;
    mbSum(start, half, term) + mbSum(half, end, term))
-- {coefficient, variable, exponent, variable, exponent, ..} for each term
mbSparse = (R, terms) -> (
    if #terms == 0 then 0_R
    else if mbIsPrimeField R then promote(first first terms, R)
    else if not instance(R, PolynomialRing) then promote(mbSparse(ambient R, terms), R)
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
-- In a ring that is made; with names as if typed: in the ring that has all these variables in sight, if there is one.
mbInSight = names -> (
    found := apply(names, parts -> value mbVariableNamed parts);
    if all(found, x -> instance(x, RingElement)) and #unique apply(found, ring) == 1 then (
        R := ring first found;
        if R.?generators and isCommutative R and isSubset(found, gens R) then R))
mbTyped = (names, make, write) -> (
    R := if names =!= null then mbInSight names;
    if R =!= null then write(R, apply(names, parts -> position(gens R, x -> x === value mbVariableNamed parts)))
    else (
        R = make();
        write(R, toList(0 ..< numgens R))))
mbPlaced = (R, places, terms) -> (
    if instance(R, FractionField) then promote(mbPlaced(last R.baseRings, places, terms), R)
    else mbSparse(R, apply(terms, t -> apply(#t, j -> if odd j then places#(t#j) else t#j))))
mbRingFraction = (R, above, below) -> promote(above, R) / promote(below, R)
mbReal = (mantissa, exponent, p, special) -> (
    if special == "" then numeric(p, mantissa) * (numeric(p, 2))^exponent
    else if special == "inf" then numeric(p, infinity) else if special == "-inf" then numeric(p, -infinity)
    else if special == "nan" then numeric(p, infinity) - numeric(p, infinity) else -numeric(p, 0))
mbComplexNumber = (a, b) -> toCC(min(precision a, precision b), a, b)
mbRealInterval = (a, b) -> interval(a, b)
mbConstant = name -> value Core.Dictionary#name

-- Values.
mbNet = (written, above) -> (
    n := stack written;
    n^(above - height n))
mbSymbol = (name, index) -> (
    s := if not match("^[[:alpha:]]", name) then getGlobalSymbol(Core.Dictionary, name)
        else if isGlobalSymbol name then getGlobalSymbol name else mbSymbolNamed name;
    if index === null then s else new IndexedVariable from {s, index})
mbNew = (kind, parts) -> new (value Core.Dictionary#kind) from parts
mbHashTable = (kind, items) -> if kind == "HashTable" then hashTable items else mbNew(kind, apply(items, (k, v) -> k => v))
mbFactorization = factors -> (
    if #factors > 0 and first factors === (-1, 1) then new Minus from {mbFactorization drop(factors, 1)}
    else new Product from apply(factors, (base, n) -> new Power from {base, n}))
mbReference = (kind, text, key) -> (
    if mbTable#?key then mbTable#key else error "the value of this reference is gone, or belongs to another workspace")
mbTogether = parts -> fold(join, {}, parts)

mbModule = (R, degs, g, r) -> (
    if g =!= null then (if r === null then image g else subquotient(g, r))
    else if r =!= null then coker r
    else if degreeLength R == 0 then R^(#degs) else R^(-degs))
mbMatrix = (T, S, rows, deg) -> (
    R := ring T;
    options := if degreeLength R == 0 then () else (1 : (Degree => deg));
    if #rows == 0 or #first rows == 0 then map(T, S, 0) else map prepend(T, prepend(S, prepend(apply(rows, r -> apply(r, x -> promote(x, R))), options))))
mbGeneralIdeal = (R, generators) -> if #generators == 0 then ideal 0_R else ideal apply(generators, f -> promote(f, R))
mbMonomialIdeal = (R, generators) -> if #generators == 0 then monomialIdeal 0_R else monomialIdeal apply(generators, f -> promote(f, R))
mbMutableMatrix = f -> mutableMatrix f
mbGroebnerBasis = f -> forceGB f
mbVector = (M, items) -> (
    R := ring M;
    new M from (vector matrix(R, apply(items, x -> {promote(x, R)}))))
mbRingMap = (T, S, images) -> map(T, S, apply(images, x -> promote(x, T)))
mbComplex = (R, low, modules, maps) -> (
    if mbComplexes =!= null then (
        make := value "complex";
        if #maps == 0 then make(first modules, Base => low) else make(maps, Base => low))
    else (
        C := new mbChainComplexes;
        C.ring = R;
        scan(#modules, i -> C#(low + i) = modules#i);
        scan(#maps, i -> C.dd#(low + i + 1) = maps#i);
        C))
mbComplexMap = (C, D, d, maps) -> (
    low := first mbEnds C;
    table := hashTable apply(#maps, i -> low + i => maps#i);
    if mbComplexes =!= null then map(D, C, table, Degree => d) else map(D, C, i -> table#i, Degree => d))
mbHilbertPolynomial = coefficients -> new ProjectiveHilbertPolynomial from apply(coefficients, c -> c#0 => c#1)
mbBettiTable = entries -> new BettiTally from apply(entries, e -> toSequence e#0 => e#1)
