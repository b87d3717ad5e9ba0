"""Calls the kernel through Cython."""

import hello_wrapper

hello_wrapper.hello()
