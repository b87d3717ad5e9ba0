/* assert.h - the system's, whose assert() ends the process: one that fails in a kernel ends the launch instead. Without a
 * guard, as the system's: each time NDEBUG decides anew. */
#include_next <assert.h>

#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#elif !defined CF__SCAN /* the generator looks for the word itself */
#define assert(condition) ((condition) ? (void)0 : cf__fail(1, "assertion `" #condition "' failed", __FILE__, __LINE__))
#endif
