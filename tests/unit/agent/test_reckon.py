"""Questions that are reckoned: what each part is asked, and what a tool makes of them; and those that aren't."""

import pytest

from braid.agent.program.arithmetic import reckoning
from braid.agent.program.plan import ToolStep
from braid.agent.program.plan_check import check
from braid.agent.program.plans import PLANS, chosen
from braid.agent.program.tool import Toolbox
from braid.agent.program.toolkit import TOOLS

YEAR = {"expression": "{part1} * 1 year"}


@pytest.mark.parametrize(
    ("question", "of", "args"),
    [
        (
            "How much did the saddle and the bridle cost together?",
            ["How much did the saddle cost?", "How much did the bridle cost?"],
            {"expression": "sum({part1}, {part2})"},
        ),
        (
            "How much are the oven, the sink and the tap in all?",
            ["How much is the oven?", "How much is the sink?", "How much is the tap?"],
            {"expression": "sum({part1}, {part2}, {part3})"},
        ),
        (
            "How many miles did Greta and Bo swim in total?",
            ["How many miles did Greta swim?", "How many miles did Bo swim?"],
            {"expression": "sum({part1}, {part2})"},
        ),
        (
            "How much do Greta and Bo earn on average?",
            ["How much does Greta earn?", "How much does Bo earn?"],
            {"expression": "average({part1}, {part2})"},
        ),
        (
            "What is the difference between the first quote and the second quote?",
            ["How much is the first quote?", "How much is the second quote?"],
            {"expression": "{part1} - {part2}"},
        ),
        (
            "How much less is Bo's rent than my rent?",
            ["How much is my rent?", "How much is Bo's rent?"],
            {"expression": "{part1} - {part2}"},
        ),
        ("What does the sauna cost in a year?", ["What does the sauna cost a month?"], YEAR),
        (
            "How much do I pay for the garage over six months?",
            ["How much do I pay for the garage a month?"],
            {"expression": "{part1} * 6 month"},
        ),
        (
            "How many days are there between the audition and the concert?",
            ["When is the audition?", "When is the concert?"],
            {"day": "{part1}", "until": "{part2}"},
        ),
        (
            "How long after I sold the boat did we buy the van?",
            ["When did I sell the boat?", "When did we buy the van?"],
            {"day": "{part1}", "until": "{part2}"},
        ),
        ("How long is it until the regatta?", ["When is the regatta?"], {"day": "{today}", "until": "{part1}"}),
        ("How many days ago was the audition?", ["When was the audition?"], {"day": "{part1}", "until": "{today}"}),
    ],
)  # fmt: skip
def test_what_is_reckoned(question: str, of: list[str], args: dict[str, str]) -> None:
    found = reckoning(question)
    assert found is not None
    assert (list(found.of), dict(found.args)) == (of, args)
    assert chosen(question) == "reckoning"
    plan = check(PLANS["reckoning"](question), Toolbox(TOOLS), ("read",))
    assert sum(isinstance(step, ToolStep) for step in plan.steps) == 1


def test_weeks_are_days_over_a_week() -> None:
    plan = PLANS["reckoning"]("How many weeks is it until the regatta?")
    assert [step.tool for step in plan.steps if isinstance(step, ToolStep)] == ["calendar", "calculator"]


@pytest.mark.parametrize(
    "question",
    [
        "How much did the saddle cost?", "What did Greta say about the oven and the sink?", "How long does Bo work?",
        "Who is Greta and how much does she earn?", "How much more do I earn than before?", "{a} and {b} together?",
        "How long did the concert last?", "How much do a, b, c " + "and the d " * 60 + "cost?", "",
    ],
)  # fmt: skip
def test_what_is_looked_up(question: str) -> None:
    assert reckoning(question) is None
    assert chosen(question) != "reckoning"
