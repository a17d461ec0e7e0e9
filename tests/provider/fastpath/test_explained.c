// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reasons of the provider's refusals in libibverbs' log. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "mynic.h"
#include "mynicdv.h"

static char path[64];

/* libibverbs reads its environment with the first list of devices */
static void open_log(const char *level)
{
	struct ibv_device **list;
	int fd;

	snprintf(path, sizeof(path), "/tmp/mynic-verbs-log-XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0);
	close(fd);
	setenv("VERBS_LOG_LEVEL", level, 1);
	setenv("VERBS_LOG_FILE", path, 1);
	list = ibv_get_device_list(NULL);
	if (list)
		ibv_free_device_list(list);
}

/* The whole log, which is not opened again */
static const char *read_log(void)
{
	static char text[4096];
	FILE *file;
	size_t n;

	fflush(NULL);
	file = fopen(path, "r");
	CHECK(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	unlink(path);
	return text;
}

static void refuse_all(struct ibv_qp *qp)
{
	struct ibv_sge sge[3] = {};
	struct ibv_send_wr wr = {
		.sg_list = sge,
		.num_sge = 1,
		.opcode = 13,
	};
	struct ibv_send_wr *bad;
	char data[1000] = "";

	CHECK_EQ(ibv_post_send(qp, &wr, &bad), EINVAL);
	wr.opcode = IBV_WR_SEND;
	wr.num_sge = 3;
	CHECK_EQ(ibv_post_send(qp, &wr, &bad), EINVAL);
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_INLINE;
	sge[0] = (struct ibv_sge){ .addr = (uintptr_t)data, .length = 1000 };
	CHECK_EQ(ibv_post_send(qp, &wr, &bad), EINVAL);
	fixture_set_state(qp, IBV_QPS_RESET);
	wr.send_flags = 0;
	CHECK_EQ(ibv_post_send(qp, &wr, &bad), EINVAL);
}

TEST(send_requests)
{
	struct ibv_qp *qp;
	const char *text;

	open_log("4");
	qp = fixture_qp(fixture_open(16), IBV_QPT_RC, 8, 2);
	refuse_all(qp);
	text = read_log();
	CHECK(strstr(text, ": opcode 13 on a QP of type 2\n"));
	CHECK(strstr(text, ": 3 SGEs, at most 2\n"));
	CHECK(strstr(text, ": inline data with opcode 2, or more than "));
	CHECK(strstr(text, ": not in RTS, or no SQ\n"));
}

TEST(nothing_unless_somebody_asks)
{
	open_log("0");
	refuse_all(fixture_qp(fixture_open(16), IBV_QPT_RC, 8, 2));
	CHECK_EQ(strlen(read_log()), 0);
}

/* A full ring is not logged, because programs post until it is full */
TEST(nothing_about_full_rings)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_send_wr *bad;
	struct ibv_qp *qp;
	int err;

	open_log("4");
	qp = fixture_qp(fixture_open(16), IBV_QPT_RC, 8, 2);
	do {
		err = ibv_post_send(qp, &wr, &bad);
	} while (!err);
	CHECK_EQ(err, ENOMEM);
	CHECK_EQ(strlen(read_log()), 0);
}

TEST(builders)
{
	struct ibv_qp_ex *qpx;
	struct ibv_qp *qp;

	open_log("4");
	qp = fixture_qp(fixture_open(16), IBV_QPT_UD, 8, 2);
	qpx = ibv_qp_to_qp_ex(qp);
	ibv_wr_start(qpx);
	ibv_wr_rdma_read(qpx, 1, 2);
	CHECK_EQ(ibv_wr_complete(qpx), EINVAL);
	CHECK(strstr(read_log(), ": type 4, or its send_ops_flags, lacks "));
}

/* Whether the log has got one line since the last call, which has @text */
static bool says(const char *text)
{
	static char all[8192];
	static size_t seen;
	const char *line;
	FILE *file;
	size_t n;

	fflush(NULL);
	file = fopen(path, "r");
	CHECK(file);
	n = fread(all, 1, sizeof(all) - 1, file);
	all[n] = '\0';
	fclose(file);
	line = all + seen;
	seen = n;
	return strstr(line, text) && strchr(line, '\n') == all + n - 1;
}

/* The errno of a function that returns an object */
static int none(const void *object)
{
	return object ? 0 : errno;
}

#define REFUSED(call, err, text)       \
	do {                           \
		CHECK_EQ((call), err); \
		CHECK(says(text));     \
	} while (0)

static int bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mr *mr)
{
	struct ibv_mw_bind attr = {
		.bind_info = {
			.mr = mr,
			.addr = (uintptr_t)mr->addr,
			.length = mr->length,
		},
	};

	return ibv_bind_mw(qp, mw, &attr);
}

