// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles: of the sender of a message, and of multicast groups, which
 * do not need the kernel each time
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "verbs.h"

#define QKEY 0x11111111
#define GRH_SIZE 40

FIXTURE(answer)
{
	struct end a, b;
};

FIXTURE_VARIANT(answer)
{
	int (*find_gid)(struct ibv_context *ctx);
};

FIXTURE_VARIANT_ADD(answer, ipv4){
	.find_gid = find_gid,
};

FIXTURE_VARIANT_ADD(answer, ipv6){
	.find_gid = find_gid_ipv6,
};

FIXTURE_SETUP(answer)
{
	struct end *ends[] = { &self->a, &self->b };

	for (int i = 0; i < 2; i++) {
		ends[i]->ctx = open_mynic(0);
		ASSERT_NE(ends[i]->ctx, NULL);
		ASSERT_TRUE(make_end(ends[i], IBV_QPT_UD));
		ASSERT_EQ(to_rts(ends[i], ends[i]), 0);
		ends[i]->gid_index = variant->find_gid(ends[i]->ctx);
	}
	if (self->a.gid_index < 0)
		SKIP(return, "no such address");
}

FIXTURE_TEARDOWN(answer)
{
	EXPECT_EQ(free_end(&self->a), 0);
	EXPECT_EQ(free_end(&self->b), 0);
	EXPECT_EQ(ibv_close_device(self->a.ctx), 0);
	EXPECT_EQ(ibv_close_device(self->b.ctx), 0);
}

/*
 * Send a message of 8 bytes. @to gets it at the start of its buffer, behind the
 * GRH
 */
static int deliver(struct end *from, struct ibv_ah *ah, uint32_t qpn,
		   uint32_t qkey, struct end *to, struct ibv_wc *wc)
{
	struct ibv_sge sge = { (uintptr_t)from->buf + 4096, 8, from->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { ah, qpn, qkey },
	};
	int err;

	err = post_recv(to, 2, 0, 1024);
	err = err ? err : ibv_post_send(from->qp, &wr, &bad);
	if (err)
		return err;
	if (!wait_wc(from->cq, wc) || wc->status || wc->wr_id != 1)
		return -1;
	if (!wait_wc(to->cq, wc) || wc->status || wc->wr_id != 2)
		return -2;
	return memcmp(to->buf + GRH_SIZE, from->buf + 4096, 8) ? -3 : 0;
}

TEST_F(answer, from_wc)
{
	struct end *a = &self->a, *b = &self->b;
	struct ibv_ah_attr path = rc_attr(a, b).ah_attr, back;
	struct ibv_ah *there, *home;
	struct ibv_wc wc;

	path.sl = 3;
	path.grh.traffic_class = 0xb8;
	memcpy(a->buf + 4096, "question", 8);
	memcpy(b->buf + 4096, "answered", 8);
	there = ibv_create_ah(a->pd, &path);
	ASSERT_NE(there, NULL);
	ASSERT_EQ(deliver(a, there, b->qp->qp_num, QKEY, b, &wc), 0);
	EXPECT_EQ(wc.src_qp, a->qp->qp_num);
	ASSERT_TRUE(wc.wc_flags & IBV_WC_GRH);

	ASSERT_EQ(ibv_init_ah_from_wc(b->ctx, 1, &wc, (void *)b->buf, &back),
		  0);
	EXPECT_EQ(back.is_global, 1);
	EXPECT_EQ(back.port_num, 1);
	EXPECT_EQ(back.sl, wc.sl);
	EXPECT_EQ(back.grh.sgid_index, b->gid_index);
	EXPECT_EQ(memcmp(&back.grh.dgid, &path.grh.dgid, 16), 0);
	if (variant->find_gid == find_gid_ipv6)
		EXPECT_EQ(back.grh.traffic_class, 0xb8);

	home = ibv_create_ah_from_wc(b->pd, &wc, (void *)b->buf, 1);
	ASSERT_NE(home, NULL);
	ASSERT_EQ(deliver(b, home, wc.src_qp, QKEY, a, &wc), 0);
	EXPECT_EQ(wc.src_qp, b->qp->qp_num);
	EXPECT_EQ(ibv_destroy_ah(home), 0);

	home = ibv_create_ah(b->pd, &back);
	ASSERT_NE(home, NULL);
	ASSERT_EQ(deliver(b, home, a->qp->qp_num, QKEY, a, &wc), 0);
	EXPECT_EQ(ibv_destroy_ah(home), 0);
	EXPECT_EQ(ibv_destroy_ah(there), 0);

	/* without a GRH nothing is known of the sender */
	wc.wc_flags = 0;
	EXPECT_EQ(ibv_create_ah_from_wc(b->pd, &wc, (void *)b->buf, 1), NULL);
}

