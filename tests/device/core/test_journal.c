// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The journal: its entries after errors, and that it is off by default */
#include <stdarg.h>

#include "core/base/journal.h"
#include "core/packet/aeth.h"
#include "harness_eth.h"
#include "host/journal_text.h"

static struct nic *nic_of(const struct drv_end *end)
{
	return end->d->n->nic;
}

static struct drv_pair pair_with_journals(void)
{
	struct drv_pair p = drv_rc_pair(NULL);

	CHECK(nic_keep_journal(nic_of(&p.a), true));
	CHECK(nic_keep_journal(nic_of(&p.b), true));
	return p;
}

/* All lines, without their times */
static char *all_lines(const struct nic *nic)
{
	const struct journal *journal = nic_journal(nic);
	char *text = tap_alloc((JOURNAL_SIZE + 1) * JOURNAL_LINE_SIZE);
	char line[JOURNAL_LINE_SIZE];
	char *at = text;

	*at++ = '\n';
	for (uint64_t i = journal_first(journal); i < journal->num; i++) {
		journal_text(journal_at(journal, i), line);
		at += sprintf(at, "%s\n", strchr(line, ' ') + 1);
	}
	return text;
}

static const char *find_line(const struct nic *nic, const char *line)
{
	char *with_ends = tap_alloc(JOURNAL_LINE_SIZE + 2);

	sprintf(with_ends, "\n%s\n", line);
	return strstr(all_lines(nic), with_ends);
}

static void __attribute__((format(printf, 2, 3)))
expect(const struct drv_end *end, const char *format, ...)
{
	char line[JOURNAL_LINE_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (!find_line(nic_of(end), line))
		FAIL("no line \"%s\" in:%s", line, all_lines(nic_of(end)));
}

/* Make a command fail, which changes nothing and makes one entry */
static void fail_command(struct drv *d)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_DESTROY_CQ,
				       .number = htole32(0x12345) };

	CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BAD_NUMBER);
}

TEST(off_until_it_is_wanted)
{
	struct drv_pair p = drv_rc_pair(NULL);
	const struct journal *journal = nic_journal(nic_of(&p.a));
	uint64_t memory = nic_memory(nic_of(&p.a));

	CHECK(!journal->entries);
	CHECK_EQ(journal->num, 0);
	CHECK(nic_keep_journal(nic_of(&p.a), true));
	CHECK_EQ(journal->num, 0);
	fail_command(p.a.d);
	CHECK_EQ(journal->num, 1);
	/* The guest does not pay for it */
	CHECK_EQ(nic_memory(nic_of(&p.a)), memory);
	CHECK(nic_keep_journal(nic_of(&p.a), false));
	fail_command(p.a.d);
	CHECK_EQ(journal->num, 1);
	CHECK_EQ(journal_first(journal), 1);
	/* No entry of the next journal has a number of this one */
	CHECK(nic_keep_journal(nic_of(&p.a), true));
	CHECK_EQ(journal_first(journal), 1);
	fail_command(p.a.d);
	CHECK_EQ(journal->num, 2);
	CHECK_EQ(journal_first(journal), 1);
}

TEST(commands)
{
	struct drv_pair p = pair_with_journals();
	struct mynic_admin_cmd beat = { .opcode = MYNIC_CMD_NOP };
	const struct journal *journal = nic_journal(nic_of(&p.a));

	fail_command(p.a.d);
	expect(&p.a,
	       "command DESTROY_CQ number=0x12345 BAD_NUMBER created=0x0");
	/* Commands that only query make no entries */
	CHECK_EQ(drv_admin(p.a.d, &beat, NULL), MYNIC_AQ_OK);
	drv_query_qp(p.a.qp);
	CHECK_EQ(journal->num, 1);
}

TEST(states)
{
	struct drv_pair p = pair_with_journals();

	drv_reset_qp(p.a.qp);
	expect(&p.a, "state qp=0x%x RTS to RESET by MODIFY_QP", p.a.qp->number);
}

