/* assert.h - the system's, whose assert() ends the process: one that fails in a kernel ends the launch instead. Without a
 * guard, as the system's: each time NDEBUG decides anew. */
#include_next <assert.h>

/* The generator looks for the word. */
#if !defined NDEBUG
#undef assert
#if !defined CF__SCAN
#define assert(condition) ((condition) ? (void)0 : cf__fail(1, "assertion `" #condition "' failed", __FILE__, __LINE__))
#endif
#endif
