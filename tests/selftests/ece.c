// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Enhanced connection establishment, and rate limits */
#include <rdma/ib_user_verbs.h>
#include <rdma/mynic-abi.h>

#include "verbs.h"

#define ECN 1 /* the only option */

FIXTURE(pair)
{
	struct end a;
	struct end b;
};

FIXTURE_VARIANT(pair)
{
	enum ibv_qp_type type;
};

FIXTURE_VARIANT_ADD(pair, rc){
	.type = IBV_QPT_RC,
};

FIXTURE_VARIANT_ADD(pair, uc){
	.type = IBV_QPT_UC,
};

FIXTURE_SETUP(pair)
{
	self->a.ctx = open_mynic(0);
	self->b.ctx = open_mynic(1);
	if (!self->b.ctx)
		SKIP(return, "only one mynic device");
	ASSERT_TRUE(make_end(&self->a, variant->type));
	ASSERT_TRUE(make_end(&self->b, variant->type));
}

FIXTURE_TEARDOWN(pair)
{
	EXPECT_EQ(free_end(&self->a), 0);
	EXPECT_EQ(free_end(&self->b), 0);
	ibv_close_device(self->a.ctx);
	if (self->b.ctx)
		ibv_close_device(self->b.ctx);
}

static uint32_t options(const struct end *e)
{
	struct ibv_ece ece = { .comp_mask = 1 };

	if (ibv_query_ece(e->qp, &ece) || ece.vendor_id != MYNIC_VENDOR_ID ||
	    ece.comp_mask)
		return UINT32_MAX;
	return ece.options;
}

static int agree(const struct end *e, uint32_t what)
{
	struct ibv_ece ece = { .vendor_id = MYNIC_VENDOR_ID, .options = what };
	int err = ibv_set_ece(e->qp, &ece);

	return err ? err : ece.options == (what & ECN) ? 0 : -1;
}

TEST_F(pair, ece_is_agreed_on)
{
	struct end *a = &self->a, *b = &self->b;

	EXPECT_EQ(options(a), ECN);
	/* Unknown ones are cleared */
	ASSERT_EQ(agree(a, UINT32_MAX), 0);
	ASSERT_EQ(agree(b, ECN), 0);
	ASSERT_EQ(to_rts(a, b), 0);
	ASSERT_EQ(to_rts(b, a), 0);
	EXPECT_EQ(options(a), ECN);
	EXPECT_EQ(options(b), ECN);
	EXPECT_EQ(check_write(a, b, 5000), 0);
	/* Too late */
	EXPECT_EQ(agree(a, 0), EINVAL);
	EXPECT_EQ(options(a), ECN);
}

TEST_F(pair, ece_without_agreement)
{
	struct end *a = &self->a, *b = &self->b;

	ASSERT_EQ(agree(b, 0), 0);
	ASSERT_EQ(to_rts(a, b), 0);
	ASSERT_EQ(to_rts(b, a), 0);
	EXPECT_EQ(options(a), 0);
	EXPECT_EQ(options(b), 0);
	EXPECT_EQ(check_write(a, b, 5000), 0);
	ASSERT_EQ(to_reset(a), 0);
	EXPECT_EQ(options(a), ECN);
}

TEST_F(pair, ece_bad)
{
	struct ibv_ece ece = { .vendor_id = MYNIC_VENDOR_ID + 1 };

	EXPECT_EQ(ibv_set_ece(self->a.qp, &ece), EINVAL);
	ece.vendor_id = MYNIC_VENDOR_ID;
	ece.comp_mask = 1;
	EXPECT_EQ(ibv_set_ece(self->a.qp, &ece), EINVAL);
	EXPECT_EQ(options(&self->a), ECN);
}

static int limit(const struct end *e, uint32_t kbps)
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = kbps };

	return ibv_modify_qp_rate_limit(e->qp, &attr);
}

TEST_F(pair, rate_limit)
{
	struct end *a = &self->a, *b = &self->b;
	struct ibv_device_attr_ex attr = { 0 };
	long long before;

	ASSERT_EQ(ibv_query_device_ex(a->ctx, NULL, &attr), 0);
	EXPECT_EQ(attr.packet_pacing_caps.qp_rate_limit_min, 1);
	ASSERT_GT(attr.packet_pacing_caps.qp_rate_limit_max, 1000000);
	EXPECT_TRUE(attr.packet_pacing_caps.supported_qpts &
		    1 << variant->type);
	EXPECT_EQ(limit(a, 100000), EINVAL);
	ASSERT_EQ(to_rts(a, b), 0);
	ASSERT_EQ(to_rts(b, a), 0);
	EXPECT_EQ(check_write(a, b, BUF_SIZE), 0);

	before = counter(a->ctx, "rate_limited");
	ASSERT_EQ(limit(a, 100000), 0);
	EXPECT_EQ(check_write(a, b, BUF_SIZE), 0);
	/* sysfs may be some milliseconds behind */
	for (time_t end = deadline(); time(NULL) < end;)
		if (counter(a->ctx, "rate_limited") > before)
			break;
	EXPECT_GT(counter(a->ctx, "rate_limited"), before);

	EXPECT_EQ(limit(a, attr.packet_pacing_caps.qp_rate_limit_max), 0);
	EXPECT_EQ(limit(a, attr.packet_pacing_caps.qp_rate_limit_max + 1),
		  EINVAL);
	EXPECT_EQ(limit(a, 0), 0);
	EXPECT_EQ(check_write(a, b, BUF_SIZE), 0);
}

