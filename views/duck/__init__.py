"""The DuckDB projection: rows, digests, files, SQL, and the past."""
