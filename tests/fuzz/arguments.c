// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The words of a line: objects, numbers, keys and addresses */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static const char *const kind_names[NUM_KINDS] = {
	[KIND_PD] = "pd",	    [KIND_MR] = "mr",
	[KIND_MW] = "mw",	    [KIND_CQ] = "cq",
	[KIND_SRQ] = "srq",	    [KIND_QP] = "qp",
	[KIND_AH] = "ah",	    [KIND_XRCD] = "xrcd",
	[KIND_CHANNEL] = "channel", [KIND_TD] = "td",
	[KIND_DM] = "dm",	    [KIND_CTX] = "ctx",
	[KIND_WQ] = "wq",	    [KIND_TABLE] = "table",
	[KIND_FLOW] = "flow",	    [KIND_COUNTERS] = "counters",
};

/**
 * fail() - end the run: the device did not do as the program says
 * @line: the call
 * @format: what it did
 */
void fail(const struct line *line, const char *format, ...)
{
	va_list args;

	/* Others that fail at the same time have nothing to add. */
	flockfile(stdout);
	printf("MISMATCH line %lu%s%s: %s %s: ", line->number,
	       program->name ? " of " : "", program->name ? program->name : "",
	       line->verb, line->target);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_Exit(1);
}

static void malformed(const struct line *line, const char *what)
{
	fprintf(stderr, "line %lu: %s: %s\n", line->number, line->verb, what);
	exit(2);
}

/**
 * next_field() - take one of some field=value that commas separate
 * @line: the call
 * @text: what is left of them, at first all; it is cut to pieces
 * @value: of the field
 *
 * Return: the name of the field, or NULL if there are no more.
 */
char *next_field(const struct line *line, char **text, char **value)
{
	char *name;

	do {
		name = strsep(text, ",");
	} while (name && !*name);
	if (!name)
		return NULL;
	*value = strchr(name, '=');
	if (!*value)
		malformed(line, name);
	*(*value)++ = 0;
	return name;
}

/**
 * arg() - an argument
 * @line: the call
 * @name: of the argument
 *
 * Return: its text, or NULL if the line does not have it.
 */
const char *arg(const struct line *line, const char *name)
{
	size_t len = strlen(name);

	for (unsigned int i = 0; i < line->num_args; i++)
		if (!strncmp(line->args[i], name, len) &&
		    line->args[i][len] == '=')
			return line->args[i] + len + 1;
	return NULL;
}

/** must() - an argument that the line has to have */
const char *must(const struct line *line, const char *name)
{
	const char *text = arg(line, name);

	if (!text)
		malformed(line, name);
	return text;
}

