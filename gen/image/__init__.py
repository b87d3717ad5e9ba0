"""Reads the targets and kernels of images: GPU code that other compilers made."""
