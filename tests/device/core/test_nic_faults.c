// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* NIC faults: rules that fail requests, commands, interrupts and the NIC */
#include <errno.h>

#include "core/base/journal.h"
#include "core/memory/mkey.h"
#include "core/nic_faults.h"
#include "harness_driver.h"

#define LEN 64

/* A rule that selects all, always */
static struct nic_fault rule(enum nic_fault_kind kind, enum nic_fault_on on)
{
	return (struct nic_fault){
		.number = 1,
		.kind = kind,
		.on = on,
		.qpn = -1,
		.opcode = -1,
		.vector = -1,
		.key = -1,
		.count = UINT64_MAX,
		.rate = NIC_FAULT_RATE_ONE,
		.random = 7,
	};
}

static void add(struct drv *d, struct nic_fault r)
{
	CHECK_EQ(nic_fault_add(d->n->nic, &r), 0);
}

static const struct nic_fault *at(struct drv *d, unsigned int i)
{
	CHECK(i < nic_fault_num(d->n->nic));
	return nic_fault_at(d->n->nic, i);
}

static struct nic_fault completion(enum ibv_wc_status status)
{
	struct nic_fault r =
		rule(NIC_FAULT_COMPLETION, NIC_FAULT_ON_COMPLETION);

	r.status = status;
	return r;
}

static void post(struct drv_end *e, uint64_t wr_id, enum ibv_wr_opcode opcode,
		 const struct drv_end *to)
{
	struct drv_wr wr = drv_send_wr(e, LEN);

	wr.wr_id = wr_id;
	wr.opcode = opcode;
	wr.remote_addr = to->mr->addr;
	wr.rkey = to->mr->key;
	drv_post_send(e->qp, &wr);
}

static void post_recv(struct drv_end *e, uint64_t wr_id)
{
	struct mynic_sge sge = drv_sge(e->mr, 0, 2 * LEN);

	drv_post_recv(e->qp, wr_id, &sge, 1);
}

static uint8_t state_of(struct drv_end *e)
{
	return drv_query_qp(e->qp).qp_state;
}

/* The QP is in ERR, sends nothing, and waits for nothing */
static void check_stopped(struct drv_end *e)
{
	uint64_t sent = e->d->n->sent;

	drv_expect_none(e->cq, 100 * SEC);
	CHECK_EQ(state_of(e), IBV_QPS_ERR);
	CHECK_EQ(e->d->n->sent, sent);
	CHECK_EQ(drv_stat(e->d, MYNIC_STAT_TIMEOUT), 0);
}

TEST(the_third_write_fails_and_later_requests_are_flushed)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic_fault r = completion(IBV_WC_RETRY_EXC_ERR);

	r.opcode = IBV_WC_RDMA_WRITE;
	r.after = 2;
	r.count = 1;
	add(p.a.d, r);
	post(&p.a, 1, IBV_WR_RDMA_WRITE, &p.b);
	post(&p.a, 2, IBV_WR_RDMA_READ, &p.b);
	for (unsigned int i = 3; i < 7; i++)
		post(&p.a, i, IBV_WR_RDMA_WRITE, &p.b);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, 2, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, 3, IBV_WC_SUCCESS);
	CHECK_EQ(drv_expect(p.a.cq, 4, IBV_WC_RETRY_EXC_ERR).vendor_err,
		 MYNIC_SYN_RETRY);
	drv_expect(p.a.cq, 5, IBV_WC_WR_FLUSH_ERR);
	drv_expect(p.a.cq, 6, IBV_WC_WR_FLUSH_ERR);
	check_stopped(&p.a);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_IMPLIED_NAK), 0);
	CHECK_EQ(at(p.a.d, 0)->matched, 3);
	CHECK_EQ(at(p.a.d, 0)->applied, 1);
}

/* No packet is on its way from a READ that has failed */
TEST(the_last_of_two_reads_is_not_waited_for)
{
	struct drv_pair p = drv_rc_pair(NULL);

	add(p.a.d, completion(IBV_WC_REM_OP_ERR));
	post(&p.a, 1, IBV_WR_RDMA_READ, &p.b);
	post(&p.a, 2, IBV_WR_RDMA_READ, &p.b);
	drv_expect(p.a.cq, 1, IBV_WC_REM_OP_ERR);
	drv_expect(p.a.cq, 2, IBV_WC_WR_FLUSH_ERR);
	check_stopped(&p.a);
}

TEST(an_unsignaled_request_fails_with_a_completion)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = drv_send_wr(&p.a, LEN);

	add(p.a.d, completion(IBV_WC_REM_OP_ERR));
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.remote_addr = p.b.mr->addr;
	wr.rkey = p.b.mr->key;
	wr.flags = 0;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, wr.wr_id, IBV_WC_REM_OP_ERR);
}

static void check_status(enum ibv_wc_status status)
{
	struct drv_pair p = drv_rc_pair(NULL);

	add(p.a.d, completion(status));
	post(&p.a, 1, IBV_WR_RDMA_READ, &p.b);
	drv_expect(p.a.cq, 1, status);
	CHECK_EQ(state_of(&p.a), IBV_QPS_ERR);
	sim_free(p.sim);
}

TEST(each_status_of_a_send_request)
{
	static const enum ibv_wc_status status[] = {
		IBV_WC_LOC_LEN_ERR,    IBV_WC_LOC_QP_OP_ERR,
		IBV_WC_LOC_PROT_ERR,   IBV_WC_MW_BIND_ERR,
		IBV_WC_BAD_RESP_ERR,   IBV_WC_REM_INV_REQ_ERR,
		IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_OP_ERR,
		IBV_WC_RETRY_EXC_ERR,  IBV_WC_RNR_RETRY_EXC_ERR,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(status); i++)
		check_status(status[i]);
}

