// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Garbage from the peer, in a process's queues, and from the driver */
#include "harness_driver.h"

/* Garbage from a peer, in every field of a packet */
TEST(garbage_packets)
{
	struct drv_pair p = drv_rc_pair(NULL);
	static uint8_t payload[4096];

	p.sim->random = 7;
	for (unsigned int i = 0; i < 200000; i++) {
		struct packet pkt = {
			.kind = PACKET_ROCE,
			.vlan = PACKET_NO_VLAN,
			.roce = {
				.hop_limit = 1,
				.udp_sport = sim_random(p.sim, 65536),
				.opcode = sim_random(p.sim, 256),
				.solicited = sim_random(p.sim, 2),
				.ack_req = sim_random(p.sim, 2),
				.pkey = 0xffff,
				.dest_qpn = sim_random(p.sim, 10) ?
						    p.b.qp->number :
						    sim_random(p.sim, 32),
				.psn = sim_random(p.sim, 6) ?
					       sim_random(p.sim, 16) :
					       sim_random(p.sim, 1 << 24),
				.qkey = sim_random(p.sim, 1ull << 32),
				.remote_addr = p.b.mr->addr +
					       sim_random(p.sim, 2 * DRV_PAIR_MEM),
				.rkey = p.b.mr->key,
				.dma_len = sim_random(p.sim, 8192),
				.aeth = sim_random(p.sim, 1ull << 32),
			},
			.payload_len = sim_random(p.sim, 3) ?
					       sim_random(p.sim, 5) * 512 :
					       sim_random(p.sim, 4097),
		};

		pkt.roce.pad = sim_random(p.sim, 8) ? -pkt.payload_len & 3 :
						      sim_random(p.sim, 4);
		pkt.niov = pkt.payload_len ? 1 : 0;
		pkt.iov[0] = (struct iovec){ payload, pkt.payload_len };
		memcpy(pkt.dmac, nic_mac(p.b.d->n->nic), 6);
		memcpy(pkt.smac, nic_mac(p.a.d->n->nic), 6);
		drv_gid(0, DRV_GID_IPV6, pkt.roce.sgid);
		drv_gid(1, DRV_GID_IPV6, pkt.roce.dgid);
		sim_inject(p.b.d->n, &pkt);
		sim_settle(p.sim);
		if (i % 100 == 0) {
			struct mynic_cqe cqe;

			while (drv_poll(p.b.recv_cq, &cqe) ||
			       drv_poll(p.b.cq, &cqe) ||
			       drv_poll(p.a.cq, &cqe) ||
			       drv_poll(p.a.recv_cq, &cqe))
				;
			drv_reset_qp(p.a.qp);
			drv_reset_qp(p.b.qp);
			drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
			for (unsigned int k = 0; k < 8; k++) {
				struct mynic_sge sge = drv_sge(p.b.mr, 0, 4096);

				drv_post_recv(p.b.qp, k, &sge, 1);
			}
		}
	}
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
}

/* Garbage in queues, records, doorbells and commands: only itself is hurt */
TEST(garbage_queues)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = p.a.pdn,
	};
	struct drv_qp_init target = {
		.type = MYNIC_QP_RC,
		.pdn = p.b.pdn,
		.send_cq = p.b.cq,
		.recv_cq = p.b.recv_cq,
	};
	struct drv *d = p.a.d;
	struct sim *sim = p.sim;
	struct drv_qp *victim = drv_create_qp(p.b.d, &target);

	sim->random = 11;
	for (unsigned int i = 0; i < 20000; i++) {
		struct drv_cq *cq = drv_create_cq(d, 3);
		struct drv_qp *qp;
		uint8_t *page;

		init.send_cq = cq;
		init.recv_cq = cq;
		init.log_sq_size = 1 + sim_random(sim, 3);
		init.log_rq_size = 1;
		init.log_sq_stride = 6 + sim_random(sim, 4);
		qp = drv_create_qp(d, &init);
		drv_connect_to(qp, 1, victim->number,
			       &(struct drv_path){ .timeout = 1,
						   .retry_cnt = 1 },
			       IBV_QPS_RTS);
		drv_reset_qp(victim);
		drv_connect_to(victim, 0, qp->number, &(struct drv_path){ 0 },
			       IBV_QPS_RTS);
		for (unsigned int k = 0; k < qp->buf.num_pages; k++) {
			page = qp->buf.page[k];
			for (unsigned int at = 0; at < DRV_PAGE; at += 4)
				*(uint32_t *)(page + at) =
					sim_random(sim, 3) ?
						sim_random(sim, 16) :
						sim_random(sim, 1ull << 32);
		}
		qp->rec->sq_pi = sim_random(sim, 10);
		qp->rec->rq_pi = sim_random(sim, 4);
		drv_ring(qp);
		qp->rec->sq_pi = sim_random(sim, 10);
		cq->rec->ci = sim_random(sim, 4) ? 0 : sim_random(sim, 20);
		cq->vector = sim_random(sim, MYNIC_MAX_VECTORS);
		drv_arm(cq, sim_random(sim, 2));
		sim_run(sim, 100 * USEC);
		CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, qp->number),
			 0);
		CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_CQ, cq->number),
			 0);
		/* the memory can be used again */
		d->n->used = d->n->used > SIM_MEM_SIZE / 2 ? SIM_MEM_SIZE / 4 :
							     d->n->used;
	}
	drv_send_recv(&p.a, &p.b, 5000);
	drv_send_recv(&p.b, &p.a, 5000);
}

TEST(garbage_commands)
{
	struct drv *d = drv_up(&sim_new(1)->nics[0]);
	struct sim *sim = d->sim;

	sim->random = 13;
	for (unsigned int i = 0; i < 200000; i++) {
		struct mynic_admin_cmd cmd = {
			.opcode = sim_random(sim, 10) ? sim_random(sim, 0x44) :
							sim_random(sim, 256),
			.flags = sim_random(sim, 4) ? 0 : 1,
			.number = sim_random(sim, 3) ? sim_random(sim, 40) : 0,
		};
		uint8_t mbox[256];

		for (unsigned int k = 0; k < sizeof(cmd.body); k++)
			cmd.body[k] = sim_random(sim, 3) ? 0 :
							   sim_random(sim, 256);
		if (sim_random(sim, 2))
			*(uint64_t *)cmd.body = d->n->iova;
		for (unsigned int k = 0; k < sizeof(mbox); k++)
			mbox[k] = sim_random(sim, 3) ? 0 : sim_random(sim, 16);
		if (sim_random(sim, 2))
			*(uint64_t *)mbox = d->n->iova;
		drv_admin_in(d, &cmd, NULL, mbox, sim_random(sim, 257));
	}
	CHECK_EQ(sim_read32(d->n, MYNIC_REG_STATUS),
		 MYNIC_STATUS_READY | MYNIC_STATUS_ENABLED);
}
