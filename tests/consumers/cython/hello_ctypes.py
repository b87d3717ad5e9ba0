"""Calls the kernel through ctypes. The environment variable HELLO_LIBRARY_DIR names the folder of libhello.so."""

import hello

hello.hello()
