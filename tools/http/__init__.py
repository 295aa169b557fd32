"""A store behind HTTP: every operation of the registry is a route, and nothing else is."""
