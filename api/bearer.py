"""A token as the header that carries it. Standard library alone, for a hook needs it to start."""


def bearer(token: str) -> str:
    """Return what stands in `Authorization`. White space around a token goes: a file that holds one ends with a line's.

    Raises ValueError, which never shows the token, for what can't be one.
    """
    plain = token.strip()
    if not plain or not plain.isascii() or not plain.isprintable() or " " in plain:
        raise ValueError("that isn't a token: one begins with braid_, and has letters, digits, - and _ alone")
    return f"Bearer {plain}"
