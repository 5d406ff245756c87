"""Voices of this computer, which read a book aloud without a network: the optional extra ``voice``."""
