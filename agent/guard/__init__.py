"""What may reach a model, and what of its answer may stand: redaction, fences, checks."""
