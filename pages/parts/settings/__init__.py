"""The parts of the Settings screen."""
