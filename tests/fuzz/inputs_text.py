"""Bad texts of every format, and random changes of good ones."""

from __future__ import annotations

import json
from random import Random

LONG = "9" * 5000
ESCAPE = "\x1b[2J\x1b]0;owned\x07"
MARKUP = "[/b][red]x[/red] <script>alert(1)</script> \\input{x} =1+1 |a|b|"

WORDS = (
    *(
        "",
        " ",
        "0",
        "-1",
        "+2",
        "1e5",
        "1.5",
        "x",
        "٣",
        "２",
        "1_0",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "0x2",
        "None",
        "true",
    ),
    *(
        "9" * 400,
        "9" * 4000,
        LONG,
        f"-{LONG}",
        "1e9999999999",
        "1/0",
        "∞",
        "%s%n",
        "{}",
        "{{7*7}}",
        "[]",
        "null",
        "~",
    ),
    *(
        ESCAPE,
        MARKUP,
        "\u202egnp.exe",
        "\udcff",
        "\u2028",
        "../" * 50,
        "a" * 3000,
        "λ",
        "--",
        "-",
        "\n",
        "1,,2",
        "1..",
        "..1",
    ),
    *(
        "1..999999999",
        "3..1",
        "1..2..3",
        "QQ",
        "RR",
        "GF(4)",
        "GF(0)",
        "GF(2147483659)",
        f"GF({LONG})",
        "GF(３)",
        "~nosuchuser/M2",
    ),
)

JSON = (
    *(
        "",
        " ",
        "{",
        "[",
        "]",
        "nul",
        "NaN",
        "[NaN]",
        "{'a': 1}",
        '{"a": 1,}',
        '{"a": 1} x',
        "\x00",
        '{"a": 1, "a": 2}',
    ),
    *(
        "[" * 20_000,
        '{"a":' * 20_000,
        "[" * 20_000 + "]" * 20_000,
        '{"c_1_1_1_1": ' + "[" * 900 + "]" * 900 + "}",
    ),
    *(
        f'{{"c_1_1_1_1": {v}}}'
        for v in (
            "1e9999999999",
            "-1e-9999999999",
            "9" * 20_000,
            "1e20000",
            "Infinity",
            "-NaN",
            "01",
            ".5",
        )
    ),
    *(
        f'{{"c_1_1_1_1": {v}}}'
        for v in (
            "null",
            "true",
            "[]",
            "{}",
            '""',
            '"1/0"',
            '"1/2/3"',
            '"0x1"',
            '"1 2"',
            '"٣"',
            '"\\ud800"',
        )
    ),
    *(
        f'{{"c_1_1_1_1": "{v}"}}'
        for v in (
            "1e9999999999",
            "9" * 20_000,
            f"1/{'9' * 20_000}",
            "--1",
            "nan",
            "1e",
            "e5",
            ".",
            "1_0",
        )
    ),
    *(
        '{"c_1_1_1": 1}',
        '{"x": 1}',
        '{"c_9_9_9_9": 1}',
        '{"c_1_1_2_1": 1}',
        '{"": 1}',
        '{"\\u001b[2J": 1}',
        '{"\\ud800": 1}',
    ),
    *(
        '{"c_1_1_1_1": 1, "c_1_1_1_1": 1}',
        '{"c_1_1_1_1": 1, "c_1_1_1_\\u0031": 1}',
        "[1]",
        '"x"',
        "5",
        "true",
        LONG,
    ),
)
"""None of these is a function."""

MATRICES = (
    *JSON,
    *(
        "[[1, 2]]",
        "[[1], [2]]",
        "[[1, 2], [3]]",
        "[[1, 2], 3]",
        "[[1, 2], [3, {}]]",
        '[[1, 2], [3, "x"]]',
        "[[[1], 2], [3, 4]]",
    ),
    *(
        "[[1, 2], [3, 1e20000]]",
        "[[1, 2], [3, true]]",
        '[[1, 2], [3, "1/0"]]',
        "{}",
        "[]",
        "[[]]",
        "[[NaN, 1], [1, 1]]",
    ),
)
"""None of these is a matrix of two rows and two columns."""

MAP = (
    '[map]\ntitle = "a cubic"\nparameters = ["s", "t"]\n[coordinates]\nx = "s^3"\ny = "3/2*s^2*t"\n'
)

MAPS = (
    *(
        "",
        "\x00",
        "x",
        "[map]",
        "[map]\nparameters = []\n",
        "[coordinates]\nx = 1\n",
        "map = 1\ncoordinates = 2\n",
        "[[map]]\n",
    ),
    *(
        MAP + line
        for line in (
            "z = 5",
            "z = true",
            "z = []",
            "z = {}",
            "z = 1979-05-27",
            f"z = {LONG}",
            "z = nan",
            'x = "s"',
            'z = "s + *t"',
            'z = "s --/ t"',
            'z = "' + "-" * 5000 + '"',
            "z =",
        )
    ),
    *(
        MAP + f'z = "{text}"'
        for text in (
            "",
            "s+",
            "s^-1",
            "s^99999",
            "q",
            "1/0",
            "(" * 20_000,
            "s^s",
            "__import__('os')",
            "s⁻¹",
            "sⁿ",
            "½*s",
            "²s",
            "s⁹⁹⁹⁹⁹",
            "s\\u0000",
        )
    ),
    *(
        MAP + f'"{name}" = "s"'
        for name in ("", "2", "x y", "_x", "a" * 5000, "\\u001b[2J", "x-1", "s", "ｘ", "x'")
    ),
    *(
        MAP.replace('["s", "t"]', p)
        for p in (
            '"s"',
            "[1]",
            '["s", 1]',
            '["s", "s"]',
            '["s", "ｓ"]',
            '["s"]',
            "5",
            "[[]]",
            '["s", "t", "x"]',
        )
    ),
    MAP.replace('"a cubic"', "5"),
    MAP.replace('"a cubic"', '"\\u001b[2J"'),
    MAP.replace('"a cubic"', '"a\\nb"'),
    MAP.replace('["s", "t"]', '["s", "t", "\\u00c5", "A\\u030a"]'),
    MAP.replace('["s", "t"]', '["s", "t", ' + ", ".join(f'"p{i}"' for i in range(3000)) + "]"),
    "x = " + "[" * 20_000,
    "x = " + "[" * 20_000 + "]" * 20_000,
    "x = " + "{a=" * 20_000,
    "a." * 20_000 + "a = 1",
    "[" + "a." * 20_000 + "a]",
    '"a" . ' * 20_000 + "a = 1",
    f"{MAP}# {'x' * 10_000_000}",
    MAP + "\n".join(f'z{i} = "s"' for i in range(30_000)),
    MAP + "extra = { a = 1, a = 2 }",
    '[map]\nparameters = ["s"]\nrelations = "s"\n[coordinates]\nx = "s"\n',
    '[map]\nparameters = ["s"]\nrelations = [5]\n[coordinates]\nx = "s"\n',
    '[map]\nparameters = ["s"]\nwhat = 1\n[coordinates]\nx = "s"\n',
)
"""None of these is a map."""