TEST(windows)
{
	struct fixture *f = fixture_open(16);
	char data[16] = "";
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_mw *mw;

	open_log("4");
	qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	mr = ibv_reg_mr(f->pd, data, sizeof(data), IBV_ACCESS_LOCAL_WRITE);
	mw = ibv_alloc_mw(f->pd, IBV_MW_TYPE_1);
	CHECK(mr && mw);
	REFUSED(bind(qp, mw, mr), EINVAL, ": region without MW_BIND\n");
	fixture_set_state(qp, IBV_QPS_RESET);
	REFUSED(bind(qp, mw, mr), EINVAL, ": not in RTS, or no SQ\n");
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
}

/* ibv_post_send() and ibv_wr_*() give the same reason for the same operands. */
static void refuse_request(struct ibv_qp *qp, struct ibv_send_wr *wr,
			   const char *text)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_send_wr *bad;

	REFUSED(ibv_post_send(qp, wr, &bad), EINVAL, text);
	ibv_wr_start(qpx);
	if (wr->opcode == IBV_WR_TSO)
		ibv_wr_send_tso(qpx, wr->tso.hdr, wr->tso.hdr_sz, wr->tso.mss);
	else if (wr->opcode == IBV_WR_BIND_MW)
		ibv_wr_bind_mw(qpx, wr->bind_mw.mw, wr->bind_mw.rkey,
			       &wr->bind_mw.bind_info);
	else
		ibv_wr_send(qpx);
	if (wr->send_flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(qpx,
				       (void *)(uintptr_t)wr->sg_list->addr,
				       wr->sg_list->length);
	else if (wr->num_sge)
		ibv_wr_set_sge_list(qpx, wr->num_sge, wr->sg_list);
	REFUSED(ibv_wr_complete(qpx), EINVAL, text);
}

static struct ibv_qp *qp_with_all(struct fixture *f, enum ibv_qp_type type,
				  uint64_t ops)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { .max_send_wr = 8, .max_send_sge = 2 },
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
			     IBV_QP_INIT_ATTR_MAX_TSO_HEADER,
		.pd = f->pd,
		.send_ops_flags = ops,
		.max_tso_header = type == IBV_QPT_RAW_PACKET ? 64 : 0,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(f->context, &init);

	CHECK(qp);
	fixture_set_state(qp, IBV_QPS_INIT);
	fixture_set_state(qp, IBV_QPS_RTR);
	fixture_set_state(qp, IBV_QPS_RTS);
	return qp;
}

TEST(one_reason_in_both_forms)
{
	struct fixture *f = fixture_open(16);
	struct ibv_mw *mw = ibv_alloc_mw(f->pd, IBV_MW_TYPE_1);
	struct ibv_qp *raw, *rc;
	struct ibv_send_wr wr = {};
	struct ibv_sge sge[3] = {};
	char data[1000] = "";

	open_log("4");
	raw = qp_with_all(f, IBV_QPT_RAW_PACKET, IBV_QP_EX_WITH_TSO);
	rc = qp_with_all(f, IBV_QPT_RC, IBV_QP_EX_WITH_BIND_MW);
	CHECK(mw);
	wr.sg_list = sge;
	wr.opcode = IBV_WR_SEND;
	wr.num_sge = 3;
	refuse_request(rc, &wr, ": 3 SGEs, at most 2\n");
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_INLINE;
	sge[0] = (struct ibv_sge){ .addr = (uintptr_t)data, .length = 1000 };
	refuse_request(rc, &wr, ": inline data with opcode 2, or more than ");
	wr = (struct ibv_send_wr){ .opcode = IBV_WR_BIND_MW };
	wr.bind_mw.mw = mw;
	refuse_request(rc, &wr, ": type 1 is for ibv_bind_mw()\n");
	wr = (struct ibv_send_wr){ .opcode = IBV_WR_TSO };
	wr.tso.hdr = data;
	wr.tso.hdr_sz = 65;
	wr.tso.mss = 100;
	refuse_request(
		raw, &wr,
		": TSO needs segments (100 bytes) and a header (65, at most 64)\n");
	CHECK_EQ(ibv_destroy_qp(raw), 0);
	CHECK_EQ(ibv_destroy_qp(rc), 0);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
}

