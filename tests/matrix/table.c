// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of operations for the documentation */
#include <stdio.h>
#include <string.h>

#include "matrix.h"

#define RULE_20 "===================="
#define RULE_27 RULE_20 "======="
static const char border[] = RULE_20 " =========== " RULE_27 " " RULE_27
				     " =========";

static void print_setters(const struct op *op, enum wr_api api)
{
	static const char *const letters[] = { "sge", "list", "inl", "inll" };
	char text[64] = "";

	if (!op_through(op, api)) {
		printf(" %-27s", "EINVAL");
		return;
	}
	for (enum setter s = 0; s < NUM_SETTERS; s++)
		if (op_with_setter(op, api, s)) {
			strcat(text, text[0] ? " " : "");
			strcat(text, letters[s]);
		}
	printf(" %-27s", text[0] ? text : "none");
}

static void print_row(const struct op *op, enum type type)
{
	unsigned int flags = op_flags(type);

	printf("%-20s %-11s", op->name, type_name(type));
	if (op_on_type(op, type)) {
		print_setters(op, API_POST_SEND);
		print_setters(op, API_WR);
		printf(" F S E%s\n", flags & IBV_SEND_IP_CSUM ? " C" : "");
	} else {
		printf(" %-27s EOPNOTSUPP\n", "EINVAL");
	}
}

void print_table(void)
{
	printf("%s\n%-20s %-11s %-27s %-27s %s\n%s\n", border, "Operation",
	       "QP type", "ibv_post_send()", "ibv_wr_*()", "Flags", border);
	for (unsigned int i = 0; i < num_ops; i++)
		for (enum type type = 0; type < NUM_TYPES; type++)
			print_row(&ops[i], type);
	printf("%s\n", border);
}
