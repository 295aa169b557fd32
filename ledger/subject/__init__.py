"""One person, everything held about them: gathered, shaped, drawn as a page (docs/access.md)."""
