"""What a caller takes, by the header `Accept` (RFC 9110 §12.5.1). Pure."""


def accepts(said: str, media: str) -> bool:
    """Whether a header names a media type itself, and doesn't refuse it by the weight 0."""
    for each in said.split(","):
        kind, *parameters = (part.strip().lower() for part in each.split(";"))
        if kind == media:
            return all(_weight(one) > 0 for one in parameters)
    return False


def _weight(parameter: str) -> float:
    """Return the weight that a parameter gives; 1 where it gives none that can be read."""
    name, _, value = parameter.partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 1.0
