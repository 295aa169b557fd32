"""Pure reinterpretation: records in, a view with its delta out."""
