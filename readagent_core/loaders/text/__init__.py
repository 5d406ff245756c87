"""Opens plain text and Markdown."""