FIXTURE(groups)
{
	struct end e;
	struct ibv_ah_attr attr;
	char netdev[IF_NAMESIZE];
	bool address;
};

/* A device whose network interface, with that name, is in our namespace */
static struct ibv_context *open_with_netdev(char *netdev)
{
	struct ibv_context *ctx;
	struct ibv_gid_entry entry;

	for (unsigned int i = 0; (ctx = open_mynic(i)); i++) {
		int index = find_gid(ctx);

		if (index >= 0 && !ibv_query_gid_ex(ctx, 1, index, &entry, 0) &&
		    if_indextoname(entry.ndev_ifindex, netdev))
			break;
		ibv_close_device(ctx);
	}
	return ctx;
}

FIXTURE_SETUP(groups)
{
	self->e.ctx = open_with_netdev(self->netdev);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_UD));
	self->attr = (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = { .sgid_index = self->e.gid_index, .hop_limit = 1 },
	};
	self->attr.grh.dgid.raw[0] = 0xff;
	self->attr.grh.dgid.raw[15] = 1;
}

static int change_address(const char *what, const char *netdev)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "ip address %s 198.51.100.77/32 dev %s", what, netdev);
	return system(command);
}

FIXTURE_TEARDOWN(groups)
{
	if (self->address)
		EXPECT_EQ(change_address("delete", self->netdev), 0);
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
}

/* Make all commands of verbs fail with EPERM in the calling thread */
static int refuse_commands(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_write, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = ARRAY_SIZE(filter),
		.filter = filter,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? errno : 0;
}

#define NUM_GROUPS 100

/* Return: NULL, or the error as text */
static void *without_commands(void *arg)
{
	FIXTURE_DATA(groups) *self = arg;
	struct ibv_ah_attr attr = self->attr;
	struct ibv_ah *ah[NUM_GROUPS];

	if (refuse_commands())
		return "seccomp";
	for (int i = 0; i < NUM_GROUPS; i++) {
		memset(&attr.grh.dgid, 0, 16);
		attr.grh.dgid.raw[i % 2 ? 0 : 11] = 0xff;
		attr.grh.dgid.raw[10] = i % 2 ? 0 : 0xff;
		attr.grh.dgid.raw[12] = 224 + i % 16;
		attr.grh.dgid.raw[15] = i;
		ah[i] = ibv_create_ah(self->e.pd, &attr);
		if (!ah[i])
			return "a group";
	}
	for (int i = 0; i < NUM_GROUPS; i++)
		if (ibv_destroy_ah(ah[i]))
			return "destroying one";
	attr.grh.dgid.raw[0] = 0xfe;
	attr.grh.dgid.raw[1] = 0x80;
	errno = 0;
	if (ibv_create_ah(self->e.pd, &attr) || errno != EPERM)
		return "a single destination was not asked for";
	return NULL;
}

