"""Expressions of annotations, and the types that C and CUDA share."""
