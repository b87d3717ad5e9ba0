"""First annotations for kernels that have none: from launches and guards to the lines of `#pragma cf`."""
