"""From annotations and declarations to the model of a kernel file."""
