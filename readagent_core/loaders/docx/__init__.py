"""Opens Word files (.docx)."""
