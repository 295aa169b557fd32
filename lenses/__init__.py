"""Lenses: named, versioned, pure functions from records to a view, kept as its difference to the raw records."""
