// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Options that the ends of a connection have agreed on: ece_options */
#include "harness_driver.h"

/* struct seen - number of packets with each value of the ECN field */
struct seen {
	unsigned int ecn[4];
};

static enum sim_verdict look(struct sim *sim, struct sim_nic *from,
			     struct packet *pkt)
{
	struct seen *seen = sim->filter_arg;

	(void)from;
	seen->ecn[pkt->roce.traffic_class & 3]++;
	return SIM_PASS;
}

static struct mynic_qp_attr rtr(struct drv_end *to, uint8_t traffic_class,
				uint32_t options)
{
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
			     MYNIC_QP_ATTR_ECE,
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qpn = to->qp->number,
		.max_dest_rd_atomic = 4,
		.ece_options = options,
	};

	attr.av = drv_av(to->d, to->d->n->index, DRV_GID_IPV6);
	attr.av.traffic_class = traffic_class;
	return attr;
}

static void to_rts(struct drv_end *end, struct drv_end *to,
		   uint8_t traffic_class, uint32_t options)
{
	struct mynic_qp_attr attr = rtr(to, traffic_class, options);

	drv_connect_to(end->qp, to->d->n->index, to->qp->number,
		       &(struct drv_path){ 0 }, IBV_QPS_INIT);
	CHECK_EQ(drv_modify_qp(end->qp, &attr), MYNIC_AQ_OK);
	attr = (struct mynic_qp_attr){
		.attr_mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			     IBV_QP_MAX_QP_RD_ATOMIC,
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};
	CHECK_EQ(drv_modify_qp(end->qp, &attr), MYNIC_AQ_OK);
}

static struct drv_pair unconnected(void)
{
	return drv_pair_unconnected(
		&(struct drv_qp_init){ .type = MYNIC_QP_RC });
}

TEST(ece_is_offered)
{
	struct drv_pair p = unconnected();

	CHECK(p.a.d->attr.caps & MYNIC_CAP_ECE);
}

TEST(ece_ecn)
{
	static const struct {
		uint8_t traffic_class;
		uint32_t options;
		unsigned int ecn;
	} rows[] = {
		{ 0, 0, 0 },
		{ 0, MYNIC_ECE_ECN, 2 },
		{ 0xb8, MYNIC_ECE_ECN, 2 },
		/* The choice of the host stays */
		{ 1, MYNIC_ECE_ECN, 1 },
		{ 2, 0, 2 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct drv_pair p = unconnected();
		struct seen seen = { 0 };
		unsigned int others = 0;

		to_rts(&p.a, &p.b, rows[i].traffic_class, rows[i].options);
		to_rts(&p.b, &p.a, rows[i].traffic_class, rows[i].options);
		CHECK_EQ(drv_query_qp(p.a.qp).ece_options, rows[i].options);
		p.sim->filter = look;
		p.sim->filter_arg = &seen;
		drv_send_recv(&p.a, &p.b, 5000);
		for (unsigned int ecn = 0; ecn < 4; ecn++)
			others += ecn == rows[i].ecn ? 0 : seen.ecn[ecn];
		/* In packets and acknowledgments */
		CHECK(seen.ecn[rows[i].ecn] >= 6);
		CHECK_EQ(others, 0);
	}
}

TEST(ece_ends_with_reset)
{
	struct drv_pair p = unconnected();

	to_rts(&p.a, &p.b, 0, MYNIC_ECE_ECN);
	drv_reset_qp(p.a.qp);
	CHECK_EQ(drv_query_qp(p.a.qp).ece_options, 0);
}

TEST(ece_bad)
{
	struct drv_pair p = unconnected();
	struct mynic_qp_attr attr = rtr(&p.b, 0, 0);

	drv_connect_to(p.a.qp, 1, p.b.qp->number, &(struct drv_path){ 0 },
		       IBV_QPS_INIT);
	for (unsigned int bit = 1; bit < 32; bit++) {
		attr.ece_options = 1u << bit;
		CHECK_EQ(drv_modify_qp(p.a.qp, &attr), MYNIC_AQ_BAD_PARAM);
	}
	/* Only in the transition to RTR */
	to_rts(&p.b, &p.a, 0, MYNIC_ECE_ECN);
	attr = (struct mynic_qp_attr){ .attr_mask = MYNIC_QP_ATTR_ECE };
	CHECK_EQ(drv_modify_qp(p.b.qp, &attr), MYNIC_AQ_BAD_STATE);
	CHECK_EQ(drv_query_qp(p.b.qp).ece_options, MYNIC_ECE_ECN);
}
