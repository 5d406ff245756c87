"""ReadAgent: reading long texts with gist memory. The engine, usable without the app.

Layers, lowest first; a module imports only from layers below it (a test holds this):
errors, words, settings, usage | document, tags, plan, memory, prompts | loaders, models, jobs |
reading, library | methods | workspace | export | evaluation | cli | __main__
"""
