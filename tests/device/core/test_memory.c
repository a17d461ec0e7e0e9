// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The limit of a NIC's memory in the device model, and resets, which free all
 * of it in pieces.
 */
#include <sys/mman.h>

#include "core/queue/tm.h"
#include "harness_driver.h"

#define MIB (1ull << 20)
#define LIMIT (4 * MIB)

static uint64_t memory(struct drv *d)
{
	return nic_memory(d->n->nic);
}

/* Make a NIC with little memory. @idle: its use without objects */
static struct drv *small_nic(uint64_t *idle)
{
	struct sim *sim = sim_new_small(1, LIMIT);

	*idle = nic_memory(sim->nics[0].nic);
	return drv_up(&sim->nics[0]);
}

static uint8_t modify_to_rtr(struct drv_qp *qp, uint8_t max_dest_rd_atomic)
{
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.max_dest_rd_atomic = max_dest_rd_atomic,
		.av = drv_av(qp->d, 0, DRV_GID_IPV6),
	};

	return drv_modify_qp(qp, &attr);
}

/* CREATE_QP until it fails. All rings share the memory of the first one */
static unsigned int create_all(struct drv *d, struct drv_qp *qp)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_QP };
	struct mynic_admin_cpl cpl;
	unsigned int num = 0;
	uint8_t status;

	while (!(status = drv_admin_in(d, &cmd, &cpl, &qp->create,
				       sizeof(qp->create))))
		num++;
	CHECK_EQ(status, MYNIC_AQ_NO_RESOURCE);
	return num;
}

static struct drv_qp *make_qp(struct drv *d)
{
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = drv_alloc_pd(d),
		.send_cq = drv_create_cq(d, 6),
	};

	init.recv_cq = init.send_cq;
	return drv_create_qp(d, &init);
}

TEST(memory_of_qps)
{
	uint64_t idle;
	struct drv *d = small_nic(&idle);
	struct drv_qp *qp = make_qp(d);
	unsigned int num = create_all(d, qp);

	CHECK(num > 100);
	CHECK(memory(d) <= LIMIT);
	CHECK(memory(d) > LIMIT - 65536);
	/* after one is destroyed, another can be created */
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, qp->number), 0);
	CHECK(create_all(d, qp) >= 1);
	drv_reset(d->n);
	CHECK_EQ(memory(d), idle);
	/* as many as before, except for memory of their numbers */
	d = drv_up(d->n);
	qp = make_qp(d);
	CHECK(create_all(d, qp) >= num - 4);
}

/*
 * A new QP has all memory that it needs to run, so others cannot take it away
 */
TEST(memory_of_requests)
{
	struct sim *sim = sim_new_small(2, LIMIT);
	struct drv *d = drv_up(&sim->nics[0]);
	struct drv *peer = drv_up(&sim->nics[1]);
	struct drv_qp *qp = make_qp(d);
	struct drv_qp *other = make_qp(peer);
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
	};

	create_all(d, qp);
	drv_connect(qp, other, &(struct drv_path){ .max_rd_atomic = 1 });
	for (unsigned int i = 0; i < 60; i++)
		drv_write_wqe(qp, &wr);
	drv_ring(qp);
	sim_settle(sim);
	CHECK_EQ(drv_query_qp(qp).qp_state, IBV_QPS_RTS);
	CHECK_EQ(le32toh(qp->rec->sq_ci), 60);
}

/* Memory for answers to READs is allocated by the command, which may fail */
TEST(memory_of_responses)
{
	uint64_t idle, before;
	struct drv *d = small_nic(&idle);
	struct drv_qp *qp = make_qp(d);
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			     IBV_QP_ACCESS_FLAGS,
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
	};

	before = memory(d);
	CHECK_EQ(drv_modify_qp(qp, &attr), 0);
	CHECK_EQ(modify_to_rtr(qp, 128), 0);
	CHECK(memory(d) >= before + 128 * 32);
	CHECK_EQ(drv_set_state(qp, IBV_QPS_RESET), 0);
	CHECK_EQ(memory(d), before);
	create_all(d, qp);
	CHECK_EQ(drv_modify_qp(qp, &attr), 0);
	CHECK_EQ(modify_to_rtr(qp, 128), MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(drv_query_qp(qp).qp_state, IBV_QPS_INIT);
}

/* Keys can be created up to the limit, and a reset frees them all */
TEST(memory_of_keys)
{
	uint64_t idle;
	struct drv *d = small_nic(&idle);
	struct mynic_create_mkey body = { .pdn = drv_alloc_pd(d) };
	uint8_t status;
	uint32_t key;

	while (!(status = drv_create_mkey(d, &body, MYNIC_MKEY_MW1, &key)))
		CHECK(memory(d) <= LIMIT);
	CHECK_EQ(status, MYNIC_AQ_NO_RESOURCE);
	drv_reset(d->n);
	CHECK_EQ(memory(d), idle);
}

TEST(memory_of_tags)
{
	uint64_t idle;
	struct drv *d = small_nic(&idle);
	uint32_t pdn = drv_alloc_pd(d);
	struct drv_cq *cq = drv_create_cq(d, 6);
	uint64_t before = memory(d);

	drv_create_tm_srq(d, pdn, cq, 5, 1024);
	/*
	 * Of each tag: in the list, matched, and not yet reported to the host
	 */
	CHECK(memory(d) >= before + 3 * 1024 * sizeof(struct tag));
	drv_reset(d->n);
	CHECK_EQ(memory(d), idle);
}

