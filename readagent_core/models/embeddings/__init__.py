"""Texts as vectors: by a server, by a sentence model on this computer, or by word statistics."""
