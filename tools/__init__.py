"""Programs that people start: the command line, importers, benchmarks."""