static struct ibv_td *td_of(struct fixture *f, uint32_t comp_mask)
{
	struct ibv_td_init_attr attr = { .comp_mask = comp_mask };

	return ibv_alloc_td(f->context, &attr);
}

static struct ibv_pd *parent_of(struct fixture *f, struct ibv_td *td,
				uint32_t comp_mask)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = f->pd,
		.td = td,
		.comp_mask = comp_mask,
	};

	return ibv_alloc_parent_domain(f->context, &attr);
}

TEST(domains)
{
	struct fixture *f = fixture_open(16);
	struct ibv_pd *parent;
	struct ibv_td *td;

	open_log("4");
	REFUSED(none(td_of(f, 1)), EOPNOTSUPP, "thread domain: comp_mask 0x1");
	REFUSED(none(parent_of(f, NULL, 1 << 9)), EOPNOTSUPP,
		"parent domain: comp_mask 0x200");
	REFUSED(none(parent_of(f, NULL,
			       IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS)),
		EINVAL, "parent domain: one of alloc and free is missing");
	td = td_of(f, 0);
	parent = parent_of(f, td, 0);
	CHECK(td && parent);
	REFUSED(ibv_dealloc_td(td), EBUSY,
		"thread domain: a parent domain uses it");
	REFUSED(ibv_dealloc_pd(f->pd), EBUSY, ": it is in use");
	CHECK_EQ(ibv_dealloc_pd(parent), 0);
	CHECK_EQ(ibv_dealloc_td(td), 0);
}

static int cq_of(struct fixture *f, struct ibv_cq_init_attr_ex attr)
{
	attr.cqe = 16;
	return none(ibv_create_cq_ex(f->context, &attr));
}

TEST(completion_queues)
{
	struct fixture *f = fixture_open(16);
	struct ibv_cq_init_attr_ex good = { .cqe = 16 };
	struct ibv_poll_cq_attr poll = { .comp_mask = 4 };
	struct ibv_values_ex values = { .comp_mask = 8 };
	struct ibv_cq_ex *cq;

	open_log("4");
	REFUSED(cq_of(f, (struct ibv_cq_init_attr_ex){ .comp_mask = 1 << 9 }),
		EOPNOTSUPP, "CQ: comp_mask 0x200, ");
	REFUSED(cq_of(f,
		      (struct ibv_cq_init_attr_ex){
			      .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
			      .parent_domain = f->pd,
		      }),
		EINVAL, "CQ: the PD is not a parent domain");
	REFUSED(ibv_query_rt_values_ex(f->context, &values), EINVAL,
		"values: comp_mask 0x8");
	cq = ibv_create_cq_ex(f->context, &good);
	CHECK(cq);
	REFUSED(ibv_start_poll(cq, &poll), EINVAL, ": comp_mask 0x4");
	CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	fixture_qp(f, IBV_QPT_RC, 8, 2);
	REFUSED(ibv_destroy_cq(f->cq), EBUSY, ": a QP or WQ uses it");
}

static int qp_of(struct fixture *f, struct ibv_qp_init_attr_ex attr)
{
	attr.send_cq = f->cq;
	attr.recv_cq = f->cq;
	attr.pd = f->pd;
	return none(ibv_create_qp_ex(f->context, &attr));
}

