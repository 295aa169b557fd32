"""The one table of the LanceDB projection (SPEC §10.10).

A memory is one row; `vector` is of the role that its `role` names.
An embedding record gives a row for each of its signatures. What the whole was made from is a row too (`kind` stamp, a
negative `log_index`), so that rows and position enter in one commit of LanceDB.
"""

from typing import Final

VERSION: Final = 4
TABLE: Final = "rows"
EXPERIENCE, SIGNATURE, HIDDEN, STAMP = "experience", "signature", "hidden", "stamp"
"""What a row's `kind` is. A forgotten record's rows keep their place as HIDDEN: one indexed column tells what lives."""
WAITING: Final = f"kind = '{EXPERIENCE}' AND pending = true"
"""The rows that `fill` asks the model for."""
WORTH_ROWS: Final = 1_000
"""So many new rows are scanned in a blink; more are worth an index."""
