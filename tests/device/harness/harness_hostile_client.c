// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Hostile actions of a client in QEMU's place, of a peer on a wire, and of a
 * user of the control socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/journal.h"
#include "harness_driver.h"
#include "harness_hostile.h"
#include "harness_load.h"
#include "harness_vfu.h"
#include "remote_nic.h"

#define FLOOD_SIZE 65536

/* Doorbells of different queues, about as many as fit in a flood */
#define MANY_QUEUES 1024
#define FEW_QUEUES 16

/* How often the requests for events are new while a flood is sent once */
#define NUM_ARMS 16

/* Message Control of the MSI-X capability, in configuration space */
#define MSIX_FLAGS 0xa2

/* An eventfd is added under so many numbers to so many epolls */
#define WATCH_NUMBERS 256
#define WATCH_EPOLLS 256

/**
 * struct flood - messages that are sent again and again
 * @fd: connection
 * @data: messages, whole
 * @len: bytes of @data
 * @at: bytes of @data that have been sent in this round
 * @srq: SRQ of the doorbells
 * @cq: CQs of the doorbells
 * @num_cqs: number of @cq
 */
struct flood {
	int fd;
	uint8_t data[FLOOD_SIZE];
	size_t len;
	size_t at;
	struct drv_srq *srq;
	struct drv_cq *cq[MANY_QUEUES];
	unsigned int num_cqs;
};

static struct flood *flood_new(struct hostile *h, int fd)
{
	struct flood *f = tap_alloc(sizeof(*f));

	f->fd = fd;
	h->state = f;
	return f;
}

/* Return: true if there is room for another message */
static bool flood_add(struct flood *f, uint16_t command, uint32_t flags,
		      const void *payload, size_t len)
{
	struct vfu_header hdr = {
		.command = command,
		.size = sizeof(hdr) + len,
		.flags = flags,
	};

	memcpy(f->data + f->len, &hdr, sizeof(hdr));
	memcpy(f->data + f->len + sizeof(hdr), payload, len);
	f->len += hdr.size;
	return sizeof(f->data) - f->len >= hdr.size;
}

static bool flood_add_write(struct flood *f, uint32_t region, uint64_t offset,
			    uint64_t value, uint32_t len)
{
	struct {
		struct vfu_region_access access;
		uint64_t value;
	} write = { .access = { offset, region, len }, .value = value };

	return flood_add(f, VFU_REGION_WRITE, VFU_NO_REPLY, &write,
			 sizeof(write.access) + len);
}

static void flood_write(struct flood *f, uint32_t region, uint64_t offset,
			uint64_t value, uint32_t len)
{
	while (flood_add_write(f, region, offset, value, len))
		;
}

/* Return: true if there is room for another doorbell */
static bool flood_add_doorbell(struct flood *f, uint32_t uarn,
			       uint32_t doorbell, uint32_t number)
{
	return flood_add_write(f, MYNIC_BAR_UAR,
			       uarn * MYNIC_UAR_SIZE + doorbell,
			       (uint64_t)number << MYNIC_DB_NUMBER_SHIFT, 8);
}

/* Send as much as possible. Replies are read and ignored. */
static void flood_again(struct hostile *h)
{
	struct flood *f = h->state;
	struct pollfd wait = { f->fd, POLLIN | POLLOUT, 0 };
	uint8_t rest[16384];
	ssize_t n;

	n = send(f->fd, f->data + f->at, f->len - f->at,
		 MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0)
		f->at = (f->at + n) % f->len;
	else if (errno != EAGAIN)
		FAIL("the device has gone: %s", strerror(errno));
	while (recv(f->fd, rest, sizeof(rest), MSG_DONTWAIT) > 0)
		;
	if (n < 0)
		poll(&wait, 1, -1);
}

static struct flood *spare_flood(struct hostile *h)
{
	return flood_new(h, vfu_open_path(h->spare));
}

static void begin_resets(struct hostile *h)
{
	flood_write(spare_flood(h), MYNIC_BAR_REGS, MYNIC_REG_CONTROL,
		    MYNIC_CONTROL_RESET, 4);
}

static void begin_registers(struct hostile *h)
{
	flood_write(spare_flood(h), MYNIC_BAR_REGS, MYNIC_REG_AQ_CMD_LO, 0x1000,
		    4);
}

