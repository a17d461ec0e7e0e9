// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mock_driver SOCKET: a driver of a NIC, by commands on standard input.
 *
 * A line is a command: a word, then NAME=VALUE words. Numbers are as in C,
 * bytes are hexadecimal. The answer is one line: "ok" with NAME=VALUE words, or
 * "error" with the status of an admin command. A command that creates an object
 * answers with its handle for later commands. Defaults are those of
 * harness_driver.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "harness_driver.h"
#include "remote_nic.h"

#define MAX_HANDLES 4096
#define MAX_WORDS 64
#define MAX_LINE (1u << 20)

static struct drv *d;
static void *handles[MAX_HANDLES];
static unsigned int num_handles;
static char *words[MAX_WORDS];
static unsigned int num_words;

/* Replaces harness_tap.c: a failure ends this program */

void tap_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "mock_driver: %s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void tap_skip(const char *reason)
{
	tap_fail(__FILE__, __LINE__, "%s", reason);
}

void *tap_alloc(size_t size)
{
	void *memory = calloc(1, size);

	CHECK(memory);
	return memory;
}

/* Nothing to do: all is freed at the end of the process. */
void tap_at_end(void (*fn)(void *arg), void *arg)
{
	(void)fn;
	(void)arg;
}

/* The words of the command */

static const char *text(const char *name)
{
	size_t len = strlen(name);

	for (unsigned int i = 1; i < num_words; i++)
		if (!strncmp(words[i], name, len) && words[i][len] == '=')
			return words[i] + len + 1;
	return NULL;
}

static uint64_t parse_number(const char *name, const char *value, char stop,
			     char **end)
{
	uint64_t number;

	errno = 0;
	number = strtoull(value, end, 0);
	if (errno || *end == value || (**end && **end != stop))
		FAIL("%s: bad number %s", name, value);
	return number;
}

static uint64_t number_or(const char *name, uint64_t none)
{
	const char *value = text(name);
	char *end;

	return value ? parse_number(name, value, '\0', &end) : none;
}

static uint64_t number(const char *name)
{
	if (!text(name))
		FAIL("%s: no %s", words[0], name);
	return number_or(name, 0);
}

/* Return: bytes */
static size_t hex(const char *name, uint8_t *data, size_t size)
{
	const char *value = text(name);
	size_t len;

	if (!value)
		FAIL("%s: no %s", words[0], name);
	len = strlen(value) / 2;
	if (len > size)
		FAIL("%s: too long", name);
	for (size_t i = 0; i < len; i++) {
		char digits[3] = { value[2 * i], value[2 * i + 1] };

		data[i] = strtoul(digits, NULL, 16);
	}
	return len;
}

static void exact_bytes(const char *name, void *data, size_t len)
{
	CHECK_EQ(hex(name, data, len), len);
}

static void *handle(const char *name)
{
	uint64_t index = number(name);

	CHECK(index < num_handles);
	return handles[index];
}

static void *handle_or_none(const char *name)
{
	return text(name) ? handle(name) : NULL;
}

static unsigned int new_handle(void *object)
{
	CHECK(num_handles < MAX_HANDLES);
	handles[num_handles] = object;
	return num_handles++;
}

/* Answers */

static void end(uint8_t value)
{
	if (value)
		printf("error status=%u\n", value);
	else
		printf("ok\n");
}

static void print_bytes(const char *name, const uint8_t *data, size_t len)
{
	printf(" %s=", name);
	for (size_t i = 0; i < len; i++)
		printf("%02x", data[i]);
}

/* Commands */

static void do_pd(void)
{
	printf("ok pd=%u\n", drv_alloc_pd(d));
}

static void do_mr(void)
{
	struct drv_mr *mr = drv_reg_mr(d, number("pd"), number("len"),
				       number_or("access", ACCESS_ALL));

	printf("ok mr=%u addr=%llu key=%u\n", new_handle(mr),
	       (unsigned long long)mr->addr, mr->key);
}

