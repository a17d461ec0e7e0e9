// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Hostile admin commands of a guest's kernel */
#include <unistd.h>

#include "harness_hostile.h"
#include "harness_load.h"

#define NUM_TAGS 1024
#define MAX_GROUPS 4096

/* Number of commands for one doorbell: all that the admin queue has room for */
static unsigned int batch(const struct drv *d)
{
	return 1u << d->aq_log_size;
}

static void wait_all(struct drv *d, unsigned int num,
		     struct mynic_admin_cpl *cpl)
{
	drv_admin_ring(d);
	for (unsigned int i = 0; i < num; i++)
		while (!drv_admin_poll(d, &cpl[i]))
			usleep(10);
}

/* Run a command as often as the queue has room. Return: number of successes */
static unsigned int repeat(struct drv *d, struct mynic_admin_cmd cmd,
			   struct mynic_admin_cpl *cpl)
{
	unsigned int num = batch(d);
	unsigned int good = 0;

	for (unsigned int i = 0; i < num; i++)
		drv_admin_post(d, &cmd);
	wait_all(d, num, cpl);
	for (unsigned int i = 0; i < num; i++)
		good += !cpl[i].status;
	return good;
}

static void flood_again(struct hostile *h)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_QUERY_STATS };
	struct mynic_admin_cpl cpl[1 << MYNIC_AQ_MAX_LOG_SIZE];
	struct drv *d = h->nic[0];

	cmd.mbox_addr = sim_iova(d->n, d->mbox);
	cmd.mbox_len = MYNIC_MBOX_SIZE;
	repeat(d, cmd, cpl);
}

static void busy_again(struct hostile *h)
{
	load_again(h->state);
	flood_again(h);
}

static void begin_tags(struct hostile *h)
{
	struct drv *d = h->nic[0];
	struct drv_cq *cq = drv_create_cq(d, 8);
	struct drv_srq *srq =
		drv_create_tm_srq(d, drv_alloc_pd(d), cq, 5, NUM_TAGS);
	unsigned int num = h->quick ? 64 : NUM_TAGS;

	h->state = srq;
	for (unsigned int i = 0; i < num; i++) {
		struct mynic_tag_wqe wqe = { .ctrl = IBV_WR_TAG_ADD,
					     .handle = i };

		drv_post_tag(srq, &wqe);
		SIM_WAIT(d->sim, srq->tag_rec->ci == srq->tag_pi);
	}
}

static void tags_again(struct hostile *h)
{
	/* It fails, and completes even unsignaled, so the CQ may overrun */
	static const struct mynic_tag_wqe wqe = { .ctrl = IBV_WR_TAG_DEL,
						  .handle = UINT32_MAX };
	struct drv_srq *srq = h->state;
	uint32_t free =
		(1u << srq->log_tag_size) - (srq->tag_pi - srq->tag_rec->ci);

	for (uint32_t i = 0; i < free; i++) {
		uint32_t slot = srq->tag_pi++ & ((1u << srq->log_tag_size) - 1);

		memcpy(drv_buf_at(&srq->tag_buf, slot * sizeof(wqe)), &wqe,
		       sizeof(wqe));
	}
	if (!free)
		return;
	srq->tag_rec->pi = srq->tag_pi;
	sim_doorbell(srq->d->n, srq->uarn, MYNIC_UAR_TAG_DB, srq->number,
		     srq->tag_pi);
}

static struct drv_qp *ud_qp(struct drv *d)
{
	struct drv_qp_init init = {
		.type = MYNIC_QP_UD,
		.pdn = drv_alloc_pd(d),
		.log_sq_size = 1,
		.log_sq_stride = 7,
		.log_rq_size = 1,
		.log_rq_stride = 5,
	};

	init.send_cq = drv_create_cq(d, 1);
	init.recv_cq = init.send_cq;
	return drv_create_qp(d, &init);
}

static void begin_groups(struct hostile *h)
{
	h->state = ud_qp(h->nic[0]);
}

/* Fill the queue with ATTACH_MCAST commands for different groups */
static void attach_batch(struct drv_qp *qp, unsigned int first)
{
	struct mynic_admin_cpl cpl[1 << MYNIC_AQ_MAX_LOG_SIZE];

	for (unsigned int i = 0; i < batch(qp->d); i++) {
		struct mynic_admin_cmd cmd = {
			.opcode = MYNIC_CMD_ATTACH_MCAST,
			.number = qp->number,
			.mcast.gid = { 0xff, 0x0e },
		};

		cmd.mcast.gid[14] = (first + i) >> 8;
		cmd.mcast.gid[15] = first + i;
		drv_admin_post(qp->d, &cmd);
	}
	wait_all(qp->d, batch(qp->d), cpl);
}

static void groups_again(struct hostile *h)
{
	unsigned int num = h->quick ? 64 : MAX_GROUPS;
	struct drv_qp *qp = h->state;

	for (unsigned int i = 0; i < num; i += batch(qp->d))
		attach_batch(qp, i);
	drv_number_cmd(qp->d, MYNIC_CMD_DESTROY_QP, qp->number);
	h->state = ud_qp(qp->d);
}

/*
 * CREATE_QP again and again with the same rings, so that only the device needs
 * more memory
 */
static void memory_again(struct hostile *h)
{
	struct mynic_admin_cpl cpl[1 << MYNIC_AQ_MAX_LOG_SIZE];
	struct drv *d = h->nic[0];
	unsigned int limit = h->quick ? 64 : 8192;
	struct drv_qp *qp = ud_qp(d);
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_QP,
		.mbox_addr = sim_iova(d->n, d->mbox),
		.mbox_len = sizeof(qp->create),
	};

	memcpy(d->mbox, &qp->create, sizeof(qp->create));
	for (unsigned int num = 0; num < limit; num += batch(d))
		if (repeat(d, cmd, cpl) < batch(d))
			break; /* as many as the NIC may have */
	d->n->used = 1 << 20;
	h->nic[0] = drv_up(d->n);
}

static void mac_again(struct hostile *h)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_MODIFY_PORT };

	cmd.modify_port.up = 1;
	cmd.modify_port.mtu = 9000;
	for (unsigned int i = 0; i < 2; i++) {
		memcpy(cmd.modify_port.mac, nic_mac(h->victim[i]->n->nic), 6);
		drv_admin(h->nic[i], &cmd, NULL);
	}
}

const struct hostile_kind hostile_commands[] = {
	{ "tags", "tags looked for in lists of 1024", .begin = begin_tags,
	  .again = tags_again },
	{ "busy_commands", "commands beside 512 busy QPs",
	  .begin = hostile_begin_small_writes, .again = busy_again },
	{ "command_flood", "commands as fast as they go",
	  .again = flood_again },
	{ "group_commands", "QPs that leave 4096 groups", .begin = begin_groups,
	  .again = groups_again },
	{ "memory", "QPs as many as fit, and RESET", .again = memory_again },
	{ "mac", "the victim's MAC", .again = mac_again },
	{},
};
