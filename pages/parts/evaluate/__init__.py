"""The parts of the Evaluate screen."""