/* Create a memory window of type 2, bound to a whole region through a QP */
static void do_mw(void)
{
	struct mynic_create_mkey body = { .pdn = number("pd") };
	const struct drv_mr *mr = handle("mr");
	struct drv_wr wr = {
		.wr_id = 0x3177,
		.opcode = IBV_WR_BIND_MW,
		.flags = IBV_SEND_SIGNALED,
		.bind = {
			.addr = mr->addr,
			.length = mr->len,
			.lkey = mr->key,
			.access = IBV_ACCESS_REMOTE_WRITE,
		},
	};

	CHECK_EQ(drv_create_mkey(d, &body, MYNIC_MKEY_MW2, &wr.rkey),
		 MYNIC_AQ_OK);
	wr.bind.new_rkey = wr.rkey + 1;
	drv_post_send(handle("qp"), &wr);
	drv_expect(handle("cq"), wr.wr_id, IBV_WC_SUCCESS);
	printf("ok key=%u\n", (wr.rkey & ~0xffu) | (wr.bind.new_rkey & 0xff));
}

/* Create a region, and take its memory away */
static void do_mr_lost(void)
{
	static uint64_t used = SIM_MEM_SIZE;
	struct sim_nic *n = d->n;
	struct mynic_create_mkey body = {
		.buf.addr = n->iova + used,
		.iova = 0x10000,
		.length = DRV_PAGE,
		.pdn = number("pd"),
		.access = ACCESS_ALL,
	};
	struct drv_mr *mr = tap_alloc(sizeof(*mr));
	void *page = mmap(NULL, DRV_PAGE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	CHECK_EQ(nic_dma_map(n->nic, body.buf.addr, DRV_PAGE, page, true), 0);
	mr->addr = body.iova;
	CHECK_EQ(drv_create_mkey(d, &body, 0, &mr->key), MYNIC_AQ_OK);
	CHECK_EQ(nic_dma_unmap(n->nic, body.buf.addr, DRV_PAGE), 0);
	munmap(page, DRV_PAGE);
	used += DRV_PAGE;
	printf("ok mr=%u addr=%llu key=%u\n", new_handle(mr),
	       (unsigned long long)mr->addr, mr->key);
}

static void do_mr_destroy(void)
{
	const struct drv_mr *mr = handle("mr");

	end(drv_number_cmd(d, MYNIC_CMD_DESTROY_MKEY, mr->key >> 8));
}

static void do_write(void)
{
	struct drv_mr *mr = handle("mr");
	uint64_t at = number_or("at", 0);

	CHECK(at <= mr->len);
	hex("data", mr->ptr + at, mr->len - at);
	printf("ok\n");
}

static void do_read(void)
{
	struct drv_mr *mr = handle("mr");
	uint64_t at = number_or("at", 0);
	uint64_t len = number("len");

	CHECK(at <= mr->len && len <= mr->len - at);
	printf("ok");
	print_bytes("data", mr->ptr + at, len);
	printf("\n");
}

static void do_cq(void)
{
	struct drv_cq *cq = drv_create_cq(d, number_or("log", 8));

	printf("ok cq=%u cqn=%u\n", new_handle(cq), cq->number);
}

static void do_arm(void)
{
	drv_arm(handle("cq"), number_or("solicited", 0));
	sim_settle(d->sim);
	printf("ok\n");
}

static void do_poll(void)
{
	struct mynic_cqe cqe;

	if (!drv_poll(handle("cq"), &cqe)) {
		printf("ok\n");
		return;
	}
	printf("ok id=%llu status=%u qpn=%u syndrome=%u",
	       (unsigned long long)cqe.wr_id, cqe.status, cqe.qp_num,
	       cqe.vendor_err);
	if (!cqe.status)
		printf(" op=%u len=%u imm=%u flags=%u src_qp=%u sl=%u vlan=%u",
		       cqe.opcode, cqe.byte_len, be32toh(cqe.imm_data),
		       cqe.wc_flags, cqe.src_qp, cqe.sl, cqe.cvlan);
	printf("\n");
}

static void do_xrcd(void)
{
	printf("ok xrcdn=%u\n", drv_alloc_xrcd(d));
}

static void do_srq(void)
{
	uint8_t log_size = number_or("log", 4);
	struct drv_srq *srq;

	if (text("xrcdn"))
		srq = drv_create_xrc_srq(d, number("pd"), number("xrcdn"),
					 handle("cq"), log_size);
	else
		srq = drv_create_srq(d, number("pd"), log_size);
	printf("ok srq=%u srqn=%u\n", new_handle(srq), srq->number);
}

static void do_qp(void)
{
	static const char *const types[] = {
		[MYNIC_QP_RC] = "rc",		[MYNIC_QP_UC] = "uc",
		[MYNIC_QP_UD] = "ud",		[MYNIC_QP_GSI] = "gsi",
		[MYNIC_QP_RAW_PACKET] = "raw",	[MYNIC_QP_XRC_INI] = "xrc_ini",
		[MYNIC_QP_XRC_TGT] = "xrc_tgt",
	};
	struct drv_qp_init init = {
		.pdn = number("pd"),
		.send_cq = handle("cq"),
		.recv_cq = handle("recv_cq"),
		.srq = handle_or_none("srq"),
		.log_rq_size = number_or("log_rq", 0),
	};
	struct drv_qp *qp;

	for (unsigned int i = 1; i < ARRAY_SIZE(types); i++)
		if (!strcmp(text("type"), types[i]))
			init.type = i;
	if (init.type == MYNIC_QP_XRC_TGT)
		qp = drv_create_target(d, number("xrcdn"));
	else
		qp = drv_create_qp(d, &init);
	printf("ok qp=%u qpn=%u\n", new_handle(qp), qp->number);
}

static void get_av(struct mynic_av *av)
{
	exact_bytes("dgid", av->dgid, sizeof(av->dgid));
	exact_bytes("dmac", av->dmac, sizeof(av->dmac));
	av->hop_limit = number_or("hop_limit", 64);
	av->traffic_class = number_or("traffic_class", 0);
	av->flow_label = number_or("flow_label", 0);
	av->sgid_index = number("sgid_index");
	av->sl = number_or("sl", 0);
}

#define ATTR(mask, field)                                      \
	{ #field, mask, offsetof(struct mynic_qp_attr, field), \
	  sizeof(((struct mynic_qp_attr *)0)->field) }

static const struct {
	const char *name;
	uint32_t mask;
	size_t offset;
	size_t size;
} attrs[] = {
	ATTR(IBV_QP_STATE, qp_state),
	ATTR(IBV_QP_PATH_MTU, path_mtu),
	ATTR(IBV_QP_QKEY, qkey),
	ATTR(IBV_QP_RQ_PSN, rq_psn),
	ATTR(IBV_QP_SQ_PSN, sq_psn),
	ATTR(IBV_QP_DEST_QPN, dest_qpn),
	ATTR(IBV_QP_ACCESS_FLAGS, access_flags),
	ATTR(IBV_QP_PKEY_INDEX, pkey_index),
	ATTR(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic),
	ATTR(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic),
	ATTR(IBV_QP_MIN_RNR_TIMER, min_rnr_timer),
	ATTR(IBV_QP_TIMEOUT, timeout),
	ATTR(IBV_QP_RETRY_CNT, retry_cnt),
	ATTR(IBV_QP_RNR_RETRY, rnr_retry),
	ATTR(IBV_QP_PORT, port_num),
};

static void do_modify(void)
{
	struct mynic_qp_attr attr = {};

	for (unsigned int i = 0; i < ARRAY_SIZE(attrs); i++) {
		uint64_t value;

		if (!text(attrs[i].name))
			continue;
		value = number(attrs[i].name);
		memcpy((uint8_t *)&attr + attrs[i].offset, &value,
		       attrs[i].size);
		attr.attr_mask |= attrs[i].mask;
	}
	if (text("dgid")) {
		get_av(&attr.av);
		attr.attr_mask |= IBV_QP_AV;
	}
	end(drv_modify_qp(handle("qp"), &attr));
}

static void do_query(void)
{
	struct mynic_qp_attr attr = drv_query_qp(handle("qp"));

	printf("ok");
	for (unsigned int i = 0; i < ARRAY_SIZE(attrs); i++) {
		uint32_t value = 0;

		memcpy(&value, (uint8_t *)&attr + attrs[i].offset,
		       attrs[i].size);
		printf(" %s=%u", attrs[i].name, value);
	}
	printf("\n");
}

static void do_reset(void)
{
	drv_reset_qp(handle("qp"));
	printf("ok\n");
}

/* Parse MR:OFFSET:LENGTH, separated by commas. Return: number of SGEs */
static unsigned int get_sges(struct mynic_sge *sges, unsigned int max)
{
	const char *at = text("sge");
	unsigned int num = 0;

	while (at && *at) {
		uint64_t index, offset, length;
		char *end;

		CHECK(num < max);
		index = parse_number("sge", at, ':', &end);
		CHECK(index < num_handles && *end);
		offset = parse_number("sge", end + 1, ':', &end);
		CHECK(*end);
		length = parse_number("sge", end + 1, ',', &end);
		sges[num++] = drv_sge(handles[index], offset, length);
		at = *end ? end + 1 : end;
	}
	return num;
}

/* TSO: insert the header before the SGEs, which are in the entry already */
static void put_header(struct mynic_send_wqe *wqe, unsigned int num_sge)
{
	uint8_t *data = (uint8_t *)wqe + MYNIC_WQE_DATA_EXT;
	uint8_t header[128];
	size_t len = hex("hdr", header, sizeof(header));

	wqe->mss = number("mss");
	wqe->hdr_len = len;
	memmove(data + (len + 15) / 16 * 16, data,
		num_sge * sizeof(struct mynic_sge));
	memcpy(data, header, len);
}

static void do_send(void)
{
	struct mynic_send_wqe *wqe;
	struct drv_wr wr = {
		.wr_id = number("id"),
		.opcode = number("op"),
		.flags = number_or("flags", IBV_SEND_SIGNALED),
		.imm = htobe32(number_or("imm", 0)),
		.remote_addr = number_or("addr", 0),
		.rkey = number_or("rkey", 0),
		.compare_add = number_or("compare_add", 0),
		.swap = number_or("swap", 0),
		.flush.length = number_or("flush_len", 0),
		.flush.placement = number_or("placement", 0),
		.flush.selectivity = number_or("selectivity", 0),
		.remote_qpn = number_or("remote_qpn", 0),
		.remote_qkey = number_or("remote_qkey", 0),
		.remote_srqn = number_or("remote_srqn", 0),
		.vlan = number_or("vlan", 0),
	};
	struct drv_qp *qp = handle("qp");

	wr.num_sge = get_sges(wr.sge, ARRAY_SIZE(wr.sge));
	if (text("dgid"))
		get_av(&wr.av);
	wqe = drv_write_wqe(qp, &wr);
	if (wr.opcode == IBV_WR_TSO)
		put_header(wqe, wr.num_sge);
	if (number_or("ring", 1))
		drv_ring(qp);
	sim_settle(d->sim);
	printf("ok\n");
}

static void do_recv(void)
{
	struct drv_srq *srq = handle_or_none("srq");
	struct mynic_sge sges[8];
	unsigned int num = get_sges(sges, ARRAY_SIZE(sges));

	if (srq)
		drv_post_srq_recv(srq, number("id"), sges, num);
	else
		drv_post_recv(handle("qp"), number("id"), sges, num);
	sim_settle(d->sim);
	printf("ok\n");
}

static void do_event(void)
{
	struct drv_eq *eq = number_or("comp", 0) ? &d->comp : &d->event;
	struct mynic_eqe eqe;

	if (!drv_eq_poll(eq, &eqe)) {
		printf("ok\n");
		return;
	}
	drv_eq_release(eq);
	printf("ok type=%u number=%u\n", eqe.type, eqe.number);
}

static void do_stats(void)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_QUERY_STATS };
	uint64_t stats[MYNIC_NUM_STATS];

	CHECK_EQ(drv_admin_out(d, &cmd, stats, sizeof(stats)), MYNIC_AQ_OK);
	printf("ok");
	for (unsigned int i = 0; i < MYNIC_NUM_STATS; i++)
		printf(" %u=%llu", i, (unsigned long long)stats[i]);
	printf("\n");
}

