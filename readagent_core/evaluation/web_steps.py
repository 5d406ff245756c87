"""Mind2Web's measures of a step on a web page.

Element accuracy: the chosen element is one of the targets. Operation F1: of the sets of words in operation and value.
Step success: both are right. A step whose target is not in the page counts as wrong in all three.
"""

from __future__ import annotations

from readagent_core.evaluation.datasets.base import Item, WebStep
from readagent_core.methods.base import Answer
from readagent_core.web_pages.acting import action_of
from readagent_core.web_pages.actions import Action


def judge(item: Item, answer: Answer | None) -> dict[str, bool | float]:
    """Return the measures of a step as figures of a result; ``answer`` None: it failed. {} for other questions."""
    if item.web_step is None:
        return {}
    action = action_of(answer.extra) if answer is not None else None
    element = action is not None and action.element in item.web_step.targets
    f1 = operation_f1(action, item.web_step)
    return {"element": element, "operation_f1": f1, "step": element and f1 == 1}


def operation_f1(action: Action | None, gold: WebStep) -> float:
    """Return the F1 of the words of operation and value, each word once, as Mind2Web computes it."""
    if action is None or not gold.targets:
        return 0.0
    ours, theirs = ({*f"{one.operation} {one.value}".split()} for one in (action, gold))
    shared = len(ours & theirs)
    return 2 * shared / (len(ours) + len(theirs)) if shared else 0.0


def right_action(item: Item) -> str:
    """Return the right action in words for the report."""
    step = item.web_step
    assert step is not None
    if not step.targets:
        return "The right element is not in the data, so the step counts as wrong."
    value = f' "{step.value}"' if step.value else ""
    return f"Right: {step.operation}{value} on the element {' or '.join(step.targets)}."
