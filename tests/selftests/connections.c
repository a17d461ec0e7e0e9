// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * connections COUNT END SERVER CLIENT [NETNS]: makes COUNT connections by rdma_cm,
 * all of which exist at the same time. Each carries a message there and another
 * one back, which are checked. connections.sh and others run it.
 *
 * SERVER is the address to which the server is bound, CLIENT the name that it
 * has for the client. A link-local address needs a netdev at either side. The
 * client is in the network namespace NETNS, if one is named. Either side is one
 * thread with one event channel and one CQ.
 *
 * END: how connections end
 *   order     the client disconnects them in the order in which it made them
 *   disorder  either side disconnects half of them, at the same time, at random
 *   client    the client is killed
 *   server    the server is killed
 *
 * Prints rates. They decide nothing.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 300 /* seconds without any progress */
#define QUIET 10 /* seconds without news of a side that has died */
#define PORT "7174"
#define SIZE 3000 /* of a message: several packets, unless the MTU is large */
#define RESOLVE_MS 1000
#define BATCH 64

enum ending { IN_ORDER, IN_DISORDER, CLIENT_DIES, SERVER_DIES };

struct connection {
	struct rdma_cm_id *id;
	uint32_t number;
	int timeouts;
	bool established;
	bool leaving; /* this side has disconnected it, or agreed */
	bool disconnected;
	uint8_t in[SIZE];
	uint8_t out[SIZE];
};

static const char *const endings[] = { "order", "disorder", "client",
				       "server" };
static const char *side;
static bool is_server;
static struct connection *connections;
static uint32_t count;
/* So many of the connections have come so far. */
static uint32_t established, received, sent, disconnected;
static struct rdma_event_channel *events;
static struct ibv_pd *pd;
static struct ibv_comp_channel *completions;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static int other; /* socket to the other side */
static const struct addrinfo *server_address; /* as the client knows it */

static uint8_t pattern(uint32_t number, bool from_server, uint32_t place)
{
	return number * 167 + place * 13 + (place >> 8) + from_server * 91;
}

