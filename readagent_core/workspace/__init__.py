"""What the app and the command line share: opening, reading, asking and comparing over one library and one model.

``Workspace`` holds what they work with; every other module's functions take it as their first argument.
"""

from readagent_core.workspace.base import Workspace

__all__ = ["Workspace"]
