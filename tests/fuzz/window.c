// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory windows */
#include <errno.h>
#include <string.h>

#include "runner.h"

#define KEY_BYTE 0xff

static int alloc_mw(const struct line *line)
{
	struct ibv_pd *pd = live(line, KIND_PD, must(line, "pd"));
	struct object *obj = object(line, line->target);
	struct ibv_mw *mw;

	errno = 0;
	mw = ibv_alloc_mw(pd, number(line, "type", IBV_MW_TYPE_2));
	if (mw)
		obj->rkey = mw->rkey;
	return made(obj, mw);
}

static int bind_mw(const struct line *line)
{
	struct ibv_qp *qp = live(line, KIND_QP, line->target);
	char *text = (char *)must(line, "wr");
	struct ibv_mw_bind bind;
	struct request req;
	struct ibv_mw *mw;
	int err;

	request_parse(line, text, &req);
	mw = req.wr.bind_mw.mw;
	bind = (struct ibv_mw_bind){
		.wr_id = req.wr.wr_id,
		.send_flags = req.wr.send_flags,
		.bind_info = req.wr.bind_mw.bind_info,
	};
	err = ibv_bind_mw(qp, mw, &bind);
	if (mw->type == IBV_MW_TYPE_1)
		req.window->rkey = mw->rkey;
	return err;
}

/* Some requests to bind it have failed: it still has an earlier key. */
static int fix_mw(const struct line *line)
{
	struct ibv_mw *mw = live(line, KIND_MW, line->target);
	uint32_t key = mw->rkey - number(line, "back", 0);

	mw->rkey = (mw->rkey & ~KEY_BYTE) | (key & KEY_BYTE);
	object(line, line->target)->rkey = mw->rkey;
	return 0;
}

bool window_call(const struct line *line)
{
	if (!strcmp(line->verb, "alloc_mw"))
		expect_errno(line, alloc_mw(line));
	else if (!strcmp(line->verb, "bind_mw"))
		expect_errno(line, bind_mw(line));
	else if (!strcmp(line->verb, "fix_mw"))
		expect_errno(line, fix_mw(line));
	else
		return false;
	return true;
}