TEST(memory_of_groups)
{
	uint64_t idle;
	struct drv *d = small_nic(&idle);
	struct drv_qp_init init = {
		.type = MYNIC_QP_UD,
		.pdn = drv_alloc_pd(d),
		.send_cq = drv_create_cq(d, 6),
	};
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_ATTACH_MCAST,
		.mcast = { .gid = { 0xff, 0x0e } },
	};
	unsigned int num = 0;
	uint64_t before;
	uint8_t status;

	init.recv_cq = init.send_cq;
	cmd.number = drv_create_qp(d, &init)->number;
	before = memory(d);
	do {
		memcpy(cmd.mcast.gid + 12, &num, sizeof(num));
		status = drv_admin(d, &cmd, NULL);
	} while (!status && ++num < 4096);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, cmd.number), 0);
	CHECK(memory(d) < before);
	drv_reset(d->n);
	CHECK_EQ(memory(d), idle);
}

/* STATUS is 0 until all is freed, and the NIC does nothing else meanwhile */
TEST(reset_in_pieces)
{
	uint64_t idle;
	struct drv *d = small_nic(&idle);
	struct drv_qp *qp = make_qp(d);
	struct sim *sim = d->sim;
	unsigned int turns = 0;

	create_all(d, qp);
	sim->tick = NIC_TURN_NS / 4;
	sim_write32(d->n, MYNIC_REG_CONTROL, MYNIC_CONTROL_RESET);
	CHECK_EQ(sim_read32(d->n, MYNIC_REG_STATUS), 0);
	CHECK(memory(d) > LIMIT / 2);
	sim_write32(d->n, MYNIC_REG_AQ_LOG_SIZE, 5);
	sim_write32(d->n, MYNIC_REG_CONTROL, MYNIC_CONTROL_ENABLE);
	sim_doorbell(d->n, 1, MYNIC_UAR_QP_DB, qp->number, 0);
	CHECK(nic_next_event(d->n->nic) <= sim->now);
	while (nic_run(d->n->nic)) {
		CHECK_EQ(sim_read32(d->n, MYNIC_REG_STATUS), 0);
		/* another reset does not start from the beginning */
		if (turns == 1)
			sim_write32(d->n, MYNIC_REG_CONTROL,
				    MYNIC_CONTROL_RESET);
		CHECK(++turns < 1000);
	}
	sim->tick = 0;
	CHECK(turns > 3);
	CHECK_EQ(sim_read32(d->n, MYNIC_REG_STATUS), MYNIC_STATUS_READY);
	CHECK_EQ(sim_read32(d->n, MYNIC_REG_AQ_LOG_SIZE), 0);
	CHECK_EQ(nic_stat(d->n->nic, MYNIC_STAT_BAD_REGISTER), 0);
	CHECK_EQ(memory(d), idle);
	drv_up(d->n);
}

/* The client and its maps vanish during a reset */
TEST(reset_without_memory)
{
	uint64_t idle;
	struct drv *d = small_nic(&idle);
	struct drv_cq *cq = drv_create_cq(d, 6);
	struct drv_srq *srq = drv_create_tm_srq(d, drv_alloc_pd(d), cq, 5, 8);

	for (unsigned int i = 0; i < 8; i++)
		drv_post_tag(srq,
			     &(struct mynic_tag_wqe){ .ctrl = IBV_WR_TAG_ADD,
						      .handle = i });
	create_all(d, make_qp(d));
	d->sim->tick = NIC_TURN_NS / 4;
	nic_reset(d->n->nic);
	sim_unmap(d->n);
	CHECK_EQ(mprotect(d->n->mem, SIM_MEM_SIZE, PROT_NONE), 0);
	while (nic_run(d->n->nic))
		;
	CHECK_EQ(memory(d), idle);
	/* the harness takes them away again at the end */
	CHECK_EQ(mprotect(d->n->mem, SIM_MEM_SIZE, PROT_READ | PROT_WRITE), 0);
	sim_map(d->n);
}

#define KEYS 2000

/* A peer that has keys must not need fewer tries for others than there are keys */
TEST(keys_cannot_be_told)
{
	struct drv *d = drv_one();
	struct mynic_create_mkey body = { .pdn = drv_alloc_pd(d) };
	unsigned int ones[32] = { 0 }, near = 0;
	uint32_t keys[KEYS];

	for (unsigned int i = 0; i < KEYS; i++) {
		CHECK_EQ(drv_create_mkey(d, &body, MYNIC_MKEY_MW1, &keys[i]),
			 0);
		for (unsigned int bit = 0; bit < 32; bit++)
			ones[bit] += keys[i] >> bit & 1;
		for (unsigned int k = 0; k < i; k++)
			near += keys[i] >> 18 == keys[k] >> 18;
	}
	for (unsigned int bit = 0; bit < 32; bit++)
		CHECK(ones[bit] > KEYS * 2 / 5 && ones[bit] < KEYS * 3 / 5);
	/* 2000 random numbers have 122 such pairs, the standard deviation is 11 */
	CHECK(near < 300);
}

/* An index is used again late: not before all others of its lap */
TEST(keys_come_back_late)
{
	struct drv *d = drv_one();
	struct mynic_create_mkey body = { .pdn = drv_alloc_pd(d) };
	uint32_t keys[1000];

	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		CHECK_EQ(drv_create_mkey(d, &body, MYNIC_MKEY_MW1, &keys[i]),
			 0);
		for (unsigned int k = 0; k < i; k++)
			CHECK(keys[i] >> 8 != keys[k] >> 8);
		CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_MKEY,
					keys[i] >> 8),
			 0);
	}
}
