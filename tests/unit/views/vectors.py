"""What the index keeps of a record, as numpy takes it."""

from typing import Any

import numpy as np

from braid.store import Store


def vector_of(store: Store, uri: str) -> Any:
    """Return the vector that an address names, None where there is none."""
    found = store.vector(uri)
    return None if found is None else np.array(found, dtype=np.float32)
