// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Wire faults, in virtual time */
#include <stdlib.h>

#include "core/packet/ip_gid.h"
#include "core/packet/opcode.h"
#include "harness_tap.h"
#include "wire/faults.h"
#include "wire/frame.h"
#include "wire/hold.h"
#include "wire/opcode_name.h"
#include "core/packet/packet_copy.h"

#define USEC 1000ull
#define MSEC (1000 * USEC)
#define SEC (1000 * MSEC)

#define PAYLOAD 1000
/* Ethernet, IPv4, UDP, BTH, payload, ICRC */
#define FRAME (14 + 20 + 8 + 12 + PAYLOAD + 4)

#define MAX_LOG 4096

/**
 * struct arrival - a packet that has passed
 * @at: time
 * @dir: direction
 * @psn: its PSN; of an Ethernet packet, its first four bytes
 * @traffic_class: RoCE only
 * @defect: as in the packet
 */
struct arrival {
	uint64_t at;
	enum fault_dir dir;
	uint32_t psn;
	uint8_t traffic_class;
	enum packet_defect defect;
};

static struct faults *faults;
static uint64_t now;
static unsigned int next_number = 1;
static struct arrival got[MAX_LOG];
static unsigned int num_got;
static char events[MAX_LOG];
static uint8_t payload[PAYLOAD];
static void (*on_deliver)(enum fault_dir dir, const struct packet *pkt);

static void deliver(void *ctx, enum fault_dir dir, const struct packet *pkt)
{
	struct arrival *a = &got[num_got % MAX_LOG];

	CHECK(ctx == got);
	num_got++;
	*a = (struct arrival){ now, dir, pkt->roce.psn, pkt->roce.traffic_class,
			       pkt->defect };
	if (pkt->kind == PACKET_ETH && pkt->payload_len >= sizeof(a->psn))
		memcpy(&a->psn, pkt->iov[0].iov_base, sizeof(a->psn));
	if (on_deliver)
		on_deliver(dir, pkt);
}

static void applied(void *ctx, const struct fault_event *event)
{
	size_t len = strlen(events);

	CHECK(ctx == got);
	if (len < sizeof(events) - 64)
		sprintf(events + len, "%u %s %s %u\n", event->rule, event->what,
			event->dir == FAULT_TX ? "tx" : "rx",
			event->pkt->roce.psn);
}

static void end(void *arg)
{
	(void)arg;
	faults_destroy(faults);
}

static int try_add(const char *rule, char *error)
{
	static const struct faults_ops ops = { deliver, applied };

	if (!faults) {
		faults = faults_create(&ops, got);
		CHECK(faults);
		tap_at_end(end, NULL);
	}
	return faults_add(faults, next_number, rule, 77, error);
}

static unsigned int add(const char *rule)
{
	char error[FAULTS_ERROR_SIZE] = "";

	if (try_add(rule, error))
		FAIL("%s: %s", rule, error);
	return next_number++;
}

static struct packet roce(uint32_t psn)
{
	struct packet pkt = {
		.kind = PACKET_ROCE,
		.dmac = { 2, 0, 0, 0, 0, 1 },
		.smac = { 2, 0, 0, 0, 0, 2 },
		.vlan = PACKET_NO_VLAN,
		.roce = {
			.traffic_class = 2,
			.hop_limit = 64,
			.opcode = BTH_RC_SEND_ONLY,
			.pkey = 0xffff,
			.dest_qpn = 0x12,
			.psn = psn,
		},
		.payload_len = PAYLOAD,
		.niov = 1,
		.iov = { { payload, PAYLOAD } },
	};

	gid_from_ipv4((uint8_t[]){ 10, 0, 0, 1 }, pkt.roce.sgid);
	gid_from_ipv4((uint8_t[]){ 10, 0, 0, 2 }, pkt.roce.dgid);
	return pkt;
}

static struct packet eth(uint32_t *first)
{
	struct packet pkt = roce(0);

	pkt.kind = PACKET_ETH;
	pkt.ethertype = 0x88b5;
	pkt.payload_len = sizeof(*first);
	pkt.iov[0] = (struct iovec){ first, sizeof(*first) };
	return pkt;
}

static void pass(const struct packet *pkt)
{
	faults_pass(faults, now, FAULT_TX, pkt);
}

static void pass_psn(uint32_t psn)
{
	struct packet pkt = roce(psn);

	pass(&pkt);
}

static void pass_psns(uint32_t first, unsigned int num)
{
	for (unsigned int i = 0; i < num; i++)
		pass_psn(first + i);
}

/* Handle all packets that are due */
static void run(void)
{
	while (faults_step(faults, now))
		;
}

static void run_until(uint64_t end)
{
	uint64_t next;

	while ((next = faults_next_event(faults)) <= end) {
		CHECK(next > now);
		now = next;
		run();
		CHECK(faults_next_event(faults) > now);
	}
	now = end;
}

static struct fault_stats stats_of(unsigned int number)
{
	for (unsigned int i = 0; i < faults_num_rules(faults); i++)
		if (faults_stats(faults, i).number == number)
			return faults_stats(faults, i);
	FAIL("there is no rule %u", number);
}

static void check_psns(const uint32_t *psns, unsigned int num)
{
	CHECK_EQ(num_got, num);
	for (unsigned int i = 0; i < num; i++)
		CHECK_EQ(got[i].psn, psns[i]);
}

#define CHECK_PSNS(...)                                   \
	do {                                              \
		const uint32_t psns_[] = { __VA_ARGS__ }; \
		check_psns(psns_, ARRAY_SIZE(psns_));     \
	} while (0)

static void check_error(const char *rule, const char *want)
{
	char error[FAULTS_ERROR_SIZE] = "";

	CHECK(try_add(rule, error) < 0);
	if (strcmp(error, want))
		FAIL("%s:\n%s\nnot:\n%s", rule, error, want);
}

#define KINDS "drop, duplicate, reorder, corrupt, delay, rate, mark or down"

TEST(wrong_rules)
{
	char text[FAULTS_RULE_SIZE + 1];

	check_error("", "there is no key \"\"");
	check_error("rate=1", "kind is missing; it has to be " KINDS);
	check_error("kind", "kind has no value; it has to be " KINDS);
	check_error("kind=", "kind: \"\" is not " KINDS);
	check_error("kind=loss", "kind: \"loss\" is not " KINDS);
	check_error("kind=drop,kind=drop", "kind is given twice");
	check_error("kind=drop,", "there is no key \"\"");
	check_error("kind=drop,colour=red", "there is no key \"colour\"");
	check_error("kind=drop,bits=3", "bits is not for kind=drop");
	check_error("kind=drop,time=3us", "time is not for kind=drop");
	check_error("kind=down,rate=0.5", "rate is not for kind=down");
	check_error(
		"kind=delay",
		"kind=delay needs time, a time up to 60s such as 50us or 2ms");
	check_error(
		"kind=rate",
		"kind=rate needs bandwidth, bits per second such as 100Mbit or 1Gbit");
	check_error("kind=rate,bandwidth=1Gbit,queue=10,ecn=10",
		    "ecn has to be less than queue, 10");
	check_error("kind=drop,proto=eth,qp=3",
		    "with qp, opcode or psn proto has to be roce");
	check_error("kind=drop,proto=all,psn=3",
		    "with qp, opcode or psn proto has to be roce");
	check_error(
		"kind=drop,opcode=rc-frobnicate",
		"opcode: \"rc-frobnicate\" is not an opcode such as rc-send-only or 0x04");
	check_error("kind=drop,dir=up", "dir: \"up\" is not tx or rx");
	memset(text, 'x', FAULTS_RULE_SIZE);
	text[FAULTS_RULE_SIZE] = 0;
	check_error(text, "a rule has at most 255 characters");
	/* What is quoted is cut. */
	text[200] = 0;
	memcpy(text, "kind=", 5);
	check_error(text,
		    "kind: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\" is not " KINDS);
	CHECK_EQ(faults_num_rules(faults), 0);
}

