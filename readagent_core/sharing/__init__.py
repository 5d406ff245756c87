"""The library for a person's other devices and reading apps: sign-in by a password, OPDS, KOReader's progress sync."""
