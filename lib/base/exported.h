/* exported.h - makes the public functions visible; the build passes it with -include to files of the shared library. */
#ifndef CF__EXPORTED_H
#define CF__EXPORTED_H

#pragma GCC visibility push(default)
#include <cuferry.h>
#include <cuferry/find.h>
#include <cuferry/kernels.h>
#include <cuferry/program.h>
#include <cuferry/registry.h>
#include <cuferry/tuning.h>
#pragma GCC visibility pop

#endif