TEST(a_queue_pair_that_has_failed_can_be_used_again)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic_fault r = completion(IBV_WC_RETRY_EXC_ERR);

	r.count = 1;
	add(p.a.d, r);
	for (unsigned int i = 0; i < 8; i++)
		post(&p.a, i, IBV_WR_RDMA_WRITE, &p.b);
	drv_expect(p.a.cq, 0, IBV_WC_RETRY_EXC_ERR);
	for (unsigned int i = 1; i < 8; i++)
		drv_expect(p.a.cq, i, IBV_WC_WR_FLUSH_ERR);
	drv_reset_qp(p.a.qp);
	drv_reset_qp(p.b.qp);
	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	drv_send_recv(&p.a, &p.b, LEN);
	drv_send_recv(&p.b, &p.a, LEN);
}

TEST(other_queue_pairs_are_not_selected)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic_fault r = completion(IBV_WC_RETRY_EXC_ERR);

	r.qpn = p.a.qp->number + 1;
	add(p.a.d, r);
	drv_send_recv(&p.a, &p.b, LEN);
	CHECK_EQ(at(p.a.d, 0)->matched, 0);
}

TEST(the_gsi_is_selected_by_its_number_only)
{
	struct sim *sim = sim_new(2);
	struct drv_pair p =
		drv_pair_on(drv_up(&sim->nics[0]), drv_up(&sim->nics[1]),
			    &(struct drv_qp_init){ .type = MYNIC_QP_GSI });
	struct nic_fault r = completion(IBV_WC_LOC_QP_OP_ERR);
	struct drv_wr wr = drv_send_wr(&p.a, LEN);

	drv_ud_up(p.a.qp, 0, IBV_QPS_RTS);
	add(p.a.d, r);
	r.number = 2;
	r.qpn = p.a.qp->number;
	r.after = 1;
	add(p.a.d, r);
	wr.remote_qpn = 1;
	wr.av = drv_av(p.a.d, 1, DRV_GID_IPV6);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, wr.wr_id, IBV_WC_SUCCESS);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, wr.wr_id, IBV_WC_LOC_QP_OP_ERR);
	CHECK_EQ(at(p.a.d, 0)->matched, 0);
}

TEST(a_receive_request_fails_and_the_sender_gets_a_nak)
{
	struct drv_pair p = drv_rc_pair(NULL);

	add(p.b.d, completion(IBV_WC_LOC_PROT_ERR));
	post_recv(&p.b, 10);
	post_recv(&p.b, 11);
	post(&p.a, 1, IBV_WR_SEND, &p.b);
	drv_expect(p.b.recv_cq, 10, IBV_WC_LOC_PROT_ERR);
	drv_expect(p.b.recv_cq, 11, IBV_WC_WR_FLUSH_ERR);
	drv_expect(p.a.cq, 1, IBV_WC_REM_OP_ERR);
	CHECK_EQ(state_of(&p.b), IBV_QPS_ERR);
}

TEST(a_status_of_send_requests_selects_no_receive_request)
{
	struct drv_pair p = drv_rc_pair(NULL);

	add(p.b.d, completion(IBV_WC_RETRY_EXC_ERR));
	drv_send_recv(&p.a, &p.b, LEN);
	CHECK_EQ(at(p.b.d, 0)->matched, 0);
}

TEST(a_datagram_fails_at_both_ends)
{
	struct drv_pair p = drv_ud_pair();

	add(p.a.d, completion(IBV_WC_LOC_QP_OP_ERR));
	add(p.b.d, completion(IBV_WC_LOC_PROT_ERR));
	post_recv(&p.b, 10);
	for (unsigned int i = 1; i < 3; i++) {
		struct drv_wr wr = drv_send_wr(&p.a, LEN);

		wr.wr_id = i;
		wr.remote_qpn = p.b.qp->number;
		wr.av = drv_av(p.a.d, 1, DRV_GID_IPV6);
		wr.remote_qkey = drv_query_qp(p.b.qp).qkey;
		drv_write_wqe(p.a.qp, &wr);
	}
	drv_ring(p.a.qp);
	drv_expect(p.a.cq, 1, IBV_WC_LOC_QP_OP_ERR);
	drv_expect(p.a.cq, 2, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(state_of(&p.a), IBV_QPS_SQE);
	CHECK_EQ(p.a.d->n->sent, 1);
	drv_expect(p.b.recv_cq, 10, IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(state_of(&p.b), IBV_QPS_ERR);
}

TEST(a_queue_pair_goes_to_err_after_a_completion)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic_fault r = rule(NIC_FAULT_QP_ERROR, NIC_FAULT_ON_COMPLETION);

	r.after = 1;
	add(p.a.d, r);
	for (unsigned int i = 1; i < 4; i++)
		post(&p.a, i, IBV_WR_RDMA_WRITE, &p.b);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, 2, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, 3, IBV_WC_WR_FLUSH_ERR);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_QP_FATAL, p.a.qp->number);
	CHECK_EQ(state_of(&p.a), IBV_QPS_ERR);
}

TEST(a_receiving_queue_pair_goes_to_err)
{
	struct drv_pair p = drv_rc_pair(NULL);

	add(p.b.d, rule(NIC_FAULT_QP_ERROR, NIC_FAULT_ON_COMPLETION));
	post_recv(&p.b, 10);
	post_recv(&p.b, 11);
	post(&p.a, 1, IBV_WR_SEND, &p.b);
	drv_expect(p.b.recv_cq, 10, IBV_WC_SUCCESS);
	drv_expect(p.b.recv_cq, 11, IBV_WC_WR_FLUSH_ERR);
	drv_expect_event(&p.b.d->event, MYNIC_EVENT_QP_FATAL, p.b.qp->number);
}

