// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The grammar of rules of NIC faults */
#include "core/base/verbs.h"
#include "core/state/fault_types.h"
#include "harness_tap.h"
#include "host/nic_rule.h"
#include "mynic_regs.h"

static struct nic_fault parse(const char *text)
{
	char error[NIC_RULE_ERROR_SIZE] = "";
	struct nic_fault rule;

	CHECK(nic_rule_is_one(text));
	if (!nic_rule_parse(&rule, text, 77, error))
		FAIL("%s: %s", text, error);
	return rule;
}

TEST(defaults)
{
	struct nic_fault rule = parse("kind=qp-error");

	CHECK_EQ(rule.kind, NIC_FAULT_QP_ERROR);
	CHECK_EQ(rule.on, NIC_FAULT_ON_COMPLETION);
	CHECK_EQ(rule.qpn, -1);
	CHECK_EQ(rule.opcode, -1);
	CHECK_EQ(rule.after, 0);
	CHECK_EQ(rule.count, UINT64_MAX);
	CHECK_EQ(rule.rate, NIC_FAULT_RATE_ONE);
	CHECK_EQ(rule.random, 77);
	CHECK(!strcmp(rule.text, "kind=qp-error,seed=77"));
}

TEST(all_keys_of_a_completion)
{
	struct nic_fault rule = parse(
		"status=RNR_RETRY_EXC_ERR,kind=completion,qp=0x11,opcode=write,after=2,count=1,rate=0.25,seed=5");

	CHECK_EQ(rule.kind, NIC_FAULT_COMPLETION);
	CHECK_EQ(rule.status, IBV_WC_RNR_RETRY_EXC_ERR);
	CHECK_EQ(rule.qpn, 0x11);
	CHECK_EQ(rule.opcode, IBV_WC_RDMA_WRITE);
	CHECK_EQ(rule.after, 2);
	CHECK_EQ(rule.count, 1);
	CHECK_EQ(rule.rate, NIC_FAULT_RATE_ONE / 4);
	CHECK_EQ(rule.random, 5);
}

TEST(commands_and_interrupts)
{
	struct nic_fault rule =
		parse("kind=command-error,status=BUSY,opcode=CREATE_QP");

	CHECK_EQ(rule.on, NIC_FAULT_ON_COMMAND);
	CHECK_EQ(rule.opcode, MYNIC_CMD_CREATE_QP);
	CHECK_EQ(rule.status, MYNIC_AQ_BUSY);
	rule = parse("kind=command-delay,time=20ms");
	CHECK_EQ(rule.time, 20000000);
	rule = parse("kind=irq-delay,vector=3,time=1us");
	CHECK_EQ(rule.on, NIC_FAULT_ON_INTERRUPT);
	CHECK_EQ(rule.vector, 3);
	rule = parse("kind=irq-lose,rate=0.5");
	CHECK_EQ(rule.vector, -1);
}

TEST(occasions_of_the_nic)
{
	struct nic_fault rule = parse("kind=flap");

	CHECK_EQ(rule.on, NIC_FAULT_ON_NOW);
	CHECK_EQ(rule.time, 100000000);
	rule = parse("kind=flap,every=2s,time=1s");
	CHECK_EQ(rule.on, NIC_FAULT_ON_TIMER);
	CHECK_EQ(rule.every, 2000000000);
	CHECK_EQ(rule.time, 1000000000);
	rule = parse("kind=flap,time=1ms");
	CHECK_EQ(rule.time, 1000000);
	rule = parse("kind=fatal,on=command,opcode=NOP");
	CHECK_EQ(rule.on, NIC_FAULT_ON_COMMAND);
	rule = parse("kind=vanish,on=interrupt,vector=0");
	CHECK_EQ(rule.on, NIC_FAULT_ON_INTERRUPT);
	rule = parse("kind=revoke,key=0xffffffff");
	CHECK_EQ(rule.key, 0xffffffff);
	rule = parse("kind=qp-error,on=now,qp=17");
	CHECK_EQ(rule.on, NIC_FAULT_ON_NOW);
}

