/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The runner of the verbs fuzzer. A program is text, a call a line; the runner
 * makes the calls and compares what they return with what the line says. It
 * knows no rule: what is right was decided when the program was written.
 */
#ifndef FUZZ_RUNNER_H
#define FUZZ_RUNNER_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MAX_OBJECTS 65536
#define MAX_ARGS 128
#define ARENA_SIZE (1U << 20)
#define NUM_NODES 2
#define HOP_LIMIT 64 /* what the kernel chooses, too */
#define PATIENCE 60 /* seconds without anything that is waited for */

/**
 * struct node - a device, and the memory that its regions are in
 * @ctx: the open device
 * @gid: its RoCEv2 address
 * @gid_index: where that is
 * @arena: ARENA_SIZE bytes
 * @dmabuf: a dma-buf of the same memory, or -1 if there are none here
 * @clock_mask: bits of the time of a completion
 * @drops: counters, as the last line for them found them: see drops.c
 */
struct node {
	struct ibv_context *ctx;
	union ibv_gid gid;
	int gid_index;
	uint8_t *arena;
	int dmabuf;
	uint64_t clock_mask;
	uint64_t drops[3];
};

/* Kinds of objects. A program calls them by kind and number, as in qp7. */
enum kind {
	KIND_PD,
	KIND_MR,
	KIND_MW,
	KIND_CQ,
	KIND_SRQ,
	KIND_QP,
	KIND_AH,
	KIND_XRCD,
	KIND_CHANNEL,
	KIND_TD,
	KIND_DM,
	KIND_CTX,
	KIND_WQ,
	KIND_TABLE,
	KIND_FLOW,
	KIND_COUNTERS,
	NUM_KINDS,
};

/**
 * struct object - one of them
 * @ptr: what libibverbs returned, NULL once it is destroyed
 * @node: index of its device
 * @lkey: MR: the local key, also after it is destroyed
 * @rkey: MR, MW: the remote key, likewise
 * @base: MR: address of its first byte in requests
 * @iova: MR: what that is unless it is zero-based
 * @access: MR: its rights
 * @cap: QP, SRQ: how much room there is
 * @init: QP: what it was made with
 * @ex: CQ: made by ibv_create_cq_ex(). QP: has the ibv_wr_*() functions
 * @wc_flags: CQ: what can be read of completions
 * @ticks: CQ: time of the last completion, in the device's units
 * @allocated: PD: what is left of its own allocator's memory
 */
struct object {
	void *ptr;
	unsigned int node;
	uint32_t lkey;
	uint32_t rkey;
	uint64_t base;
	uint64_t iova;
	unsigned int access;
	struct ibv_qp_cap cap;
	struct ibv_qp_init_attr init;
	bool ex;
	uint64_t wc_flags;
	uint64_t ticks;
	unsigned int allocated;
};

/**
 * struct line - a call
 * @number: of the line in the program
 * @verb: its name
 * @target: the object that it is about
 * @args: the others, name=value
 * @num_args: how many
 * @expect: errno that it should return, or what else is behind "=>"
 */
struct line {
	unsigned long number;
	char *verb;
	char *target;
	char *args[MAX_ARGS];
	unsigned int num_args;
	char *expect;
};

/**
 * struct call - a verb, and what makes it
 * @verb: its name in programs
 * @run: makes the call for the object that the line is about; returns an errno
 */
struct call {
	const char *verb;
	int (*run)(const struct line *line, struct object *obj);
};

/**
 * struct moment - a time
 * @ticks: of the device, in its units
 * @ns: of the system
 */
struct moment {
	uint64_t ticks;
	uint64_t ns;
};

#define MAX_STAMPS 65536

/**
 * struct stamp - when a request was not posted yet
 * @wr_id: of the request
 * @known: the device has a clock
 * @at: the time
 */
struct stamp {
	uint64_t wr_id;
	bool known;
	struct moment at;
};

/**
 * struct timed - times of a completion
 * @known: it has some
 * @ticks: when it completed, by the device
 * @ns: the same by the wall clock
 * @polled: when it had been polled
 */
struct timed {
	bool known;
	uint64_t ticks;
	uint64_t ns;
	struct moment polled;
};

/**
 * struct program - one of those that run at the same time
 * @name: of its file, or NULL if it is the only one
 * @file: its text
 * @thread: that runs it, unless it has a process of its own
 * @nodes: the devices, with contexts and memory of its own
 * @objects: its objects
 * @stamps: of its last requests, by the remainder of their wr_id
 * @datagram: completion of the last datagram
 */
