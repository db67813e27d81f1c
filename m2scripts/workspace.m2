-- How the value of code that a user wrote is sent; loaded in workspaces only.

-- What Python refers to; it lives as long as the process.
mbHeld = new MutableHashTable
mbSending = new MutableHashTable from {"references" => false, "refused" => {}}

mbShort = s -> if #s > 2000 then substring(0, 2000, s) | " …" else s
mbText = x -> try toString x else "(Macaulay2 cannot show it)"

mbReference = x -> (
    n := #mbHeld;
    mbHeld#n = x;
    mbArray {"\"Reference\"", mbQuote mbProcess, toString n, mbQuote toString class x, mbQuote mbShort mbText x})

-- A value that Python has no counterpart of.
mbRefuse = x -> (
    if mbSending#"references" then return mbReference x;
    mbSending#"refused" = {x};
    error("no counterpart in Python for the class ", toString class x))
mbEncode Thing := mbRefuse
mbEncode BasicList := mbRefuse

-- What a reference refers to.
mbReferenced = (process, n) -> (
    if process =!= mbProcess then error "a reference belongs to the workspace that gave it, and ends with its process";
    mbHeld#n)

-- The packages that there are if there is none of this name.
mbOthers = name -> (
    folders := select(path, d -> fileExists d);
    if any(folders, d -> fileExists(d | name | ".m2")) then {}
    else flatten apply(folders, d -> apply(select(readDirectory d, f -> match("^[A-Za-z0-9]+\\.m2$", f)),
        f -> substring(0, #f - 3, f))))

mbProcess = concatenate(toString processID(), "-", toString currentTime())

-- As people read it: tables as tables, all else in a line that Macaulay2 can read again.
mbShown = x -> if x === null then "" else if instance(x, BettiTally) then toString net x else toString x

-- form: "" for nothing, "value", "reference" (the value, with references for what has no counterpart),
-- "text" (as Macaulay2 writes it, and the value if it has a counterpart).
mbSend = (x, form) -> if form != "" then (
    mbSending#"references" = form == "reference";
    mbSending#"refused" = {};
    if form == "text" then mbEmit("text", mbShown x);
    encoded := try mbEncode x;
    if encoded =!= null then mbRecord("value", encoded)
    else if #mbSending#"refused" > 0 then (
        y := first mbSending#"refused";
        mbEmit("refused", {toString class y, mbShort mbText y}))
    else mbRecord("value", mbEncode x))  -- the error once more, to be seen

mbRecord = (name, encoded) -> (
    line := concatenate("{\"field\":", mbQuote name, ",\"value\":", encoded, "}\n");
    mbRecords = mbRecords + 1;
    mbOutput << line << flush;)