/* LIMIT or LIMIT+NUMBER: what a device says that it can do; both can the same. */
static uint64_t limit(const struct line *line, const char *text)
{
	struct ibv_device_attr_ex ex = { 0 };
	const struct ibv_device_attr *attr = &ex.orig_attr;
	size_t len = strcspn(text, "+");

	if (ibv_query_device_ex(program->nodes[0].ctx, NULL, &ex))
		fail(line, "tells no limits");
	const struct {
		const char *name;
		uint64_t value;
	} limits[] = {
		{ "max_qp_wr", attr->max_qp_wr },
		{ "max_sge", attr->max_sge },
		{ "max_cqe", attr->max_cqe },
		{ "max_srq_wr", attr->max_srq_wr },
		{ "max_srq_sge", attr->max_srq_sge },
		{ "qp_rate_limit_max",
		  ex.packet_pacing_caps.qp_rate_limit_max },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (!strncmp(text, limits[i].name, len) && !limits[i].name[len])
			return limits[i].value + strtoull(text + len, NULL, 10);
	malformed(line, text);
	return 0;
}

/** number() - an argument that is a number; @otherwise if it is not there */
uint64_t number(const struct line *line, const char *name, uint64_t otherwise)
{
	const char *text = arg(line, name);

	if (text && isalpha((unsigned char)*text))
		return limit(line, text);
	return text ? strtoull(text, NULL, 0) : otherwise;
}

static struct object *find(const struct line *line, const char *name,
			   enum kind *kind, const char **end)
{
	for (unsigned int i = 0; i < NUM_KINDS; i++) {
		size_t len = strlen(kind_names[i]);
		char *rest;
		unsigned long n;

		if (strncmp(name, kind_names[i], len) || name[len] < '0' ||
		    name[len] > '9')
			continue;
		n = strtoul(name + len, &rest, 10);
		if (n >= MAX_OBJECTS)
			break;
		*kind = i;
		*end = rest;
		return &program->objects[i][n];
	}
	malformed(line, name);
	return NULL;
}

/** object() - the object with a name, which need not exist (yet, or any more) */
struct object *object(const struct line *line, const char *name)
{
	enum kind kind;
	const char *end;

	return find(line, name, &kind, &end);
}

/** kind_of() - what an object is */
enum kind kind_of(const struct line *line, const char *name)
{
	enum kind kind;
	const char *end;

	find(line, name, &kind, &end);
	return kind;
}

/** live() - what libibverbs calls an object that exists */
void *live(const struct line *line, enum kind kind, const char *name)
{
	struct object *obj;
	enum kind is;
	const char *end;

	obj = find(line, name, &is, &end);
	if (is != kind || !obj->ptr)
		malformed(line, name);
	return obj->ptr;
}

/** maybe() - the object that an argument names, or NULL if it is not there */
void *maybe(const struct line *line, enum kind kind, const char *name)
{
	const char *text = arg(line, name);

	return text ? live(line, kind, text) : NULL;
}

/**
 * address() - an address in a request
 * @line: the call
 * @text: a number; REGION+OFFSET; or NODE:OFFSET in the memory of a device
 *
 * Return: the address.
 */
uint64_t address(const struct line *line, const char *text)
{
	struct object *obj;
	enum kind kind;
	const char *end;
	char *rest;
	uint64_t n;

	if (text[0] >= '0' && text[0] <= '9') {
		n = strtoull(text, &rest, 0);
		if (*rest != ':')
			return n;
		if (n >= NUM_NODES)
			malformed(line, text);
		return (uintptr_t)program->nodes[n].arena +
		       strtoull(rest + 1, NULL, 0);
	}
	obj = find(line, text, &kind, &end);
	return obj->base + strtoll(end, NULL, 0);
}

static uint32_t key(const struct line *line, const char *text, bool local)
{
	struct object *obj;
	enum kind kind;
	const char *end;
	uint32_t flip;

	if (text[0] >= '0' && text[0] <= '9')
		return strtoul(text, NULL, 0);
	obj = find(line, text, &kind, &end);
	flip = *end == '~' ? strtoul(end + 1, NULL, 0) : 0;
	return (local ? obj->lkey : obj->rkey) ^ flip;
}

/**
 * lkey() - a local key in a request
 * @line: the call
 * @text: a number, or the region whose key it is or was. Behind it may be
 *	~BITS, which are turned over.
 *
 * Return: the key.
 */
uint32_t lkey(const struct line *line, const char *text)
{
	return key(line, text, true);
}

/** rkey() - a remote key in a request; @text as for lkey(), or a window */
uint32_t rkey(const struct line *line, const char *text)
{
	return key(line, text, false);
}

/** expect_errno() - compare what a call returned with the line */
void expect_errno(const struct line *line, int err)
{
	int expected = strtol(line->expect, NULL, 0);

	if (err != expected)
		fail(line, "returned %d (%s), expected %d (%s)", err,
		     strerror(err), expected, strerror(expected));
}

/** expect_returned() - fail unless the call returned what the line says */
void expect_returned(const struct line *line, int ret)
{
	long expected = strtol(line->expect, NULL, 0);

	if (ret != expected)
		fail(line, "returned %d, expected %ld", ret, expected);
}

/**
 * made() - there is a new object, or none
 * @obj: where it is to be kept
 * @ptr: what the call returned
 *
 * Return: the errno that the call left, or 0 if it made something.
 */
int made(struct object *obj, void *ptr)
{
	obj->ptr = ptr;
	return ptr ? 0 : errno;
}

/**
 * one_of() - make a call if it is in a table, and compare what it returned
 * @line: the call
 * @calls: the table
 * @num: of its entries
 *
 * Return: whether it is there.
 */
bool one_of(const struct line *line, const struct call *calls, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		if (strcmp(line->verb, calls[i].verb))
			continue;
		expect_errno(line,
			     calls[i].run(line, object(line, line->target)));
		return true;
	}
	return false;
}

/** each() - the objects of a kind that exist, one after the other */
struct object *each(enum kind kind, unsigned int *number)
{
	while (*number < MAX_OBJECTS) {
		struct object *obj = &program->objects[kind][(*number)++];

		if (obj->ptr)
			return obj;
	}
	return NULL;
}

/** node_of() - the device that a call names, and its number */
struct node *node_of(const struct line *line, unsigned int *index)
{
	*index = number(line, "dev", 0);
	if (*index >= NUM_NODES)
		malformed(line, "there is no such device");
	return &program->nodes[*index];
}

/**
 * context_of() - the context that a call names, or that of the device it names
 * @line: the call
 * @obj: what it makes there; its node is set
 *
 * Return: the context.
 */
struct ibv_context *context_of(const struct line *line, struct object *obj)
{
	struct ibv_context *ctx = maybe(line, KIND_CTX, "ctx");

	if (!ctx)
		return node_of(line, &obj->node)->ctx;
	obj->node = object(line, arg(line, "ctx"))->node;
	return ctx;
}