TEST(queue_pairs)
{
	struct fixture *f = fixture_open(16);
	struct ibv_rwq_ind_table table = { .context = f->context };
	struct ibv_qp_init_attr_ex rss = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.rwq_ind_tbl = &table,
	};
	struct ibv_qp_rate_limit_attr rate = { .max_burst_sz = 1 };
	struct ibv_qp *qp;

	open_log("4");
	REFUSED(qp_of(f, (struct ibv_qp_init_attr_ex){ .qp_type = 77 }), EINVAL,
		"QP of type 77: comp_mask 0x0");
	REFUSED(qp_of(f,
		      (struct ibv_qp_init_attr_ex){
			      .qp_type = 77,
			      .comp_mask = IBV_QP_INIT_ATTR_PD,
		      }),
		EOPNOTSUPP, "no QPs of type 77");
	REFUSED(qp_of(f, rss), EINVAL, "RSS: a key of 0 bytes, not 40");
	rss.qp_type = IBV_QPT_UD;
	REFUSED(qp_of(f, rss), EOPNOTSUPP, "RSS: QP of type 4, fields 0x0");
	rss.comp_mask &= ~IBV_QP_INIT_ATTR_RX_HASH;
	REFUSED(qp_of(f, rss), EOPNOTSUPP, "QP of type 4: comp_mask 0x");
	rss.comp_mask |= IBV_QP_INIT_ATTR_RX_HASH |
			 IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
	REFUSED(qp_of(f, rss), EOPNOTSUPP, "QP of type 4: comp_mask 0x");
	REFUSED(qp_of(f,
		      (struct ibv_qp_init_attr_ex){
			      .qp_type = IBV_QPT_XRC_RECV,
			      .comp_mask = IBV_QP_INIT_ATTR_XRCD |
					   IBV_QP_INIT_ATTR_IND_TABLE,
		      }),
		EOPNOTSUPP, "QP of type 10: comp_mask 0x");
	qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	REFUSED(ibv_modify_qp_rate_limit(qp, &rate), EINVAL,
		": a rate limit has no bursts");
	rate.max_burst_sz = 0;
	fixture_set_state(qp, IBV_QPS_RESET);
	REFUSED(ibv_modify_qp_rate_limit(qp, &rate), EINVAL,
		": not in RTS, for a rate limit");
}

TEST(options)
{
	struct fixture *f = fixture_open(16);
	struct ibv_ece ece = { .vendor_id = 0x1af4 };
	struct ibv_qp *qp;

	open_log("4");
	qp = fixture_qp(f, IBV_QPT_UD, 8, 2);
	REFUSED(ibv_query_ece(qp, &ece), EOPNOTSUPP,
		": ECE: the QP has no peer");
	REFUSED(ibv_set_ece(qp, &ece), EOPNOTSUPP, ": ECE: the QP has no peer");
	qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	REFUSED(ibv_set_ece(qp, &ece), EINVAL, ": ECE: the QP has left INIT");
	ece.vendor_id++;
	REFUSED(ibv_set_ece(qp, &ece), EINVAL,
		": ECE: comp_mask, or another vendor");
}

/* Of receive requests, too, in each kind of queue */
TEST(receive_requests)
{
	struct ibv_srq_init_attr init = { .attr = { 8, 2 } };
	struct fixture *f = fixture_open(16);
	struct ibv_sge sge = {};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 70 }, *bad;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	int err;

	open_log("4");
	qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	srq = ibv_create_srq(f->pd, &init);
	CHECK(srq);
	REFUSED(ibv_post_recv(qp, &wr, &bad), EINVAL, ": 70 SGEs, at most 3");
	REFUSED(ibv_post_srq_recv(srq, &wr, &bad), EINVAL,
		": 70 SGEs, at most 3");
	wr.num_sge = 1;
	do {
		err = ibv_post_recv(qp, &wr, &bad);
	} while (!err);
	CHECK_EQ(err, ENOMEM);
	CHECK(!says("QP"));
	fixture_set_state(qp, IBV_QPS_RESET);
	REFUSED(ibv_post_recv(qp, &wr, &bad), EINVAL,
		": in RESET, or without an RQ");
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}

static struct ibv_srq *srq_of(struct fixture *f, uint32_t type)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
		.srq_type = type,
		.pd = f->pd,
		.cq = f->cq,
		.tm_cap = { .max_num_tags = 4, .max_ops = 4 },
	};

	return ibv_create_srq_ex(f->context, &attr);
}

