// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reasons of the provider's refusals in libibverbs' log. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"

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

TEST(windows)
{
	struct fixture *f;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	char data[16];

	open_log("4");
	f = fixture_open(16);
	qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	mr = ibv_reg_mr(f->pd, data, sizeof(data), IBV_ACCESS_LOCAL_WRITE);
	mw = ibv_alloc_mw(f->pd, IBV_MW_TYPE_1);
	CHECK(mr && mw);
	CHECK_EQ(ibv_bind_mw(qp, mw,
			     &(struct ibv_mw_bind){
				     .bind_info = {
					     .mr = mr,
					     .addr = (uintptr_t)data,
					     .length = sizeof(data),
				     },
			     }),
		 EINVAL);
	CHECK(strstr(read_log(), ": region without MW_BIND\n"));
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
}
