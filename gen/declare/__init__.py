"""Declarations of a kernel file: types, kernels and __constant__ data."""
