"""Replies stored on disk, so that the same prompt is sent once."""
