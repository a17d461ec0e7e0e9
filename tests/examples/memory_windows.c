// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A window of type 2. A request binds it, the peer uses it, and the peer's last
 * message invalidates it
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define WINDOW 4096
#define WINDOW_SIZE 100

/* Wait for the completion with a number, and ignore others */
static struct ibv_wc wait_for(struct example *e, uint64_t wr_id)
{
	struct ibv_wc wc;

	do {
		wc = example_wait(e);
	} while (wc.wr_id != wr_id);
	return wc;
}

static void bind_window(struct example *e, struct ibv_qp *owner,
			struct ibv_mw *mw, uint32_t rkey, struct ibv_mr *mr)
{
	struct ibv_mw_bind_info info = {
		.mr = mr,
		.addr = (uintptr_t)e->memory + WINDOW,
		.length = WINDOW_SIZE,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(owner);

	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(qpx, mw, rkey, &info);
	errno = ibv_wr_complete(qpx);
	must(!errno, "ibv_wr_complete()");
	must(wait_for(e, 1).opcode == IBV_WC_BIND_MW, "binding");
}

/* Write through the window, and invalidate it by the next message */
static void write_and_close(struct example *e, struct ibv_qp *peer,
			    uint32_t rkey)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(peer);

	strcpy(e->memory, "through the window");
	ibv_wr_start(qpx);
	qpx->wr_id = 2;
	qpx->wr_flags = 0;
	ibv_wr_rdma_write(qpx, rkey, (uintptr_t)e->memory + WINDOW);
	ibv_wr_set_sge(qpx, e->mr->lkey, (uintptr_t)e->memory, WINDOW_SIZE);
	qpx->wr_id = 3;
	ibv_wr_send_inv(qpx, rkey);
	ibv_wr_set_sge_list(qpx, 0, NULL);
	errno = ibv_wr_complete(qpx);
	must(!errno, "ibv_wr_complete()");
}

int main(void)
{
	struct example e;
	struct ibv_qp *owner, *peer;
	struct ibv_qp_ex *qpx;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_wc wc;
	uint32_t rkey;
	int n;

	example_open(&e);
	mr = ibv_reg_mr(e.pd, e.memory, MEMORY_SIZE,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	must(!!mr, "ibv_reg_mr()");
	mw = ibv_alloc_mw(e.pd, IBV_MW_TYPE_2);
	must(!!mw, "ibv_alloc_mw()");
	owner = example_create_qp(&e, IBV_QPT_RC, IBV_QP_EX_WITH_BIND_MW);
	peer = example_create_qp(&e, IBV_QPT_RC,
				 IBV_QP_EX_WITH_RDMA_WRITE |
					 IBV_QP_EX_WITH_SEND_WITH_INV);
	example_connect(&e, owner, peer->qp_num);
	example_connect(&e, peer, owner->qp_num);
	example_post_recv(&e, owner, 10, 0, 0);

	/* The key of each binding is new */
	rkey = ibv_inc_rkey(mw->rkey);
	bind_window(&e, owner, mw, rkey, mr);

	/*
	 * The owner would send this key to the peer, which does not know the
	 * region's
	 */
	write_and_close(&e, peer, rkey);
	wc = wait_for(&e, 10);
	must(wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == rkey,
	     "closing the window");
	must(!strcmp(e.memory + WINDOW, "through the window"), "writing");
	printf("written: %s\n", e.memory + WINDOW);

	/* The window is invalid now */
	qpx = ibv_qp_to_qp_ex(peer);
	ibv_wr_start(qpx);
	qpx->wr_id = 4;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qpx, rkey, (uintptr_t)e.memory + WINDOW);
	ibv_wr_set_sge(qpx, e.mr->lkey, (uintptr_t)e.memory, 8);
	errno = ibv_wr_complete(qpx);
	must(!errno, "ibv_wr_complete()");
	do {
		n = ibv_poll_cq(e.cq, 1, &wc);
	} while (!n);
	must(n > 0 && wc.wr_id == 4 && wc.status == IBV_WC_REM_ACCESS_ERR,
	     "refusing what comes later");
	return 0;
}
