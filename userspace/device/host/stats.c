// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Names of port counters */

#include "stats.h"

#include <assert.h>

#include "core/base/util.h"
#include "mynic_names.h"
#include "mynic_regs.h"

/* clang-format off */
static const char *const names[] = {
	MYNIC_STAT_NAMES(MYNIC_NAME_AT, MYNIC_NAME_AT)
};
/* clang-format on */

static_assert(ARRAY_SIZE(names) == MYNIC_NUM_STATS, "a counter has no name");

const char *stats_name(unsigned int stat)
{
	return names[stat];
}
