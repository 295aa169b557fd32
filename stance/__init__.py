"""Which claim holds, why, and how sure. Never imports affect."""
