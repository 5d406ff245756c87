"""The command line: thin commands over ``Study``, one JSON object or plain text on stdout, progress on stderr."""
