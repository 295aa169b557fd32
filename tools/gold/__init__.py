"""The gold tasks: what an agent with this memory should be able to answer, and how well it does."""