/* Behind "kind=drop," */
static const char *const bad_values[] = {
	"rate=",
	"rate=2",
	"rate=1.1",
	"rate=-0.1",
	"rate=.5",
	"rate=0.",
	"rate=0.0000000001",
	"rate=1e-3",
	"rate=0.5x",
	"rate=1.000000001",
	"rate= 1",
	"rate=01",
	"qp=0x1000000",
	"qp=-1",
	"qp=",
	"qp=0x",
	"qp=12a",
	"qp= 1",
	"opcode=0x100",
	"opcode=4",
	"opcode=0x",
	"opcode=0x4g",
	"opcode=",
	"opcode=0x+4",
	"opcode=0x-1",
	"opcode=0x 4",
	"psn=1-",
	"psn=-1",
	"psn=1-2-3",
	"psn=0x1000000",
	"psn=0-0x1000000",
	"psn=",
	"count=0",
	"count=x",
	"count=",
	"after=-1",
	"after=",
	"seed=",
	"seed=0x10000000000000000",
	"seed=18446744073709551616",
	"proto=tcp",
	"proto=",
	"dir=",
};

static const char *const bad_rules[] = {
	"kind=delay,time=",
	"kind=delay,time=5",
	"kind=delay,time=61s",
	"kind=delay,time=0us",
	"kind=delay,time=1.5ms",
	"kind=delay,time=us",
	"kind=delay,time=60000000001ns",
	"kind=delay,time=18446744073709551617ns",
	"kind=corrupt,bits=0",
	"kind=corrupt,bits=65",
	"kind=rate,bandwidth=1",
	"kind=rate,bandwidth=0Gbit",
	"kind=rate,bandwidth=2000Gbit",
	"kind=rate,bandwidth=1Gbit,queue=67108865",
	"kind=rate,bandwidth=1Gbit,ecn=67108865",
};

TEST(wrong_values)
{
	char error[FAULTS_ERROR_SIZE], rule[64];

	for (unsigned int i = 0; i < ARRAY_SIZE(bad_values); i++) {
		snprintf(rule, sizeof(rule), "kind=drop,%s", bad_values[i]);
		if (!try_add(rule, error))
			FAIL("%s is taken", rule);
		CHECK(strstr(error, "\" is not "));
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(bad_rules); i++) {
		if (!try_add(bad_rules[i], error))
			FAIL("%s is taken", bad_rules[i]);
		CHECK(strstr(error, "\" is not "));
	}
	CHECK_EQ(faults_num_rules(faults), 0);
}

TEST(right_values)
{
	static const char *const rules[] = {
		"kind=drop,rate=0",
		"kind=drop,rate=1.000000000",
		"rate=0.000000001,kind=drop",
		"kind=drop,qp=0xffffff,psn=0xffffff-0,opcode=0xff",
		"kind=drop,psn=0X1f,opcode=cnp,dir=rx,proto=roce",
		"kind=drop,count=18446744073709551615,after=0",
		"kind=drop,seed=0xffffffffffffffff,proto=eth",
		"kind=delay,time=60s",
		"kind=delay,time=1ns",
		"kind=reorder",
		"kind=reorder,time=3ms",
		"kind=rate,bandwidth=1bit,queue=1,ecn=0",
		"kind=rate,bandwidth=1000gbit",
		"kind=corrupt,bits=64,dir=tx",
		"kind=mark",
		"kind=duplicate,proto=all",
		"kind=down",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++)
		add(rules[i]);
	CHECK_EQ(faults_num_rules(faults), ARRAY_SIZE(rules));
}

/*
 * Rules with changed, missing and additional bytes: accepted, or refused with a
 * reason
 */
TEST(damaged_rules)
{
	static const char *const rules[] = {
		"kind=drop,rate=0.25,qp=0x11,opcode=rc-send-only,psn=5-9,dir=tx",
		"kind=rate,bandwidth=100Mbit,queue=100000,ecn=5000,proto=eth",
		"kind=corrupt,bits=9,count=3,after=7,seed=0xffffffffffffffff",
		"kind=reorder,time=15us,rate=1.000",
	};
	unsigned int taken = 0, refused = 0;
	uint32_t random = 1;

	for (unsigned int i = 0; i < 50000; i++) {
		char text[FAULTS_RULE_SIZE], error[FAULTS_ERROR_SIZE] = "";
		size_t len, at;

		snprintf(text, sizeof(text), "%s",
			 rules[i % ARRAY_SIZE(rules)]);
		for (unsigned int j = 0; j <= i / 4 % 3; j++) {
			len = strlen(text);
			random = random * 1664525 + 1013904223;
			at = (random >> 16) % len;
			switch (random >> 8 & 3) {
			case 0:
				text[at] = random >> 10;
				break;
			case 1:
				memmove(text + at, text + at + 1, len - at);
				break;
			case 2:
				memmove(text + at + 1, text + at, len - at + 1);
				break;
			case 3:
				text[at] =
					"0123456789,=-.xX"[random >> 10 & 15];
				break;
			}
			if (!*text)
				break;
		}
		if (try_add(text, error)) {
			CHECK(*error);
			refused++;
			continue;
		}
		taken++;
		pass_psns(0, 12);
		CHECK(faults_delete(faults, next_number));
	}
	/* Neither is rare. */
	CHECK(taken > 1000);
	CHECK(refused > 1000);
}

TEST(seed_is_shown)
{
	unsigned int number = add("kind=drop,rate=0.5");

	CHECK(!strcmp(stats_of(number).text, "kind=drop,rate=0.5,seed=77"));
	number = add("kind=drop,seed=3,rate=0.5");
	CHECK(!strcmp(stats_of(number).text, "kind=drop,seed=3,rate=0.5"));
	number = add("kind=down");
	CHECK(!strcmp(stats_of(number).text, "kind=down"));
}

