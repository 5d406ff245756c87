"""Files that a person takes away: a gist memory, a conversation, a comparison.

Everything that a book or a model wrote is escaped for the format that it goes into.
"""
