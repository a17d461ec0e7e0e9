// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A consumer in the kernel that transfers data, and destroys or resets queue
 * pairs before it has polled their completions from an SRQ. It can still post as
 * many requests as the SRQ has slots. The test runs when the module is loaded,
 * and loading fails if the test does.
 */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define LEN 1000
#define PLACES 8
#define ROUNDS (3 * PLACES)
#define PATIENCE_MS 60000

static char *device;
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "RDMA device");

static int gid_index;
module_param(gid_index, int, 0444);
MODULE_PARM_DESC(gid_index, "GID of the path from the port to itself");

struct consumer {
	struct ib_device *ibdev;
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct ib_srq *srq;
	struct rdma_ah_attr ah;
	u8 *out;
	u8 *in;
};

/* A path from the port to itself */
static int consumer_path(struct consumer *c)
{
	const struct ib_gid_attr *gid;
	int ret;

	gid = rdma_get_gid_attr(c->ibdev, 1, gid_index);
	if (IS_ERR(gid))
		return PTR_ERR(gid);
	c->ah.type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(&c->ah, 1);
	rdma_ah_set_grh(&c->ah, (union ib_gid *)&gid->gid, 0, gid_index, 64, 0);
	ret = rdma_read_gid_l2_fields(gid, NULL, c->ah.roce.dmac);
	rdma_put_gid_attr(gid);
	return ret;
}

static int consumer_connect(struct consumer *c, struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = qp->qp_num,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = c->ah,
	};
	int ret;

	ret = ib_modify_qp(qp, &attr,
			   IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
				   IB_QP_ACCESS_FLAGS);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	ret = ib_modify_qp(qp, &attr,
			   IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
				   IB_QP_DEST_QPN | IB_QP_RQ_PSN |
				   IB_QP_MAX_DEST_RD_ATOMIC |
				   IB_QP_MIN_RNR_TIMER);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(qp, &attr,
			    IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
				    IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
				    IB_QP_MAX_QP_RD_ATOMIC);
}

/* When a SEND has completed, so has the receive request that it took */
static int consumer_send(struct consumer *c, struct ib_qp *qp,
			 struct ib_sge *from, struct ib_sge *to)
{
	const struct ib_recv_wr recv = {
		.sg_list = to,
		.num_sge = 1,
	};
	const struct ib_send_wr send = {
		.sg_list = from,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_wc wc;
	int ret, i;

	ret = ib_post_srq_recv(c->srq, &recv, NULL);
	if (ret)
		return ret;
	ret = ib_post_send(qp, &send, NULL);
	if (ret)
		return ret;
	for (i = 0; i < PATIENCE_MS; i++) {
		if (ib_poll_cq(c->send_cq, 1, &wc) == 1)
			return wc.status ? -EREMOTEIO : 0;
		usleep_range(1000, 2000);
	}
	return -ETIMEDOUT;
}

/* The device may work on copies, made when memory is mapped and unmapped. */
static int consumer_transfer(struct consumer *c, struct ib_qp *qp)
{
	struct ib_sge from = { .length = LEN, .lkey = c->pd->local_dma_lkey };
	struct ib_sge to = from;
	int ret = -ENOMEM;

	get_random_bytes(c->out, LEN);
	from.addr = ib_dma_map_single(c->ibdev, c->out, LEN, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(c->ibdev, from.addr))
		return ret;
	to.addr = ib_dma_map_single(c->ibdev, c->in, LEN, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(c->ibdev, to.addr))
		goto out;
	ret = consumer_send(c, qp, &from, &to);
	ib_dma_unmap_single(c->ibdev, to.addr, LEN, DMA_FROM_DEVICE);
	if (!ret && memcmp(c->in, c->out, LEN))
		ret = -EBADMSG;
out:
	ib_dma_unmap_single(c->ibdev, from.addr, LEN, DMA_TO_DEVICE);
	return ret;
}

static int consumer_round(struct consumer *c, bool reset)
{
	struct ib_qp_init_attr init = {
		.send_cq = c->send_cq,
		.recv_cq = c->recv_cq,
		.srq = c->srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	struct ib_qp *qp;
	int ret;

	qp = ib_create_qp(c->pd, &init);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ret = consumer_connect(c, qp);
	if (!ret)
		ret = consumer_transfer(c, qp);
	if (!ret && reset)
		ret = ib_modify_qp(qp, &attr, IB_QP_STATE);
	ib_destroy_qp(qp);
	return ret;
}

/* consumer_free() below ignores objects that could not be created */
static int consumer_make(struct consumer *c)
{
	struct ib_cq_init_attr cq_attr = { .cqe = 2 * ROUNDS };
	struct ib_srq_init_attr srq_attr = {
		.attr = { .max_wr = PLACES, .max_sge = 1 },
	};

	c->out = kmalloc(LEN, GFP_KERNEL);
	c->in = kzalloc(LEN, GFP_KERNEL);
	c->pd = ib_alloc_pd(c->ibdev, 0);
	c->send_cq = ib_create_cq(c->ibdev, NULL, NULL, NULL, &cq_attr);
	c->recv_cq = ib_create_cq(c->ibdev, NULL, NULL, NULL, &cq_attr);
	c->srq = IS_ERR(c->pd) ? ERR_CAST(c->pd) :
				 ib_create_srq(c->pd, &srq_attr);
	if (!c->out || !c->in || IS_ERR(c->srq) || IS_ERR(c->send_cq) ||
	    IS_ERR(c->recv_cq))
		return -ENOMEM;
	return consumer_path(c);
}

static void consumer_free(struct consumer *c)
{
	if (!IS_ERR(c->srq))
		ib_destroy_srq(c->srq);
	if (!IS_ERR(c->recv_cq))
		ib_destroy_cq(c->recv_cq);
	if (!IS_ERR(c->send_cq))
		ib_destroy_cq(c->send_cq);
	if (!IS_ERR(c->pd))
		ib_dealloc_pd(c->pd);
	kfree(c->in);
	kfree(c->out);
}

static int consumer_run(struct ib_device *ibdev)
{
	struct consumer c = { .ibdev = ibdev };
	int ret, i;

	ret = consumer_make(&c);
	for (i = 0; i < ROUNDS && !ret; i++) {
		ret = consumer_round(&c, i % 2);
		if (ret)
			pr_info("srq_consumer: round %d: %pe\n", i,
				ERR_PTR(ret));
	}
	consumer_free(&c);
	return ret;
}

static int consumer_result = -ENODEV;

static int consumer_add(struct ib_device *ibdev)
{
	if (device && !strcmp(dev_name(&ibdev->dev), device))
		consumer_result = consumer_run(ibdev);
	return -EOPNOTSUPP;
}

static struct ib_client consumer_client = {
	.name = "srq_consumer",
	.add = consumer_add,
};

static int __init consumer_init(void)
{
	int ret;

	ret = ib_register_client(&consumer_client);
	if (ret)
		return ret;
	if (consumer_result)
		ib_unregister_client(&consumer_client);
	return consumer_result;
}

static void __exit consumer_exit(void)
{
	ib_unregister_client(&consumer_client);
}

module_init(consumer_init);
module_exit(consumer_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("Kernel consumer of an SRQ, for tests");
MODULE_LICENSE("Dual BSD/GPL");