/* The objects that connections share are on the device of the first one. */
static void open_device(struct ibv_context *context)
{
	pd = ibv_alloc_pd(context);
	if (!pd)
		err(1, "%s: ibv_alloc_pd", side);
	completions = ibv_create_comp_channel(context);
	if (!completions)
		err(1, "%s: ibv_create_comp_channel", side);
	cq = ibv_create_cq(context, 2 * count, NULL, completions, 0);
	if (!cq)
		err(1, "%s: ibv_create_cq", side);
	if (ibv_req_notify_cq(cq, 0))
		err(1, "%s: ibv_req_notify_cq", side);
	mr = ibv_reg_mr(pd, connections, count * sizeof(*connections),
			IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		err(1, "%s: ibv_reg_mr", side);
}

static void close_device(void)
{
	if (ibv_dereg_mr(mr) || ibv_destroy_cq(cq) ||
	    ibv_destroy_comp_channel(completions) || ibv_dealloc_pd(pd))
		err(1, "%s: an object is in use", side);
}

static void make_qp(struct connection *c)
{
	struct ibv_qp_init_attr attr = {
		.cap = { 1, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_sge sge = { (uintptr_t)c->in, SIZE, 0 };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (!pd)
		open_device(c->id->verbs);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	if (rdma_create_qp(c->id, pd, &attr))
		err(1, "%s: rdma_create_qp of %u", side, c->number);
	wr.wr_id = c->number;
	sge.lkey = mr->lkey;
	errno = ibv_post_recv(c->id->qp, &wr, &bad);
	if (errno)
		err(1, "%s: ibv_post_recv of %u", side, c->number);
}

static void send_message(struct connection *c)
{
	struct ibv_sge sge = { (uintptr_t)c->out, SIZE, mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = c->number,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};
	struct ibv_send_wr *bad;

	for (uint32_t i = 0; i < SIZE; i++)
		c->out[i] = pattern(c->number, is_server, i);
	errno = ibv_post_send(c->id->qp, &wr, &bad);
	if (errno)
		err(1, "%s: ibv_post_send of %u", side, c->number);
}

/* The server answers at once. */
static void check_message(struct connection *c, uint32_t len)
{
	if (len != SIZE)
		errx(1, "%s: %u has %u bytes", side, c->number, len);
	for (uint32_t i = 0; i < SIZE; i++)
		if (c->in[i] != pattern(c->number, !is_server, i))
			errx(1, "%s: %u differs at %u", side, c->number, i);
	received++;
	if (is_server)
		send_message(c);
}

static void poll_completions(void)
{
	struct ibv_wc wc[BATCH];
	int n;

	while ((n = ibv_poll_cq(cq, BATCH, wc)) > 0) {
		for (int i = 0; i < n; i++) {
			if (wc[i].status)
				errx(1, "%s: %u: %s", side,
				     (uint32_t)wc[i].wr_id,
				     ibv_wc_status_str(wc[i].status));
			if (wc[i].opcode == IBV_WC_SEND)
				sent++;
			else
				check_message(&connections[wc[i].wr_id],
					      wc[i].byte_len);
		}
	}
	if (n < 0)
		errx(1, "%s: ibv_poll_cq", side);
}

static void take_completions(void)
{
	struct ibv_cq *which;
	void *context;

	if (ibv_get_cq_event(completions, &which, &context))
		err(1, "%s: ibv_get_cq_event", side);
	ibv_ack_cq_events(which, 1);
	if (ibv_req_notify_cq(cq, 0))
		err(1, "%s: ibv_req_notify_cq", side);
	poll_completions();
}

static struct rdma_conn_param parameters(struct connection *c)
{
	return (struct rdma_conn_param){
		.private_data = &c->number,
		.private_data_len = sizeof(c->number),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

static void accept_request(struct rdma_cm_id *id, uint32_t number)
{
	struct rdma_conn_param param;
	struct connection *c;

	if (number >= count || connections[number].id)
		errx(1, "%s: a request with the number %u", side, number);
	c = &connections[number];
	c->id = id;
	id->context = c;
	make_qp(c);
	param = parameters(c);
	if (rdma_accept(id, &param))
		err(1, "%s: rdma_accept of %u", side, number);
}

static void request(struct connection *c)
{
	struct rdma_conn_param param = parameters(c);

	make_qp(c);
	if (rdma_connect(c->id, &param))
		err(1, "%s: rdma_connect of %u", side, c->number);
}

static void note_once(struct connection *c, bool *flag, uint32_t *sum,
		      const char *what)
{
	if (*flag)
		errx(1, "%s: %u is %s twice", side, c->number, what);
	*flag = true;
	++*sum;
}

/* The side that did not begin it has to answer, or destroy the ID. */
static void leave(struct connection *c)
{
	if (!c->leaving && rdma_disconnect(c->id))
		err(1, "%s: rdma_disconnect of %u", side, c->number);
	c->leaving = true;
}

/*
 * Without a neighbour's answer this ends after RESOLVE_MS. The RDMA core may
 * miss an answer, and then looks at that time, too. So it must not be long.
 */
static void resolve(struct connection *c)
{
	if (rdma_resolve_addr(c->id, NULL, server_address->ai_addr, RESOLVE_MS))
		err(1, "%s: rdma_resolve_addr of %u", side, c->number);
}

static void resolve_again(struct connection *c, int status)
{
	if (status != -ETIMEDOUT ||
	    ++c->timeouts * RESOLVE_MS > 1000 * PATIENCE)
		errx(1, "%s: the address of %u: %d", side, c->number, status);
	resolve(c);
}

static void handle(enum rdma_cm_event_type type, int status,
		   struct rdma_cm_id *id, uint32_t number)
{
	struct connection *c = id->context;

	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, RESOLVE_MS))
			err(1, "%s: rdma_resolve_route", side);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		resolve_again(c, status);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		request(c);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		accept_request(id, number);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		note_once(c, &c->established, &established, "established");
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		leave(c);
		note_once(c, &c->disconnected, &disconnected, "disconnected");
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		errx(1, "%s: %s, %d", side, rdma_event_str(type), status);
	}
}

static void take_event(void)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	uint32_t number = UINT32_MAX;
	int status;

	if (rdma_get_cm_event(events, &event))
		err(1, "%s: rdma_get_cm_event", side);
	type = event->event;
	status = event->status;
	id = event->id;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST &&
	    event->param.conn.private_data_len >= sizeof(number))
		memcpy(&number, event->param.conn.private_data, sizeof(number));
	rdma_ack_cm_event(event);
	handle(type, status, id, number);
}

