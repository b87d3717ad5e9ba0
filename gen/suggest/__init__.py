"""Suggests first annotations for kernels that have none: makes lines of `#pragma cf` from launches and guards."""
