-- The Macaulay2 side of one long-lived session; loaded once, after the other scripts.
--
-- For each run Python sends two lines: mbRun(script) and mbReport(nonce). The first loads the script; an error in
-- it is printed and leaves the second line to say, in any case, that the run is over. The answers are in a file.

-- A script works in a dictionary of its own: every symbol that it introduces is forgotten with the dictionary,
-- so that no run sees the variables of another.
mbDictionaryPath = dictionaryPath

mbRun = (nonce, script, answers) -> (
    dictionaryPath = prepend(new Dictionary, mbDictionaryPath);
    (mbNonce, mbRecords) = (nonce, 0);
    mbOutput = openOut answers;
    load script;)

-- Loading is quiet about the value of the line, and the report starts with an unprintable byte on a line of its own.
mbReport = nonce -> (
    dictionaryPath = mbDictionaryPath;
    if mbOutput =!= stdio then try close mbOutput;
    mbOutput = stdio;
    stdio << "\n\1m2bridge " << nonce << " " << version#"VERSION" << "\n" << flush;)
