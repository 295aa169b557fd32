"""Jobs: what is leased, tried again, given up, and held back while a dependency is away. It knows no log and no store.

What is to be done follows from the log, and so does what was done; this room only says who is at it (ADR 70). Losing
all that it keeps costs a repeated attempt.
"""
