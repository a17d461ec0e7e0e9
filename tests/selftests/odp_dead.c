// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * On-demand paging and a device that does not answer. Until it is reset, it may
 * still write to its pages, so the kernel must not give them to others.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "silent.h"
#include "verbs.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))
#define PAGES 64
#define LEN (PAGES * PAGE)

/* Bits of an entry of /proc/PID/pagemap */
#define PFN_MASK ((1ull << 55) - 1)
#define KPF_ANON (1ull << 12)

/* Page frame number of the page at @p; 0 if it is not present */
static uint64_t pfn_of(const void *p)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;

	if (fd < 0)
		return 0;
	if (pread(fd, &entry, sizeof(entry),
		  (uintptr_t)p / PAGE * sizeof(entry)) != sizeof(entry))
		entry = 0;
	close(fd);
	return entry & PFN_MASK;
}

/*
 * Number of pages that still belong to a process, or that the driver has from
 * one
 */
static unsigned int num_kept(const uint64_t *pfns)
{
	int fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	unsigned int n = 0;
	uint64_t flags;

	for (unsigned int i = 0; i < PAGES; i++)
		if (pread(fd, &flags, sizeof(flags), pfns[i] * sizeof(flags)) ==
			    sizeof(flags) &&
		    flags & KPF_ANON)
			n++;
	close(fd);
	return n;
}

FIXTURE(odp_dead)
{
	struct silent_nic nic;
};

/*
 * @after_failure: the pages are unmapped after the driver has found the device
 * dead and has destroyed the region; else before
 * @by_exit: the end of the process unmaps them
 */
FIXTURE_VARIANT(odp_dead)
{
	bool after_failure;
	bool by_exit;
};

FIXTURE_VARIANT_ADD(odp_dead, unmap){};

FIXTURE_VARIANT_ADD(odp_dead, exit){
	.by_exit = true,
};

FIXTURE_VARIANT_ADD(odp_dead, unmap_after_failure){
	.after_failure = true,
};

FIXTURE_VARIANT_ADD(odp_dead, exit_after_failure){
	.after_failure = true,
	.by_exit = true,
};

FIXTURE_SETUP(odp_dead)
{
	ASSERT_TRUE(silent_find(&self->nic));
}

FIXTURE_TEARDOWN(odp_dead)
{
	silent_end(&self->nic);
	EXPECT_TRUE(silent_wait_back(&self->nic));
}

/* Gives pages to the device, reports their numbers, and unmaps them */
static int run_owner(const struct silent_nic *nic, int from_parent,
		     int to_parent, bool after_failure, bool by_exit)
{
	struct ibv_context *ctx = open_of(nic->dir);
	uint64_t pfns[PAGES];
	struct ibv_sge sge;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint8_t *mem;
	char byte;

	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!pd || mem == MAP_FAILED || madvise(mem, LEN, MADV_NOHUGEPAGE))
		return 1;
	mr = ibv_reg_mr(pd, mem, LEN,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
	if (!mr)
		return 2;
	sge = (struct ibv_sge){ (uintptr_t)mem, LEN, mr->lkey };
	if (ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			  IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1))
		return 3;
	for (unsigned int i = 0; i < PAGES; i++)
		pfns[i] = pfn_of(mem + i * PAGE);
	if (write(to_parent, pfns, sizeof(pfns)) != sizeof(pfns) ||
	    read(from_parent, &byte, 1) != 1)
		return 4;
	if (after_failure && !wait_fatal(ctx))
		return 5;
	if (by_exit)
		return 0;
	if (munmap(mem, LEN) || write(to_parent, "", 1) != 1)
		return 6;
	return read(from_parent, &byte, 1);
}

TEST_F(odp_dead, pages_are_kept)
{
	int to_child[2], to_parent[2], status;
	time_t end = deadline();
	uint64_t pfns[PAGES];
	char byte;
	pid_t pid;

	ASSERT_EQ(pipe2(to_child, O_CLOEXEC), 0);
	ASSERT_EQ(pipe2(to_parent, O_CLOEXEC), 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		close(to_child[1]);
		close(to_parent[0]);
		_exit(run_owner(&self->nic, to_child[0], to_parent[1],
				variant->after_failure, variant->by_exit));
	}
	close(to_parent[1]);
	ASSERT_EQ(read(to_parent[0], pfns, sizeof(pfns)), sizeof(pfns));
	for (unsigned int i = 0; i < PAGES; i++) {
		ASSERT_NE(pfns[i], 0);
	}
	ASSERT_EQ(num_kept(pfns), PAGES);
	ASSERT_TRUE(silent_begin(&self->nic));
	ASSERT_EQ(write(to_child[1], "", 1), 1);
	/* reported after unmapping, or by the end of the process */
	EXPECT_EQ(read(to_parent[0], &byte, 1), !variant->by_exit);
	EXPECT_EQ(num_kept(pfns), PAGES);
	close(to_child[1]);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(num_kept(pfns), PAGES);
	/* after a reset they are freed */
	ASSERT_TRUE(silent_end(&self->nic));
	while (num_kept(pfns) == PAGES) {
		ASSERT_LT(time(NULL), end);
		usleep(50000);
	}
}

TEST_HARNESS_MAIN
