// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Here tracepoints come into being */
#define CREATE_TRACE_POINTS
#include "trace.h"