TEST(names_of_completions)
{
	static const struct {
		const char *name;
		int opcode;
	} names[] = {
		{ "send", IBV_WC_SEND },
		{ "read", IBV_WC_RDMA_READ },
		{ "cmp-swap", IBV_WC_COMP_SWAP },
		{ "fetch-add", IBV_WC_FETCH_ADD },
		{ "bind-mw", IBV_WC_BIND_MW },
		{ "local-inv", IBV_WC_LOCAL_INV },
		{ "reg-mr", MYNIC_WC_REG_MR },
		{ "tso", IBV_WC_TSO },
		{ "memcpy", IBV_WC_DRIVER1 },
		{ "flush", IBV_WC_FLUSH },
		{ "atomic-write", IBV_WC_ATOMIC_WRITE },
		{ "recv", IBV_WC_RECV },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		CHECK_EQ(parse(tap_print("kind=qp-error,opcode=%s",
					 names[i].name))
				 .opcode,
			 names[i].opcode);
}

TEST(rules_of_wires_are_not_ours)
{
	CHECK(!nic_rule_is_one("kind=drop"));
	CHECK(!nic_rule_is_one("kind=delay,time=1ms"));
	CHECK(!nic_rule_is_one("kind=fata"));
	CHECK(!nic_rule_is_one("kind=fatall"));
	CHECK(!nic_rule_is_one("kind="));
	CHECK(!nic_rule_is_one(""));
	CHECK(!nic_rule_is_one("xkind=fatal"));
	CHECK(nic_rule_is_one("count=1,kind=fatal,seed=2"));
}

TEST(wrong_rules)
{
	static const char *const cases[][2] = {
		{ "", "there is no key \"\"" },
		{ "count=1", "there is no such kind of NIC fault" },
		{ "kind=fatal,", "there is no key \"\"" },
		{ "kind=fatal,count", "count has no value" },
		{ "kind=fatal,count=", "count has no value" },
		{ "kind=fatal,count=0", "count: \"0\" is not possible" },
		{ "kind=fatal,count=1,count=2", "count is given twice" },
		{ "kind=fatal,frob=1", "there is no key \"frob\"" },
		{ "kind=fatal,qp=1", "qp is not for kind=fatal,on=now" },
		{ "kind=fatal,time=1s", "time is not for kind=fatal,on=now" },
		{ "kind=fatal,on=message",
		  "kind=fatal has no occasion \"message\"" },
		{ "kind=fatal,on=timer", "kind=fatal,on=timer needs every" },
		{ "kind=rnr,every=1s", "kind=rnr has no occasion \"timer\"" },
		{ "kind=flap,every=999us", "every: \"999us\" is not possible" },
		{ "kind=flap,time=999us", "kind=flap needs time=1ms or more" },
		{ "time=1ns,kind=flap,on=interrupt",
		  "kind=flap needs time=1ms or more" },
		{ "kind=fatal,on=now,every=1s",
		  "every is not for kind=fatal,on=now" },
		{ "kind=completion",
		  "kind=completion,on=completion needs status" },
		{ "kind=completion,status=SUCCESS",
		  "status: \"SUCCESS\" is not possible" },
		{ "kind=completion,status=WR_FLUSH_ERR",
		  "status: \"WR_FLUSH_ERR\" is not possible" },
		{ "kind=completion,status=unknown",
		  "status: \"unknown\" is not possible" },
		{ "kind=completion,status=LOC_LEN_ERR,opcode=CREATE_QP",
		  "opcode: \"CREATE_QP\" is not possible" },
		{ "kind=completion,status=LOC_LEN_ERR,qp=0x1000000",
		  "qp: \"0x1000000\" is not possible" },
		{ "kind=command-error,status=OK",
		  "status: \"OK\" is not possible" },
		{ "kind=command-error,status=BUSY,opcode=send",
		  "opcode: \"send\" is not possible" },
		{ "kind=command-delay",
		  "kind=command-delay,on=command needs time" },
		{ "kind=command-delay,time=61s",
		  "time: \"61s\" is not possible" },
		{ "kind=irq-lose,vector=99", "vector: \"99\" is not possible" },
		{ "kind=qp-error,on=now", "kind=qp-error,on=now needs qp" },
		{ "kind=revoke,on=interrupt",
		  "kind=revoke has no occasion \"interrupt\"" },
		{ "kind=rnr,rate=1.1", "rate: \"1.1\" is not possible" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		char error[NIC_RULE_ERROR_SIZE] = "";
		struct nic_fault rule;

		CHECK(!nic_rule_parse(&rule, cases[i][0], 1, error));
		if (strcmp(error, cases[i][1]))
			FAIL("%s: %s", cases[i][0], error);
	}
}

TEST(long_rules)
{
	char error[NIC_RULE_ERROR_SIZE] = "";
	char text[400] = "kind=fatal,seed=";
	struct nic_fault rule;

	memset(text + strlen(text), '1', 256 - strlen(text));
	CHECK(!nic_rule_parse(&rule, text, 1, error));
	CHECK(!strcmp(error, "a rule has at most 255 characters"));
	/* The longest one that has no seed of its own keeps its end */
	strcpy(text, "kind=fatal,rate=");
	memset(text + strlen(text), '0', 255 - strlen(text));
	text[17] = '.';
	text[255] = '\0';
	CHECK(!nic_rule_parse(&rule, text, 1, error));
	CHECK(!strncmp(error, "rate: \"0.00", 11));
}