static void do_gid(void)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_SET_GID,
		.number = number("index"),
	};

	exact_bytes("gid", cmd.set_gid.gid, sizeof(cmd.set_gid.gid));
	memcpy(cmd.set_gid.mac, nic_mac(d->n->nic), sizeof(cmd.set_gid.mac));
	cmd.set_gid.vlan = number_or("vlan", MYNIC_NO_VLAN);
	end(drv_admin(d, &cmd, NULL));
}

static void do_mcast(void)
{
	const struct drv_qp *qp = handle("qp");
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_ATTACH_MCAST,
		.number = qp->number,
	};

	exact_bytes("gid", cmd.mcast.gid, sizeof(cmd.mcast.gid));
	end(drv_admin(d, &cmd, NULL));
}

/* Have a RAW_PACKET QP receive all Ethernet frames */
static void do_rx(void)
{
	const struct drv_qp *qp = handle("qp");
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_SET_RX,
		.number = qp->number,
		.set_rx.flags = MYNIC_RX_ENABLE | MYNIC_RX_PROMISC,
	};

	end(drv_admin(d, &cmd, NULL));
}

static void do_port(void)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_QUERY_PORT };
	struct mynic_port_attr attr;

	CHECK_EQ(drv_admin_out(d, &cmd, &attr, sizeof(attr)), MYNIC_AQ_OK);
	printf("ok link_up=%u\n", attr.link_up);
}

