"""Modules for all packages: the model of a kernel file, error messages, text output, limits."""
