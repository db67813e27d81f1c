-- The Macaulay2 side of one long-lived session; loaded once, after the other scripts.
--
-- For each run Python sends two lines: mbRun(nonce, script, answers) and mbReport nonce. The first loads the script; an
-- error in it is printed and leaves the second line to say, in any case, that the run is over, and which run began last.
-- The answers are in a file.

-- Scripts find the shared functions in this dictionary.
mbShared = new Dictionary

-- What a session remembers is local to the two functions, out of the reach of scripts.
(mbRun, mbReport) = (() -> (
    usual := dictionaryPath;
    begun := "";
    file := stdio;

    -- A script works in a dictionary of its own: every symbol that it introduces is forgotten with the dictionary,
    -- so that no run sees the variables of another.
    dictionary := new Dictionary;

    -- Rings, functions and so on that a symbol named stay in a table of names; only Macaulay2's own way of giving the
    -- symbol another value takes them out of it.
    assign := value Core#"private dictionary"#"globalAssign";
    forget := () -> scan(values dictionary, s -> try assign(s, null));

    run := (nonce, script, answers) -> (
        dictionary = new Dictionary;
        dictionaryPath = join({dictionary, mbShared}, usual);
        (mbNonce, mbRecords) = (nonce, 0);
        mbOutput = file = openOut answers;
        begun = nonce;
        load script;);

    -- Loading is quiet about the value of the line, and the report starts with an unprintable byte on a line of its own.
    report := nonce -> (
        dictionaryPath = usual;
        forget();
        if file =!= stdio then try close file;
        file = stdio;
        try (mbOutput = stdio);
        stdio << "\n\1m2bridge " << nonce << " " << begun << "\n" << flush;);

    (run, report)))()

-- No script can assign to the shared names, or erase them. The three that change are set for each run.
scan(pairs User#"private dictionary", (name, s) -> if match("^mb", name) then (
    mbShared#name = s;
    if not match("^mb(Output|Nonce|Records)$", name) then protect s))
protect mbShared
