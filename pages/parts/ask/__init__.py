"""The parts of the Ask screen."""
