"""The command `braid`: arguments in, data on stdout, talk on stderr, an exit code that says how it went."""