TEST_F(pair, rate_limit_bad)
{
	struct ibv_qp_rate_limit_attr bad[] = {
		{ .rate_limit = 1000, .max_burst_sz = 4096 },
		{ .rate_limit = 1000, .typical_pkt_sz = 1024 },
		{ .rate_limit = 1000, .comp_mask = 1 },
	};

	ASSERT_EQ(to_rts(&self->a, &self->b), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT_EQ(ibv_modify_qp_rate_limit(self->a.qp, &bad[i]),
			  EINVAL);
}

/*
 * struct modify_cmd - the command below ibv_modify_qp()
 * @driver: request of the driver, and what is behind it
 */
struct modify_cmd {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex_hdr;
	struct ib_uverbs_ex_modify_qp cmd;
	uint32_t driver[16];
};

#define UNTOUCHED 0xee

struct modify_resp {
	struct ib_uverbs_ex_modify_qp_resp resp;
	uint8_t driver[64];
};

static void set_path(struct ib_uverbs_qp_dest *dest,
		     const struct ibv_ah_attr *attr)
{
	memcpy(dest->dgid, &attr->grh.dgid, sizeof(dest->dgid));
	dest->sgid_index = attr->grh.sgid_index;
	dest->hop_limit = attr->grh.hop_limit;
	dest->is_global = attr->is_global;
	dest->port_num = attr->port_num;
}

static void set_modify(struct modify_cmd *cmd, const struct end *e,
		       const struct end *peer, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = rc_attr(e, peer);

	memset(cmd, 0, sizeof(*cmd));
	cmd->cmd.base = (struct ib_uverbs_modify_qp){
		.qp_handle = e->qp->handle,
		.attr_mask = rtr_mask(e->qp->qp_type),
		.qp_state = state,
		.path_mtu = attr.path_mtu,
		.dest_qp_num = attr.dest_qp_num,
		.rq_psn = attr.rq_psn,
		.max_dest_rd_atomic = attr.max_dest_rd_atomic,
		.min_rnr_timer = attr.min_rnr_timer,
	};
	set_path(&cmd->cmd.base.dest, &attr.ah_attr);
}

/* With so many bytes of request and response of the driver's; 0 or the errno */
static int modify(const struct end *e, struct modify_cmd *cmd, size_t in,
		  size_t out, struct modify_resp *resp)
{
	size_t len = offsetof(struct modify_cmd, driver) + in;

	memset(resp, UNTOUCHED, sizeof(*resp));
	cmd->hdr.command = IB_USER_VERBS_EX_CMD_MODIFY_QP |
			   IB_USER_VERBS_CMD_FLAG_EXTENDED;
	cmd->hdr.in_words = sizeof(cmd->cmd) / 8;
	cmd->hdr.out_words = sizeof(resp->resp) / 8;
	cmd->ex_hdr.response = (uintptr_t)resp;
	cmd->ex_hdr.provider_in_words = in / 8;
	cmd->ex_hdr.provider_out_words = out / 8;
	return write(e->ctx->cmd_fd, cmd, len) == (ssize_t)len ? 0 : errno;
}

static int to_init(const struct end *e)
{
	struct ibv_qp_attr attr = rc_attr(e, e);
	int err;

	attr.qp_state = IBV_QPS_RESET;
	err = ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_INIT;
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (!err)
		err = ibv_modify_qp(e->qp, &attr, init_mask(e->qp->qp_type));
	return err;
}

/* Requests that are longer or shorter than the driver's, and their contents */
TEST_F(pair, ece_requests)
{
	static const struct {
		uint32_t driver[4];
		size_t len;
		bool refused;
		uint32_t options;
	} cases[] = {
		{ { ECN }, 0, false, 0 },
		{ { 0 }, 8, false, 0 },
		{ { ECN }, 8, false, ECN },
		{ { UINT32_MAX }, 8, false, ECN },
		{ { UINT32_MAX & ~ECN }, 8, false, 0 },
		{ { ECN, 1 }, 8, true, 0 },
		{ { ECN }, 64, false, ECN },
		{ { ECN, 0, 0, 1 }, 16, true, 0 },
		{ { ECN, 0, 1 }, 64, true, 0 },
	};
	const struct mynic_modify_qp_resp *got;
	struct modify_resp resp;
	struct modify_cmd cmd;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t out = 0; out <= sizeof(resp.driver); out += 8) {
			int err;

			ASSERT_EQ(to_init(&self->a), 0);
			set_modify(&cmd, &self->a, &self->b, IBV_QPS_RTR);
			memcpy(cmd.driver, cases[i].driver, 16);
			err = modify(&self->a, &cmd, cases[i].len, out, &resp);
			if (cases[i].refused && err == EOPNOTSUPP)
				err = EINVAL;
			EXPECT_EQ(err, cases[i].refused ? EINVAL : 0)
			TH_LOG("case %zu: errno %d", i, err);
			got = (void *)resp.driver;
			if (!err && out >= sizeof(*got)) {
				EXPECT_EQ(got->ece_options, cases[i].options);
				EXPECT_EQ(got->reserved_04, 0);
			}
			/* nothing is written where there is no room */
			for (size_t k = out; k < sizeof(resp.driver); k++) {
				ASSERT_EQ(resp.driver[k], UNTOUCHED);
			}
		}
	}
}

