"""Verify the certificates of a folder where all words of all statements are others by now.

``python -m tests.reworded FOLDER kept`` (former words in their tables) or ``forgotten`` (the same
without the tables) prints for each file in the folder, and in those below it, its outcome, as JSON;
but without the tables for no closures of all sizes, which take seconds. It is a program of its own,
since checkers read their words when they are imported.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from m2bridge.certificates import wording


def reworded(data: dict[str, Any]) -> dict[str, Any]:
    """The words of a file, each put otherwise, and what is there now in the tables of before."""
    former = data.setdefault("former", [])
    for statement in data.get("statements", ()):
        former.append(dict(statement))
        statement["version"] = statement.get("version", 1) + 1
        statement["text"] = f"Now put otherwise: {statement['text']}"
        statement["source"] = f"{statement['source']}, second printing"
    for kind in ("lemmas", "hypotheses"):
        for name, text in data.get(kind, {}).items():
            data.setdefault(f"former-{kind}", {}).setdefault(name, []).append(text)
            data[kind][name] = f"now put otherwise: {text}"
    one_token = data.get("closure", {}).get("one-token")
    if one_token:
        data["former-closure"] = {"one-token": [one_token]}
        data["closure"]["one-token"] = f"now put otherwise: {one_token}"
    return data


def forgotten(data: dict[str, Any]) -> dict[str, Any]:
    """Return the reworded data without the tables of former words."""
    return {key: value for key, value in reworded(data).items() if not key.startswith("former")}


def main(folder: Path, tables: str) -> None:
    """Verify what is in a folder, by the checker alone."""
    put_otherwise = {"kept": reworded, "forgotten": forgotten}[tables]
    as_it_stands = wording._of_data
    wording._of_data = lambda data: as_it_stands(put_otherwise(data))
    from tests.checking import verify_path

    findings = {}
    for path in sorted(folder.rglob("*.json")):
        if tables == "forgotten" and "closures" in path.name:
            continue
        finding = verify_path(path)
        findings[str(path.relative_to(folder))] = [
            finding.outcome,
            finding.check,
            list(finding.remarks),
        ]
    print(json.dumps(findings))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
