// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The ring of journal entries. Text is made of them in host/journal_text.c. */

#include "base/journal.h"

#include <stdlib.h>

bool journal_begin(struct journal *journal)
{
	journal_end(journal);
	journal->entries = calloc(JOURNAL_SIZE, sizeof(*journal->entries));
	return journal->entries;
}

void journal_end(struct journal *journal)
{
	free(journal->entries);
	journal->entries = NULL;
	journal->traffic = false;
	journal->start = journal->num;
}

/* Out of line and cold, so that it costs nothing while the journal is off */
__attribute__((cold)) void journal_add(struct journal *journal, uint64_t time,
				       const struct journal_entry *entry)
{
	uint64_t slot = journal->num++ % JOURNAL_SIZE;

	journal->entries[slot] = *entry;
	journal->entries[slot].time = time;
}

uint64_t journal_first(const struct journal *journal)
{
	uint64_t num = journal->num - journal->start;

	return num < JOURNAL_SIZE ? journal->start :
				    journal->num - JOURNAL_SIZE;
}

const struct journal_entry *journal_at(const struct journal *journal,
				       uint64_t number)
{
	return &journal->entries[number % JOURNAL_SIZE];
}
