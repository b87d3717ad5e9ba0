"""From the model to generated files."""