TEST(number_of_rules_is_bounded)
{
	char error[FAULTS_ERROR_SIZE];

	for (unsigned int i = 0; i < FAULTS_MAX_RULES; i++)
		add("kind=drop,rate=0");
	CHECK(try_add("kind=drop", error) < 0);
	CHECK(!strcmp(error, "there are 64 rules already"));
	CHECK(faults_delete(faults, 5));
	CHECK(!faults_delete(faults, 5));
	CHECK(!faults_delete(faults, 0));
	add("kind=drop");
	pass_psn(1);
	CHECK_EQ(num_got, 0);
}

/* Every opcode of the NIC has a name, by which it is found again. */
TEST(opcode_names)
{
	char name[OPCODE_NAME_SIZE];
	uint8_t opcode;

	for (unsigned int i = 0; i < 256; i++) {
		bool known = opcode_info(i)->class != OPCODE_RESERVED;

		opcode_name(i, name);
		CHECK_EQ(strncmp(name, "0x", 2) != 0, known);
		CHECK(opcode_by_name(name, &opcode));
		CHECK_EQ(opcode, i);
	}
	opcode_name(0x04, name);
	CHECK(!strcmp(name, "rc-send-only"));
	opcode_name(0x0a, name);
	CHECK(!strcmp(name, "rc-rdma-write-only"));
	opcode_name(0x11, name);
	CHECK(!strcmp(name, "rc-ack"));
	opcode_name(0x64, name);
	CHECK(!strcmp(name, "ud-send-only"));
	opcode_name(0x81, name);
	CHECK(!strcmp(name, "cnp"));
	opcode_name(0xff, name);
	CHECK(!strcmp(name, "0xff"));
}

TEST(without_rules_all_pass)
{
	add("kind=drop");
	CHECK(faults_delete(faults, 1));
	pass_psns(0, 3);
	CHECK_PSNS(0, 1, 2);
	CHECK_EQ(faults_next_event(faults), UINT64_MAX);
}

/* Results of another implementation of SplitMix64 */
TEST(seed_decides)
{
	static const uint32_t tx[] = { 117, 204, 264, 267, 297,
				       595, 670, 728, 896, 940 };
	static const uint32_t rx[] = { 31, 109, 216, 275, 457, 778, 822 };
	unsigned int number = add("kind=drop,rate=0.01,seed=42");
	unsigned int lost[2] = {};

	for (uint32_t i = 0; i < 1000; i++) {
		struct packet pkt = roce(i);
		unsigned int before = num_got;

		faults_pass(faults, 0, FAULT_TX, &pkt);
		if (num_got == before)
			CHECK_EQ(i, tx[lost[0]++]);
		before = num_got;
		faults_pass(faults, 0, FAULT_RX, &pkt);
		if (num_got == before)
			CHECK_EQ(i, rx[lost[1]++]);
	}
	CHECK_EQ(lost[0], ARRAY_SIZE(tx));
	CHECK_EQ(lost[1], ARRAY_SIZE(rx));
	CHECK_EQ(stats_of(number).matched, 2000);
	CHECK_EQ(stats_of(number).applied, 17);
}

TEST(rate_over_many_packets)
{
	unsigned int number = add("kind=drop,rate=0.1,seed=42");

	pass_psns(0, 100000);
	CHECK_EQ(stats_of(number).applied, 9915);
	CHECK_EQ(num_got, 100000 - 9915);
}

TEST(rates_of_0_and_1)
{
	unsigned int never = add("kind=drop,rate=0");
	unsigned int always;

	pass_psns(0, 10000);
	CHECK_EQ(num_got, 10000);
	CHECK_EQ(stats_of(never).applied, 0);
	always = add("kind=drop,rate=1.0");
	pass_psns(0, 10000);
	CHECK_EQ(num_got, 10000);
	CHECK_EQ(stats_of(always).applied, 10000);
}

/* Decisions about selected packets do not depend on other packets. */
TEST(decisions_do_not_depend_on_others)
{
	unsigned int number = add("kind=drop,rate=0.01,seed=42,dir=tx,qp=0x12");
	uint32_t word = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		struct packet other = roce(0), unrelated = eth(&word);
		struct packet pkt = roce(i);

		other.roce.dest_qpn = 0x13;
		pass(&other);
		pass(&unrelated);
		faults_pass(faults, now, FAULT_RX, &pkt);
		pass(&pkt);
		now += i * 31 % 7;
	}
	CHECK_EQ(stats_of(number).matched, 1000);
	CHECK_EQ(stats_of(number).applied, 10);
}

static void check_selected(const char *rule, const struct packet *pkt,
			   enum fault_dir dir, bool want)
{
	unsigned int number = add(rule);
	unsigned int before = num_got;

	faults_pass(faults, now, dir, pkt);
	if (num_got == before + want)
		FAIL("%s %s", rule, want ? "does nothing" : "is applied");
	CHECK_EQ(stats_of(number).matched, want);
	CHECK_EQ(stats_of(number).applied, want);
	CHECK(faults_delete(faults, number));
}

TEST(selectors)
{
	struct packet pkt = roce(100);
	uint32_t word = 7;
	struct packet frame = eth(&word);

	check_selected("kind=drop,dir=tx", &pkt, FAULT_TX, true);
	check_selected("kind=drop,dir=tx", &pkt, FAULT_RX, false);
	check_selected("kind=drop,dir=rx", &pkt, FAULT_RX, true);
	check_selected("kind=drop,dir=rx", &pkt, FAULT_TX, false);
	check_selected("kind=drop", &pkt, FAULT_TX, true);
	check_selected("kind=drop", &pkt, FAULT_RX, true);
	check_selected("kind=drop", &frame, FAULT_RX, true);
	check_selected("kind=drop,proto=all", &frame, FAULT_TX, true);
	check_selected("kind=drop,proto=all", &pkt, FAULT_TX, true);
	check_selected("kind=drop,proto=eth", &frame, FAULT_TX, true);
	check_selected("kind=drop,proto=eth", &pkt, FAULT_TX, false);
	check_selected("kind=drop,proto=roce", &frame, FAULT_TX, false);
	check_selected("kind=drop,proto=roce", &pkt, FAULT_TX, true);
	check_selected("kind=drop,qp=18", &pkt, FAULT_TX, true);
	check_selected("kind=drop,qp=0x12", &pkt, FAULT_TX, true);
	check_selected("kind=drop,qp=0x13", &pkt, FAULT_TX, false);
	check_selected("kind=drop,qp=0", &frame, FAULT_TX, false);
	check_selected("kind=drop,opcode=rc-send-only", &pkt, FAULT_TX, true);
	check_selected("kind=drop,opcode=0x04", &pkt, FAULT_TX, true);
	check_selected("kind=drop,opcode=rc-ack", &pkt, FAULT_TX, false);
	check_selected("kind=drop,opcode=0x00", &frame, FAULT_TX, false);
	check_selected("kind=drop,psn=100", &pkt, FAULT_TX, true);
	check_selected("kind=drop,psn=0x64", &pkt, FAULT_TX, true);
	check_selected("kind=drop,psn=99", &pkt, FAULT_TX, false);
	check_selected("kind=drop,psn=101", &pkt, FAULT_TX, false);
	check_selected("kind=drop,psn=100-200", &pkt, FAULT_TX, true);
	check_selected("kind=drop,psn=0-100", &pkt, FAULT_TX, true);
	check_selected("kind=drop,psn=0-99", &pkt, FAULT_TX, false);
	check_selected("kind=drop,psn=101-0xffffff", &pkt, FAULT_TX, false);
	check_selected("kind=drop,psn=101-99", &pkt, FAULT_TX, false);
	check_selected("kind=drop,psn=101-100", &pkt, FAULT_TX, true);
	check_selected("kind=drop,psn=0xfffff0-100", &pkt, FAULT_TX, true);
	check_selected("kind=drop,psn=0xfffff0-99", &pkt, FAULT_TX, false);
	check_selected("kind=drop,psn=0-0xffffff", &pkt, FAULT_TX, true);
	pkt.roce.psn = 0xffffff;
	check_selected("kind=drop,psn=0xfffff0-99", &pkt, FAULT_TX, true);
	pkt.roce.psn = 0xfffff0;
	check_selected("kind=drop,psn=0xfffff0-99", &pkt, FAULT_TX, true);
	pkt.roce.psn = 0xffffef;
	check_selected("kind=drop,psn=0xfffff0-99", &pkt, FAULT_TX, false);
	/* All selectors have to agree. */
	pkt.roce.psn = 100;
	check_selected("kind=drop,qp=18,opcode=rc-send-only,psn=100,dir=tx",
		       &pkt, FAULT_TX, true);
	check_selected("kind=drop,qp=18,opcode=rc-send-only,psn=101,dir=tx",
		       &pkt, FAULT_TX, false);
	/* The QP of a packet with a wrong ICRC is not known. */
	pkt.defect = PACKET_BAD_ICRC;
	check_selected("kind=drop,qp=18", &pkt, FAULT_TX, false);
	check_selected("kind=drop,proto=roce", &pkt, FAULT_TX, true);
}

