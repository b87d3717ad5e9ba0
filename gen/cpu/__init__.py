"""How the CPU runs a kernel, and the copy of the source that it compiles."""
