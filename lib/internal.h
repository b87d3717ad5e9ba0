/* internal.h - what the library's files share, by subject. */
#ifndef CF__INTERNAL_H
#define CF__INTERNAL_H

#include "status.h"
#include "place.h"
#include "context.h"
#include "storage.h"
#include "kernel.h"
#include "staging.h"

#endif
