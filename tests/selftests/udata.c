// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands that create objects, below libibverbs: driver data and responses of
 * all lengths, handles of the wrong kind, and destruction in the wrong order.
 */
#include "context.h"
#include "verbs.h"

#define UNTOUCHED 0xee
#define MAX_LEN 256 /* longest command or response */
#define MORE 32 /* bytes of a response that the driver does not know */

/**
 * struct file - a context, by handles of the kernel
 * @fd: its file
 * @pd: handle of a PD
 * @cq: handle of a CQ
 * @gid_index: source of address handles
 * @gid: their destination
 */
struct file {
	int fd;
	uint32_t pd;
	uint32_t cq;
	int gid_index;
	union ibv_gid gid;
};

/**
 * struct kind - a command that creates an object
 * @name: name of the object
 * @create: IB_USER_VERBS_CMD_*
 * @destroy: likewise
 * @set: fills in the command
 * @cmd_len: bytes of it, with the header, without driver data
 * @resp_len: bytes of the response without the driver's
 * @driver_len: bytes of the driver's response; 0: it has none
 */
struct kind {
	const char *name;
	uint32_t create;
	uint32_t destroy;
	void (*set)(const struct file *file, void *cmd);
	size_t cmd_len;
	size_t resp_len;
	size_t driver_len;
};

static void set_pd(const struct file *file, void *cmd)
{
}

static void set_cq(const struct file *file, void *cmd)
{
	struct ib_uverbs_create_cq *create = cmd;

	create->cqe = 16;
	create->comp_channel = -1;
}

static void set_qp(const struct file *file, void *cmd)
{
	struct ib_uverbs_create_qp *create = cmd;

	create->pd_handle = file->pd;
	create->send_cq_handle = file->cq;
	create->recv_cq_handle = file->cq;
	create->max_send_wr = 16;
	create->max_recv_wr = 16;
	create->max_send_sge = 1;
	create->max_recv_sge = 1;
	create->qp_type = IBV_QPT_RC;
}

static void set_srq(const struct file *file, void *cmd)
{
	struct ib_uverbs_create_srq *create = cmd;

	create->pd_handle = file->pd;
	create->max_wr = 16;
	create->max_sge = 1;
}

static void set_ah(const struct file *file, void *cmd)
{
	struct ib_uverbs_create_ah *create = cmd;

	create->pd_handle = file->pd;
	create->attr.is_global = 1;
	create->attr.port_num = 1;
	create->attr.grh.hop_limit = 64;
	create->attr.grh.sgid_index = file->gid_index;
	memcpy(create->attr.grh.dgid, file->gid.raw, sizeof(file->gid.raw));
}