/* Each is of another QP, whose doorbell record has to be looked at */
static void begin_doorbells(struct hostile *h)
{
	struct drv_qp_init init = {
		.type = MYNIC_QP_UD,
		.pdn = drv_alloc_pd(h->nic[0]),
		.log_sq_stride = 6,
	};
	struct load *load = load_new(h->nic[0], init,
				     h->quick ? FEW_QUEUES : MANY_QUEUES, 2);
	struct flood *f = flood_new(h, remote_nic_fd(h->nic[0]->n->nic));
	unsigned int i = 0;

	for (unsigned int j = 0; j < load->num; j++)
		drv_ud_up(load->qp[j], 1, IBV_QPS_RTS);
	while (flood_add_doorbell(f, load->qp[i]->create.uarn, MYNIC_UAR_QP_DB,
				  load->qp[i]->number))
		i = (i + 1) % load->num;
}

/* Give all vectors of a NIC one eventfd */
static int give_eventfd(int fd)
{
	int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	CHECK(event >= 0);
	vfu_put(fd, VFIO_PCI_CONFIG_REGION_INDEX, MSIX_FLAGS,
		PCI_MSIX_FLAGS_ENABLE, 2);
	for (unsigned int i = 0; i < MYNIC_MAX_VECTORS; i++)
		CHECK_EQ(vfu_set_irqs(fd,
				      VFIO_IRQ_SET_DATA_EVENTFD |
					      VFIO_IRQ_SET_ACTION_TRIGGER,
				      i, 1, &event, 1),
			 0);
	return event;
}

/* Each doorbell is of another CQ; the EQ's is for events that found no room */
static void begin_cq_doorbells(struct hostile *h)
{
	struct drv *d = h->nic[0];
	int fd = remote_nic_fd(d->n->nic);
	struct flood *f = flood_new(h, fd);
	unsigned int i = 0;

	give_eventfd(fd);
	f->num_cqs = h->quick ? FEW_QUEUES : MANY_QUEUES;
	for (unsigned int j = 0; j < f->num_cqs; j++)
		f->cq[j] = drv_create_cq(d, 1);
	flood_add_doorbell(f, 0, MYNIC_UAR_EQ_DB, d->comp.number);
	while (flood_add_doorbell(f, f->cq[i]->uarn, MYNIC_UAR_CQ_DB,
				  f->cq[i]->number))
		i = (i + 1) % f->num_cqs;
}

/*
 * Request events that are due at once: for entries that are there, and for
 * requests that the device has missed. The EQ is kept empty, so that each is an
 * interrupt
 */
static void cq_doorbells_again(struct hostile *h)
{
	struct flood *f = h->state;
	struct drv *d = h->nic[0];
	struct mynic_eqe eqe;

	flood_again(h);
	for (unsigned int i = 0; i < NUM_ARMS * f->num_cqs; i++) {
		struct mynic_cq_dbrec *rec = f->cq[i % f->num_cqs]->rec;
		uint64_t seq = (rec->arm >> MYNIC_ARM_SEQ_SHIFT) + 2;

		rec->arm = MYNIC_ARM_VALID | UINT32_MAX |
			   (seq & MYNIC_ARM_SEQ_MASK) << MYNIC_ARM_SEQ_SHIFT;
		/* a doorbell of its own could be inside another message */
		while (drv_eq_poll(&d->comp, &eqe))
			d->comp.rec->ci = d->comp.ci;
	}
}

/* Each doorbell makes the device execute the operations in a ring */
static void begin_tag_doorbells(struct hostile *h)
{
	struct drv *d = h->nic[0];
	struct drv_srq *srq = drv_create_tm_srq(d, drv_alloc_pd(d),
						drv_create_cq(d, 8), 8, 1024);

	flood_write(flood_new(h, remote_nic_fd(d->n->nic)), MYNIC_BAR_UAR,
		    srq->uarn * MYNIC_UAR_SIZE + MYNIC_UAR_TAG_DB,
		    (uint64_t)srq->number << MYNIC_DB_NUMBER_SHIFT, 8);
	for (unsigned int i = 0; i < 1u << srq->log_tag_size; i++) {
		/* Each is an error, and has a completion */
		struct mynic_tag_wqe wqe = { .ctrl = IBV_WR_TAG_DEL,
					     .handle = i };

		memcpy(drv_buf_at(&srq->tag_buf, i * sizeof(wqe)), &wqe,
		       sizeof(wqe));
	}
	((struct flood *)h->state)->srq = srq;
}

/* The ring is full again whenever a doorbell arrives */
static void tag_doorbells_again(struct hostile *h)
{
	struct drv_srq *srq = ((struct flood *)h->state)->srq;

	srq->tag_rec->pi = srq->tag_rec->ci + (1u << srq->log_tag_size);
	flood_again(h);
}