TEST(a_queue_pair_goes_to_err_now)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic_fault r = rule(NIC_FAULT_QP_ERROR, NIC_FAULT_ON_NOW);

	r.qpn = p.a.qp->number;
	add(p.a.d, r);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_QP_FATAL, p.a.qp->number);
	CHECK_EQ(state_of(&p.a), IBV_QPS_ERR);
	r.qpn = 0xfffff0;
	r.number = 2;
	add(p.a.d, r);
	sim_run(p.sim, SEC);
	CHECK_EQ(at(p.a.d, 0)->applied, 1);
	CHECK_EQ(at(p.a.d, 1)->applied, 0);
}

TEST(messages_find_no_receive_request_so_often)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){ .rnr_retry = 7 });
	struct nic_fault r = rule(NIC_FAULT_RNR, NIC_FAULT_ON_MESSAGE);

	r.count = 3;
	add(p.b.d, r);
	drv_send_recv(&p.a, &p.b, LEN);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_RNR), 3);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_NAK_RNR), 3);
}

TEST(a_command_fails_and_is_not_executed)
{
	struct sim *sim = sim_new(1);
	struct drv *d = drv_up(&sim->nics[0]);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_ALLOC_PD };
	struct nic_fault r =
		rule(NIC_FAULT_COMMAND_ERROR, NIC_FAULT_ON_COMMAND);
	struct mynic_admin_cpl cpl;

	r.opcode = MYNIC_CMD_ALLOC_PD;
	r.status = MYNIC_AQ_NO_RESOURCE;
	r.count = 1;
	add(d, r);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
	CHECK_EQ(drv_admin(d, &cmd, &cpl), MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(cpl.number, 0);
	CHECK_EQ(drv_admin(d, &cmd, &cpl), MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_PD, cpl.number),
		 MYNIC_AQ_OK);
	CHECK_EQ(at(d, 0)->matched, 2);
}

TEST(a_command_and_those_behind_it_wait)
{
	struct sim *sim = sim_new(1);
	struct drv *d = drv_up(&sim->nics[0]);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_NOP };
	struct nic_fault r =
		rule(NIC_FAULT_COMMAND_DELAY, NIC_FAULT_ON_COMMAND);
	struct mynic_admin_cpl cpl;

	r.time = 3 * MSEC;
	r.count = 1;
	add(d, r);
	drv_admin_post(d, &cmd);
	drv_admin_post(d, &cmd);
	drv_admin_ring(d);
	sim_run(sim, 2 * MSEC);
	CHECK(!drv_admin_poll(d, &cpl));
	sim_run(sim, 2 * MSEC);
	CHECK(drv_admin_poll(d, &cpl));
	CHECK(drv_admin_poll(d, &cpl));
	CHECK_EQ(at(d, 0)->matched, 2);
}

TEST(deleting_a_rule_ends_its_delay)
{
	struct sim *sim = sim_new(1);
	struct drv *d = drv_up(&sim->nics[0]);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_NOP };
	struct nic_fault r =
		rule(NIC_FAULT_COMMAND_DELAY, NIC_FAULT_ON_COMMAND);
	struct mynic_admin_cpl cpl;

	r.time = 60 * SEC;
	add(d, r);
	drv_admin_post(d, &cmd);
	drv_admin_ring(d);
	sim_run(sim, SEC);
	CHECK(!drv_admin_poll(d, &cpl));
	CHECK(nic_fault_delete(d->n->nic, 1));
	sim_run(sim, MSEC);
	CHECK(drv_admin_poll(d, &cpl));
	CHECK(!nic_fault_delete(d->n->nic, 1));
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
}

/* A reset forgets the delay, or a driver could not recover from it */
TEST(a_reset_ends_a_delay)
{
	struct sim *sim = sim_new(1);
	struct drv *d = drv_up(&sim->nics[0]);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_NOP };
	struct nic_fault r =
		rule(NIC_FAULT_COMMAND_DELAY, NIC_FAULT_ON_COMMAND);

	r.time = 60 * SEC;
	r.count = 1;
	add(d, r);
	drv_admin_post(d, &cmd);
	drv_admin_ring(d);
	sim_run(sim, SEC);
	drv_reset(d->n);
	d = drv_enable(d->n, 4);
	drv_admin_post(d, &cmd);
	drv_admin_ring(d);
	sim_run(sim, SEC);
	CHECK(drv_admin_poll(d, &(struct mynic_admin_cpl){ 0 }));
}

static void complete_with_event(struct drv_pair *p)
{
	struct mynic_eqe eqe;

	/* The EQ has been read, so the next event has an interrupt */
	while (drv_eq_poll(&p->a.d->comp, &eqe))
		drv_eq_release(&p->a.d->comp);
	drv_eq_ring(&p->a.d->comp);
	drv_arm(p->a.cq, false);
	post(&p->a, 1, IBV_WR_RDMA_WRITE, &p->b);
	drv_expect(p->a.cq, 1, IBV_WC_SUCCESS);
}

TEST(an_interrupt_is_lost)
{
	struct drv_pair p = drv_rc_pair(NULL);
	const uint64_t *irqs = p.a.d->n->irqs;
	struct nic_fault r = rule(NIC_FAULT_IRQ_LOSE, NIC_FAULT_ON_INTERRUPT);
	uint64_t before = irqs[1];

	r.vector = 2;
	r.number = 2;
	add(p.a.d, r);
	r.vector = 1;
	r.number = 1;
	r.count = 1;
	add(p.a.d, r);
	complete_with_event(&p);
	sim_run(p.sim, SEC);
	CHECK_EQ(irqs[1], before);
	CHECK_EQ(at(p.a.d, 0)->matched, 0);
	CHECK_EQ(at(p.a.d, 1)->applied, 1);
	complete_with_event(&p);
	CHECK_EQ(irqs[1], before + 1);
}

