"""Turns annotations and declarations into the model of a kernel file."""