/* Each doorbell interrupts, because the event in the EQ is never taken */
static void begin_eq_doorbells(struct hostile *h)
{
	struct drv *d = h->nic[0];
	struct drv_srq *srq = drv_create_srq(d, drv_alloc_pd(d), 4);

	/*
	 * The SRQ has fewer entries than this limit, so there is an event at
	 * once
	 */
	CHECK_EQ(drv_modify_srq(srq, 1), 0);
	flood_write(flood_new(h, remote_nic_fd(d->n->nic)), MYNIC_BAR_UAR,
		    MYNIC_UAR_EQ_DB,
		    (uint64_t)d->event.number << MYNIC_DB_NUMBER_SHIFT, 8);
}

static void begin_config_reads(struct hostile *h)
{
	static const struct vfu_region_access all = {
		.region = VFIO_PCI_CONFIG_REGION_INDEX,
		.count = 4096,
	};
	struct flood *f = spare_flood(h);

	while (flood_add(f, VFU_REGION_READ, 0, &all, sizeof(all)))
		;
}

static void begin_function_resets(struct hostile *h)
{
	struct flood *f = spare_flood(h);

	while (flood_add(f, VFU_DEVICE_RESET, VFU_NO_REPLY, "", 0))
		;
}

/* Each vector has an eventfd, and each message signals all */
static void begin_interrupts(struct hostile *h)
{
	struct {
		struct vfio_irq_set set;
		uint8_t vectors[MYNIC_MAX_VECTORS];
	} trigger = {
		.set = VFU_IRQ_SET(VFIO_IRQ_SET_DATA_BOOL |
					   VFIO_IRQ_SET_ACTION_TRIGGER,
				   0, MYNIC_MAX_VECTORS),
	};
	struct flood *f = spare_flood(h);

	give_eventfd(f->fd);
	memset(trigger.vectors, 1, sizeof(trigger.vectors));
	while (flood_add(f, VFU_DEVICE_SET_IRQS, VFU_NO_REPLY, &trigger,
			 sizeof(trigger)))
		;
}

/* Each signal wakes a large number of epolls */
static void begin_slow_eventfd(struct hostile *h)
{
	struct epoll_event watch = { .events = EPOLLIN };
	int event;

	begin_interrupts(h);
	event = give_eventfd(((struct flood *)h->state)->fd);
	for (unsigned int i = 0; i < (h->quick ? 16 : WATCH_NUMBERS); i++) {
		static int epolls[WATCH_EPOLLS];
		int number = dup(event);

		CHECK(number >= 0);
		for (unsigned int j = 0; j < ARRAY_SIZE(epolls); j++) {
			if (!i)
				epolls[j] = epoll_create1(EPOLL_CLOEXEC);
			if (epoll_ctl(epolls[j], EPOLL_CTL_ADD, number, &watch))
				return; /* as many as the user may have */
		}
	}
}

/* The admin queue is in memory that the client has taken away */
static void shrink_again(struct hostile *h)
{
	int fd = vfu_open_path(h->spare);
	int file = vfu_memory(1 << 20);

	CHECK_EQ(vfu_map(fd, 0x100000, 1 << 20, file, 0), 0);
	vfu_put(fd, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND,
		PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_CMD_LO, 0x100000, 4);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_CPL_LO, 0x180000, 4);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_LOG_SIZE, 4, 4);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_CONTROL, MYNIC_CONTROL_ENABLE, 4);
	CHECK_EQ(ftruncate(file, 0), 0);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_DOORBELL, 1, 4);
	/* The device may end the connection, but not itself */
	close(file);
	close(fd);
}

/* A connection with data in flight that nobody reads */
static int lingering_socket(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	struct linger linger = { .l_onoff = 1, .l_linger = 20 };
	socklen_t len = sizeof(addr);
	static int peer = -1, listener = -1;
	static const uint8_t data[65536];
	int fd;

	close(peer);
	close(listener);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_EQ(bind(listener, (struct sockaddr *)&addr, len), 0);
	CHECK_EQ(getsockname(listener, (struct sockaddr *)&addr, &len), 0);
	CHECK_EQ(listen(listener, 1), 0);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&addr, len), 0);
	peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	while (send(fd, data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)),
		 0);
	return fd;
}

