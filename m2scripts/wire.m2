-- The wire format: one answer per line, as JSON, exact.
--
-- mbEmit("name", x) writes {"field":"name","value":<x>}; mbFinish() writes {"end":<nonce>,"records":<count>}.
-- An encoded value is true, false, null, a string, or an array whose first entry names the type:
--   ["ZZ","-12"]  ["QQ","3/7"]  ["ZZ/p","7","-3"]  ["List",[..]]  ["Sequence",[..]]
--   ["RingElement",ring,terms]  ["Ideal",ring,[terms,..]]  ["Matrix",ring,rows,columns,[terms,..]]
-- with terms = [[[exponents],"coefficient"],..] and
--   ring = ["PolynomialRing",field,[[base,indices..],..]], field = ["QQ"], ["ZZ"] or ["ZZ/p","7"].
-- A type without an encoder is an error: nothing is ever sent as pretty-printed text.
-- To widen the format, install one more method of mbEncode, and its reader in m2bridge/convert/decode.py.

mbOutput = stdio
mbNonce = "standalone"
mbRecords = 0

mbArray = items -> concatenate("[", demark(",", items), "]")

-- JSON strings: quotes, backslashes and control characters are escaped; other bytes pass as they are (UTF-8).
mbHexDigits = characters "0123456789abcdef"
mbEscapes = new HashTable from join(
    apply(toList(0..31) | {127}, i -> ascii {i} => concatenate("\\u00", mbHexDigits#(i // 16), mbHexDigits#(i % 16))),
    {"\"" => "\\\"", "\\" => "\\\\"})
mbQuote = s -> concatenate("\"", apply(characters s, c -> if mbEscapes#?c then mbEscapes#c else c), "\"")

mbEncode = method(Dispatch => Thing)
mbEncode Thing := x -> error("no wire encoder for the type ", toString class x)
mbEncode Nothing := x -> "null"
mbEncode Boolean := x -> if x then "true" else "false"
mbEncode String := mbQuote
mbEncode ZZ := x -> mbArray {"\"ZZ\"", mbQuote toString x}
mbEncode QQ := x -> mbArray {"\"QQ\"", mbQuote toString x}
mbEncode BasicList := x -> error("no wire encoder for the type ", toString class x)
mbEncode List := x -> mbArray {"\"List\"", mbArray apply(x, mbEncode)}
mbEncode Sequence := x -> mbArray {"\"Sequence\"", mbArray apply(toList x, mbEncode)}

-- Coefficient fields, and how one coefficient is written.
mbIsPrimeField = k -> instance(k, QuotientRing) and ambient k === ZZ
mbField = k -> (
    if k === QQ then "[\"QQ\"]"
    else if k === ZZ then "[\"ZZ\"]"
    else if mbIsPrimeField k then mbArray {"\"ZZ/p\"", mbQuote toString char k}
    else error("no wire encoder for coefficients in ", toString k))

-- Variables: a symbol x is ["x"], the indexed variable x_(1,2) is ["x",1,2].
mbIndex = i -> if instance(i, ZZ) then toString i else error("no wire encoder for the index ", toString i)
mbVariable = x -> (
    if instance(x, Symbol) then mbArray {mbQuote toString x}
    else if instance(x, IndexedVariable) then (
        if instance(x#1, Sequence) and #x#1 < 2 then error("no wire encoder for the variable ", toString x);
        mbArray join({mbQuote toString x#0}, apply(if instance(x#1, Sequence) then toList x#1 else {x#1}, mbIndex)))
    else error("no wire encoder for the variable ", toString x))

-- Rings whose elements would be taken for those of an ordinary polynomial ring, or lose their order, are refused.
mbIsOrdinary = R -> (
    instance(R, PolynomialRing) and isCommutative R and (options monoid R).Inverses =!= true
    and all(toList (options monoid R).MonomialOrder, part -> member(part#0, {MonomialSize, GRevLex, Position})))
mbRing = R -> (
    if not mbIsOrdinary R then error("no wire encoder for elements of ", toString R);
    mbArray {"\"PolynomialRing\"", mbField coefficientRing R, mbArray apply(gens R, x -> mbVariable baseName x)})

mbDigits = apply(100, toString)
mbExponent = e -> if 0 <= e and e < 100 then mbDigits#e else toString e
mbTerms = f -> mbArray apply(listForm f, t ->
    concatenate("[[", demark(",", apply(first t, mbExponent)), "],\"", toString last t, "\"]"))

mbEncode RingElement := f -> (
    R := ring f;
    if mbIsPrimeField R then mbArray {"\"ZZ/p\"", mbQuote toString char R, mbQuote toString f}
    else mbArray {"\"RingElement\"", mbRing R, mbTerms f})
mbEncode Ideal := I -> mbArray {"\"Ideal\"", mbRing ring I, mbArray apply(first entries gens I, mbTerms)}
mbEncode Matrix := M -> (
    R := ring M;
    if R === ZZ or R === QQ or mbIsPrimeField R then M = sub(M, (R = R[]));
    mbArray {"\"Matrix\"", mbRing R, toString numrows M, toString numcols M,
        mbArray apply(flatten entries M, mbTerms)})

mbEmit = (name, x) -> (
    line := concatenate("{\"field\":", mbQuote name, ",\"value\":", mbEncode x, "}\n");
    mbRecords = mbRecords + 1;
    mbOutput << line << flush;)
mbFinish = () -> (
    mbOutput << "{\"end\":" << mbQuote mbNonce << ",\"records\":" << mbRecords << "}\n" << flush;)
