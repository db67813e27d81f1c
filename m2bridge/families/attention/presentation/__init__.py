"""How results of this family are shown: for each a file with ``text``, ``json``, ``latex``, ``macaulay2``."""
