/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A line on stderr for each fault, for those who ask for it. There is no limit
 * on lines per second, but none waits for a reader either.
 */
#ifndef MYNIC_HOST_FAULT_LOG_H
#define MYNIC_HOST_FAULT_LOG_H

#include <stdbool.h>

#include "wire/faults.h"

/**
 * struct fault_log - whether faults are told
 * @on: they are
 * @lost: lines for which stderr had no room, since the last one shown
 */
struct fault_log {
	bool on;
	uint64_t lost;
};

/** fault_log() - tell of a fault at the port with that name */
void fault_log(struct fault_log *log, const char *port,
	       const struct fault_event *event);

#endif /* MYNIC_HOST_FAULT_LOG_H */
