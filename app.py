"""The app's entry: the server. The screens are in ``screens.py`` and ``pages/``."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from pages.parts.shared.first_page import StreamlitScripts, routes, start
from pages.parts.shared.gate import Gate

app = App("screens.py", routes=routes(), lifespan=start, middleware=[Middleware(Gate), Middleware(StreamlitScripts)])
