"""From preprocessed text to tokens with their places in the source, and to annotations with macros expanded."""