TEST(remote_access)
{
	struct drv_pair p = pair_with_journals();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_READ, 100);
	uint32_t from = p.a.qp->number, to = p.b.qp->number;
	uint32_t psn = le32toh(drv_query_qp(p.b.qp).rq_psn);

	wr.rkey ^= 0x100;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_ACCESS_ERR);
	expect(&p.b, "key qp=0x%x key=0x%x addr=0x%llx length=100 no such key",
	       to, wr.rkey, (unsigned long long)wr.remote_addr);
	expect(&p.b,
	       "refused qp=0x%x remote access opcode=rc-rdma-read-request psn=0x%x key=0x%x addr=0x%llx length=100",
	       to, psn, wr.rkey, (unsigned long long)wr.remote_addr);
	expect(&p.b, "count qp=0x%x tx_nak_access unacked=0x%x expected=0x%x",
	       to, le32toh(drv_query_qp(p.b.qp).sq_psn), psn);
	expect(&p.b, "state qp=0x%x RTS to ERR by the NIC: QP_ACCESS_ERROR",
	       to);
	expect(&p.b, "event QP_ACCESS_ERROR number=0x%x", to);
	expect(&p.a,
	       "send error qp=0x%x RDMA_READ REM_ACCESS_ERR syndrome=REMOTE_ACCESS unacked=0x%x",
	       from, psn);
	expect(&p.a, "state qp=0x%x RTS to ERR by the NIC", from);
}

TEST(rights_and_bounds)
{
	struct drv_pair p = pair_with_journals();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 100);

	wr.remote_addr += p.b.mr->len - 50;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_ACCESS_ERR);
	expect(&p.b,
	       "key qp=0x%x key=0x%x addr=0x%llx length=100 out of the region",
	       p.b.qp->number, wr.rkey, (unsigned long long)wr.remote_addr);
}

/* Atomics name their 8 bytes in a header of their own */
TEST(refused_atomic)
{
	struct drv_pair p = pair_with_journals();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);

	wr.rkey ^= 0x100;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_ACCESS_ERR);
	expect(&p.b, "key qp=0x%x key=0x%x addr=0x%llx length=8 no such key",
	       p.b.qp->number, wr.rkey, (unsigned long long)wr.remote_addr);
	expect(&p.b,
	       "refused qp=0x%x remote access opcode=rc-fetch-add psn=0x0 key=0x%x addr=0x%llx length=8",
	       p.b.qp->number, wr.rkey, (unsigned long long)wr.remote_addr);
}

/* A FLUSH of a region and an invalidation have a key but no range */
TEST(key_without_a_range)
{
	struct drv_pair p = pair_with_journals();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_FLUSH, 0);
	struct drv_wr inv = { .wr_id = 0x78, .opcode = IBV_WR_LOCAL_INV };

	wr.num_sge = 0;
	wr.rkey ^= 0x100;
	wr.flush = (struct mynic_flush_operands){
		.placement = IBV_FLUSH_GLOBAL,
		.selectivity = IBV_FLUSH_MR,
	};
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_ACCESS_ERR);
	expect(&p.b, "key qp=0x%x key=0x%x addr=0x0 length=0 no such key",
	       p.b.qp->number, wr.rkey);

	p = pair_with_journals();
	inv.imm = p.a.mr->key ^ 0x100;
	drv_post_send(p.a.qp, &inv);
	drv_expect(p.a.cq, 0x78, IBV_WC_MW_BIND_ERR);
	expect(&p.a, "key qp=0x0 key=0x%x addr=0x0 length=0 no such key",
	       inv.imm);

	/* A region that the host has made cannot be invalidated */
	p = pair_with_journals();
	inv.imm = p.a.mr->key;
	drv_post_send(p.a.qp, &inv);
	drv_expect(p.a.cq, 0x78, IBV_WC_MW_BIND_ERR);
	expect(&p.a, "key qp=0x0 key=0x%x addr=0x0 length=0 not allowed",
	       inv.imm);

	p = pair_with_journals();
	inv = drv_pair_wr(&p, IBV_WR_SEND_WITH_INV, 0);
	inv.num_sge = 0;
	inv.imm = p.b.mr->key;
	drv_post_recv(p.b.qp, 5, NULL, 0);
	drv_post_send(p.a.qp, &inv);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_ACCESS_ERR);
	expect(&p.b, "key qp=0x%x key=0x%x addr=0x0 length=0 not allowed",
	       p.b.qp->number, inv.imm);
}