struct program {
	const char *name;
	FILE *file;
	pthread_t thread;
	struct node nodes[NUM_NODES];
	struct object (*objects)[MAX_OBJECTS];
	struct stamp *stamps;
	struct ibv_wc datagram;
};

/* The program that a thread works for */
extern _Thread_local struct program *program;

/* How to have the host do something, or NULL */
extern const char *host_command;

/* Seconds that a call of the runner may take; some wait for PATIENCE, and again */
extern unsigned int call_patience;

/* arguments.c */
void fail(const struct line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));
char *next_field(const struct line *line, char **text, char **value);
const char *arg(const struct line *line, const char *name);
const char *must(const struct line *line, const char *name);
uint64_t number(const struct line *line, const char *name, uint64_t otherwise);
struct object *object(const struct line *line, const char *name);
enum kind kind_of(const struct line *line, const char *name);
void *live(const struct line *line, enum kind kind, const char *name);
void *maybe(const struct line *line, enum kind kind, const char *name);
uint64_t address(const struct line *line, const char *text);
uint32_t lkey(const struct line *line, const char *text);
uint32_t rkey(const struct line *line, const char *text);
struct object *each(enum kind kind, unsigned int *number);
void expect_errno(const struct line *line, int err);
void expect_returned(const struct line *line, int ret);
int made(struct object *obj, void *ptr);
bool one_of(const struct line *line, const struct call *calls, size_t num);

struct node *node_of(const struct line *line, unsigned int *index);
struct ibv_context *context_of(const struct line *line, struct object *obj);
uint8_t *arena_make(int *dmabuf);
bool wait_for(int fd);

/* making.c */
void making_begin(const struct line *line);
void making_end(void);
void making_watch(void);

/* main.c */
struct ibv_context *open_named(const char *name);
unsigned int run_line(unsigned long number, char *text);
bool threads_add(unsigned long number, const char *text);
unsigned long threads_run(void);

/* clock.c */
bool clock_now(const struct node *node, struct moment *now);
void clock_stamp(const struct line *line);
void clock_compare(const struct line *line, const struct object *cq,
		   uint64_t wr_id, const struct timed *timed);

/* A file for each family of calls */
bool objects_call(const struct line *line);
bool queue_call(const struct line *line);
bool event_call(const struct line *line);
bool domain_call(const struct line *line);
bool device_call(const struct line *line);
bool import_call(const struct line *line);
bool wq_call(const struct line *line);
bool flow_call(const struct line *line);
bool from_wc_call(const struct line *line);
bool tag_call(const struct line *line);
bool connection_call(const struct line *line);
bool device_memory_call(const struct line *line);
bool multicast_call(const struct line *line);
bool host_call(const struct line *line);
bool region_call(const struct line *line);
bool window_call(const struct line *line);
bool modify_call(const struct line *line);
bool post_call(const struct line *line);
bool batch_call(const struct line *line);
bool poll_call(const struct line *line);
bool lost_call(const struct line *line);
bool drops_call(const struct line *line);
bool memory_call(const struct line *line);

/**
 * struct request - a work request as a program has it
 * @wr: for ibv_post_send() and ibv_post_recv()
 * @sges: its SGEs
 * @setter: ibv_wr_*(): how it gets its data
 * @window: that it binds
 * @ud: it has a destination for datagrams
 * @srqn: it names an XRC SRQ
 * @flush: what ibv_wr_flush() has beyond a key and an address
 */
struct request {
	struct ibv_send_wr wr;
	struct ibv_sge sges[64];
	const char *setter;
	struct object *window;
	bool ud;
	bool srqn;
	struct {
		uint64_t len;
		uint8_t type;
		uint8_t level;
	} flush;
};

struct ibv_ah_attr path_make(const struct line *line, const struct node *from);
void path_compare(const struct line *line, const struct ibv_ah_attr *path,
		  const struct ibv_ah_attr *expected);
union ibv_gid group(const struct line *line);
int create_rss_qp(const struct line *line, struct object *obj);
size_t unhex(const char *text, uint8_t *bytes, size_t room);
uint32_t crc32(const uint8_t *data, size_t len);
void pattern(uint8_t *mem, size_t len, unsigned int seed);
uint32_t room(const struct line *line, bool send);
void expect_posted(const struct line *line, int err, long bad);
unsigned int request_count(const struct line *line, bool send);
void request_parse(const struct line *line, char *text, struct request *req);

#endif /* FUZZ_RUNNER_H */
