"""Opens PDF files."""
