"""The app's entry: the server. The screens are in ``screens.py`` and ``pages/``."""

from streamlit.starlette import App

from pages.parts.shared.first_page import open_browser, routes

app = App("screens.py", routes=routes(), lifespan=open_browser)
