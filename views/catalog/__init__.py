"""The catalogue in SQLite: which turns stand next to each other in their sessions."""