TEST(an_interrupt_is_late)
{
	struct drv_pair p = drv_rc_pair(NULL);
	const uint64_t *irqs = p.a.d->n->irqs;
	struct nic_fault r = rule(NIC_FAULT_IRQ_DELAY, NIC_FAULT_ON_INTERRUPT);
	uint64_t before = irqs[1];

	r.vector = 1;
	r.time = 5 * MSEC;
	add(p.a.d, r);
	complete_with_event(&p);
	sim_run(p.sim, 3 * MSEC);
	complete_with_event(&p);
	sim_run(p.sim, MSEC);
	CHECK_EQ(irqs[1], before);
	sim_run(p.sim, 2 * MSEC);
	CHECK_EQ(irqs[1], before + 1);
	complete_with_event(&p);
	CHECK_EQ(irqs[1], before + 1);
	CHECK(nic_fault_delete(p.a.d->n->nic, 1));
	sim_settle(p.sim);
	CHECK_EQ(irqs[1], before + 2);
}

TEST(a_reset_forgets_late_interrupts)
{
	struct drv_pair p = drv_rc_pair(NULL);
	const uint64_t *irqs = p.a.d->n->irqs;
	struct nic_fault r = rule(NIC_FAULT_IRQ_DELAY, NIC_FAULT_ON_INTERRUPT);
	uint64_t before = irqs[1];

	r.vector = 1;
	r.time = 5 * MSEC;
	add(p.a.d, r);
	complete_with_event(&p);
	CHECK_EQ(at(p.a.d, 0)->applied, 1);
	drv_reset(p.a.d->n);
	sim_run(p.sim, SEC);
	CHECK_EQ(irqs[1], before);
}

TEST(the_newest_region_is_revoked)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *old = p.b.mr;

	p.b.mr = drv_reg_mr(p.b.d, p.b.pdn, LEN,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	add(p.b.d, rule(NIC_FAULT_REVOKE, NIC_FAULT_ON_NOW));
	sim_settle(p.sim);
	post(&p.a, 1, IBV_WR_RDMA_WRITE, &(struct drv_end){ .mr = old });
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	post(&p.a, 2, IBV_WR_RDMA_WRITE, &p.b);
	drv_expect(p.a.cq, 2, IBV_WC_REM_ACCESS_ERR);
}

/* However many keys without memory are newer, as windows are */
TEST(a_region_behind_many_windows_is_revoked)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_create_mkey body = { .pdn = p.b.pdn };
	uint32_t key;

	for (unsigned int i = 0; i < 5000; i++)
		CHECK_EQ(drv_create_mkey(p.b.d, &body, MYNIC_MKEY_MW2, &key),
			 MYNIC_AQ_OK);
	add(p.b.d, rule(NIC_FAULT_REVOKE, NIC_FAULT_ON_NOW));
	sim_settle(p.sim);
	post(&p.a, 1, IBV_WR_RDMA_WRITE, &p.b);
	drv_expect(p.a.cq, 1, IBV_WC_REM_ACCESS_ERR);
}

static uint64_t length_of(struct drv *d, uint32_t key)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_MKEY,
		.number = mkey_index(key),
	};
	struct mynic_query_mkey info;

	CHECK_EQ(drv_admin_out(d, &cmd, &info, sizeof(info)), MYNIC_AQ_OK);
	return info.length;
}

static void give_memory(struct drv *d, const struct drv_mr *mr, uint32_t pdn)
{
	void *page = sim_alloc(d->n, DRV_PAGE, DRV_PAGE);
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_MKEY,
		.number = mkey_index(mr->key),
		.create_mkey = {
			.pdn = pdn,
			.access = IBV_ACCESS_LOCAL_WRITE,
			.iova = mr->addr,
			.length = DRV_PAGE,
			.buf.addr = sim_iova(d->n, page),
		},
	};

	CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_OK);
}

static void revoke_newest(struct drv *d)
{
	add(d, rule(NIC_FAULT_REVOKE, NIC_FAULT_ON_NOW));
	sim_settle(d->n->sim);
	CHECK(nic_fault_delete(d->n->nic, 1));
}

/* A region that has lost its memory is left out until it has memory again */
TEST(the_region_that_got_memory_last_is_revoked)
{
	struct sim *sim = sim_new(1);
	struct drv *d = drv_up(&sim->nics[0]);
	uint32_t pdn = drv_alloc_pd(d);
	struct drv_mr *old = drv_reg_mr(d, pdn, LEN, IBV_ACCESS_LOCAL_WRITE);
	struct drv_mr *new = drv_reg_mr(d, pdn, LEN, IBV_ACCESS_LOCAL_WRITE);

	revoke_newest(d);
	CHECK_EQ(length_of(d, new->key), 0);
	CHECK_EQ(length_of(d, old->key), LEN);
	give_memory(d, old, pdn);
	revoke_newest(d);
	CHECK_EQ(length_of(d, old->key), 0);
	give_memory(d, new, pdn);
	give_memory(d, old, pdn);
	give_memory(d, new, pdn);
	revoke_newest(d);
	CHECK_EQ(length_of(d, new->key), 0);
	CHECK_EQ(length_of(d, old->key), DRV_PAGE);
	revoke_newest(d);
	CHECK_EQ(length_of(d, old->key), 0);
	/* There is none left */
	revoke_newest(d);
}

TEST(a_named_key_is_revoked)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic_fault r = rule(NIC_FAULT_REVOKE, NIC_FAULT_ON_NOW);

	/* Another number of the same slot is no key */
	r.key = p.a.mr->key ^ 1;
	add(p.a.d, r);
	sim_settle(p.sim);
	post(&p.a, 1, IBV_WR_RDMA_WRITE, &p.b);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	r.key = p.a.mr->key;
	add(p.a.d, r);
	sim_settle(p.sim);
	post(&p.a, 2, IBV_WR_RDMA_WRITE, &p.b);
	drv_expect(p.a.cq, 2, IBV_WC_LOC_PROT_ERR);
}

static void write_thrice(struct drv_pair *p)
{
	for (unsigned int i = 1; i <= 3; i++)
		post(&p->a, i, IBV_WR_RDMA_WRITE, &p->b);
	for (unsigned int i = 1; i <= 3; i++)
		drv_expect(p->a.cq, i, IBV_WC_SUCCESS);
	sim_settle(p->sim);
}

