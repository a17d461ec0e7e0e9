// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of operations for the documentation */
#include <stdio.h>
#include <string.h>

#include "matrix.h"

/* As wide as the widest contents, that is, the names of what is in them */
#define WIDTH_OP 20
#define WIDTH_API 17

static void print_rule(unsigned int width)
{
	while (width--)
		putchar('=');
}

static void print_border(void)
{
	print_rule(WIDTH_OP);
	for (unsigned int i = 0; i < 2; i++) {
		putchar(' ');
		print_rule(WIDTH_API);
	}
	for (enum type type = 0; type < NUM_TYPES; type++) {
		putchar(' ');
		print_rule(strlen(type_name(type)));
	}
	putchar('\n');
}

static void print_setters(const struct op *op, enum wr_api api)
{
	static const char *const letters[] = { "sge", "list", "inl", "inll" };
	char text[64] = "";

	for (enum setter s = 0; s < NUM_SETTERS; s++)
		if (op_with_setter(op, api, s)) {
			strcat(text, text[0] ? " " : "");
			strcat(text, letters[s]);
		}
	if (!op_through(op, api))
		strcpy(text, "EINVAL");
	printf(" %-*s", WIDTH_API, text[0] ? text : "none");
}

static void print_row(const struct op *op)
{
	printf("%-*s", WIDTH_OP, op->name);
	print_setters(op, API_POST_SEND);
	print_setters(op, API_WR);
	for (enum type type = 0; type < NUM_TYPES; type++) {
		int width = type + 1 < NUM_TYPES ? strlen(type_name(type)) : 0;

		printf(" %-*s", width, op_on_type(op, type) ? "x" : "-");
	}
	putchar('\n');
}

void print_table(void)
{
	print_border();
	printf("%-*s %-*s %-*s", WIDTH_OP, "Operation", WIDTH_API,
	       "ibv_post_send()", WIDTH_API, "ibv_wr_*()");
	for (enum type type = 0; type < NUM_TYPES; type++)
		printf(" %s", type_name(type));
	putchar('\n');
	print_border();
	for (unsigned int i = 0; i < num_ops; i++)
		print_row(&ops[i]);
	print_border();
}