TEST(after_and_count)
{
	unsigned int number = add("kind=drop,after=2,count=3");

	pass_psns(0, 8);
	CHECK_PSNS(0, 1, 5, 6, 7);
	CHECK_EQ(stats_of(number).matched, 8);
	CHECK_EQ(stats_of(number).applied, 3);
}

/*
 * The first random number is for the first packet after those that "after"
 * skips.
 */
TEST(after_takes_no_random_numbers)
{
	add("kind=drop,rate=0.01,seed=42,after=500");
	pass_psns(0, 500 + 117);
	CHECK_EQ(num_got, 617);
	pass_psn(0);
	CHECK_EQ(num_got, 617);
}

TEST(rules_in_their_order)
{
	unsigned int first = add("kind=drop,psn=0-4");
	unsigned int second = add("kind=drop,psn=3-6");
	unsigned int third = add("kind=duplicate");

	pass_psns(0, 8);
	CHECK_PSNS(7, 7);
	CHECK_EQ(stats_of(first).applied, 5);
	CHECK_EQ(stats_of(second).matched, 2);
	CHECK_EQ(stats_of(second).applied, 2);
	CHECK_EQ(stats_of(third).matched, 1);
	CHECK(!strcmp(events, "1 drop tx 0\n1 drop tx 1\n1 drop tx 2\n"
			      "1 drop tx 3\n1 drop tx 4\n2 drop tx 5\n"
			      "2 drop tx 6\n3 duplicate tx 7\n"));
}

/* A copy passes the rules after the one that made it. */
TEST(copies_go_on)
{
	unsigned int drop;

	add("kind=duplicate");
	drop = add("kind=drop,psn=1,count=1");
	add("kind=duplicate");
	pass_psns(0, 2);
	CHECK_PSNS(0, 0, 0, 0, 1, 1);
	CHECK_EQ(stats_of(drop).matched, 2);
}

TEST(number_of_copies_is_bounded)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < FAULTS_MAX_RULES; i++)
		add("kind=duplicate");
	pass_psn(1);
	run();
	CHECK_EQ(num_got, FAULTS_MAX_COPIES);
	for (unsigned int i = 1; i <= FAULTS_MAX_RULES; i++)
		sum += stats_of(i).applied;
	CHECK_EQ(sum, FAULTS_MAX_COPIES - 1);
}

TEST(delay_is_exact_and_keeps_order)
{
	add("kind=delay,time=50us,psn=0-99");
	for (uint32_t i = 0; i < 100; i++) {
		pass_psn(i);
		now += i % 3;
	}
	CHECK_EQ(num_got, 0);
	pass_psn(100);
	CHECK_EQ(num_got, 1);
	CHECK_EQ(got[0].psn, 100);
	run_until(SEC);
	CHECK_EQ(num_got, 101);
	for (uint32_t i = 0, sent = 0; i < 100; sent += i++ % 3) {
		CHECK_EQ(got[i + 1].psn, i);
		CHECK_EQ(got[i + 1].at, sent + 50 * USEC);
	}
	CHECK_EQ(faults_next_event(faults), UINT64_MAX);
}

TEST(delays_add_up)
{
	add("kind=delay,time=50us,psn=1");
	add("kind=delay,time=2ms");
	pass_psns(0, 3);
	run_until(SEC);
	CHECK_PSNS(0, 2, 1);
	CHECK_EQ(got[1].at, 2 * MSEC);
	CHECK_EQ(got[2].at, 2 * MSEC + 50 * USEC);
}

/* Packets that are due leave in order, even if faults_step() is called late. */
TEST(what_is_due_goes_first)
{
	add("kind=delay,time=50us,psn=0");
	pass_psn(0);
	now = 51 * USEC;
	pass_psn(1);
	CHECK_PSNS(0, 1);
}

/* Generous limit of what one call may deliver */
#define MOST 20

/* Take a step. Return: how many packets it has delivered */
static unsigned int step(void)
{
	unsigned int before = num_got;

	faults_step(faults, now);
	return num_got - before;
}

/* However many packets are due, each call delivers few, and all in order */
TEST(what_is_due_goes_in_pieces)
{
	add("kind=delay,time=50us,psn=0-999");
	pass_psns(0, 1000);
	now = MSEC;
	CHECK(step() <= 1);
	for (uint32_t i = 1000; i < 1010; i++) {
		unsigned int before = num_got;

		pass_psn(i);
		CHECK(num_got - before <= MOST);
	}
	while (faults_next_event(faults) <= now)
		CHECK(step() <= 1);
	CHECK_EQ(num_got, 1010);
	for (uint32_t i = 0; i < 1010; i++)
		CHECK_EQ(got[i].psn, i);
}

