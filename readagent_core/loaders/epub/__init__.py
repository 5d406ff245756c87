"""Opens EPUB files."""