/* Wrong lengths, and unmapped memory */
TEST_F(pair, modify_hostile)
{
	struct modify_resp resp;
	struct modify_cmd cmd;
	size_t len = offsetof(struct modify_cmd, driver);

	ASSERT_EQ(to_init(&self->a), 0);
	set_modify(&cmd, &self->a, &self->b, IBV_QPS_RTR);
	ASSERT_EQ(modify(&self->a, &cmd, 0, 0, &resp), 0);
	ASSERT_EQ(to_init(&self->a), 0);

	/* the same command with a wrong length */
	cmd.ex_hdr.provider_in_words = UINT16_MAX;
	EXPECT_EQ(write(self->a.ctx->cmd_fd, &cmd, len), -1);
	EXPECT_EQ(errno, EINVAL);
	cmd.ex_hdr.provider_in_words = 1;
	EXPECT_EQ(write(self->a.ctx->cmd_fd, &cmd, len), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(write(self->a.ctx->cmd_fd, &cmd, len + 4), -1);
	EXPECT_EQ(errno, EINVAL);
	cmd.ex_hdr.provider_in_words = 0;
	cmd.ex_hdr.response = 0x10;
	EXPECT_EQ(write(self->a.ctx->cmd_fd, &cmd, len), -1);
	EXPECT_EQ(errno, EFAULT);
	/* an invalid state */
	ASSERT_EQ(to_init(&self->a), 0);
	set_modify(&cmd, &self->a, &self->b, 77);
	EXPECT_NE(modify(&self->a, &cmd, 8, 8, &resp), 0);

	/* the QPs still work */
	ASSERT_EQ(to_rts(&self->b, &self->a), 0);
	set_modify(&cmd, &self->a, &self->b, IBV_QPS_RTR);
	ASSERT_EQ(modify(&self->a, &cmd, 0, 0, &resp), 0);
}

TEST_F(pair, rate_limit_requests)
{
	struct modify_resp resp;
	struct modify_cmd cmd;
	int err;

	ASSERT_EQ(to_rts(&self->a, &self->b), 0);
	memset(&cmd, 0, sizeof(cmd));
	cmd.cmd.base.qp_handle = self->a.qp->handle;
	cmd.cmd.base.attr_mask = IBV_QP_RATE_LIMIT;
	cmd.cmd.rate_limit = 1000;
	EXPECT_EQ(modify(&self->a, &cmd, 0, 0, &resp), 0);
	EXPECT_EQ(modify(&self->a, &cmd, 8, 8, &resp), 0);
	/* a rate limit is set together with valid driver data, or not at all */
	cmd.driver[1] = 1;
	err = modify(&self->a, &cmd, 8, 8, &resp);
	EXPECT_TRUE(err == EOPNOTSUPP || err == EINVAL);
	cmd.driver[1] = 0;
	cmd.driver[15] = 1;
	err = modify(&self->a, &cmd, 64, 8, &resp);
	EXPECT_TRUE(err == EOPNOTSUPP || err == EINVAL);
	cmd.cmd.rate_limit = UINT32_MAX;
	EXPECT_EQ(modify(&self->a, &cmd, 8, 8, &resp), EINVAL);
	cmd.cmd.rate_limit = 0;
	EXPECT_EQ(modify(&self->a, &cmd, 8, 8, &resp), 0);
}

FIXTURE(ud)
{
	struct end e;
};

FIXTURE_SETUP(ud)
{
	self->e.ctx = open_mynic(0);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_UD));
}

FIXTURE_TEARDOWN(ud)
{
	EXPECT_EQ(free_end(&self->e), 0);
	ibv_close_device(self->e.ctx);
}

/* UD has no peer with which to negotiate */
TEST_F(ud, no_ece)
{
	struct ibv_ece ece = { .vendor_id = MYNIC_VENDOR_ID };

	EXPECT_EQ(ibv_query_ece(self->e.qp, &ece), EOPNOTSUPP);
	EXPECT_EQ(ibv_set_ece(self->e.qp, &ece), EOPNOTSUPP);
}

TEST_F(ud, rate_limit)
{
	ASSERT_EQ(to_rts(&self->e, &self->e), 0);
	EXPECT_EQ(limit(&self->e, 1000), 0);
	EXPECT_EQ(limit(&self->e, 0), 0);
}

TEST_HARNESS_MAIN