static void check_revoked(struct drv *d, uint64_t matched, uint64_t applied)
{
	const struct journal *journal = nic_journal(d->n->nic);
	uint64_t noted = 0;

	CHECK_EQ(at(d, 0)->matched, matched);
	CHECK_EQ(at(d, 0)->applied, applied);
	for (uint64_t i = journal_first(journal); i < journal->num; i++)
		noted += journal_at(journal, i)->kind == JOURNAL_FAULT;
	CHECK_EQ(noted, applied);
}

/* Several completions of a turn revoke one region, once */
TEST(what_finds_no_region_only_counts_as_matched)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *mr =
		drv_reg_mr(p.a.d, p.a.pdn, LEN, IBV_ACCESS_LOCAL_WRITE);
	struct nic_fault r = rule(NIC_FAULT_REVOKE, NIC_FAULT_ON_COMPLETION);

	CHECK(nic_keep_journal(p.a.d->n->nic, true));
	r.key = mr->key ^ 1;
	r.count = 2;
	add(p.a.d, r);
	write_thrice(&p);
	check_revoked(p.a.d, 3, 0);
	CHECK(nic_fault_delete(p.a.d->n->nic, 1));
	r.key = mr->key;
	add(p.a.d, r);
	write_thrice(&p);
	check_revoked(p.a.d, 3, 1);
	CHECK_EQ(length_of(p.a.d, mr->key), 0);
	/* An occasion without a region does not use up @count */
	write_thrice(&p);
	check_revoked(p.a.d, 6, 1);
	give_memory(p.a.d, mr, p.a.pdn);
	write_thrice(&p);
	check_revoked(p.a.d, 9, 2);
	CHECK_EQ(length_of(p.a.d, mr->key), 0);
	/* It was applied as often as it may be */
	give_memory(p.a.d, mr, p.a.pdn);
	write_thrice(&p);
	check_revoked(p.a.d, 12, 2);
	CHECK_EQ(length_of(p.a.d, mr->key), DRV_PAGE);
}

/* The first occasion that finds a region revokes it */
TEST(a_single_revoke_waits_for_a_region)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *mr =
		drv_reg_mr(p.a.d, p.a.pdn, LEN, IBV_ACCESS_LOCAL_WRITE);
	struct nic_fault r = rule(NIC_FAULT_REVOKE, NIC_FAULT_ON_COMPLETION);

	revoke_newest(p.a.d);
	CHECK(nic_keep_journal(p.a.d->n->nic, true));
	r.key = mr->key;
	r.count = 1;
	add(p.a.d, r);
	write_thrice(&p);
	check_revoked(p.a.d, 3, 0);
	give_memory(p.a.d, mr, p.a.pdn);
	write_thrice(&p);
	check_revoked(p.a.d, 6, 1);
	CHECK_EQ(length_of(p.a.d, mr->key), 0);
}

TEST(the_port_flaps)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic_fault r = rule(NIC_FAULT_FLAP, NIC_FAULT_ON_TIMER);

	r.every = SEC;
	r.time = 100 * MSEC;
	r.count = 2;
	add(p.a.d, r);
	sim_run(p.sim, 900 * MSEC);
	CHECK_EQ(at(p.a.d, 0)->matched, 0);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t down;

		drv_expect_event(&p.a.d->event, MYNIC_EVENT_PORT_DOWN, 1);
		down = p.sim->now;
		/* A wire that is up does not end it */
		nic_set_link(p.a.d->n->nic, true);
		drv_expect_event(&p.a.d->event, MYNIC_EVENT_PORT_UP, 1);
		CHECK(p.sim->now >= down + r.time);
		CHECK(p.sim->now < down + r.time + MSEC);
	}
	sim_run(p.sim, 10 * SEC);
	CHECK_EQ(at(p.a.d, 0)->applied, 2);
	drv_send_recv(&p.a, &p.b, LEN);
}

TEST(deleting_a_rule_brings_the_port_up)
{
	struct sim *sim = sim_new(1);
	struct drv *d = drv_up(&sim->nics[0]);
	struct nic_fault r = rule(NIC_FAULT_FLAP, NIC_FAULT_ON_NOW);
	uint64_t down;

	r.time = 60 * SEC;
	add(d, r);
	drv_expect_event(&d->event, MYNIC_EVENT_PORT_DOWN, 1);
	down = sim->now;
	CHECK(nic_fault_delete(d->n->nic, 1));
	drv_expect_event(&d->event, MYNIC_EVENT_PORT_UP, 1);
	CHECK(sim->now < down + MSEC);
}

/* Flaps for so many seconds, by a rule with this number */
static void flap(struct drv *d, unsigned int number, unsigned int seconds)
{
	struct nic_fault r = rule(NIC_FAULT_FLAP, NIC_FAULT_ON_NOW);

	r.number = number;
	r.time = seconds * SEC;
	add(d, r);
	sim_settle(d->n->sim);
}

TEST(a_short_flap_does_not_end_a_long_one)
{
	struct sim *sim = sim_new(1);
	struct drv *d = drv_up(&sim->nics[0]);

	flap(d, 1, 10);
	flap(d, 2, 1);
	sim_run(sim, 5 * SEC);
	CHECK(!drv_has_link(d));
	sim_run(sim, 6 * SEC);
	CHECK(drv_has_link(d));
}

TEST(deleting_a_flap_leaves_another_one)
{
	struct sim *sim = sim_new(1);
	struct drv *d = drv_up(&sim->nics[0]);

	flap(d, 1, 10);
	flap(d, 2, 20);
	CHECK(nic_fault_delete(d->n->nic, 2));
	sim_run(sim, 5 * SEC);
	CHECK(!drv_has_link(d));
	sim_run(sim, 6 * SEC);
	CHECK(drv_has_link(d));
}