static void linger_again(struct hostile *h)
{
	struct vfu_dma_map map = {
		.argsz = sizeof(map),
		.flags = VFIO_DMA_MAP_FLAG_READ,
		.iova = 0x100000,
		.size = 4096,
	};
	struct vfu_header hdr = {
		.command = VFU_DMA_MAP,
		.size = sizeof(hdr) + sizeof(map),
		.flags = VFU_NO_REPLY,
	};
	int fd = vfu_open_path(h->spare);
	int lingering = lingering_socket();

	vfu_send(fd, &hdr, &map, sizeof(map), &lingering, 1);
	close(lingering);
	/*
	 * Wait until the device has the file, so that the device closes it last
	 */
	vfu_get(fd, VFIO_PCI_CONFIG_REGION_INDEX, 0, 4);
	close(fd);
}

#define MANY_MAPS 65530

static void maps_again(struct hostile *h)
{
	unsigned int num = h->quick ? 100 : MANY_MAPS;
	int fd = vfu_open_path(h->spare);
	int file = vfu_memory(1 << 20);

	/* Adjacent maps that the kernel cannot join */
	for (unsigned int i = 0; i < num; i++)
		if (vfu_map(fd, (i + 1) * 0x2000ull, 0x1000, file,
			    i % 2 * 0x4000))
			break; /* as many as the device takes */
	close(file);
	close(fd);
}

