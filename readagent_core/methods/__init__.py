"""The reading methods, one file each, found by ``answering.registry``."""