/* Returns whether something has come within so many seconds. */
static bool handle_next(int seconds)
{
	struct pollfd fds[] = {
		{ events->fd, POLLIN, 0 },
		{ completions ? completions->fd : -1, POLLIN, 0 },
	};

	if (poll(fds, 2, 1000 * seconds) <= 0)
		return false;
	if (fds[0].revents)
		take_event();
	if (fds[1].revents)
		take_completions();
	return true;
}

/* Handles what comes until it has come for all. */
static void wait_for_all(const uint32_t *number, const char *what)
{
	while (*number < count) {
		if (!handle_next(PATIENCE))
			errx(1, "%s: only %u of %u are %s", side, *number,
			     count, what);
	}
}

/* Waits until the other side has come here, too. */
static void meet(void)
{
	struct pollfd fd = { other, POLLIN, 0 };
	char byte = 0;

	if (send(other, &byte, 1, MSG_NOSIGNAL) != 1 ||
	    poll(&fd, 1, 1000 * PATIENCE) != 1 || read(other, &byte, 1) != 1)
		errx(1, "%s: the other side does not go on", side);
}

static struct rdma_cm_id *make_id(void *context)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(events, &id, context, RDMA_PS_TCP))
		err(1, "%s: rdma_create_id", side);
	return id;
}

static struct rdma_cm_id *listen_at(const struct addrinfo *address)
{
	struct rdma_cm_id *id = make_id(NULL);

	if (rdma_bind_addr(id, address->ai_addr))
		err(1, "%s: rdma_bind_addr", side);
	if (rdma_listen(id, count))
		err(1, "%s: rdma_listen", side);
	return id;
}

static void connect_all(void)
{
	for (uint32_t i = 0; i < count; i++) {
		connections[i].id = make_id(&connections[i]);
		resolve(&connections[i]);
	}
}

