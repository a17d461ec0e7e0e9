// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * objects DEVICE GID: creates objects on a NIC by commands on standard input,
 * and answers each with a line. GID is the index of a GID of port 1.
 *
 *   qp COUNT, cq COUNT, mr COUNT   create until there are so many;
 *                                  "COUNT NANOSECONDS", how many there are now
 *                                  and how long it took
 *   connect                        all QPs to RTS, each to itself; "NANOSECONDS"
 *   destroy                        all that there are; "NANOSECONDS"
 *   register BYTES                 a region that long, whose memory is there, and
 *                                  deregister it; "NANOSECONDS NANOSECONDS"
 *
 * If there are fewer objects than requested, the NIC has no more. All other
 * failures end the program.
 */
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <infiniband/verbs.h>

#define PORT 1
#define MAX_OBJECTS 65536
#define MR_SIZE 4096

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq; /* of all QPs */
	int gid_index;
	union ibv_gid gid;
} nic;

static struct ibv_qp *qps[MAX_OBJECTS];
static struct ibv_cq *cqs[MAX_OBJECTS];
static struct ibv_mr *mrs[MAX_OBJECTS];
static size_t num_qps, num_cqs, num_mrs;

static uint64_t objects_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void objects_open_nic(const char *name, const char *gid_index)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	size_t i = 0;

	if (!list)
		err(1, "ibv_get_device_list");
	while (list[i] && strcmp(ibv_get_device_name(list[i]), name))
		i++;
	if (!list[i])
		errx(1, "there is no %s", name);
	nic.context = ibv_open_device(list[i]);
	if (!nic.context)
		err(1, "ibv_open_device");
	ibv_free_device_list(list);
	nic.pd = ibv_alloc_pd(nic.context);
	if (!nic.pd)
		err(1, "ibv_alloc_pd");
	nic.cq = ibv_create_cq(nic.context, 1, NULL, NULL, 0);
	if (!nic.cq)
		err(1, "ibv_create_cq");
	nic.gid_index = atoi(gid_index);
	if (ibv_query_gid(nic.context, PORT, nic.gid_index, &nic.gid))
		err(1, "ibv_query_gid");
}

static void *objects_new_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = nic.cq,
		.recv_cq = nic.cq,
		.cap = { 1, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};

	return qps[num_qps] = ibv_create_qp(nic.pd, &attr);
}

static void *objects_new_cq(void)
{
	return cqs[num_cqs] = ibv_create_cq(nic.context, 1, NULL, NULL, 0);
}

static void *objects_new_mr(void)
{
	static char page[MR_SIZE] __attribute__((aligned(MR_SIZE)));

	return mrs[num_mrs] = ibv_reg_mr(nic.pd, page, MR_SIZE,
					 IBV_ACCESS_LOCAL_WRITE |
						 IBV_ACCESS_REMOTE_WRITE);
}

static void objects_create(void *(*one)(void), size_t *num, size_t count)
{
	uint64_t begin = objects_now();
	uint64_t ns;

	if (count > MAX_OBJECTS)
		errx(1, "at most %d", MAX_OBJECTS);
	while (*num < count && one())
		++*num;
	ns = objects_now() - begin;
	printf("%zu %llu\n", *num, (unsigned long long)ns);
}

static void objects_connect_qp(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num,
		.ah_attr = {
			.is_global = 1,
			.port_num = PORT,
			.grh = {
				.dgid = nic.gid,
				.sgid_index = nic.gid_index,
				.hop_limit = 1,
			},
		},
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
	};

	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				  IBV_QP_ACCESS_FLAGS))
		err(1, "ibv_modify_qp to INIT");
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				  IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER))
		err(1, "ibv_modify_qp to RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				  IBV_QP_MAX_QP_RD_ATOMIC))
		err(1, "ibv_modify_qp to RTS");
}

static void objects_connect_all(void)
{
	uint64_t begin = objects_now();

	for (size_t i = 0; i < num_qps; i++)
		objects_connect_qp(qps[i]);
	printf("%llu\n", (unsigned long long)(objects_now() - begin));
}

static void objects_destroy_all(void)
{
	uint64_t begin = objects_now();

	for (; num_qps; num_qps--)
		if (ibv_destroy_qp(qps[num_qps - 1]))
			err(1, "ibv_destroy_qp");
	for (; num_cqs; num_cqs--)
		if (ibv_destroy_cq(cqs[num_cqs - 1]))
			err(1, "ibv_destroy_cq");
	for (; num_mrs; num_mrs--)
		if (ibv_dereg_mr(mrs[num_mrs - 1]))
			err(1, "ibv_dereg_mr");
	printf("%llu\n", (unsigned long long)(objects_now() - begin));
}

static void objects_register_memory(size_t len)
{
	uint64_t begin, middle, end;
	struct ibv_mr *mr;
	void *memory;

	memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	begin = objects_now();
	mr = ibv_reg_mr(nic.pd, memory, len,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	middle = objects_now();
	if (!mr)
		err(1, "ibv_reg_mr");
	if (ibv_dereg_mr(mr))
		err(1, "ibv_dereg_mr");
	end = objects_now();
	munmap(memory, len);
	printf("%llu %llu\n", (unsigned long long)(middle - begin),
	       (unsigned long long)(end - middle));
}

int main(int argc, char **argv)
{
	char line[64], verb[16];
	size_t number;

	if (argc != 3)
		errx(2, "usage: objects DEVICE GID");
	objects_open_nic(argv[1], argv[2]);
	while (fgets(line, sizeof(line), stdin)) {
		number = 0;
		if (sscanf(line, "%15s %zu", verb, &number) < 1)
			errx(2, "no command");
		if (!strcmp(verb, "qp"))
			objects_create(objects_new_qp, &num_qps, number);
		else if (!strcmp(verb, "cq"))
			objects_create(objects_new_cq, &num_cqs, number);
		else if (!strcmp(verb, "mr"))
			objects_create(objects_new_mr, &num_mrs, number);
		else if (!strcmp(verb, "connect"))
			objects_connect_all();
		else if (!strcmp(verb, "destroy"))
			objects_destroy_all();
		else if (!strcmp(verb, "register"))
			objects_register_memory(number);
		else
			errx(2, "no such command: %s", verb);
		fflush(stdout);
	}
	return 0;
}
