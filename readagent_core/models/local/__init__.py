"""A model of the person's own on this computer: its file, and llama.cpp in a child process that answers as a server."""
