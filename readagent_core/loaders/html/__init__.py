"""Opens web pages. EPUB uses the parser in this package as well."""
