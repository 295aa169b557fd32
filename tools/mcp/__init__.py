"""The face for agents: a store's operations as tools of the Model Context Protocol."""
