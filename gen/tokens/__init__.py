"""Preprocessed text to tokens with source locations, and to annotations with expanded macros."""
