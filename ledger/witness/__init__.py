"""Witnesses and monitors: who cosigns a log's heads, and who watches them."""
