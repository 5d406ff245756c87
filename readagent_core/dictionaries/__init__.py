"""Dictionaries that a person has as files: StarDict and dictd, looked up without a network."""
