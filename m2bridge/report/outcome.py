"""Files that say why a question has no certificate; read tolerantly."""

from __future__ import annotations

import re
from typing import Any

from m2bridge.errors import CertificateError
from m2bridge.report.content import Case, Row


def outcome_rows(data: Any, file: str) -> list[Row]:
    """One row for each question of an outcome.

    Parameters
    ----------
    data : object
        With ``case`` (an object or ``d3-dout2-a2-t2``), ``question`` or ``questions``, ``kind`` and ``reason``.
    file : str

    Raises
    ------
    CertificateError
        If it does not say which case it is about.
    """
    if not isinstance(data, dict):
        raise CertificateError("not a JSON object")
    case, seconds, versions = _case(data.get("case")), data.get("seconds"), data.get("versions")
    said = data.get("questions", data.get("question"))
    questions = said if isinstance(said, list) and said else [said or "all questions"]
    reason = ": ".join(str(data[key]) for key in ("kind", "reason") if data.get(key)) or "no reason given"
    measured = float(seconds) if isinstance(seconds, int | float) else None
    named = {str(k): str(v) for k, v in versions.items()} if isinstance(versions, dict) else {}
    return [Row(case, str(q), str(q), "NO_ANSWER", reason, "", measured, named, file) for q in questions]


def _case(value: Any) -> Case:
    if isinstance(value, str) and (match := re.match(r"d(\d+)-dout(\d+)-a(\d+)-t(\d+)", value)):
        return Case(*map(int, match.groups()))
    try:
        return Case(*(int(value[name]) for name in ("d", "d_out", "a", "t")))
    except (KeyError, TypeError, ValueError):
        raise CertificateError("an outcome without the case that it is about") from None
