/* assert.h - the system's header, except that an assert() that fails in a kernel ends the launch instead of the
 * process. Like the system's header, it has no include guard: NDEBUG may differ at each inclusion. */
#include_next <assert.h>

#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#elif !defined CF__SCAN /* the generator looks for the word assert */
#define assert(condition) ((condition) ? (void)0 : cf__fail(1, "assertion `" #condition "' failed", __FILE__, __LINE__))
#endif