TEST(local_key)
{
	struct drv_pair p = pair_with_journals();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 100);

	wr.sge[0].lkey ^= 0x100;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_PROT_ERR);
	expect(&p.a, "key qp=0x0 key=0x%x addr=0x%llx length=100 no such key",
	       wr.sge[0].lkey, (unsigned long long)wr.sge[0].addr);
	CHECK(strstr(all_lines(nic_of(&p.a)),
		     " SEND LOC_PROT_ERR syndrome=BAD_LKEY "));
}

TEST(message_too_long)
{
	struct drv_pair p = pair_with_journals();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 100);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 50);

	drv_post_recv(p.b.qp, 5, &sge, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_INV_REQ_ERR);
	CHECK(strstr(all_lines(nic_of(&p.b)),
		     " LOC_LEN_ERR syndrome=RQ_LEN expected="));
	CHECK(strstr(all_lines(nic_of(&p.b)),
		     " invalid request opcode=rc-send-only psn="));
}

TEST(packets_to_nobody)
{
	struct drv_pair p = pair_with_journals();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 100);
	uint32_t psn = le32toh(drv_query_qp(p.a.qp).sq_psn);

	drv_reset_qp(p.b.qp);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_RETRY_EXC_ERR);
	expect(&p.b,
	       "drop qp=0x%x rx_drop_qp opcode=rc-rdma-write-only psn=0x%x",
	       p.b.qp->number, psn);
	expect(&p.a, "count qp=0x%x ack_timeout unacked=0x%x expected=0x%x",
	       p.a.qp->number, psn, le32toh(drv_query_qp(p.a.qp).rq_psn));
	CHECK(strstr(all_lines(nic_of(&p.a)), " retry_exceeded "));
	CHECK(strstr(all_lines(nic_of(&p.a)),
		     " RDMA_WRITE RETRY_EXC_ERR syndrome=RETRY "));
}

/* One entry for the error, and none for flushed requests */
TEST(flushed_sends_are_no_news)
{
	struct drv_pair p = pair_with_journals();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 100);
	const struct journal *journal = nic_journal(nic_of(&p.a));
	unsigned int errors = 0;

	wr.sge[0].lkey ^= 0x100;
	for (unsigned int i = 0; i < 32; i++)
		drv_write_wqe(p.a.qp, &wr);
	drv_ring(p.a.qp);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_PROT_ERR);
	for (unsigned int i = 1; i < 32; i++)
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_WR_FLUSH_ERR);
	for (uint64_t i = 0; i < journal->num; i++)
		errors += journal_at(journal, i)->kind == JOURNAL_SEND_ERROR;
	CHECK_EQ(errors, 1);
	CHECK(!strstr(all_lines(nic_of(&p.a)), "WR_FLUSH_ERR"));
}

