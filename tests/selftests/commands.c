// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many commands to the device, from one thread and from several at once. A
 * thread that waits for a command often takes its completion before the
 * interrupt comes. The kernel turns off an interrupt whose handler often
 * reports that it had nothing to do.
 */
#include <dirent.h>
#include <pthread.h>

#include "verbs.h"

#define THREADS 4
#define COMMANDS 500 /* of each */

static long give_commands(struct ibv_context *ctx)
{
	for (int i = 0; i < COMMANDS / 2; i++) {
		struct ibv_pd *pd = ibv_alloc_pd(ctx);
		int err = pd ? ibv_dealloc_pd(pd) : errno;

		if (err)
			return err;
	}
	return 0;
}

static void *thread(void *ctx)
{
	return (void *)give_commands(ctx);
}

/* Unhandled interrupts of one IRQ; -1 if unknown */
static long not_handled(const char *irq)
{
	char path[64];
	long number;
	FILE *file;
	int found;

	snprintf(path, sizeof(path), "/proc/irq/%.16s/spurious", irq);
	file = fopen(path, "r");
	if (!file)
		return -1;
	found = fscanf(file, "count %*d unhandled %ld", &number);
	fclose(file);
	return found == 1 ? number : -1;
}

/* Unhandled interrupts of the whole device; -1 if unknown */
static long all_not_handled(const struct ibv_context *ctx)
{
	char path[IBV_SYSFS_PATH_MAX + 32];
	struct dirent *entry;
	long sum = 0, number;
	int seen = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/device/msi_irqs",
		 ctx->device->ibdev_path);
	dir = opendir(path);
	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		number = not_handled(entry->d_name);
		if (number < 0)
			break;
		sum += number;
		seen++;
	}
	closedir(dir);
	return entry || seen < 2 ? -1 : sum;
}

FIXTURE(device)
{
	struct ibv_context *ctx;
	long not_handled;
};

FIXTURE_SETUP(device)
{
	self->ctx = open_mynic(0);
	ASSERT_NE(self->ctx, NULL);
	self->not_handled = all_not_handled(self->ctx);
	ASSERT_GE(self->not_handled, 0);
}

/*
 * Some may be older. The kernel also counts an interrupt that wakes a thread
 * again before it has run. It resets the count at times.
 */
FIXTURE_TEARDOWN(device)
{
	long after = all_not_handled(self->ctx);

	EXPECT_GE(after, 0);
	EXPECT_LE(after, self->not_handled);
	EXPECT_EQ(ibv_close_device(self->ctx), 0);
}

TEST_F(device, one_after_the_other)
{
	EXPECT_EQ(give_commands(self->ctx), 0);
}

TEST_F(device, several_at_once)
{
	pthread_t threads[THREADS];
	void *err;

	for (int i = 0; i < THREADS; i++) {
		ASSERT_EQ(pthread_create(&threads[i], NULL, thread, self->ctx),
			  0);
	}
	for (int i = 0; i < THREADS; i++) {
		ASSERT_EQ(pthread_join(threads[i], &err), 0);
		EXPECT_EQ((long)err, 0);
	}
}

TEST_HARNESS_MAIN