TEST(shared_receive_queues)
{
	struct ibv_srq_init_attr init = { .attr = { 8, 2 } };
	struct ibv_ops_wr wr = { .opcode = 9, .flags = 1 }, *bad;
	struct fixture *f = fixture_open(16);
	struct ibv_srq *srq, *tags;
	uint32_t num;

	open_log("4");
	srq = ibv_create_srq(f->pd, &init);
	tags = srq_of(f, IBV_SRQT_TM);
	CHECK(srq && tags);
	REFUSED(none(srq_of(f, 77)), EOPNOTSUPP, "no SRQs of type 77");
	REFUSED(ibv_get_srq_num(tags, &num), EINVAL,
		": peers cannot name type 2");
	REFUSED(mynic_post_srq_ops(srq, &wr, &bad), EINVAL,
		": no tag matching");
	REFUSED(ibv_post_srq_ops(tags, &wr, &bad), EINVAL,
		": operation 9, flags 0x1, 0 SGEs");
	CHECK_EQ(ibv_destroy_srq(tags), 0);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}

TEST(device_memory)
{
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct fixture *f = fixture_open(16);
	char data[64] = "";
	struct ibv_dm *dm;

	open_log("4");
	dm = ibv_alloc_dm(f->context, &attr);
	CHECK(dm);
	REFUSED(ibv_memcpy_to_dm(dm, 2, data, 4), EINVAL,
		"device memory: 4 of 64 bytes at 2");
	REFUSED(ibv_memcpy_from_dm(data, dm, 64, 4), EINVAL,
		"device memory: 4 of 64 bytes at 64");
	CHECK_EQ(ibv_free_dm(dm), 0);
	attr.comp_mask = 2;
	REFUSED(none(ibv_alloc_dm(f->context, &attr)), EINVAL,
		"device memory: comp_mask 0x2");
}

/* A batch with one builder of a QP of RC, and what ibv_wr_complete() returns */
static int batch(struct ibv_qp_ex *qpx, void (*build)(struct ibv_qp_ex *qpx))
{
	ibv_wr_start(qpx);
	build(qpx);
	return ibv_wr_complete(qpx);
}

static void build_many_sges(struct ibv_qp_ex *qpx)
{
	struct ibv_sge sge[3] = {};

	ibv_wr_send(qpx);
	ibv_wr_set_sge_list(qpx, 3, sge);
}

static void build_much_inline(struct ibv_qp_ex *qpx)
{
	static char data[1000];

	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, data, sizeof(data));
}

static void build_inline_read(struct ibv_qp_ex *qpx)
{
	char data[4] = "";

	ibv_wr_rdma_read(qpx, 1, 2);
	ibv_wr_set_inline_data(qpx, data, sizeof(data));
}

static void build_send(struct ibv_qp_ex *qpx)
{
	ibv_wr_send(qpx);
}

TEST(setters)
{
	struct ibv_qp_ex *qpx;
	struct ibv_qp *qp;

	open_log("4");
	qp = fixture_qp(fixture_open(16), IBV_QPT_RC, 8, 2);
	qpx = ibv_qp_to_qp_ex(qp);
	REFUSED(batch(qpx, build_many_sges), EINVAL, ": 3 SGEs, at most 2\n");
	REFUSED(batch(qpx, build_much_inline), EINVAL,
		": inline data with opcode 2, or more than ");
	REFUSED(batch(qpx, build_inline_read), EINVAL,
		": inline data with opcode 4, or more than ");
	fixture_set_state(qp, IBV_QPS_RESET);
	REFUSED(batch(qpx, build_send), EINVAL, ": not in RTS, or no SQ");
}

/* The fake device is not of libmynic's own list of devices. */
TEST(direct_verbs)
{
	struct mynicdv_qp_init_attr dv = { .driver_qp_type = 77 };
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_DRIVER };
	struct fixture *f = fixture_open(16);
	struct mynicdv_device_attr attr;

	open_log("4");
	REFUSED(mynicdv_query_device(f->context, &attr, sizeof(attr)),
		EOPNOTSUPP, "not a mynic device");
	REFUSED(none(mynicdv_create_qp(f->context, &init, &dv)), EOPNOTSUPP,
		"driver QP: type 77 of ");
}
