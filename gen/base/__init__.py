"""What all packages share: the model of a kernel file, error messages, the look of generated text, limits."""