static struct nic_fault delay(enum nic_fault_kind kind, enum nic_fault_on on,
			      unsigned int number)
{
	struct nic_fault r = rule(kind, on);

	r.number = number;
	r.time = 10 * SEC;
	r.count = 1;
	return r;
}

TEST(deleting_another_rule_does_not_end_a_delay_of_a_command)
{
	struct sim *sim = sim_new(1);
	struct drv *d = drv_up(&sim->nics[0]);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_NOP };
	struct mynic_admin_cpl cpl;

	add(d, delay(NIC_FAULT_COMMAND_DELAY, NIC_FAULT_ON_COMMAND, 1));
	add(d, delay(NIC_FAULT_COMMAND_DELAY, NIC_FAULT_ON_COMMAND, 2));
	drv_admin_post(d, &cmd);
	drv_admin_ring(d);
	sim_settle(sim);
	CHECK(nic_fault_delete(d->n->nic, 2));
	sim_run(sim, SEC);
	CHECK(!drv_admin_poll(d, &cpl));
	CHECK(nic_fault_delete(d->n->nic, 1));
	sim_run(sim, MSEC);
	CHECK(drv_admin_poll(d, &cpl));
}

TEST(deleting_another_rule_does_not_end_a_delay_of_an_interrupt)
{
	struct drv_pair p = drv_rc_pair(NULL);
	const uint64_t *irqs = p.a.d->n->irqs;
	struct nic *nic = p.a.d->n->nic;
	uint64_t before = irqs[1];

	for (unsigned int i = 1; i <= 2; i++) {
		struct nic_fault r =
			delay(NIC_FAULT_IRQ_DELAY, NIC_FAULT_ON_INTERRUPT, i);

		r.vector = 1;
		add(p.a.d, r);
	}
	complete_with_event(&p);
	CHECK(nic_fault_delete(nic, 2));
	sim_run(p.sim, SEC);
	CHECK_EQ(irqs[1], before);
	CHECK(nic_fault_delete(nic, 1));
	sim_settle(p.sim);
	CHECK_EQ(irqs[1], before + 1);
}

TEST(a_nic_comes_back_by_the_rule_that_it_has_vanished_by)
{
	struct sim *sim = sim_new(1);
	struct drv *d = drv_up(&sim->nics[0]);
	struct nic *nic = d->n->nic;
	struct nic_fault r = rule(NIC_FAULT_VANISH, NIC_FAULT_ON_COMPLETION);

	r.number = 2;
	add(d, rule(NIC_FAULT_VANISH, NIC_FAULT_ON_NOW));
	add(d, r);
	sim_settle(sim);
	CHECK(nic_fault_delete(nic, 2));
	sim_settle(sim);
	CHECK(nic_fault_is_gone(nic));
	CHECK(nic_fault_delete(nic, 1));
	sim_settle(sim);
	CHECK(!nic_fault_is_gone(nic));
}

TEST(a_rule_waits_until_the_nic_is_enabled)
{
	struct sim *sim = sim_new(1);
	struct nic_fault r = rule(NIC_FAULT_FLAP, NIC_FAULT_ON_NOW);

	CHECK_EQ(nic_fault_add(sim->nics[0].nic, &r), 0);
	sim_run(sim, SEC);
	CHECK_EQ(nic_fault_at(sim->nics[0].nic, 0)->applied, 0);
	drv_enable(&sim->nics[0], 4);
	sim_settle(sim);
	CHECK_EQ(nic_fault_at(sim->nics[0].nic, 0)->applied, 1);
}

TEST(a_rule_waits_until_there_is_its_region)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic_fault r = rule(NIC_FAULT_REVOKE, NIC_FAULT_ON_NOW);
	struct sim_nic *n = p.a.d->n;
	struct drv_mr *mr;

	drv_reset(n);
	CHECK_EQ(nic_fault_add(n->nic, &r), 0);
	p.a.d = drv_up(n);
	sim_run(p.sim, SEC);
	CHECK_EQ(at(p.a.d, 0)->matched, 0);
	CHECK_EQ(nic_next_event(n->nic), UINT64_MAX);
	mr = drv_reg_mr(p.a.d, drv_alloc_pd(p.a.d), LEN,
			IBV_ACCESS_LOCAL_WRITE);
	sim_settle(p.sim);
	CHECK_EQ(length_of(p.a.d, mr->key), 0);
	CHECK_EQ(at(p.a.d, 0)->applied, 1);
}

TEST(a_rule_waits_until_its_queue_pair_is_in_use)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic_fault r = rule(NIC_FAULT_QP_ERROR, NIC_FAULT_ON_NOW);
	struct sim_nic *n = p.a.d->n;

	r.qpn = p.a.qp->number + 1;
	drv_reset(n);
	CHECK_EQ(nic_fault_add(n->nic, &r), 0);
	p = drv_pair_on(drv_up(n), p.b.d,
			&(struct drv_qp_init){ .type = MYNIC_QP_RC });
	CHECK_EQ(p.a.qp->number, r.qpn);
	sim_run(p.sim, SEC);
	CHECK_EQ(at(p.a.d, 0)->matched, 0);
	drv_connect_to(p.a.qp, 1, p.b.qp->number, &(struct drv_path){ 0 },
		       IBV_QPS_INIT);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_QP_FATAL, r.qpn);
	CHECK_EQ(state_of(&p.a), IBV_QPS_ERR);
	CHECK_EQ(at(p.a.d, 0)->applied, 1);
}

TEST(the_nic_fails_after_a_command)
{
	struct sim *sim = sim_new(1);
	struct drv *d = drv_up(&sim->nics[0]);
	struct nic_fault r = rule(NIC_FAULT_FATAL, NIC_FAULT_ON_COMMAND);

	r.opcode = MYNIC_CMD_QUERY_DEVICE;
	add(d, r);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_QUERY_DEVICE, 0), MYNIC_AQ_OK);
	sim_settle(sim);
	CHECK_EQ(sim_read32(d->n, MYNIC_REG_STATUS), MYNIC_STATUS_FATAL);
	CHECK_EQ(sim_read32(d->n, MYNIC_REG_FATAL), MYNIC_FATAL_INTERNAL);
	CHECK(nic_fault_delete(d->n->nic, 1));
	drv_reset(d->n);
	d = drv_up(d->n);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
}

