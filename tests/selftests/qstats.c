// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * qstats NETDEV: prints the kernel's statistics of each queue, of the whole
 * interface, and of its page pools, a line each. Lines that begin with "napi" tell
 * who polls a queue. The family "netdev" of generic netlink has all of this.
 * channels.sh runs this.
 */
#include <linux/genetlink.h>
#include <linux/netdev.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
	struct nlmsghdr nlh;
	struct genlmsghdr genl;
	char attrs[64];
};

static const char *const names[NETDEV_A_QSTATS_MAX + 1] = {
	[NETDEV_A_QSTATS_RX_PACKETS] = "rx_packets",
	[NETDEV_A_QSTATS_RX_BYTES] = "rx_bytes",
	[NETDEV_A_QSTATS_TX_PACKETS] = "tx_packets",
	[NETDEV_A_QSTATS_TX_BYTES] = "tx_bytes",
	[NETDEV_A_QSTATS_RX_ALLOC_FAIL] = "rx_alloc_fail",
	[NETDEV_A_QSTATS_RX_CSUM_UNNECESSARY] = "rx_csum_unnecessary",
	[NETDEV_A_QSTATS_TX_STOP] = "tx_stop",
	[NETDEV_A_QSTATS_TX_WAKE] = "tx_wake",
};

