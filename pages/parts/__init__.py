"""The parts that the screens are made of: a folder for each screen, and ``shared`` for what several of them use."""

from pages.parts.shared import streamlit_private

streamlit_private.require_navigation()
streamlit_private.keep_unsent_deltas()
streamlit_private.send_at_once()
