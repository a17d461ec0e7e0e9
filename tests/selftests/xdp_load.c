// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * xdp_load PATH KIND [IFINDEX]: pins an XDP program at PATH, for ip(8). xdp.sh
 * runs this. The program looks at frames of type 0x88b5, and passes all others.
 *
 *   drop, aborted, unknown  what it returns
 *   tx                      send the frame back, with its addresses exchanged
 *   redirect                the same, through the interface IFINDEX
 *   vlan                    as tx, but for frames that have a VLAN tag
 *   meta                    pass all frames with four bytes of metadata
 *   head                    pass all frames, after their head was somewhere else
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TYPE 0x88b5
#define MAX_INSNS 64
/* Room for so many bytes has to be before a frame. */
#define HEADROOM 200

#define INSN(CODE, DST, SRC, OFF, IMM)        \
	((struct bpf_insn){ .code = (CODE),   \
			    .dst_reg = (DST), \
			    .src_reg = (SRC), \
			    .off = (OFF),     \
			    .imm = (IMM) })
#define MOV_IMM(DST, IMM) INSN(BPF_ALU64 | BPF_MOV | BPF_K, DST, 0, 0, IMM)
#define MOV(DST, SRC) INSN(BPF_ALU64 | BPF_MOV | BPF_X, DST, SRC, 0, 0)
#define ADD_IMM(DST, IMM) INSN(BPF_ALU64 | BPF_ADD | BPF_K, DST, 0, 0, IMM)
#define LOAD(SIZE, DST, SRC, OFF) \
	INSN(BPF_LDX | BPF_MEM | (SIZE), DST, SRC, OFF, 0)
#define STORE(SIZE, DST, SRC, OFF) \
	INSN(BPF_STX | BPF_MEM | (SIZE), DST, SRC, OFF, 0)
#define CALL(FUNCTION) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, FUNCTION)
#define EXIT() INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define JUMP_GT(DST, SRC, OFF) INSN(BPF_JMP | BPF_JGT | BPF_X, DST, SRC, OFF, 0)
#define JUMP_EQ(DST, IMM, OFF) INSN(BPF_JMP | BPF_JEQ | BPF_K, DST, 0, OFF, IMM)

static struct bpf_insn insns[MAX_INSNS];
static int num_insns;

static void add(struct bpf_insn insn)
{
	insns[num_insns++] = insn;
}

static void add_return(int act)
{
	add(MOV_IMM(BPF_REG_0, act));
	add(EXIT());
}

/* Pass what has another type. r6 is the context, and r2 the frame. */
static void add_check(int type)
{
	add(MOV(BPF_REG_6, BPF_REG_1));
	add(LOAD(BPF_W, BPF_REG_2, BPF_REG_6, 0));
	add(LOAD(BPF_W, BPF_REG_3, BPF_REG_6, 4));
	add(MOV(BPF_REG_4, BPF_REG_2));
	add(ADD_IMM(BPF_REG_4, 14));
	add(JUMP_GT(BPF_REG_4, BPF_REG_3, 2));
	add(LOAD(BPF_H, BPF_REG_5, BPF_REG_2, 12));
	add(JUMP_EQ(BPF_REG_5, htons(type), 2));
	add_return(XDP_PASS);
}

static void add_exchange(void)
{
	add(LOAD(BPF_W, BPF_REG_3, BPF_REG_2, 0));
	add(LOAD(BPF_H, BPF_REG_4, BPF_REG_2, 4));
	add(LOAD(BPF_W, BPF_REG_5, BPF_REG_2, 6));
	add(LOAD(BPF_H, BPF_REG_7, BPF_REG_2, 10));
	add(STORE(BPF_W, BPF_REG_2, BPF_REG_5, 0));
	add(STORE(BPF_H, BPF_REG_2, BPF_REG_7, 4));
	add(STORE(BPF_W, BPF_REG_2, BPF_REG_3, 6));
	add(STORE(BPF_H, BPF_REG_2, BPF_REG_4, 10));
}

static void add_redirect(int ifindex)
{
	add(MOV_IMM(BPF_REG_1, ifindex));
	add(MOV_IMM(BPF_REG_2, 0));
	add(CALL(BPF_FUNC_redirect));
	add(EXIT());
}

/* Call a function that moves an end of the frame. Drop the frame if it fails. */
static void add_adjust(int function, int bytes)
{
	add(MOV(BPF_REG_1, BPF_REG_6));
	add(MOV_IMM(BPF_REG_2, bytes));
	add(CALL(function));
	add(JUMP_EQ(BPF_REG_0, 0, 2));
	add_return(XDP_DROP);
}

static int make(const char *kind, int ifindex)
{
	if (!strcmp(kind, "meta") || !strcmp(kind, "head")) {
		add(MOV(BPF_REG_6, BPF_REG_1));
		if (*kind == 'm') {
			add_adjust(BPF_FUNC_xdp_adjust_meta, -4);
		} else {
			add_adjust(BPF_FUNC_xdp_adjust_head, -HEADROOM);
			add_adjust(BPF_FUNC_xdp_adjust_head, HEADROOM);
		}
		add_return(XDP_PASS);
		return 0;
	}
	add_check(!strcmp(kind, "vlan") ? ETH_P_8021Q : TYPE);
	if (!strcmp(kind, "drop")) {
		add_return(XDP_DROP);
	} else if (!strcmp(kind, "aborted")) {
		add_return(XDP_ABORTED);
	} else if (!strcmp(kind, "unknown")) {
		add_return(77);
	} else if (!strcmp(kind, "tx") || !strcmp(kind, "vlan")) {
		add_exchange();
		add_return(XDP_TX);
	} else if (!strcmp(kind, "redirect")) {
		add_exchange();
		add_redirect(ifindex);
	} else {
		return -1;
	}
	return 0;
}

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int load(void)
{
	static char log[65536];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (unsigned long)insns,
		.insn_cnt = num_insns,
		.license = (unsigned long)"GPL",
		.log_buf = (unsigned long)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		fprintf(stderr, "%s", log);
	return fd;
}

int main(int argc, char **argv)
{
	union bpf_attr attr = { 0 };
	int fd;

	if (argc < 3 || make(argv[2], argc > 3 ? atoi(argv[3]) : 0)) {
		fprintf(stderr, "usage: xdp_load PATH KIND [IFINDEX]\n");
		return 2;
	}
	fd = load();
	if (fd < 0) {
		perror("BPF_PROG_LOAD");
		return 1;
	}
	attr.pathname = (unsigned long)argv[1];
	attr.bpf_fd = fd;
	if (bpf(BPF_OBJ_PIN, &attr)) {
		perror("BPF_OBJ_PIN");
		return 1;
	}
	return 0;
}
