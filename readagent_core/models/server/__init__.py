"""Models on an OpenAI-compatible server: calls, replies, faults, retries, windows, and finding servers."""
