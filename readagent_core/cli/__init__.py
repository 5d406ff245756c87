"""The command line: thin commands over ``Workspace``, one JSON object or plain text on stdout, progress on stderr."""
