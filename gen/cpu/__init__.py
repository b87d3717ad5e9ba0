"""Decides how the CPU runs a kernel, and makes the copy of the source that is compiled for the CPU."""
