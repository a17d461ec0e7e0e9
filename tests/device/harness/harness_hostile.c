// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The world of a hostile guest and its victim, and the tests for all kinds of
 * hostility. The kinds are in the other files harness_hostile_*.c.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness_driver.h"
#include "harness_hostile.h"
#include "harness_vfu.h"
#include "remote_nic.h"

#define NUM_NICS 4

static void open_wire_end(struct hostile *h, const char *path)
{
	struct sockaddr_un addr = device_address(path);

	h->wire_end = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(h->wire_end >= 0);
	CHECK_EQ(bind(h->wire_end, (struct sockaddr *)&addr, sizeof(addr)), 0);
}

static void remove_file(void *path)
{
	unlink(path);
}

static void start_device(struct hostile *h, const struct hostile_kind *kind)
{
	const char *args[DEVICE_MAX_ARGS + 1] = {};
	const char *dir = device_dir();
	unsigned int num = 0;

	for (unsigned int i = 0; i < NUM_NICS; i++) {
		const char *arg = remote_nic_arg(i);

		args[num++] = "--nic";
		args[num++] = arg;
		if (kind->slow_file && i >= 2)
			args[num - 1] = tap_print("%s,disk=on", arg);
	}
	h->spare = tap_print("%s/spare", dir);
	args[num++] = "--nic";
	args[num++] = tap_print("socket=%s", h->spare);
	h->control = tap_print("%s/control", dir);
	args[num++] = "--control";
	args[num++] = h->control;
	if (kind->wire) {
		const char *end = tap_print("%s/end", dir);

		h->wire = tap_print("%s/wire", dir);
		open_wire_end(h, end);
		tap_at_end(remove_file, (void *)end);
		args[num++] = "--wire";
		args[num++] =
			tap_print("dgram,local=%s,remote=%s", h->wire, end);
		h->stream = tap_print("%s/stream", dir);
		args[num++] = "--wire";
		args[num++] = tap_print("stream,listen=%s", h->stream);
	}
	h->device = device_spawn(args);
}

/* A directory that is on a disk, if possible */
static const char *build_dir(void)
{
	const char *program = getenv("MYNIC_DEVICE");

	CHECK(program && strrchr(program, '/'));
	return tap_print("%.*s", (int)(strrchr(program, '/') - program),
			 program);
}

struct hostile *hostile_world(const struct hostile_kind *kind, bool quick)
{
	struct hostile *h = tap_alloc(sizeof(*h));
	struct sim *sim;

	h->quick = quick;
	start_device(h, kind);
	for (unsigned int i = 2; kind->slow_file && i < NUM_NICS; i++)
		remote_nic_file(i, build_dir());
	sim = sim_new(NUM_NICS);
	for (unsigned int i = 0; i < NUM_NICS; i++) {
		struct drv *d = drv_up(&sim->nics[i]);

		if (i < 2)
			h->victim[i] = d;
		else
			h->nic[i - 2] = d;
	}
	return h;
}

static void add_tests(const struct hostile_kind *kind,
		      void (*run)(const void *kind))
{
	for (; kind->name; kind++) {
		struct tap_test *test = calloc(1, sizeof(*test));

		if (!test)
			abort();
		test->name = kind->name;
		test->run_with = run;
		test->with = kind;
		tap_register(test);
	}
}

void hostile_tests(void (*run)(const void *kind))
{
	add_tests(hostile_traffic, run);
	add_tests(hostile_commands, run);
	add_tests(hostile_client, run);
}