/* The packet that overtakes many leaves first, and few of them in its call */
TEST(overtaken_packets_go_in_pieces)
{
	add("kind=reorder,psn=0-999");
	pass_psns(0, 1000);
	pass_psn(1000);
	CHECK(num_got <= MOST);
	pass_psn(1001);
	CHECK(num_got <= 2 * MOST);
	while (faults_next_event(faults) <= now)
		CHECK(step() <= 1);
	CHECK_EQ(num_got, 1002);
	CHECK_EQ(got[0].psn, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		CHECK_EQ(got[i + 1].psn, i);
	CHECK_EQ(got[1001].psn, 1001);
}

/*
 * Those that wait for a delayed packet leave in pieces, too, and so do those
 * that have waited in vain
 */
TEST(late_packets_go_in_pieces)
{
	add("kind=delay,time=1ms,psn=500");
	add("kind=reorder,psn=0-499");
	add("kind=reorder,psn=501-999");
	pass_psns(0, 1000);
	now = SEC;
	while (faults_next_event(faults) <= now)
		CHECK(step() <= 1);
	CHECK_EQ(num_got, 1000);
	CHECK_EQ(got[0].psn, 500);
	for (uint32_t i = 1; i < 1000; i++)
		CHECK_EQ(got[i].psn, i <= 500 ? i - 1 : i);
}

/* A packet that no rule delays is not lost for want of room behind others */
TEST(due_packets_leave_no_room)
{
	unsigned int number = add("kind=delay,time=1ms,proto=eth");
	static uint8_t large[4096];
	struct packet pkt = roce(1);
	uint32_t word = 0;
	struct packet small = eth(&word);
	unsigned int held = 0;

	while (!stats_of(number).no_room) {
		pass(&small);
		held++;
	}
	held--;
	now = SEC;
	pkt.payload_len = sizeof(large);
	pkt.iov[0] = (struct iovec){ large, sizeof(large) };
	for (unsigned int i = 0; i < 100; i++)
		pass(&pkt);
	run();
	CHECK_EQ(num_got, held + 100);
	CHECK_EQ(stats_of(number).no_room, 1);
}

TEST(reorder_exchanges_with_the_next)
{
	add("kind=reorder,psn=1");
	pass_psns(0, 2);
	CHECK_EQ(num_got, 1);
	now += 5 * MSEC;
	pass_psns(2, 2);
	CHECK_PSNS(0, 2, 1, 3);
	CHECK_EQ(faults_next_event(faults), UINT64_MAX);
}

/*
 * A packet is overtaken by the next one that is not held itself, in the same
 * direction.
 */
TEST(reorder_of_neighbours)
{
	struct packet pkt = roce(9);

	add("kind=reorder,psn=1-2");
	pass_psns(1, 2);
	faults_pass(faults, now, FAULT_RX, &pkt);
	CHECK_EQ(num_got, 1);
	pass_psn(3);
	CHECK_PSNS(9, 3, 1, 2);
}

TEST(reorder_ends_without_another)
{
	add("kind=reorder,psn=1-2");
	pass_psn(1);
	now = 3 * MSEC;
	pass_psn(2);
	CHECK_EQ(faults_next_event(faults), 10 * MSEC);
	run_until(SEC);
	CHECK_PSNS(1, 2);
	CHECK_EQ(got[0].at, 10 * MSEC);
	CHECK_EQ(got[1].at, 13 * MSEC);
}

/* The packet that overtakes may be delayed itself. */
TEST(reorder_behind_a_delayed_packet)
{
	add("kind=reorder,psn=1");
	add("kind=delay,time=20ms,psn=2");
	pass_psns(1, 2);
	CHECK_EQ(num_got, 0);
	run_until(SEC);
	CHECK_PSNS(2, 1);
	CHECK_EQ(got[0].at, 20 * MSEC);
	CHECK_EQ(got[1].at, 20 * MSEC);
}

TEST(reorder_by_time)
{
	add("kind=reorder,time=30us,psn=1");
	pass_psns(0, 4);
	run_until(SEC);
	CHECK_PSNS(0, 2, 3, 1);
	CHECK_EQ(got[3].at, 30 * USEC);
}

TEST(duplicate_of_a_reordered_packet)
{
	add("kind=reorder,psn=1");
	add("kind=duplicate");
	pass_psns(1, 2);
	CHECK_PSNS(2, 1, 1, 2);
}

static unsigned int flipped_bits;

static void count_flipped(enum fault_dir dir, const struct packet *pkt)
{
	uint8_t frame[FRAME_MAX_LEN];
	struct packet whole = roce(5);
	struct frame f;

	(void)dir;
	whole.vlan = pkt->vlan;
	frame_build(&f, &whole);
	frame_copy(&f, frame);
	CHECK(pkt->frame);
	CHECK_EQ(pkt->frame_len, f.len);
	flipped_bits = 0;
	for (uint32_t i = 0; i < f.len; i++) {
		uint8_t diff = pkt->frame[i] ^ frame[i];

		CHECK(i >= packet_eth_len(&whole) || !diff);
		flipped_bits += __builtin_popcount(diff);
	}
}

TEST(corrupt_flips_bits)
{
	unsigned int bad_icrc = 0;

	on_deliver = count_flipped;
	for (unsigned int bits = 1; bits <= 64; bits++) {
		struct packet pkt = roce(5);
		char rule[64];

		snprintf(rule, sizeof(rule), "kind=corrupt,bits=%u,seed=%u",
			 bits, bits);
		add(rule);
		if (bits & 1)
			pkt.vlan = 5;
		num_got = 0;
		pass(&pkt);
		CHECK_EQ(num_got, 1);
		CHECK_EQ(flipped_bits, bits);
		bad_icrc += got[0].defect == PACKET_BAD_ICRC;
		CHECK(faults_delete(faults, bits));
	}
	CHECK(bad_icrc > 32);
}

/*
 * All corruption is found, except in bits that nothing protects: six beside
 * FECN and BECN
 */
TEST(corruption_is_found)
{
	unsigned int sound = 0;

	add("kind=corrupt,seed=1");
	for (uint32_t i = 0; i < 20000; i++) {
		pass_psn(5);
		CHECK_EQ(num_got, i + 1);
		sound += got[i % MAX_LOG].defect == PACKET_SOUND &&
			 got[i % MAX_LOG].psn == 5;
	}
	/* UDP's checksum and port, BTH byte 4: less than 1 % of the bits */
	CHECK(sound < 200);
}

TEST(corrupt_twice)
{
	on_deliver = count_flipped;
	add("kind=corrupt,bits=1,seed=1");
	add("kind=corrupt,bits=1,seed=3");
	pass_psn(5);
	CHECK_EQ(num_got, 1);
	CHECK_EQ(flipped_bits, 2);
}

/* A copy has its own bytes, which are corrupted separately. */
TEST(copies_are_corrupted_on_their_own)
{
	add("kind=corrupt,bits=1,seed=1");
	add("kind=duplicate");
	add("kind=corrupt,bits=1,seed=1,count=1");
	on_deliver = count_flipped;
	pass_psn(5);
	CHECK_EQ(num_got, 2);
	CHECK_EQ(flipped_bits, 1);
}

TEST(nothing_to_corrupt)
{
	struct packet pkt = roce(0);
	unsigned int number = add("kind=corrupt");

	pkt.kind = PACKET_ETH;
	pkt.ethertype = 0x88b5;
	pkt.payload_len = 0;
	pkt.niov = 0;
	pass(&pkt);
	CHECK_EQ(num_got, 1);
	CHECK_EQ(stats_of(number).matched, 1);
	CHECK_EQ(stats_of(number).applied, 0);
	pkt.payload_len = 1;
	pkt.niov = 1;
	pass(&pkt);
	CHECK_EQ(stats_of(number).applied, 1);
}

TEST(fewer_bits_than_asked_for)
{
	struct packet pkt = roce(0);
	uint8_t byte = 0x5a;

	add("kind=corrupt,bits=64");
	add("kind=delay,time=1us");
	pkt.kind = PACKET_ETH;
	pkt.ethertype = 0x88b5;
	pkt.payload_len = 1;
	pkt.iov[0] = (struct iovec){ &byte, 1 };
	pass(&pkt);
	CHECK_EQ(byte, 0x5a);
	run_until(SEC);
	CHECK_EQ(num_got, 1);
}

/* Held packets are copies, because the sender's memory may change. */
static void check_copy(enum fault_dir dir, const struct packet *pkt)
{
	(void)dir;
	CHECK_EQ(pkt->payload_len, PAYLOAD);
	CHECK_EQ(pkt->niov, 1);
	for (unsigned int i = 0; i < PAYLOAD; i++)
		CHECK_EQ(((uint8_t *)pkt->iov[0].iov_base)[i], i % 251);
}

TEST(held_packets_are_copies)
{
	struct packet pkt = roce(1), parsed;
	uint8_t bytes[FRAME_MAX_LEN];
	struct frame frame;

	for (unsigned int i = 0; i < PAYLOAD; i++)
		payload[i] = i % 251;
	pkt.niov = 3;
	pkt.iov[0] = (struct iovec){ payload, 1 };
	pkt.iov[1] = (struct iovec){ payload + 1, 500 };
	pkt.iov[2] = (struct iovec){ payload + 501, PAYLOAD - 501 };
	frame_build(&frame, &pkt);
	frame_copy(&frame, bytes);
	CHECK(frame_parse(bytes, frame.len, &parsed));
	add("kind=delay,time=1us");
	on_deliver = check_copy;
	pass(&pkt);
	pass(&parsed);
	memset(payload, 0, sizeof(payload));
	memset(bytes, 0, sizeof(bytes));
	memset(&pkt, 0, sizeof(pkt));
	run_until(SEC);
	CHECK_PSNS(1, 1);
}

static void check_mark(enum fault_dir dir, const struct packet *pkt)
{
	(void)dir;
	CHECK_EQ(pkt->defect, PACKET_SOUND);
	CHECK_EQ(pkt->roce.traffic_class & 3, 3);
	CHECK_EQ(pkt->roce.traffic_class >> 2, 0x2a);
	CHECK_EQ(pkt->roce.psn, 6);
}

static void mark_both_ways(struct packet *pkt)
{
	uint8_t bytes[FRAME_MAX_LEN];
	struct packet parsed;
	struct frame frame;

	pkt->roce.traffic_class = 0x2a << 2 | 1;
	pkt->roce.psn = 6;
	pass(pkt);
	CHECK_EQ(pkt->roce.traffic_class & 3, 1);
	frame_build(&frame, pkt);
	frame_copy(&frame, bytes);
	CHECK(frame_parse(bytes, frame.len, &parsed));
	pass(&parsed);
	pkt->roce.traffic_class++;
	pass(pkt);
}

TEST(mark_sets_ce)
{
	unsigned int number = add("kind=mark");
	struct packet pkt = roce(6);

	on_deliver = check_mark;
	mark_both_ways(&pkt);
	pkt.vlan = 9;
	mark_both_ways(&pkt);
	pkt.roce.sgid[0] = 0x20;
	pkt.roce.dgid[0] = 0x20;
	mark_both_ways(&pkt);
	CHECK_EQ(num_got, 9);
	CHECK_EQ(stats_of(number).matched, 9);
	CHECK_EQ(stats_of(number).applied, 9);
	CHECK_EQ(stats_of(number).marked, 9);
}

TEST(mark_leaves_others_alone)
{
	unsigned int number = add("kind=mark");
	struct packet pkt = roce(6);
	uint32_t word = 0;

	pkt.roce.traffic_class = 0x54;
	pass(&pkt);
	CHECK_EQ(got[0].traffic_class, 0x54);
	pkt.roce.traffic_class = 0x57;
	pass(&pkt);
	CHECK_EQ(got[1].traffic_class, 0x57);
	pkt = eth(&word);
	pass(&pkt);
	CHECK_EQ(num_got, 3);
	CHECK_EQ(stats_of(number).matched, 0);
}

static uint8_t marked_ip[60];

static void keep_ip(enum fault_dir dir, const struct packet *pkt)
{
	(void)dir;
	CHECK_EQ(pkt->payload_len, sizeof(marked_ip));
	memcpy(marked_ip, pkt->iov[0].iov_base, sizeof(marked_ip));
}

/* RFC 1071, over a header with options */
static uint16_t checksum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (int i = 0; i < (header[0] & 0xf) * 4; i += 2)
		sum += header[i] << 8 | header[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

TEST(mark_of_other_ip)
{
	uint8_t ip[60] = { 0x46, 0x02, 0, 60, 1, 2, 0x40, 0, 64, 6 };
	struct packet pkt = roce(0);

	add("kind=mark");
	on_deliver = keep_ip;
	pkt.kind = PACKET_ETH;
	pkt.ethertype = 0x0800;
	pkt.payload_len = sizeof(ip);
	pkt.niov = 2;
	pkt.iov[0] = (struct iovec){ ip, 1 };
	pkt.iov[1] = (struct iovec){ ip + 1, sizeof(ip) - 1 };
	/* All sums that a checksum can have */
	for (unsigned int i = 0; i <= UINT16_MAX; i++) {
		uint16_t sum;

		ip[1] = i & 1 ? 0x02 : 0x05;
		ip[10] = 0;
		ip[11] = 0;
		ip[4] = i >> 8;
		ip[5] = i;
		sum = checksum(ip);
		ip[10] = sum >> 8;
		ip[11] = sum;
		pass(&pkt);
		CHECK_EQ(marked_ip[1], ip[1] | 3);
		CHECK_EQ(checksum(marked_ip), 0);
	}
	CHECK_EQ(num_got, UINT16_MAX + 1);
	pkt.ethertype = 0x86dd;
	ip[0] = 0x61;
	ip[1] = 0x5f;
	pass(&pkt);
	CHECK_EQ(marked_ip[0], 0x61);
	CHECK_EQ(marked_ip[1], 0x7f);
	/* Not an IP header, in spite of the ethertype */
	ip[0] = 0x41;
	pass(&pkt);
	CHECK_EQ(marked_ip[1], 0x5f);
	pkt.ethertype = 0x0800;
	ip[0] = 0x61;
	pass(&pkt);
	CHECK_EQ(marked_ip[1], 0x5f);
}

TEST(bottleneck_throughput)
{
	uint64_t want = 0;

	/* 8 bits take 80 ns */
	add("kind=rate,bandwidth=100Mbit,queue=67108864");
	pass_psns(0, 4000);
	run_until(10 * SEC);
	CHECK_EQ(num_got, 4000);
	for (unsigned int i = 0; i < 4000; i++) {
		want += FRAME * 80;
		CHECK_EQ(got[i].at, want);
		CHECK_EQ(got[i].psn, i);
	}
}

/* Fractions of nanoseconds add up. */
TEST(bottleneck_does_not_round)
{
	add("kind=rate,bandwidth=300Gbit,queue=67108864");
	pass_psns(0, 3000);
	run_until(SEC);
	CHECK_EQ(num_got, 3000);
	CHECK_EQ(got[2999].at, FRAME * 8 * 3000 / 300);
}

TEST(bottleneck_that_is_free_takes_no_notice_of_the_past)
{
	add("kind=rate,bandwidth=8Gbit");
	for (uint32_t i = 0; i < 100; i++) {
		now = SEC + i * SEC;
		pass_psn(i);
		run_until(now + MSEC);
		CHECK_EQ(num_got, i + 1);
		CHECK_EQ(got[i].at, SEC + i * SEC + FRAME);
	}
}

TEST(bottleneck_drops_its_tail)
{
	unsigned int number = add("kind=rate,bandwidth=8Mbit,queue=10580");

	pass_psns(0, 30);
	CHECK_EQ(stats_of(number).queue_full, 20);
	CHECK_EQ(stats_of(number).applied, 30);
	CHECK_EQ(stats_of(number).marked, 0);
	/* One of FRAME bytes takes FRAME microseconds */
	run_until(now + 3 * FRAME * USEC);
	CHECK_EQ(num_got, 3);
	pass_psns(30, 10);
	CHECK_EQ(stats_of(number).queue_full, 27);
	run_until(10 * SEC);
	CHECK_EQ(num_got, 13);
	CHECK_EQ(got[12].psn, 32);
	CHECK_EQ(got[12].at, 13 * FRAME * USEC);
}

/* Even without a queue, one packet at a time passes. */
TEST(bottleneck_without_queue)
{
	unsigned int number = add("kind=rate,bandwidth=8Mbit,queue=0");

	pass_psns(0, 3);
	CHECK_EQ(stats_of(number).queue_full, 2);
	run_until(SEC);
	CHECK_PSNS(0);
	pass_psn(3);
	run_until(2 * SEC);
	CHECK_PSNS(0, 3);
}

TEST(bottleneck_marks)
{
	unsigned int number =
		add("kind=rate,bandwidth=8Mbit,queue=10580,ecn=3174");

	/* Waiting before: 0, 1058, 2116, 3174, 4232 ... */
	pass_psns(0, 12);
	CHECK_EQ(stats_of(number).queue_full, 2);
	CHECK_EQ(stats_of(number).marked, 6);
	run_until(SEC);
	CHECK_EQ(num_got, 10);
	for (unsigned int i = 0; i < 10; i++)
		CHECK_EQ(got[i].traffic_class, i < 4 ? 2 : 3);
}

TEST(bottleneck_drops_what_cannot_be_marked)
{
	unsigned int number =
		add("kind=rate,bandwidth=8Mbit,queue=3174,ecn=1058");
	struct packet pkt = roce(0);

	pkt.roce.traffic_class = 0;
	for (int i = 0; i < 5; i++)
		pass(&pkt);
	CHECK_EQ(stats_of(number).queue_full, 2);
	CHECK_EQ(stats_of(number).marked, 0);
	run_until(SEC);
	CHECK_EQ(num_got, 3);
}

/*
 * Each direction has its own queue, and packets that are not selected overtake
 * it.
 */
TEST(bottleneck_is_for_its_own)
{
	struct packet pkt = roce(50);

	add("kind=rate,bandwidth=8Mbit,qp=0x12");
	pass_psns(0, 2);
	faults_pass(faults, now, FAULT_RX, &pkt);
	pkt.roce.dest_qpn = 0x13;
	pkt.roce.psn = 60;
	pass(&pkt);
	CHECK_PSNS(60);
	run_until(SEC);
	CHECK_PSNS(60, 0, 50, 1);
	CHECK_EQ(got[1].at, FRAME * USEC);
	CHECK_EQ(got[2].at, FRAME * USEC);
	CHECK_EQ(got[2].dir, FAULT_RX);
}

/* Packets are sorted by time, and by their sequence if the time is the same */
TEST(held_packets_are_sorted)
{
	static unsigned int seen[5000];
	struct hold hold = { NULL, 0 };
	uint64_t last_at = 0, last_seq = 0;
	unsigned int num = 0, taken = 0;
	struct packet pkt = roce(0);
	uint32_t random = 1;

	while (taken < ARRAY_SIZE(seen)) {
		struct held *held;

		random = random * 1664525 + 1013904223;
		if (num < ARRAY_SIZE(seen) && (random >> 28 || !hold.root)) {
			pkt.roce.psn = num++;
			/* Not earlier than packets that were taken already */
			held = held_create(&pkt, last_at + (random >> 8) % 50);
			CHECK(held);
			hold_add(&hold, held);
			continue;
		}
		CHECK_EQ(hold_next(&hold), hold.root->at);
		held = hold_take(&hold);
		CHECK(held->at > last_at ||
		      (held->at == last_at && held->seq >= last_seq));
		last_at = held->at;
		last_seq = held->seq;
		packet_load(held->copy, &pkt);
		CHECK_EQ(seen[pkt.roce.psn]++, 0);
		taken++;
		free(held);
		pkt = roce(0);
	}
	CHECK_EQ(hold_next(&hold), UINT64_MAX);
}

/* Adding and taking a packet look at the right spines alone. */
static void check_spines(const struct held *held, unsigned int num)
{
	unsigned int length = 0;

	for (; held; held = held->right)
		length++;
	CHECK(1u << length <= num + 1);
}

/*
 * However many packets wait, and in which order they came, handling one of them
 * takes little time
 */
TEST(held_packets_take_equal_time)
{
	static const int orders[] = { 1, -1, 0 };
	const unsigned int num = 4096;
	struct packet pkt = roce(0);

	for (unsigned int i = 0; i < ARRAY_SIZE(orders); i++) {
		struct hold hold = { NULL, 0 };

		for (unsigned int j = 0; j < num; j++) {
			struct held *held =
				held_create(&pkt, SEC + (int64_t)j * orders[i]);

			CHECK(held);
			hold_add(&hold, held);
			check_spines(hold.root, j + 1);
		}
		for (unsigned int j = num; j > 0; j--) {
			check_spines(hold.root->left, j);
			check_spines(hold.root->right, j);
			free(hold_take(&hold));
		}
	}
}

/* Packets reach a bottleneck after the delay of an earlier rule. */
TEST(bottleneck_behind_a_delay)
{
	add("kind=delay,time=1ms");
	add("kind=rate,bandwidth=8Gbit");
	pass_psns(0, 2);
	run_until(SEC);
	CHECK_EQ(got[0].at, MSEC + FRAME);
	CHECK_EQ(got[1].at, MSEC + 2 * FRAME);
}

TEST(memory_is_bounded)
{
	unsigned int number = add("kind=delay,time=60s");
	uint64_t held;

	pass_psns(0, 100000);
	CHECK_EQ(num_got, 0);
	CHECK_EQ(stats_of(number).applied, 100000);
	held = 100000 - stats_of(number).no_room;
	/* At least the bytes of a packet, and not twice as many */
	CHECK(held <= FAULTS_MAX_HELD / PAYLOAD);
	CHECK(held >= FAULTS_MAX_HELD / PAYLOAD / 2);
	run_until(100 * SEC);
	CHECK_EQ(num_got, held);
	/* All of the memory is available again */
	pass_psns(0, 100000);
	CHECK_EQ(stats_of(number).no_room, 2 * (100000 - held));
	run_until(200 * SEC);
	CHECK_EQ(num_got, 2 * held);
}

static void check_overtaking(enum fault_dir dir, const struct packet *pkt)
{
	(void)dir;
	CHECK_EQ(pkt->roce.psn, num_got == 1 ? 2 : 1);
}

/* The limit includes packets that wait to be overtaken */
TEST(memory_of_reordered_packets_is_bounded)
{
	unsigned int number = add("kind=reorder,psn=1");

	for (unsigned int i = 0; i < 100000; i++)
		pass_psn(1);
	CHECK(stats_of(number).no_room > 30000);
	on_deliver = check_overtaking;
	pass_psn(2);
	run();
	CHECK_EQ(num_got, 100001 - stats_of(number).no_room);
}

TEST(held_packets_are_freed)
{
	add("kind=delay,time=1ms,psn=0-9");
	add("kind=reorder");
	pass_psns(0, 20);
	CHECK_EQ(num_got, 0);
}

TEST(deleted_rule_keeps_its_promises)
{
	add("kind=delay,time=1ms");
	pass_psn(1);
	CHECK(faults_delete(faults, 1));
	pass_psn(2);
	run_until(SEC);
	CHECK_PSNS(2, 1);
	CHECK_EQ(got[1].at, MSEC);
}

TEST(pulled_cable)
{
	struct packet pkt = roce(8);
	uint32_t word = 0;
	unsigned int number;

	add("kind=delay,time=1ms,psn=1");
	CHECK(!faults_down(faults));
	pass_psns(0, 2);
	number = add("kind=down");
	CHECK(faults_down(faults));
	/* Packets on the cable are lost, too. */
	run_until(SEC);
	pass_psn(2);
	faults_pass(faults, now, FAULT_RX, &pkt);
	pkt = eth(&word);
	pass(&pkt);
	CHECK_PSNS(0);
	CHECK_EQ(stats_of(number).applied, 4);
	CHECK(faults_delete(faults, number));
	CHECK(!faults_down(faults));
	pass_psn(3);
	CHECK_PSNS(0, 3);
	CHECK(!strcmp(events, "1 delay tx 1\n2 down tx 1\n2 down tx 2\n"
			      "2 down rx 8\n2 down tx 0\n"));
}

/* A switch may send a packet back through the same port. */
static void send_back(enum fault_dir dir, const struct packet *pkt)
{
	if (dir == FAULT_TX && pkt->roce.psn < 100) {
		struct packet back = *pkt;

		back.roce.psn += 100;
		faults_pass(faults, now, FAULT_RX, &back);
		faults_pass(faults, now, FAULT_TX, &back);
	}
}

TEST(deliver_may_pass_packets)
{
	on_deliver = send_back;
	add("kind=delay,time=1ms,psn=1-2");
	add("kind=reorder,psn=3");
	add("kind=reorder,psn=101");
	pass_psns(1, 4);
	run_until(SEC);
	CHECK_EQ(num_got, 12);
	CHECK_EQ(faults_next_event(faults), UINT64_MAX);
}

/* Everything at once, twice: the same seeds and packets give the same run. */
static uint64_t wild_run(void)
{
	static const char *const rules[] = {
		"kind=drop,rate=0.02,seed=1",
		"kind=duplicate,rate=0.03,seed=2",
		"kind=reorder,rate=0.05,seed=3",
		"kind=reorder,rate=0.02,time=70us,seed=4",
		"kind=corrupt,rate=0.02,bits=3,seed=5",
		"kind=delay,rate=0.5,time=20us,seed=6,dir=tx",
		"kind=rate,bandwidth=2Gbit,queue=50000,ecn=20000",
		"kind=mark,rate=0.01,seed=7",
		"kind=drop,rate=0.5,count=7,after=300,seed=8",
	};
	uint64_t hash = 14695981039346656037u;

	now = 0;
	num_got = 0;
	next_number = 1;
	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++)
		add(rules[i]);
	for (uint32_t i = 0; i < 4000; i++) {
		struct packet pkt = roce(i);

		faults_pass(faults, now, i * 7 % 3 ? FAULT_TX : FAULT_RX, &pkt);
		run_until(now + i * 13 % 9 * USEC);
	}
	run_until(now + SEC);
	CHECK(num_got < MAX_LOG);
	for (unsigned int i = 0; i < num_got; i++) {
		uint64_t words[] = { got[i].at, got[i].dir, got[i].psn,
				     got[i].traffic_class, got[i].defect };

		for (unsigned int j = 0; j < ARRAY_SIZE(words); j++)
			hash = (hash ^ words[j]) * 1099511628211u;
	}
	for (unsigned int i = 1; i <= ARRAY_SIZE(rules); i++) {
		CHECK(stats_of(i).applied);
		hash = (hash ^ stats_of(i).applied) * 1099511628211u;
		CHECK(faults_delete(faults, i));
	}
	return hash;
}

TEST(runs_can_be_repeated)
{
	uint64_t first = wild_run();

	/*
	 * The same on every machine. Change it when the meaning of a rule
	 * changes.
	 */
	CHECK_EQ(first, 0xf79f4f97b2f6d705);
	CHECK_EQ(wild_run(), first);
}

/* packet_len() returns the length of the frame. */
TEST(packet_len_is_that_of_the_frame)
{
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		struct packet pkt = roce(1);
		struct frame frame;

		pkt.roce.opcode = opcode;
		pkt.roce.pad = opcode % 4;
		pkt.payload_len = PAYLOAD - pkt.roce.pad;
		pkt.iov[0].iov_len = pkt.payload_len;
		frame_build(&frame, &pkt);
		CHECK_EQ(packet_len(&pkt), frame.len);
		pkt.vlan = 1;
		pkt.roce.dgid[0] = 0x20;
		frame_build(&frame, &pkt);
		CHECK_EQ(packet_len(&pkt), frame.len);
		pkt.kind = PACKET_ETH;
		frame_build(&frame, &pkt);
		CHECK_EQ(packet_len(&pkt), frame.len);
	}
}
