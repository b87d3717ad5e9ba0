"""Splits preprocessed text into tokens with source locations and annotations with expanded macros."""
