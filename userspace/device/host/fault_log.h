/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Optional lines on stderr about applied rules of wire faults. Their rate is
 * not limited, but a line is dropped if stderr would block.
 */
#ifndef MYNIC_HOST_FAULT_LOG_H
#define MYNIC_HOST_FAULT_LOG_H

#include <stdbool.h>

#include "wire/faults.h"

/**
 * struct fault_log - state of the log
 * @on: the log is enabled
 * @lost: lines dropped since the last line that was written
 */
struct fault_log {
	bool on;
	uint64_t lost;
};

/* Logs a wire fault at the port @port. */
void fault_log(struct fault_log *log, const char *port,
	       const struct fault_event *event);

#endif /* MYNIC_HOST_FAULT_LOG_H */