static const struct {
	const char *name;
	void (*run)(void);
} commands[] = {
	{ "pd", do_pd },	   { "mr", do_mr },
	{ "mr-lost", do_mr_lost }, { "mr-destroy", do_mr_destroy },
	{ "mw", do_mw },	   { "write", do_write },
	{ "read", do_read },	   { "cq", do_cq },
	{ "arm", do_arm },	   { "poll", do_poll },
	{ "srq", do_srq },	   { "xrcd", do_xrcd },
	{ "qp", do_qp },	   { "modify", do_modify },
	{ "query", do_query },	   { "reset", do_reset },
	{ "send", do_send },	   { "recv", do_recv },
	{ "event", do_event },	   { "stats", do_stats },
	{ "gid", do_gid },	   { "mcast", do_mcast },
	{ "rx", do_rx },	   { "port", do_port },
};

static void run(char *line)
{
	char *word;

	num_words = 0;
	line[strcspn(line, "\n")] = '\0';
	while ((word = strsep(&line, " "))) {
		if (!*word)
			continue;
		CHECK(num_words < MAX_WORDS);
		words[num_words++] = word;
	}
	CHECK(num_words);
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(words[0], commands[i].name)) {
			commands[i].run();
			return;
		}
	}
	FAIL("no such command: %s", words[0]);
}

int main(int argc, char **argv)
{
	static char line[MAX_LINE];

	if (argc != 2) {
		fprintf(stderr, "Usage: mock_driver SOCKET\n");
		return 2;
	}
	remote_nic(0, argv[1]);
	d = drv_one();
	printf("ok\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		run(line);
		fflush(stdout);
	}
	return 0;
}
