"""Fetches what is at a public web address, with limits on where it connects, on time and on size."""
