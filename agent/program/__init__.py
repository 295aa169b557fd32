"""Answers by a plan of steps: plans, tools, their events, and what runs next."""