#define HDR sizeof(struct ib_uverbs_cmd_hdr)
#define KIND(object, Object, driver)                                         \
	{                                                                    \
		.name = #object,                                             \
		.create = IB_USER_VERBS_CMD_CREATE_##Object,                 \
		.destroy = IB_USER_VERBS_CMD_DESTROY_##Object,               \
		.set = set_##object,                                         \
		.cmd_len = HDR + sizeof(struct ib_uverbs_create_##object),   \
		.resp_len = sizeof(struct ib_uverbs_create_##object##_resp), \
		.driver_len = driver,                                        \
	}

static const struct kind kinds[] = {
	{ .name = "pd",
	  .create = IB_USER_VERBS_CMD_ALLOC_PD,
	  .destroy = IB_USER_VERBS_CMD_DEALLOC_PD,
	  .set = set_pd,
	  .cmd_len = HDR + sizeof(struct ib_uverbs_alloc_pd),
	  .resp_len = sizeof(struct ib_uverbs_alloc_pd_resp) },
	KIND(cq, CQ, sizeof(struct mynic_create_cq_resp)),
	KIND(qp, QP, sizeof(struct mynic_create_qp_resp)),
	KIND(srq, SRQ, sizeof(struct mynic_create_srq_resp)),
	KIND(ah, AH, sizeof(struct mynic_create_ah_resp)),
};

#define NUM_KINDS (sizeof(kinds) / sizeof(*kinds))

struct reply {
	union {
		uint32_t handle; /* first in every response */
		uint8_t bytes[MAX_LEN];
	};
};

/*
 * Makes an object with @in bytes of driver data, of which the first is @value,
 * and room for @out bytes of the driver's response.
 *
 * Return: 0 or the errno.
 */
static int create(const struct file *file, const struct kind *kind, size_t in,
		  uint64_t value, size_t out, struct reply *reply)
{
	uint64_t room[MAX_LEN / 8] = {};
	uint8_t *cmd = (uint8_t *)room;
	struct ib_uverbs_cmd_hdr hdr = {
		.command = kind->create,
		.in_words = (kind->cmd_len + in) / 4,
		.out_words = (kind->resp_len + out) / 4,
	};
	uint64_t response = (uintptr_t)reply;
	size_t len = kind->cmd_len + in;

	memset(reply, UNTOUCHED, sizeof(*reply));
	kind->set(file, cmd + HDR);
	memcpy(cmd, &hdr, HDR);
	memcpy(cmd + HDR, &response, sizeof(response));
	memcpy(cmd + kind->cmd_len, &value, in < 8 ? in : 8);
	return write(file->fd, cmd, len) == (ssize_t)len ? 0 : errno;
}

static int destroy(const struct file *file, const struct kind *kind,
		   uint32_t handle)
{
	uint32_t events[2];
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_qp cmd;
	} cmd = {
		.hdr = { .command = kind->destroy,
			 .in_words = sizeof(cmd) / 4,
			 .out_words = 1 },
		.cmd = { .response = (uintptr_t)events, .qp_handle = handle },
	};

	if (kind->destroy == IB_USER_VERBS_CMD_DESTROY_CQ)
		cmd.hdr.out_words = 2;
	if (kind->destroy == IB_USER_VERBS_CMD_DEALLOC_PD ||
	    kind->destroy == IB_USER_VERBS_CMD_DESTROY_AH) {
		/* These have the handle only, and no response. */
		memcpy(&cmd.cmd, &handle, sizeof(handle));
		cmd.hdr.in_words = (HDR + sizeof(handle)) / 4;
		cmd.hdr.out_words = 0;
	}
	return write(file->fd, &cmd, cmd.hdr.in_words * 4) > 0 ? 0 : errno;
}

/* A file with a context, and without the file for its events; -1 if it fails */
static int open_bare(const struct ibv_context *ctx)
{
	struct context_resp resp;
	int fd = open_context(ctx, &resp);

	if (fd >= 0)
		close(resp.resp.async_fd);
	return fd;
}

FIXTURE(udata)
{
	struct ibv_context *ctx;
	struct file file;
};

FIXTURE_SETUP(udata)
{
	struct file *file = &self->file;
	struct reply reply;

	self->ctx = open_mynic(0);
	ASSERT_NE(self->ctx, NULL);
	file->gid_index = find_gid(self->ctx);
	ASSERT_GE(file->gid_index, 0);
	ASSERT_EQ(ibv_query_gid(self->ctx, 1, file->gid_index, &file->gid), 0);
	file->fd = open_bare(self->ctx);
	ASSERT_GE(file->fd, 0);
	ASSERT_EQ(create(file, &kinds[0], 0, 0, 0, &reply), 0);
	file->pd = reply.handle;
	ASSERT_EQ(create(file, &kinds[1], 0, 0, kinds[1].driver_len, &reply),
		  0);
	file->cq = reply.handle;
}

FIXTURE_TEARDOWN(udata)
{
	EXPECT_EQ(destroy(&self->file, &kinds[1], self->file.cq), 0);
	EXPECT_EQ(destroy(&self->file, &kinds[0], self->file.pd), 0);
	close(self->file.fd);
	EXPECT_EQ(ibv_close_device(self->ctx), 0);
}

/*
 * An older library has less room than the driver's response, and a newer one
 * has more. The driver writes as much as there is room for.
 */
TEST_F(udata, response_lengths)
{
	struct reply reply;

	for (size_t i = 0; i < NUM_KINDS; i++) {
		const struct kind *kind = &kinds[i];

		for (size_t out = 0; out <= kind->driver_len + MORE; out += 8) {
			size_t end = kind->resp_len + out;
			int err;

			err = create(&self->file, kind, 0, 0, out, &reply);
			EXPECT_EQ(err, 0)
			TH_LOG("%s, %zu bytes: errno %d", kind->name, out, err);
			if (err)
				continue;
			EXPECT_EQ(reply.bytes[end], UNTOUCHED);
			if (out && kind->driver_len) {
				EXPECT_NE(reply.bytes[kind->resp_len],
					  UNTOUCHED);
			}
			EXPECT_EQ(destroy(&self->file, kind, reply.handle), 0);
		}
	}
}

/*
 * A newer library may send more than the driver knows, if it is zero. Otherwise
 * no object is left, so that the PD and the CQ can be destroyed.
 */
TEST_F(udata, driver_data)
{
	struct reply reply;

	for (size_t i = 0; i < NUM_KINDS; i++) {
		const struct kind *kind = &kinds[i];
		int err;

		for (size_t in = 8; in <= 64; in += 8) {
			err = create(&self->file, kind, in, 0, kind->driver_len,
				     &reply);
			EXPECT_EQ(err, 0)
			TH_LOG("%s, %zu zeroes: errno %d", kind->name, in, err);
			if (!err) {
				EXPECT_EQ(destroy(&self->file, kind,
						  reply.handle),
					  0);
			}
		}
		err = create(&self->file, kind, 64, ~0ULL, kind->driver_len,
			     &reply);
		EXPECT_TRUE(err == EINVAL || err == EOPNOTSUPP)
		TH_LOG("%s, not zero: errno %d", kind->name, err);
	}
}

static void set_driver_qp(const struct file *file, void *cmd)
{
	struct ib_uverbs_create_qp *create = cmd;

	set_qp(file, cmd);
	create->max_recv_wr = 0;
	create->qp_type = IBV_QPT_DRIVER;
}

/* A complete request, followed by additional bytes of the test */
static void set_long_driver_qp(const struct file *file, void *cmd)
{
	struct mynic_create_qp_req req = {
		.driver_qp_type = MYNIC_DRIVER_QP_MEMCPY,
	};

	set_driver_qp(file, cmd);
	memcpy(cmd + sizeof(struct ib_uverbs_create_qp), &req, sizeof(req));
}

/* A request with data that is not zero, which must be complete */
TEST_F(udata, driver_qp_request)
{
	struct kind qp = KIND(qp, QP, sizeof(struct mynic_create_qp_resp));
	const uint64_t unknown[] = {
		0,
		MYNIC_DRIVER_QP_MEMCPY + 1,
		0x80000000,
		MYNIC_DRIVER_QP_MEMCPY | 1ULL << 32,
	};
	struct reply reply;

	qp.set = set_driver_qp;
	for (size_t in = 0; in < 8; in += 4)
		EXPECT_EQ(create(&self->file, &qp, in, MYNIC_DRIVER_QP_MEMCPY,
				 qp.driver_len, &reply),
			  EINVAL);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		EXPECT_EQ(create(&self->file, &qp, 8, unknown[i], qp.driver_len,
				 &reply),
			  EOPNOTSUPP);
	for (size_t in = 8; in <= 64; in += 8) {
		ASSERT_EQ(create(&self->file, &qp, in, MYNIC_DRIVER_QP_MEMCPY,
				 qp.driver_len, &reply),
			  0);
		EXPECT_EQ(destroy(&self->file, &qp, reply.handle), 0);
	}

	qp.set = set_long_driver_qp;
	qp.cmd_len += sizeof(struct mynic_create_qp_req);
	EXPECT_EQ(create(&self->file, &qp, 8, 1, qp.driver_len, &reply),
		  EOPNOTSUPP);
}

static void set_tm_srq(const struct file *file, void *cmd)
{
	struct ib_uverbs_create_xsrq *create = cmd;

	create->srq_type = IBV_SRQT_TM;
	create->pd_handle = file->pd;
	create->max_wr = 16;
	create->max_sge = 1;
	create->max_num_tags = 8;
	create->cq_handle = file->cq;
}

static void set_tm_srq_without_tags(const struct file *file, void *cmd)
{
	struct ib_uverbs_create_xsrq *create = cmd;

	set_tm_srq(file, cmd);
	create->max_num_tags = 0;
}

static void set_tm_srq_without_cq(const struct file *file, void *cmd)
{
	struct ib_uverbs_create_xsrq *create = cmd;

	set_tm_srq(file, cmd);
	create->cq_handle = file->pd;
}

/* The same for SRQs for tag matching, which are made by another command */
TEST_F(udata, tm_srq_request)
{
	struct kind srq = {
		.name = "TM SRQ",
		.create = IB_USER_VERBS_CMD_CREATE_XSRQ,
		.destroy = IB_USER_VERBS_CMD_DESTROY_SRQ,
		.set = set_tm_srq,
		.cmd_len = HDR + sizeof(struct ib_uverbs_create_xsrq),
		.resp_len = sizeof(struct ib_uverbs_create_srq_resp),
		.driver_len = sizeof(struct mynic_create_srq_resp),
	};
	const uint64_t max_ops = 16;
	struct reply reply;

	for (size_t in = 0; in < 8; in += 4)
		EXPECT_EQ(create(&self->file, &srq, in, max_ops, srq.driver_len,
				 &reply),
			  EINVAL);
	EXPECT_EQ(create(&self->file, &srq, 8, 0, srq.driver_len, &reply),
		  EINVAL);
	EXPECT_EQ(create(&self->file, &srq, 8, UINT32_MAX, srq.driver_len,
			 &reply),
		  EINVAL);
	EXPECT_EQ(create(&self->file, &srq, 8, max_ops | 1ULL << 32,
			 srq.driver_len, &reply),
		  EOPNOTSUPP);
	for (size_t in = 8; in <= 64; in += 8) {
		ASSERT_EQ(create(&self->file, &srq, in, max_ops, srq.driver_len,
				 &reply),
			  0);
		EXPECT_EQ(destroy(&self->file, &kinds[1], self->file.cq),
			  EBUSY);
		EXPECT_EQ(destroy(&self->file, &srq, reply.handle), 0);
	}
	srq.set = set_tm_srq_without_tags;
	EXPECT_EQ(create(&self->file, &srq, 8, max_ops, srq.driver_len, &reply),
		  EINVAL);
	srq.set = set_tm_srq_without_cq;
	EXPECT_NE(create(&self->file, &srq, 8, max_ops, srq.driver_len, &reply),
		  0);
}

/* Objects in use cannot be destroyed */
TEST_F(udata, destroyed_in_the_wrong_order)
{
	const struct kind *pd = &kinds[0], *cq = &kinds[1];

	for (size_t i = 2; i < NUM_KINDS; i++) {
		const struct kind *kind = &kinds[i];
		struct reply reply;

		ASSERT_EQ(create(&self->file, kind, 0, 0, kind->driver_len,
				 &reply),
			  0);
		EXPECT_EQ(destroy(&self->file, pd, self->file.pd), EBUSY)
		TH_LOG("PD before %s", kind->name);
		if (kind->set == set_qp) {
			EXPECT_EQ(destroy(&self->file, cq, self->file.cq),
				  EBUSY);
		}
		EXPECT_EQ(destroy(&self->file, kind, reply.handle), 0);
		EXPECT_NE(destroy(&self->file, kind, reply.handle), 0)
		TH_LOG("%s twice", kind->name);
	}
}

/* Handles of another kind, and invalid ones */
TEST_F(udata, wrong_handles)
{
	struct file file = self->file;
	struct reply reply;

	for (size_t i = 0; i < NUM_KINDS; i++) {
		EXPECT_NE(destroy(&file, &kinds[i], 0xffffffff), 0);
		if (i != 0) {
			EXPECT_NE(destroy(&file, &kinds[i], file.pd), 0)
			TH_LOG("PD as %s", kinds[i].name);
		}
	}
	file.pd = self->file.cq;
	for (size_t i = 2; i < NUM_KINDS; i++) {
		EXPECT_NE(create(&file, &kinds[i], 0, 0, kinds[i].driver_len,
				 &reply),
			  0)
		TH_LOG("%s in a CQ for a PD", kinds[i].name);
	}
}

/* Commands that end early */
TEST_F(udata, short_commands)
{
	for (size_t i = 0; i < NUM_KINDS; i++) {
		const struct kind *kind = &kinds[i];
		uint64_t cmd[MAX_LEN / 8] = {};

		for (size_t len = HDR; len < kind->cmd_len; len += 4) {
			struct ib_uverbs_cmd_hdr hdr = {
				.command = kind->create,
				.in_words = len / 4,
				.out_words = kind->resp_len / 4,
			};

			memcpy(cmd, &hdr, HDR);
			EXPECT_EQ(write(self->file.fd, cmd, len), -1)
			TH_LOG("%s, %zu bytes", kind->name, len);
		}
	}
}

/* Closing the file destroys all objects */
TEST_F(udata, left_behind)
{
	for (int round = 0; round < 20; round++) {
		struct file file = self->file;
		struct reply reply;

		file.fd = open_bare(self->ctx);
		ASSERT_GE(file.fd, 0);
		for (size_t i = 0; i < NUM_KINDS; i++) {
			ASSERT_EQ(create(&file, &kinds[i], 0, 0,
					 kinds[i].driver_len, &reply),
				  0);
			if (i == 0)
				file.pd = reply.handle;
			if (i == 1)
				file.cq = reply.handle;
		}
		EXPECT_EQ(close(file.fd), 0);
	}
}

TEST_HARNESS_MAIN
