"""ReadAgent: reading long texts with gist memory. The engine, usable without the app.

Floors, lowest first; a module imports only from floors below it (a test holds this):
errors, words, settings, usage | document, tags, plan, memory, prompts | loaders, models, jobs |
reading, library | methods | study, evaluation | command_line | __main__
"""
