"""The audit of a store: reads files only, shares no writer code, names all that is wrong (SPEC §11)."""
