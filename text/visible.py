"""Whether a text shows anything."""

from unicodedata import category


def shows(text: str) -> bool:
    """Whether a text has a character that shows: no space, no control, none that only tells how others show."""
    return any(not char.isspace() and category(char) not in ("Cc", "Cf") for char in text)