/* Return: connection, or -1 if the queue of waiting clients is full */
static int connect_raw(const char *path)
{
	struct sockaddr_un addr = device_address(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	CHECK(fd >= 0);
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	CHECK_EQ(errno, EAGAIN);
	close(fd);
	return -1;
}

static void connect_again(struct hostile *h)
{
	int fds[64];

	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = connect_raw(i % 2 ? h->spare : h->control);
		if (send(fds[i], "\1\0\1\0", i % 4, MSG_NOSIGNAL) < 0)
			continue; /* refused */
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void own_socket_again(struct hostile *h)
{
	int fd = connect_raw(h->spare);
	struct vfu_version version = {};
	struct vfio_irq_set set = VFU_IRQ_SET(
		VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 1);
	struct vfu_header hdr = {
		.command = VFU_VERSION,
		.size = sizeof(hdr) + sizeof(version),
	};

	/* Earlier connections may still hold the NIC */
	if (fd < 0)
		return;
	vfu_send(fd, &hdr, &version, sizeof(version), NULL, 0);
	hdr = (struct vfu_header){
		.command = VFU_DEVICE_SET_IRQS,
		.size = sizeof(hdr) + sizeof(set),
		.flags = VFU_NO_REPLY,
	};
	vfu_send(fd, &hdr, &set, sizeof(set), &fd, 1);
	close(fd);
}

/* Fills the journal of the hostile guest's first NIC, the third of all */
static void fill_journal(struct hostile *h, int control)
{
	static const char command[] = "journal on nic3\n";
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_DESTROY_CQ,
				       .number = 0x12345 };
	struct pollfd wait = { .fd = control, .events = POLLIN };
	char answer[3];

	CHECK_EQ(send(control, command, strlen(command), MSG_NOSIGNAL),
		 strlen(command));
	CHECK_EQ(poll(&wait, 1, -1), 1);
	CHECK_EQ(recv(control, answer, sizeof(answer), 0), sizeof(answer));
	CHECK_MEM(answer, "ok\n", sizeof(answer));
	for (unsigned int i = 0; i < JOURNAL_SIZE; i++)
		CHECK_EQ(drv_admin(h->nic[0], &cmd, NULL), MYNIC_AQ_BAD_NUMBER);
}

/* Commands with the longest answers */
static void begin_control(struct hostile *h)
{
	static const char command[] = "stats\njournal show nic3\n";
	struct flood *f = flood_new(h, connect_raw(h->control));

	fill_journal(h, f->fd);
	while (sizeof(f->data) - f->len >= strlen(command)) {
		memcpy(f->data + f->len, command, strlen(command));
		f->len += strlen(command);
	}
}

/* The largest and the smallest frames, to all and to the victim */
static void frames_again(struct hostile *h)
{
	struct sockaddr_un addr = device_address(h->wire);
	uint8_t frame[9000] = "\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\7\x88\xb5";
	struct pollfd wait = { h->wire_end, POLLIN | POLLOUT, 0 };

	for (unsigned int i = 0; i < 64; i++) {
		if (i % 4 == 1)
			memcpy(frame, nic_mac(h->victim[0]->n->nic), 6);
		if (sendto(h->wire_end, frame, i % 2 ? 60 : sizeof(frame),
			   MSG_DONTWAIT, (struct sockaddr *)&addr,
			   sizeof(addr)) < 0)
			poll(&wait, 1, 1);
	}
	while (recv(h->wire_end, frame, sizeof(frame), MSG_DONTWAIT) > 0)
		;
}

/* The shortest broadcasts, over the stream wire */
static void begin_small_frames(struct hostile *h)
{
	static const uint8_t frame[] = "\0\0\0\16\xff\xff\xff\xff\xff\xff"
				       "\x02\0\0\0\0\7\x88\xb5";
	struct flood *f = flood_new(h, vfu_connect_path(h->stream));

	while (sizeof(f->data) - f->len >= sizeof(frame) - 1) {
		memcpy(f->data + f->len, frame, sizeof(frame) - 1);
		f->len += sizeof(frame) - 1;
	}
}

/* Frames for a wire whose far end reads everything */
static void fast_wire_again(struct hostile *h)
{
	uint8_t frame[9000];

	load_again(h->state);
	while (recv(h->wire_end, frame, sizeof(frame), MSG_DONTWAIT) > 0)
		;
}

/* Frames for a peer on the wire, which has made its address known */
static void begin_slow_peer(struct hostile *h)
{
	static const uint8_t frame[60] = "\xff\xff\xff\xff\xff\xff"
					 "\x02\0\0\0\0\7\x88\xb5";
	struct sockaddr_un addr = device_address(h->wire);

	CHECK_EQ(sendto(h->wire_end, frame, sizeof(frame), 0,
			(struct sockaddr *)&addr, sizeof(addr)),
		 sizeof(frame));
	hostile_begin_frames(h, frame + 6);
}

/* Fill a wire whose far end reads hardly anything */
static void slow_wire_again(struct hostile *h)
{
	uint8_t frame[9000];

	load_again(h->state);
	for (unsigned int i = 0; i < 8; i++)
		if (recv(h->wire_end, frame, sizeof(frame), MSG_DONTWAIT) < 0)
			break;
}

const struct hostile_kind hostile_client[] = {
	{ "reset_flood", "RESETs", .begin = begin_resets,
	  .again = flood_again },
	{ "register_flood", "register writes", .begin = begin_registers,
	  .again = flood_again },
	{ "doorbell_flood", "doorbells of 1024 QPs", .begin = begin_doorbells,
	  .again = flood_again },
	{ "cq_doorbell_flood", "doorbells of CQs that are armed again",
	  .begin = begin_cq_doorbells, .again = cq_doorbells_again },
	{ "tag_doorbell_flood", "doorbells of a tag ring that is always full",
	  .begin = begin_tag_doorbells, .again = tag_doorbells_again },
	{ "eq_doorbell_flood", "doorbells of an event queue",
	  .begin = begin_eq_doorbells, .again = flood_again },
	{ "read_flood", "reads of configuration space",
	  .begin = begin_config_reads, .again = flood_again },
	{ "interrupt_flood", "interrupts by request", .begin = begin_interrupts,
	  .again = flood_again },
	{ "slow_eventfd", "interrupts that wake 65536 epolls",
	  .begin = begin_slow_eventfd, .again = flood_again },
	{ "function_resets", "VFIO device resets",
	  .begin = begin_function_resets, .again = flood_again },
	{ "shrinking_file", "memory that is taken from under the device",
	  .again = shrink_again },
	{ "lingering_sockets", "sockets that take long to close",
	  .again = linger_again },
	{ "many_maps", "maps as many as fit, and the end",
	  .again = maps_again },
	{ "connections", "connections that say nothing or half",
	  .again = connect_again },
	{ "own_socket", "the connection itself as an eventfd",
	  .again = own_socket_again },
	{ "control_flood", "control commands", .begin = begin_control,
	  .again = flood_again },
	{ "slow_wire", "broadcasts to a wire that takes little",
	  .begin = hostile_begin_broadcast, .again = slow_wire_again,
	  .wire = true },
	{ "slow_peer", "frames for a peer that takes little",
	  .begin = begin_slow_peer, .again = slow_wire_again, .wire = true },
	{ "fast_wire", "broadcasts to a wire that takes them",
	  .begin = hostile_begin_broadcast, .again = fast_wire_again,
	  .wire = true },
	{ "small_frames", "broadcasts of 14 bytes from a wire", .wire = true,
	  .begin = begin_small_frames, .again = flood_again },
	{ "frame_flood", "frames from a wire", .wire = true,
	  .again = frames_again },
	{},
};
