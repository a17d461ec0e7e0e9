/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The entries of a NIC's journal as lines of text */
#ifndef MYNIC_HOST_JOURNAL_TEXT_H
#define MYNIC_HOST_JOURNAL_TEXT_H

#include <stddef.h>

#include "core/base/journal.h"

/* A line with the longest names and numbers */
#define JOURNAL_LINE_SIZE 256

/**
 * journal_text() - describe an entry in one line, without a newline
 * @entry: the entry; a guest may have chosen any values in it
 * @line: result
 */
void journal_text(const struct journal_entry *entry,
		  char line[JOURNAL_LINE_SIZE]);

#endif /* MYNIC_HOST_JOURNAL_TEXT_H */