CASES = "[[case]]\nd = 2\nd_out = [1, 2]\n"

CASE_FILES = (
    *(
        "",
        "x",
        "\x00",
        "case = 1",
        "[case]\nd = 1",
        "[[case]]\n",
        "[[case]]\nd = 2\n",
        "[[cases]]\nd = 1\nd_out = 1\n",
    ),
    *(
        f"{CASES}a = {v}\n"
        for v in (
            '"1..999999999"',
            '"1..1999999,2000001..3999999"',
            LONG,
            "1.5",
            "true",
            "[]",
            "[[1]]",
            "{}",
            '""',
        )
    ),
    *(
        f"{CASES}t = {v}\n"
        for v in (
            "0",
            "-1",
            '"x"',
            '"3..1"',
            f'"{LONG}"',
            "1979-05-27",
            '"１"',
            '"\\u001b[2J"',
            "nan",
            '["1..2", 1.5]',
        )
    ),
    '[[case]]\nd = "1..1000"\nd_out = "1..1000"\na = "1..1000"\n',
    '[[case]]\nd = "1..150000"\nd_out = 1\n' * 2000,
    '[[case]]\nd = 1\nd_out = 1\na = "1..199999"\n' * 2000,
    f"[[case]]\nd = 2\nd_out = [{', '.join(['1'] * 300_000)}, 0]\n",
    f"{CASES}q = 1\n",
    f'{CASES}"\\u001b[2J" = 1\n',
    "[[case]]\nd = " + "[" * 20_000,
    "a." * 20_000 + "a = 1",
    CASES + "#" * 20_000_000,
)
"""None of these is a file of cases in TOML."""

TABLES = (
    *(
        "",
        "\n\n",
        "d\n",
        "d,d\n1,1\n",
        "d,d_out\n",
        "d,d_out\n1\n",
        "d,d_out\n1,x\n",
        'd,d_out\n1,"2\n',
        "d;d_out\n1;1\n",
        "\x00,d\n1,2\n",
    ),
    *(
        f"d,d_out,a\n2,1,{v}\n"
        for v in ("0", "-1", "1..999999999", LONG, "１", "1.5", ESCAPE, '"1,2', "=1+1", "3..1")
    ),
    *(
        "d,d_out,\x1b[2J\n1,1,1\n",
        "d,d_out\n" + "1..150000,1\n" * 2000,
        "d,d_out\n" + "x" * 20_000_000,
        "d" * 200_000 + ",d_out\n1,1\n",
    ),
)
"""None of these is a file of cases in CSV."""


def changed(text: str, random: Random) -> str:
    """A text with one to four random changes: a piece left out, doubled or exchanged, a word or
    sign put in.
    """
    for _ in range(random.randint(1, 4)):
        start = random.randrange(len(text) + 1)
        end = min(start + random.choice((0, 1, 1, 2, 5, 20)), len(text))
        piece = text[start:end]
        other = random.choice(
            (
                "",
                piece * 2,
                random.choice(WORDS),
                random.choice('"\\{}[],.:=#\n\t\x00\x1bλ0-9^*/()'),
            )
        )
        text = text[:start] + other + text[end:]
    return text


def replaced(value: object, random: Random) -> object:
    """A JSON value in which one value, anywhere, is another one."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = random.choice(list(value))
        return {**value, name: replaced(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.9:
        place = random.randrange(len(value))
        return [*value[:place], replaced(value[place], random), *value[place + 1 :]]
    return random.choice(STRANGE)


STRANGE: tuple[object, ...] = (
    *(
        None,
        True,
        0,
        -1,
        1.5,
        10**400,
        10**5000,
        "",
        "x",
        "2",
        ESCAPE,
        MARKUP,
        "λ",
        "\ud800",
        [],
        {},
        [[]],
        [None],
        {"a": []},
    ),
    *(
        ["x", 1],
        {"": ""},
        {ESCAPE: 1},
        "9" * 5000,
        "x" * 10_000,
        1e300,
        -0.0,
        [[1, 2], "x"],
        {"r": 1},
        "QQ",
        "GF(4)",
        ["2"],
    ),
)


def json_text(value: object) -> str:
    """JSON of any value, long integers included."""
    from m2bridge.system import any_length

    with any_length():
        return (
            json.dumps(value, sort_keys=True, indent=1, ensure_ascii="\ud800" in repr(value)) + "\n"
        )
