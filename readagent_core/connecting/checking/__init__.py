"""The test of a model: which prompts of every method it obeys, and which settings suit it."""
