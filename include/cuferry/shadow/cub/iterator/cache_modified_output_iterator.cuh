/* cache_modified_output_iterator.cuh - empty: no CPU kernel uses the toolkit's header, and host code is left out. */