static void put(struct request *req, int type, const void *data, size_t len)
{
	struct nlattr *attr = (void *)req + NLMSG_ALIGN(req->nlh.nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy((void *)attr + NLA_HDRLEN, data, len);
	req->nlh.nlmsg_len =
		NLMSG_ALIGN(req->nlh.nlmsg_len) + NLA_ALIGN(attr->nla_len);
}

static struct request make_request(int family, int cmd, int flags)
{
	return (struct request){
		.nlh = {
			.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
			.nlmsg_type = family,
			.nlmsg_flags = NLM_F_REQUEST | flags,
		},
		.genl = { .cmd = cmd, .version = 1 },
	};
}

static __u64 value_of(const struct nlattr *attr)
{
	const void *data = (const void *)attr + NLA_HDRLEN;
	__u64 value = 0;

	memcpy(&value, data,
	       attr->nla_len - NLA_HDRLEN < (int)sizeof(value) ?
		       attr->nla_len - NLA_HDRLEN :
		       sizeof(value));
	return value;
}

/* Calls what @show says for all attributes of a message. */
static void walk(const struct nlmsghdr *nlh,
		 void (*show)(int type, __u64 value, void *context),
		 void *context)
{
	const char *at = (const char *)NLMSG_DATA(nlh) + GENL_HDRLEN;
	const char *end = (const char *)nlh + nlh->nlmsg_len;
	const struct nlattr *attr;

	for (; at < end; at += NLA_ALIGN(attr->nla_len)) {
		attr = (const void *)at;
		show(attr->nla_type & NLA_TYPE_MASK, value_of(attr), context);
	}
}

static void take_family(int type, __u64 value, void *context)
{
	if (type == CTRL_ATTR_FAMILY_ID)
		*(int *)context = value;
}

static void print_one(int type, __u64 value, void *context)
{
	if (type == NETDEV_A_QSTATS_QUEUE_TYPE)
		printf("%s", value == NETDEV_QUEUE_TYPE_RX ? "rx" : "tx");
	else if (type == NETDEV_A_QSTATS_QUEUE_ID)
		printf(" queue %llu", value);
	else if (type <= NETDEV_A_QSTATS_MAX && names[type])
		printf(" %s %llu", names[type], value);
}

static void print_napi(int type, __u64 value, void *context)
{
	if (type == NETDEV_A_QUEUE_TYPE)
		printf(" %s", value == NETDEV_QUEUE_TYPE_RX ? "rx" : "tx");
	else if (type == NETDEV_A_QUEUE_ID)
		printf(" queue %llu", value);
	else if (type == NETDEV_A_QUEUE_NAPI_ID)
		printf(" id %llu", value);
}

static void print_queue_napi(const struct nlmsghdr *nlh, __u32 ifindex)
{
	printf("napi");
	walk(nlh, print_napi, NULL);
	printf("\n");
}

/* What a message says of a page pool */
struct pool {
	__u64 ifindex;
	__u64 bytes;
	bool detached;
};

static void take_pool(int type, __u64 value, void *context)
{
	struct pool *pool = context;

	if (type == NETDEV_A_PAGE_POOL_IFINDEX)
		pool->ifindex = value;
	else if (type == NETDEV_A_PAGE_POOL_INFLIGHT_MEM)
		pool->bytes = value;
	else if (type == NETDEV_A_PAGE_POOL_DETACH_TIME)
		pool->detached = true;
}

static void print_queue(const struct nlmsghdr *nlh, __u32 ifindex)
{
	walk(nlh, print_one, NULL);
	printf("\n");
}

static void print_all(const struct nlmsghdr *nlh, __u32 ifindex)
{
	printf("all");
	print_queue(nlh, ifindex);
}

/* The kernel tells of the pools of all interfaces. */
static void print_pool(const struct nlmsghdr *nlh, __u32 ifindex)
{
	struct pool pool = { 0 };

	walk(nlh, take_pool, &pool);
	if (pool.ifindex == ifindex && !pool.detached)
		printf("pool bytes %llu\n", pool.bytes);
}

static int get_family(int fd)
{
	struct request req = make_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	char buf[8192];
	int family = 0;

	put(&req, CTRL_ATTR_FAMILY_NAME, "netdev", sizeof("netdev"));
	if (send(fd, &req, req.nlh.nlmsg_len, 0) < 0 ||
	    recv(fd, buf, sizeof(buf), 0) < 0)
		return 0;
	walk((void *)buf, take_family, &family);
	return family;
}

static int dump(int fd, const struct request *req, __u32 ifindex,
		void (*print)(const struct nlmsghdr *nlh, __u32 ifindex))
{
	struct nlmsghdr *nlh;
	char buf[32768];
	ssize_t len;

	if (send(fd, req, req->nlh.nlmsg_len, 0) < 0)
		return -1;
	for (;;) {
		len = recv(fd, buf, sizeof(buf), 0);
		if (len <= 0)
			return -1;
		for (nlh = (void *)buf; NLMSG_OK(nlh, len);
		     nlh = NLMSG_NEXT(nlh, len)) {
			if (nlh->nlmsg_type == NLMSG_ERROR)
				return -1;
			if (nlh->nlmsg_type == NLMSG_DONE)
				return *(int *)NLMSG_DATA(nlh);
			print(nlh, ifindex);
		}
	}
}

static int dump_queues(int fd, int family, __u32 ifindex, __u64 scope)
{
	struct request req =
		make_request(family, NETDEV_CMD_QSTATS_GET, NLM_F_DUMP);

	put(&req, NETDEV_A_QSTATS_IFINDEX, &ifindex, sizeof(ifindex));
	if (scope)
		put(&req, NETDEV_A_QSTATS_SCOPE, &scope, sizeof(scope));
	return dump(fd, &req, ifindex, scope ? print_queue : print_all);
}

static int dump_pools(int fd, int family, __u32 ifindex)
{
	const struct request req =
		make_request(family, NETDEV_CMD_PAGE_POOL_GET, NLM_F_DUMP);

	return dump(fd, &req, ifindex, print_pool);
}

static int dump_napis(int fd, int family, __u32 ifindex)
{
	struct request req =
		make_request(family, NETDEV_CMD_QUEUE_GET, NLM_F_DUMP);

	put(&req, NETDEV_A_QUEUE_IFINDEX, &ifindex, sizeof(ifindex));
	return dump(fd, &req, ifindex, print_queue_napi);
}

int main(int argc, char **argv)
{
	__u32 ifindex = argc == 2 ? if_nametoindex(argv[1]) : 0;
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	int family = fd < 0 ? 0 : get_family(fd);

	if (!ifindex || !family) {
		fprintf(stderr, "usage: qstats NETDEV\n");
		return 2;
	}
	if (dump_queues(fd, family, ifindex, NETDEV_QSTATS_SCOPE_QUEUE) ||
	    dump_queues(fd, family, ifindex, 0) ||
	    dump_pools(fd, family, ifindex) ||
	    dump_napis(fd, family, ifindex)) {
		fprintf(stderr, "no statistics of queues\n");
		return 1;
	}
	close(fd);
	return 0;
}
