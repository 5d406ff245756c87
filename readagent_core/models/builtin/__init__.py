"""The built-in reader: the prompts answered by word statistics, without a language model."""
