"""A book's world: what each page establishes of people, places and things, and who is the same as whom.

Every fact has its place in the text, and what is known at a page is a pure function of the facts up to there.
"""