/* Three completions of one turn have one effect, and use up one of @count */
static void check_once_in_a_turn(enum nic_fault_kind kind)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic_fault r = rule(kind, NIC_FAULT_ON_COMPLETION);

	r.time = 100 * MSEC;
	r.count = 3;
	add(p.a.d, r);
	for (unsigned int i = 0; i < 3; i++) {
		struct drv_wr wr = drv_send_wr(&p.a, LEN);

		post_recv(&p.b, i);
		drv_write_wqe(p.a.qp, &wr);
	}
	drv_ring(p.a.qp);
	sim_settle(p.sim);
	CHECK_EQ(at(p.a.d, 0)->matched, 3);
	CHECK_EQ(at(p.a.d, 0)->applied, 1);
	sim_free(p.sim);
}

TEST(the_occasions_of_a_turn_have_one_effect)
{
	check_once_in_a_turn(NIC_FAULT_FLAP);
	check_once_in_a_turn(NIC_FAULT_FATAL);
	check_once_in_a_turn(NIC_FAULT_VANISH);
}

TEST(the_nic_vanishes_and_comes_back)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct sim_nic *n = p.a.d->n;
	uint64_t irqs = n->irqs[0];

	post_recv(&p.a, 10);
	add(p.a.d, rule(NIC_FAULT_VANISH, NIC_FAULT_ON_NOW));
	sim_settle(p.sim);
	CHECK(nic_fault_is_gone(n->nic));
	CHECK_EQ(sim_read32(n, MYNIC_REG_MAGIC), UINT32_MAX);
	sim_write32(n, MYNIC_REG_CONTROL, MYNIC_CONTROL_RESET);
	CHECK_EQ(sim_read32(n, MYNIC_REG_STATUS), UINT32_MAX);
	sim_write32(n, MYNIC_REG_STATUS, 0);
	CHECK_EQ(nic_stat(n->nic, MYNIC_STAT_BAD_REGISTER), 0);
	post(&p.b, 1, IBV_WR_SEND, &p.a);
	drv_expect_none(p.a.recv_cq, SEC);
	CHECK_EQ(n->irqs[0], irqs);
	CHECK(nic_fault_delete(n->nic, 1));
	SIM_WAIT(p.sim, sim_read32(n, MYNIC_REG_STATUS) == MYNIC_STATUS_READY);
	p.a.d = drv_up(n);
	CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
}

/* All registers that a driver or the NIC can change, but those of the clock */
static const unsigned int registers[] = {
	MYNIC_REG_CONTROL,	   MYNIC_REG_STATUS,
	MYNIC_REG_FATAL,	   MYNIC_REG_DRV_FEATURES_LO,
	MYNIC_REG_DRV_FEATURES_HI, MYNIC_REG_AQ_CMD_LO,
	MYNIC_REG_AQ_CMD_HI,	   MYNIC_REG_AQ_CPL_LO,
	MYNIC_REG_AQ_CPL_HI,	   MYNIC_REG_AQ_LOG_SIZE,
	MYNIC_REG_AQ_DOORBELL,	   MYNIC_REG_AQ_ARM,
};

TEST(a_nic_comes_back_with_registers_as_after_a_reset)
{
	struct sim *sim = sim_new(1);
	struct sim_nic *n = &sim->nics[0];
	struct drv *d = drv_up(n);
	uint32_t reset[ARRAY_SIZE(registers)];
	unsigned int changed = 0;

	drv_reset(n);
	for (unsigned int i = 0; i < ARRAY_SIZE(registers); i++)
		reset[i] = sim_read32(n, registers[i]);
	d = drv_up(n);
	for (unsigned int i = 0; i < ARRAY_SIZE(registers); i++)
		changed += sim_read32(n, registers[i]) != reset[i];
	CHECK(changed >= 5);
	add(d, rule(NIC_FAULT_VANISH, NIC_FAULT_ON_NOW));
	sim_settle(sim);
	CHECK(nic_fault_delete(n->nic, 1));
	SIM_WAIT(sim, sim_read32(n, MYNIC_REG_STATUS) == MYNIC_STATUS_READY);
	for (unsigned int i = 0; i < ARRAY_SIZE(registers); i++)
		CHECK_EQ(sim_read32(n, registers[i]), reset[i]);
}

static uint64_t chosen(uint64_t seed)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){ .rnr_retry = 7 });
	struct nic_fault r = rule(NIC_FAULT_RNR, NIC_FAULT_ON_MESSAGE);
	uint64_t bits = 0;

	r.rate = NIC_FAULT_RATE_ONE / 2;
	r.random = seed;
	add(p.b.d, r);
	for (unsigned int i = 0; i < 64; i++) {
		uint64_t applied = at(p.b.d, 0)->applied;

		drv_send_recv(&p.a, &p.b, LEN);
		bits = bits << 1 | (at(p.b.d, 0)->applied != applied);
	}
	sim_free(p.sim);
	return bits;
}

TEST(the_seed_decides)
{
	uint64_t bits = chosen(1);

	CHECK_EQ(chosen(1), bits);
	CHECK(chosen(2) != bits);
	CHECK(bits && ~bits);
}

TEST(a_rule_with_rate_0_only_counts)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic_fault r = completion(IBV_WC_LOC_PROT_ERR);

	r.rate = 0;
	add(p.b.d, r);
	for (unsigned int i = 0; i < 5; i++)
		drv_send_recv(&p.a, &p.b, LEN);
	CHECK_EQ(at(p.b.d, 0)->matched, 5);
	CHECK_EQ(at(p.b.d, 0)->applied, 0);
}

