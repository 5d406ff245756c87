"""The exact prompt and reply of a replay's step, in a dialog, as plain text."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from readagent_core.workspace.replay import ANSWER, GISTS, LOOK_UP, MEMORY, QUESTION, Step

_NO_CALL = {
    QUESTION: "The question, before anything was sent.",
    GISTS: "The gist memory is part of every prompt of the next steps.",
    MEMORY: "This is the memory in the answer's prompt; see the next step.",
    LOOK_UP: "This is a recording: its look-up reply was stored, its prompt was not.",
    ANSWER: "This is a recording: its answer was stored, its prompt was not.",
}


@st.dialog("Prompt and reply", width="large")
def show_prompts(steps: Sequence[Step], at: int) -> None:
    """Every prompt of step ``at`` with its reply."""
    step = steps[at]
    st.caption(f"Step {at + 1} of {len(steps)}: {step.title}")
    if not step.calls:
        st.text(_NO_CALL.get(step.kind, "Nothing was sent in this step."))
        if step.said:
            st.code(step.said, language=None, wrap_lines=True)
    for call in step.calls:
        usage = call.usage
        figures = f"{usage.words_in:,} words sent, {usage.words_out:,} received, {usage.seconds:.1f} s"
        st.caption(f"Sent ({figures})" if usage.words_in else "Sent (answered from the cache)")
        st.code(call.prompt, language=None, wrap_lines=True, height=360)
        st.caption("Received")
        st.code(call.reply, language=None, wrap_lines=True)