/* The command, and the state */
TEST(flushed_receives_are_no_news)
{
	struct drv_pair p = pair_with_journals();
	const struct journal *journal = nic_journal(nic_of(&p.b));
	uint64_t before;

	for (unsigned int i = 0; i < 32; i++)
		drv_post_recv(p.b.qp, i, NULL, 0);
	before = journal->num;
	CHECK_EQ(drv_set_state(p.b.qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	for (unsigned int i = 0; i < 32; i++)
		drv_expect(p.b.recv_cq, i, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(journal->num, before + 2);
	expect(&p.b, "state qp=0x%x RTS to ERR by MODIFY_QP", p.b.qp->number);
}

TEST(only_the_last_entries_are_kept)
{
	struct drv_pair p = pair_with_journals();
	const struct journal *journal = nic_journal(nic_of(&p.a));
	uint64_t last = 0;

	for (unsigned int i = 0; i < JOURNAL_SIZE + 100; i++)
		fail_command(p.a.d);
	CHECK_EQ(journal->num, JOURNAL_SIZE + 100);
	CHECK_EQ(journal_first(journal), 100);
	for (uint64_t i = 100; i < journal->num; i++) {
		CHECK(journal_at(journal, i)->time >= last);
		last = journal_at(journal, i)->time;
	}
}

/* The end of a NIC matters most */
TEST(outlives_a_fatal_error)
{
	struct drv_pair p = pair_with_journals();

	sim_write32(p.a.d->n, MYNIC_REG_AQ_DOORBELL, 0x12345678);
	expect(&p.a, "fatal 2");
	sim_write32(p.a.d->n, MYNIC_REG_CONTROL, MYNIC_CONTROL_RESET);
	expect(&p.a, "fatal 2");
	expect(&p.a, "reset");
}

/* A guest or a peer may choose the values of an entry */
TEST(any_entry_has_a_text)
{
	struct journal_entry entry;
	char line[JOURNAL_LINE_SIZE];
	uint64_t random = 1;

	for (unsigned int kind = 0; kind <= JOURNAL_PAGE; kind++) {
		for (unsigned int i = 0; i < 1000; i++) {
			uint8_t *bytes = (uint8_t *)&entry;

			for (size_t j = 0; j < sizeof(entry); j++) {
				random = random * 6364136223846793005 + 1;
				bytes[j] = random >> 56;
			}
			entry.kind = kind;
			/* Numbers of counters come from the NIC itself */
			if (kind == JOURNAL_COUNT || kind == JOURNAL_DROP)
				entry.code %= MYNIC_NUM_STATS;
			journal_text(&entry, line);
			CHECK(strchr(line, ' ')[1]);
			CHECK(strlen(line) < JOURNAL_LINE_SIZE - 1);
		}
	}
}

static void check_has_names(struct journal_entry entry)
{
	char line[JOURNAL_LINE_SIZE];

	journal_text(&entry, line);
	if (strstr(line, "unknown"))
		FAIL("kind %u: %s", entry.kind, line);
}

TEST(numbers_have_names)
{
	struct journal_entry e = { .kind = JOURNAL_COMMAND,
				   .code = MYNIC_CMD_NOP };

	for (e.status = MYNIC_AQ_OK; e.status <= MYNIC_AQ_NOT_SUPPORTED;
	     e.status++)
		check_has_names(e);

	e = (struct journal_entry){ .kind = JOURNAL_EVENT };
	for (e.code = MYNIC_EVENT_COMP; e.code <= MYNIC_EVENT_PORT_DOWN;
	     e.code++)
		check_has_names(e);
	for (unsigned int i = 0; i < MYNIC_PAGE_STAGES; i++) {
		e.code = MYNIC_EVENT_PAGE_FAULT + i;
		check_has_names(e);
	}

	e = (struct journal_entry){ .kind = JOURNAL_PAGE };
	for (; e.code < MYNIC_PAGE_STAGES; e.code++)
		check_has_names(e);

	e = (struct journal_entry){ .kind = JOURNAL_MODIFIED };
	for (; e.from <= IBV_QPS_ERR; e.from++) {
		e.to = e.from;
		check_has_names(e);
	}

	e = (struct journal_entry){ .kind = JOURNAL_RECV_ERROR };
	e.status = IBV_WC_GENERAL_ERR;
	for (; e.from <= MYNIC_SYN_MKEY_BOUNDS; e.from++)
		check_has_names(e);

	e = (struct journal_entry){ .kind = JOURNAL_REFUSED };
	for (; e.code <= AETH_NAK_REMOTE_OPERATION; e.code++)
		check_has_names(e);

	e = (struct journal_entry){ .kind = JOURNAL_KEY };
	for (; e.code <= JOURNAL_NO_RANGE; e.code++)
		check_has_names(e);

	e = (struct journal_entry){ .kind = JOURNAL_COUNT };
	for (; e.code < MYNIC_NUM_STATS; e.code++)
		check_has_names(e);
}

static void raw_up(struct drv_pair *p)
{
	eth_raw_up(p->a.qp);
}

static void copy_up(struct drv_pair *p)
{
	for (int state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++)
		CHECK_EQ(drv_set_state(p->a.qp, state), MYNIC_AQ_OK);
}

static void rc_up(struct drv_pair *p)
{
	static const struct drv_path path = { 0 };

	drv_connect_to(p->a.qp, 1, p->b.qp->number, &path, IBV_QPS_RTS);
}

/* Check that all operations of a QP type have names in entries */
static void check_requests(enum mynic_qp_type type,
			   void (*up)(struct drv_pair *p),
			   unsigned int expected)
{
	struct drv_qp_init init = { .type = type, .flags = MYNIC_QP_KERNEL };
	struct drv_pair p = drv_pair_unconnected(&init);
	const struct journal *journal = nic_journal(nic_of(&p.a));
	unsigned int known = 0;

	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		struct drv_wr wr = {
			.wr_id = DRV_WR_ID,
			.opcode = opcode,
			.flags = 1 << 20,
		};
		struct mynic_cqe cqe;

		up(&p);
		CHECK(nic_keep_journal(nic_of(&p.a), true));
		drv_post_send(p.a.qp, &wr);
		cqe = drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_QP_OP_ERR);
		for (uint64_t i = 0; i < journal->num; i++) {
			struct journal_entry entry = *journal_at(journal, i);

			if (cqe.vendor_err != MYNIC_SYN_BAD_OPCODE &&
			    entry.kind == JOURNAL_SEND_ERROR) {
				check_has_names(entry);
				known++;
			}
		}
		drv_reset_qp(p.a.qp);
	}
	CHECK_EQ(known, expected);
}

TEST(requests_have_names)
{
	check_requests(MYNIC_QP_RC, rc_up, 13);
	check_requests(MYNIC_QP_RAW_PACKET, raw_up, 2);
	check_requests(MYNIC_QP_DRIVER, copy_up, 1);
}

/* Without the word "traffic", none of it is there. */
TEST(no_traffic)
{
	struct drv_pair p = pair_with_journals();

	drv_send_recv(&p.a, &p.b, 100);
	sim_settle(p.sim);
	CHECK(!strstr(all_lines(nic_of(&p.a)), "doorbell"));
	CHECK(!strstr(all_lines(nic_of(&p.a)), "sent"));
	CHECK(!strstr(all_lines(nic_of(&p.b)), "received"));
	CHECK(!strstr(all_lines(nic_of(&p.a)), "completion"));
}

static void expect_packet(const struct drv_end *end, const char *way,
			  uint32_t qpn, uint32_t psn, uint32_t len)
{
	/* Ethernet, IPv6, UDP, BTH, and the ICRC */
	uint32_t frame = 14 + 40 + 8 + 12 + len + 4;

	expect(end,
	       "%s to=0x%x opcode=rc-send-only psn=0x%x length=%u packets=1",
	       way, qpn, psn, frame);
}

TEST(traffic)
{
	struct drv_pair p = pair_with_journals();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 100);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 100);
	uint32_t psn = drv_query_qp(p.a.qp).sq_psn;

	nic_journal_traffic(nic_of(&p.a));
	nic_journal_traffic(nic_of(&p.b));
	drv_post_recv(p.b.qp, 5, &sge, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.b.recv_cq, 5, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	expect(&p.a, "doorbell qp=0x%x", p.a.qp->number);
	expect_packet(&p.a, "sent", p.b.qp->number, psn, 100);
	expect_packet(&p.b, "received", p.b.qp->number, psn, 100);
	expect(&p.b,
	       "completion qp=0x%x cq=0x%x wr_id=0x5 SUCCESS receive length=100",
	       p.b.qp->number, p.b.recv_cq->number);
	expect(&p.a,
	       "completion qp=0x%x cq=0x%x wr_id=0x77 SUCCESS send length=100",
	       p.a.qp->number, p.a.cq->number);
}

TEST(traffic_ends_with_the_journal)
{
	struct drv_pair p = pair_with_journals();

	nic_journal_traffic(nic_of(&p.a));
	CHECK(nic_keep_journal(nic_of(&p.a), false));
	drv_send_recv(&p.a, &p.b, 100);
	CHECK(nic_keep_journal(nic_of(&p.a), true));
	drv_send_recv(&p.a, &p.b, 100);
	CHECK(!strstr(all_lines(nic_of(&p.a)), "sent"));
}

TEST(traffic_with_an_error)
{
	struct drv_pair p = pair_with_journals();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 8);

	nic_journal_traffic(nic_of(&p.a));
	wr.rkey++;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_ACCESS_ERR);
	expect(&p.a, "completion qp=0x%x cq=0x%x wr_id=0x77 REM_ACCESS_ERR",
	       p.a.qp->number, p.a.cq->number);
}
