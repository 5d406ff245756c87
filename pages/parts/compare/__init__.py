"""The parts of the Compare screen."""
