"""Recognises text in pictures of pages with RapidOCR, an optional extra whose models need no network."""
