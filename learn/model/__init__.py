"""A chat model as an extractor: it is told a session as data, and what it answers is taken item by item."""
