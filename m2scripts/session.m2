-- The Macaulay2 side of one conversation; loaded once, after the other scripts.
--
-- Python types one line for each request, mbRun(…) or mbEvaluate(…), which loads code from a file. The report is what
-- stands in the place of the prompt for the next line: so there is one in any case, after an error too, and whatever
-- the code has done to the names that are in sight. It has a mark that no code can see, and the name of the request
-- that began last. The answers are in a file.

-- The shared functions.
mbShared = new Dictionary

-- What a conversation remembers is local to these functions, out of the reach of any code.
(mbStart, mbRun, mbEvaluate) = (() -> (
    -- It gives the value of the last statement; 'load' would keep the names of all files besides.
    load' := value Core#"private dictionary"#"simpleLoad";
    core := select(dictionaryPath, d -> d =!= User#"private dictionary");

    -- 'restart' would leave a process that nobody waits for.
    instead := new Dictionary;
    getGlobalSymbol(instead, "restart") <- Command(() -> error "a workspace is begun anew from Python, by its restart()");

    -- 'read' would wait for somebody to type, where requests come in.
    typed := x -> x === () or x === stdio or instance(x, String) or instance(x, Sequence) and x#0 === stdio;
    getGlobalSymbol(instead, "read") <- x -> (
        if typed x then error "nobody is there to type an answer; give the code what it asks for, as an input from Python"
        else read x);

    -- A program would wait for it, too: it has no input, unless the command says where from.
    getGlobalSymbol(instead, "run") <- command -> (
        run if instance(command, String) then "exec </dev/null; " | command else command);

    -- The last values of a workspace, as at the prompt; Macaulay2's own symbols are protected, and outlast isolated runs.
    last' := apply({"oooo", "ooo", "oo"}, name -> getGlobalSymbol(instead, name));
    output := x -> if x =!= null then (
        values' := append(apply(drop(last', 1), s -> if value s === s then null else value s), x);
        scan(last', values', (s, v) -> if v =!= null then s <- v););

    symbols := new Dictionary;
    path := {};
    (keeping, forgetting) := (false, false);
    (begun, file) := ("", stdio);

    -- Code works in a dictionary of its own, which is that of Macaulay2's user: so letters such as those of QQ[a..d]
    -- are the same everywhere, and every symbol is forgotten with the dictionary.
    renew := () -> (
        User#"private dictionary" = symbols = new Dictionary;
        path = join({symbols, instead}, core););

    -- Rings, functions and so on that a symbol named stay in a table of names; only Macaulay2's own way of giving the
    -- symbol another value takes them out of it.
    assign := value Core#"private dictionary"#"globalAssign";
    forget := () -> scan(values symbols, s -> try assign(s, null));

    -- Macaulay2 1.26 collects garbage whenever its table of finalizers is full, even if memory is free, and the table
    -- grows only if most of it is in use then. It is filled once, when there was a second of work and more may come.
    grown := false;
    grow := () -> (
        if not grown and cpuTime() > 1 then (
            grown = true;
            apply(28000, i -> new MutableHashTable);););

    begin := (nonce, stem, passing) -> (
        grow();
        (mbNonce, mbRecords) = (nonce, 0);
        mbOutput = file = openOut(stem | ".jsonl");
        begun = nonce;  -- what comes before fails if earlier code has protected these names
        forgetting = passing;
        if passing or path === {} then renew(););

    -- A script: it answers by the shared functions, which it sees.
    run := (nonce, stem) -> (
        begin(nonce, stem, true);
        dictionaryPath = join({symbols, mbShared}, core);
        load'(stem | ".m2");
        mbFinish(););

    -- Code of a user, who sees none of them; first the code that makes what is given from outside.
    evaluate := (nonce, stem, form, passing, given, keeps) -> (
        begin(nonce, stem, passing);
        if passing then mbForget();
        first' := () -> prepend(symbols, delete(symbols, path));
        if given then (
            path = first'();  -- what is given comes before the names of packages
            dictionaryPath = prepend(mbShared, path);
            load'(stem | ".given.m2"););
        dictionaryPath = path;
        keeping = true;
        x := load'(stem | ".m2");
        if instance(x, Command) then x = x();  -- exit, clearAll, restart and so on, as when they are typed
        (path, keeping) = (dictionaryPath, false);
        dictionaryPath = first'();
        if keeps then output x;
        mbSend(x, form);
        mbFinish(););

    report := mark -> (
        if keeping then path = dictionaryPath;
        if forgetting then forget();
        keeping = forgetting = false;
        dictionaryPath = prepend(mbShared, core);
        if file =!= stdio then try close file;
        file = stdio;
        try (mbOutput = stdio);
        stdio << "\n\1m2bridge " << mark << " " << begun << "\n" << flush;
        "");

    -- Prompts come into force only after the scripts on the command line are loaded. Those that are asked for deeper than
    -- the first are for code that an interpreter of its own runs, such as that of 'capture'.
    start := mark -> (
        top := infinity;
        ZZ#{topLevelMode, Core#"private dictionary"#"InputPrompt"} = lineNumber -> (
            top = min(top, recursionDepth());
            if recursionDepth() > top then concatenate("\ni", toString lineNumber, " : ") else report mark););

    (start, run, evaluate)))()

-- No script can assign to the shared names, or erase them, but for those that change; code of users does not see them.
scan(pairs User#"private dictionary", (name, s) -> if match("^mb", name) then (
    mbShared#name = s;
    if not match("^mb(Output|Nonce|Records|References|InUse|Serial|Descriptions)$", name) then protect s))
protect mbShared