static uint32_t *shuffled(void)
{
	uint32_t *order = calloc(count, sizeof(*order));

	if (!order)
		err(1, "%s", side);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = random() % (i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	return order;
}

static void disconnect_half(void)
{
	uint32_t *order = shuffled();

	for (uint32_t i = 0; i < count; i++)
		if (order[i] % 2 == is_server)
			leave(&connections[order[i]]);
	free(order);
}

static void disconnect_all(enum ending ending)
{
	if (ending == IN_DISORDER)
		disconnect_half();
	/*
	 * The kernel of a process that has died says so once, and does not
	 * repeat it. What was lost is found by asking.
	 */
	if (ending == CLIENT_DIES || ending == SERVER_DIES)
		while (disconnected < count && handle_next(QUIET))
			;
	for (uint32_t i = 0; ending != IN_DISORDER && i < count; i++)
		if (ending != IN_ORDER || !is_server)
			leave(&connections[i]);
	wait_for_all(&disconnected, "disconnected");
}

static void destroy_all(struct rdma_cm_id *listener)
{
	for (uint32_t i = 0; i < count; i++) {
		rdma_destroy_qp(connections[i].id);
		if (rdma_destroy_id(connections[i].id))
			err(1, "%s: rdma_destroy_id of %u", side, i);
	}
	if (listener && rdma_destroy_id(listener))
		err(1, "%s: rdma_destroy_id of the listener", side);
	close_device();
	rdma_destroy_event_channel(events);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* The kernel counts as many of @kind as both sides have. */
static void check_counts(const char *kind)
{
	char line[512], *place;
	unsigned long sum = 0;
	FILE *pipe = popen("rdma resource show", "r");

	while (pipe && fgets(line, sizeof(line), pipe)) {
		place = strstr(line, kind);
		sum += place ? strtoul(place + strlen(kind), NULL, 10) : 0;
	}
	if (!pipe || pclose(pipe) || sum < 2 * count)
		errx(1, "%s: %lu of%s", side, sum, kind);
}

static void exchange(void)
{
	if (!is_server)
		for (uint32_t i = 0; i < count; i++)
			send_message(&connections[i]);
	wait_for_all(&received, "received");
	wait_for_all(&sent, "sent");
	meet();
}

/*
 * The parent kills the child, whose connections are all alive. A child that has
 * lost its parent ends by itself.
 */
static void one_dies(pid_t child)
{
	char byte;

	if (!child)
		exit(read(other, &byte, 1) != 1);
	if (kill(child, SIGKILL) || waitpid(child, NULL, 0) != child)
		err(1, "kill");
}

static void run_side(const struct addrinfo *address, enum ending ending,
		     pid_t child)
{
	struct rdma_cm_id *listener = NULL;
	double begin;

	events = rdma_create_event_channel();
	if (!events)
		err(1, "%s: rdma_create_event_channel", side);
	if (is_server)
		listener = listen_at(address);
	meet();
	begin = now();
	server_address = address;
	if (!is_server)
		connect_all();
	wait_for_all(&established, "established");
	meet();
	if (child) {
		printf("%u connections: %.0f/s made, ", count,
		       count / (now() - begin));
		check_counts(" cm_id ");
		check_counts(" qp ");
	}
	exchange();
	begin = now();
	if (ending == CLIENT_DIES || ending == SERVER_DIES)
		one_dies(child);
	disconnect_all(ending);
	destroy_all(listener);
	if (child)
		printf("%.0f/s ended (%s)\n", count / (now() - begin),
		       endings[ending]);
}

static void enter(const char *netns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "%s", path);
	close(fd);
}

static struct addrinfo *look_up(const char *name)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *found;
	int error = getaddrinfo(name, PORT, &hints, &found);

	if (error)
		errx(1, "%s: %s", name, gai_strerror(error));
	return found;
}

static enum ending parse_ending(const char *word)
{
	for (int i = 0; i < 4; i++)
		if (!strcmp(word, endings[i]))
			return i;
	errx(2, "no ending is called %s", word);
}

int main(int argc, char **argv)
{
	enum ending ending;
	int sockets[2];
	pid_t child;

	if (argc != 5 && argc != 6)
		errx(2, "usage: connections COUNT END SERVER CLIENT [NETNS]");
	count = strtoul(argv[1], NULL, 0);
	ending = parse_ending(argv[2]);
	connections = calloc(count, sizeof(*connections));
	if (!connections || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		err(1, "main");
	for (uint32_t i = 0; i < count; i++)
		connections[i].number = i;
	child = fork();
	if (child < 0)
		err(1, "fork");
	other = sockets[!child];
	close(sockets[!!child]);
	/* The child is the one that may be killed. */
	is_server = !child == (ending == SERVER_DIES);
	side = is_server ? "server" : "client";
	if (!is_server && argc == 6)
		enter(argv[5]);
	run_side(look_up(argv[is_server ? 3 : 4]), ending, child);
	if (child && ending != CLIENT_DIES && ending != SERVER_DIES) {
		int status;

		if (waitpid(child, &status, 0) != child || status)
			errx(1, "the other side has failed");
	}
	return 0;
}
