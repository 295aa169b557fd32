"""The gold tasks as the makers ask them: generated histories, the baseline, majorities, the report of docs/gold.md."""
