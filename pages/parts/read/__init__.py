"""The parts of the Read screen."""