TEST(the_first_rule_that_applies_is_the_last)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic_fault r = completion(IBV_WC_REM_OP_ERR);

	add(p.a.d, rule(NIC_FAULT_FLAP, NIC_FAULT_ON_COMPLETION));
	r.number = 2;
	add(p.a.d, r);
	r.number = 3;
	r.status = IBV_WC_RETRY_EXC_ERR;
	add(p.a.d, r);
	post(&p.a, 1, IBV_WR_RDMA_WRITE, &p.b);
	drv_expect(p.a.cq, 1, IBV_WC_REM_OP_ERR);
	CHECK_EQ(at(p.a.d, 0)->applied, 1);
	CHECK_EQ(at(p.a.d, 1)->applied, 1);
	CHECK_EQ(at(p.a.d, 2)->matched, 0);
}

TEST(rules_are_limited)
{
	struct sim *sim = sim_new(1);
	struct nic *nic = sim->nics[0].nic;
	struct nic_fault r = rule(NIC_FAULT_FATAL, NIC_FAULT_ON_TIMER);

	r.every = SEC;
	for (r.number = 1; r.number <= NIC_FAULT_MAX; r.number++)
		CHECK_EQ(nic_fault_add(nic, &r), 0);
	CHECK_EQ(nic_fault_add(nic, &r), -ENOSPC);
	CHECK(nic_fault_delete(nic, 7));
	CHECK_EQ(nic_fault_add(nic, &r), 0);
	CHECK_EQ(nic_fault_num(nic), NIC_FAULT_MAX);
}

static struct nic_fault random_rule(struct sim *sim, unsigned int number)
{
	static const enum nic_fault_on on[] = {
		[NIC_FAULT_COMPLETION] = NIC_FAULT_ON_COMPLETION,
		[NIC_FAULT_QP_ERROR] = NIC_FAULT_ON_COMPLETION,
		[NIC_FAULT_RNR] = NIC_FAULT_ON_MESSAGE,
		[NIC_FAULT_COMMAND_ERROR] = NIC_FAULT_ON_COMMAND,
		[NIC_FAULT_COMMAND_DELAY] = NIC_FAULT_ON_COMMAND,
		[NIC_FAULT_IRQ_LOSE] = NIC_FAULT_ON_INTERRUPT,
		[NIC_FAULT_IRQ_DELAY] = NIC_FAULT_ON_INTERRUPT,
		[NIC_FAULT_REVOKE] = NIC_FAULT_ON_COMMAND,
		[NIC_FAULT_FLAP] = NIC_FAULT_ON_INTERRUPT,
		[NIC_FAULT_FATAL] = NIC_FAULT_ON_TIMER,
		[NIC_FAULT_VANISH] = NIC_FAULT_ON_COMPLETION,
	};
	enum nic_fault_kind kind = sim_random(sim, ARRAY_SIZE(on));
	struct nic_fault r = rule(kind, on[kind]);

	r.number = number;
	r.status = kind == NIC_FAULT_COMMAND_ERROR ?
			   MYNIC_AQ_BUSY :
			   (sim_random(sim, 2) ? IBV_WC_LOC_PROT_ERR :
						 IBV_WC_RETRY_EXC_ERR);
	r.time = 1 + sim_random(sim, 20 * MSEC);
	r.every = 1 + sim_random(sim, 100 * MSEC);
	r.rate = NIC_FAULT_RATE_ONE / (1 + sim_random(sim, 8));
	r.after = sim_random(sim, 20);
	r.random = sim_random(sim, UINT32_MAX);
	return r;
}

static void random_work(struct drv_pair *p)
{
	struct mynic_admin_cmd nop = { .opcode = MYNIC_CMD_NOP };
	static const enum ibv_wr_opcode op[] = {
		IBV_WR_SEND,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct drv_end *e = sim_random(p->sim, 2) ? &p->a : &p->b;
	struct drv_end *to = e == &p->a ? &p->b : &p->a;
	struct drv_wr wr = drv_send_wr(e, 8);

	wr.opcode = op[sim_random(p->sim, ARRAY_SIZE(op))];
	wr.flags = sim_random(p->sim, 2) ? IBV_SEND_SIGNALED : 0;
	wr.remote_addr = to->mr->addr;
	wr.rkey = to->mr->key;
	post_recv(to, 1);
	drv_post_send(e->qp, &wr);
	drv_arm(e->cq, false);
	drv_admin_post(e->d, &nop);
	drv_admin_ring(e->d);
	sim_run(p->sim, sim_random(p->sim, 5 * MSEC));
}

static void check_seed(uint64_t seed)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv *d[2] = { p.a.d, p.b.d };

	p.sim->random = seed;
	for (unsigned int i = 0; i < 4; i++) {
		for (unsigned int j = 0; j < 2; j++)
			add(d[j], random_rule(p.sim, i + 1));
	}
	for (unsigned int i = 0; i < 30; i++)
		random_work(&p);
	for (unsigned int i = 0; i < 4; i++) {
		for (unsigned int j = 0; j < 2; j++)
			CHECK(nic_fault_delete(d[j]->n->nic, i + 1));
	}
	sim_run(p.sim, SEC);
	for (unsigned int j = 0; j < 2; j++) {
		drv_reset(d[j]->n);
		d[j] = drv_up(d[j]->n);
	}
	p = drv_pair_on(d[0], d[1],
			&(struct drv_qp_init){ .type = MYNIC_QP_RC });
	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	drv_send_recv(&p.a, &p.b, LEN);
	drv_send_recv(&p.b, &p.a, LEN);
	sim_free(p.sim);
}

/* Whatever rules have done, NICs without them work after a reset */
TEST(random_rules_leave_nothing_behind)
{
	for (uint64_t seed = 1; seed <= 150; seed++) {
		tap_restart_timeout();
		check_seed(seed);
	}
}
