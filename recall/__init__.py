"""Questions in, evidence out: what fits a question, in order, with the reasons. Never writes."""
