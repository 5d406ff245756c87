"""Opens further formats by turning each into HTML, EPUB or Markdown, which the loaders of those formats read."""