TEST_F(groups, without_commands)
{
	struct ibv_ah *first = ibv_create_ah(self->e.pd, &self->attr);
	pthread_t thread;
	void *wrong;

	ASSERT_NE(first, NULL);
	ASSERT_EQ(pthread_create(&thread, NULL, without_commands, self), 0);
	ASSERT_EQ(pthread_join(thread, &wrong), 0);
	EXPECT_EQ(wrong, NULL)
	TH_LOG("%s", (const char *)wrong);
	/* the protection domain is in use */
	EXPECT_EQ(ibv_dealloc_pd(self->e.pd), EBUSY);
	EXPECT_EQ(ibv_destroy_ah(first), 0);
}

static int error_of(struct ibv_pd *pd, struct ibv_ah_attr attr)
{
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);

	if (!ah)
		return errno;
	ibv_destroy_ah(ah);
	return 0;
}

TEST_F(groups, refusals)
{
	struct ibv_ah_attr bad[5];
	int unasked, asked[5];
	struct ibv_ah *first;

	for (int i = 0; i < 5; i++)
		bad[i] = self->attr;
	bad[0].port_num = 0;
	bad[1].port_num = 2;
	bad[2].sl = 8;
	bad[3].is_global = 0;
	bad[4].grh.sgid_index = 255;
	for (int i = 0; i < 5; i++) {
		asked[i] = error_of(self->e.pd, bad[i]);
		EXPECT_NE(asked[i], 0);
	}
	first = ibv_create_ah(self->e.pd, &self->attr);
	ASSERT_NE(first, NULL);
	for (int i = 0; i < 5; i++) {
		unasked = error_of(self->e.pd, bad[i]);
		EXPECT_EQ(unasked, asked[i]);
	}
	EXPECT_EQ(error_of(self->e.pd, self->attr), 0);
	EXPECT_EQ(ibv_destroy_ah(first), 0);
}

static const uint8_t test_address[16] = {
	[10] = 0xff, 0xff, 198, 51, 100, 77,
};

/*
 * Wait until the GID of our address exists (@come) or not. Return: its index,
 * or -1
 */
static int wait_gid(struct ibv_context *ctx, bool come)
{
	time_t end = deadline();
	struct ibv_gid_entry entry;
	int index;

	do {
		index = -1;
		for (int i = 0; i < 256; i++)
			if (!ibv_query_gid_ex(ctx, 1, i, &entry, 0) &&
			    !memcmp(&entry.gid, test_address, 16))
				index = i;
	} while ((index >= 0) != come && time(NULL) < end);
	return index;
}

/*
 * A source GID is removed. Its entry stays in use, but not for new address
 * handles
 */
TEST_F(groups, gid_removed)
{
	struct ibv_ah *first, *second;
	int index, missing;

	self->attr.grh.sgid_index = 255;
	missing = error_of(self->e.pd, self->attr);
	ASSERT_NE(missing, 0);

	ASSERT_EQ(change_address("add", self->netdev), 0);
	self->address = true;
	index = wait_gid(self->e.ctx, true);
	ASSERT_GE(index, 0);
	self->attr.grh.sgid_index = index;
	first = ibv_create_ah(self->e.pd, &self->attr);
	second = ibv_create_ah(self->e.pd, &self->attr);
	ASSERT_NE(first, NULL);
	ASSERT_NE(second, NULL);

	ASSERT_EQ(change_address("delete", self->netdev), 0);
	self->address = false;
	ASSERT_EQ(wait_gid(self->e.ctx, false), -1);
	EXPECT_EQ(error_of(self->e.pd, self->attr), missing);
	/* either of the two may be the one that the kernel knows */
	EXPECT_EQ(ibv_destroy_ah(first), 0);
	ASSERT_EQ(change_address("add", self->netdev), 0);
	self->address = true;
	EXPECT_NE(wait_gid(self->e.ctx, true), index);
	EXPECT_EQ(error_of(self->e.pd, self->attr), missing);
	EXPECT_EQ(ibv_destroy_ah(second), 0);
}

TEST_HARNESS_MAIN
