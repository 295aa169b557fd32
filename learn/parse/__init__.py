"""From a dependency parse to claims: clauses, whom they are of, what they say, what they change."""
