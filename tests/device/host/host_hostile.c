// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Clients that try to make the device model wait or die */
#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness_tap.h"
#include "harness_vfu.h"
#include "mynic_regs.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

#define CONFIG VFIO_PCI_CONFIG_REGION_INDEX
#define PAGE 4096
#define HUGE_SHARE (64 << 20)

#define SET_FDS (VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER)
#define TRIGGER (VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER)

#define MSIX_FLAGS 0xa2

#define RING_CMD 0x100000
#define RING_CPL 0x101000

/* A test that waited so long would have failed before. */
#define LINGER_SECONDS 10000

/* Connect to a NIC, and set up its admin queue in @file */
static int open_nic(const struct device *dev, unsigned int nic, int file)
{
	int fd = vfu_open(dev, nic);

	CHECK_EQ(vfu_map(fd, RING_CMD, HUGE_SHARE, file, 0), 0);
	vfu_put(fd, CONFIG, PCI_COMMAND,
		PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_CMD_LO, RING_CMD, 4);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_CPL_LO, RING_CPL, 4);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_AQ_LOG_SIZE, 4, 4);
	vfu_put(fd, MYNIC_BAR_REGS, MYNIC_REG_CONTROL, MYNIC_CONTROL_ENABLE, 4);
	while (!(vfu_get(fd, MYNIC_BAR_REGS, MYNIC_REG_STATUS, 4) &
		 MYNIC_STATUS_ENABLED))
		;
	return fd;
}

/*
 * A client that shortens its shared memory loses its session, and nobody else
 * does.
 */
TEST(memory_that_is_taken_away)
{
	struct device *dev = device_start();
	int other = vfu_open(dev, 1);

	for (int i = 0; i < 3; i++) {
		struct vfu_region_access ring = {
			.offset = MYNIC_REG_AQ_DOORBELL,
			.region = MYNIC_BAR_REGS,
			.count = 4,
		};
		uint8_t message[sizeof(ring) + 4] = {};
		int file = vfu_memory(HUGE_SHARE);
		int fd = open_nic(dev, 0, file);

		memcpy(message, &ring, sizeof(ring));
		message[sizeof(ring)] = 1;
		CHECK_EQ(ftruncate(file, 0), 0);
		vfu_post(fd, VFU_REGION_WRITE, message, sizeof(message));
		vfu_wait_end(fd);
		close(file);
		vfu_check_alive(other);
	}
	vfu_check_alive(vfu_open(dev, 0));
}

/* One end of a connection whose close() waits until the other end reads */
static int lingering_socket(void)
{
	struct linger linger = { .l_onoff = 1, .l_linger = LINGER_SECONDS };
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char data[65536] = {};

	CHECK_EQ(bind(listener, (struct sockaddr *)&addr, len), 0);
	CHECK_EQ(listen(listener, 1), 0);
	CHECK_EQ(getsockname(listener, (struct sockaddr *)&addr, &len), 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&addr, len), 0);
	while (send(fd, data, sizeof(data), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)),
		 0);
	return fd;
}

/*
 * Send @command without an answer, and with a socket of which the device will
 * have the only descriptor
 */
static void post_socket(const struct device *dev, int fd, uint16_t command,
			const void *payload, size_t len)
{
	struct vfu_header hdr = {
		.command = command,
		.size = sizeof(hdr) + len,
		.flags = VFU_NO_REPLY,
	};
	int lingering = lingering_socket();

	kill(dev->pid, SIGSTOP);
	vfu_send(fd, &hdr, payload, len, &lingering, 1);
	close(lingering);
	kill(dev->pid, SIGCONT);
}

TEST(files_that_take_long_to_close)
{
	struct vfio_irq_set set = VFU_IRQ_SET(SET_FDS, 0, 1);
	struct vfu_dma_map map = {
		.argsz = sizeof(map),
		.flags = VFIO_DMA_MAP_FLAG_READ,
		.size = PAGE,
	};
	struct device *dev = device_start();
	struct vfu_header half = { .size = 100 };
	int other = vfu_open(dev, 1);
	int lingering;
	int fd;

	fd = vfu_open(dev, 0);
	post_socket(dev, fd, VFU_DMA_MAP, &map, sizeof(map));
	vfu_check_alive(fd);
	vfu_check_alive(other);
	post_socket(dev, fd, VFU_DEVICE_SET_IRQS, &set, sizeof(set));
	vfu_check_alive(fd);
	vfu_check_alive(other);
	post_socket(dev, fd, VFU_REGION_READ, NULL, 0);
	vfu_check_alive(fd);
	vfu_check_alive(other);
	/*
	 * In a message that never ends, and behind it, where the device does
	 * not receive it
	 */
	kill(dev->pid, SIGSTOP);
	for (int i = 0; i < 2; i++) {
		lingering = lingering_socket();
		vfu_send(fd, &half, NULL, 0, &lingering, 1);
		close(lingering);
	}
	close(fd);
	kill(dev->pid, SIGCONT);
	for (int i = 0; i < 100; i++)
		vfu_check_alive(other);
}

/*
 * More files than allowed in one message. The kernel must not close them in the
 * context of the device.
 */
TEST(more_files_than_are_taken)
{
	struct vfu_header hdr = {
		.command = VFU_DEVICE_RESET,
		.size = sizeof(hdr),
	};
	struct device *dev = device_start();
	int other = vfu_open(dev, 1);
	int fd = vfu_open(dev, 0);
	int files[40];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		files[i] = lingering_socket();
	kill(dev->pid, SIGSTOP);
	vfu_send(fd, &hdr, NULL, 0, files, ARRAY_SIZE(files));
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		close(files[i]);
	kill(dev->pid, SIGCONT);
	vfu_wait_end(fd);
	for (int i = 0; i < 100; i++)
		vfu_check_alive(other);
}

TEST(only_eventfds_are_interrupts)
{
	struct device *dev = device_start();
	int fd = vfu_open(dev, 0);
	int pipes[2], sockets[2];
	int good = eventfd(0, EFD_NONBLOCK);
	int both[2];

	CHECK_EQ(pipe(pipes), 0);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 1, &pipes[1], 1), -EINVAL);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 1, &sockets[0], 1), -EINVAL);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 1, &(int){ vfu_memory(8) }, 1),
		 -EINVAL);
	/* Its own socket: nobody would notice its end. */
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 1, &fd, 1), -EINVAL);
	both[0] = good;
	both[1] = pipes[1];
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 2, both, 2), -EINVAL);
	both[1] = good;
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 2, both, 2), 0);
	close(fd);
	vfu_check_alive(vfu_open(dev, 0));
}

/* A file on a disk, as that of this program usually is */
static int file_on_disk(void)
{
	char *path = tap_alloc(4096);
	struct stat st;
	int file;

	CHECK(readlink("/proc/self/exe", path, 4095) > 0);
	file = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0);
	CHECK_EQ(fstat(file, &st), 0);
	if (!(st.st_dev >> 8) || fcntl(file, F_GET_SEALS) >= 0)
		tap_skip("the tests are not on a disk");
	return file;
}

static int map_read_only(int fd, int file)
{
	struct vfu_dma_map map = {
		.argsz = sizeof(map),
		.flags = VFIO_DMA_MAP_FLAG_READ,
		.size = PAGE,
	};

	return vfu_call_fds(fd, VFU_DMA_MAP, &map, sizeof(map), &file, 1);
}

TEST(only_memory_is_mapped)
{
	int fd = vfu_open(device_start(), 0);
	int sockets[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	CHECK_EQ(map_read_only(fd, sockets[0]), -EINVAL);
	CHECK_EQ(map_read_only(fd, eventfd(0, 0)), -EINVAL);
	CHECK_EQ(map_read_only(fd, open("/dev/zero", O_RDWR)), -EINVAL);
	CHECK_EQ(map_read_only(fd, open("/proc/self/maps", O_RDONLY)), -EINVAL);
	CHECK_EQ(map_read_only(fd, vfu_memory(PAGE)), 0);
}

TEST(files_on_a_disk_where_they_are_allowed)
{
	const char *dir = device_dir();
	const char *paths[2] = { tap_print("%s/0", dir),
				 tap_print("%s/1", dir) };
	const char *const args[] = {
		"--nic", tap_print("socket=%s", paths[0]),
		"--nic", tap_print("socket=%s,disk=on", paths[1]),
		NULL,
	};
	int file = file_on_disk();

	device_spawn(args);
	CHECK_EQ(map_read_only(vfu_open_path(paths[0]), file), -EINVAL);
	CHECK_EQ(map_read_only(vfu_open_path(paths[1]), file), 0);
}

/* A silent client keeps a NIC from others only for a limited time. */
TEST(silent_client)
{
	struct device *dev = device_start();
	int silent = vfu_connect(dev, 0);
	int next = vfu_open(dev, 0);

	vfu_check_alive(next);
	vfu_wait_end(silent);
	/* A client may be silent after VERSION. */
	silent = vfu_connect(dev, 1);
	CHECK_EQ(send(silent, "\0", 1, MSG_NOSIGNAL), 1);
	vfu_wait_end(silent);
	vfu_check_alive(next);
}

/* One client that maps as much as it may leaves the other its share. */
TEST(maps_are_shared_out)
{
	struct device *dev = device_start();
	int greedy = vfu_open(dev, 0);
	int other = vfu_open(dev, 1);
	int file = vfu_memory(2 * PAGE);
	uint64_t n = 0;
	int err;

	/* The kernel would join adjacent maps. */
	while (!(err = vfu_map(greedy, n * PAGE, PAGE, file, 0)))
		n++;
	CHECK_EQ(err, -ENOSPC);
	CHECK(n >= 4096);
	CHECK(n <= 32768);
	for (uint64_t i = 0; i < 4096; i++)
		CHECK_EQ(vfu_map(other, i * PAGE, PAGE, file, 0), 0);
	/* The next client has the same share. */
	close(greedy);
	greedy = vfu_open(dev, 0);
	for (uint64_t i = 0; i < n; i++)
		CHECK_EQ(vfu_map(greedy, i * PAGE, PAGE, file, 0), 0);
	vfu_check_alive(other);
}

#define FLOOD 1500

/* Send FLOOD requests for an interrupt while the device is stopped */
static void send_flood(int fd)
{
	struct flood {
		struct vfu_header hdr;
		struct vfio_irq_set set;
	} flood[FLOOD];

	for (int i = 0; i < FLOOD; i++) {
		flood[i].hdr = (struct vfu_header){
			.command = VFU_DEVICE_SET_IRQS,
			.size = sizeof(flood[i].hdr) + sizeof(flood[i].set),
			.flags = VFU_NO_REPLY,
		};
		flood[i].set = VFU_IRQ_SET(TRIGGER, 0, 1);
	}
	CHECK_EQ(send(fd, flood, sizeof(flood), MSG_NOSIGNAL), sizeof(flood));
}

/*
 * Messages of one client that arrive together are not all handled before
 * another client's turn. That client gets its answer before the greedy one gets
 * that to its last message. By the time this process checks, it may be there,
 * too, so it tries again.
 */
TEST(flood_of_messages)
{
	static const struct vfu_region_access magic = {
		.offset = MYNIC_REG_MAGIC,
		.region = MYNIC_BAR_REGS,
		.count = 4,
	};
	const struct vfu_header request = {
		.command = VFU_REGION_READ,
		.size = sizeof(request) + sizeof(magic),
	};
	struct device *dev = device_start();
	int event = eventfd(0, EFD_NONBLOCK);
	int greedy = vfu_open(dev, 0);
	int other = vfu_open(dev, 1);
	int all;

	vfu_put(greedy, CONFIG, MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE, 2);
	CHECK_EQ(vfu_set_irqs(greedy, SET_FDS, 0, 1, &event, 1), 0);
	do {
		struct pollfd wait[] = { { other, POLLIN, 0 },
					 { greedy, POLLIN, 0 } };
		struct vfu_header hdr = request;
		uint8_t reply[sizeof(magic) + 4];

		kill(dev->pid, SIGSTOP);
		send_flood(greedy);
		vfu_send(greedy, &hdr, &magic, sizeof(magic), NULL, 0);
		vfu_send(other, &hdr, &magic, sizeof(magic), NULL, 0);
		kill(dev->pid, SIGCONT);
		CHECK_EQ(poll(&wait[0], 1, -1), 1);
		all = poll(&wait[1], 1, 0);
		vfu_receive(other, &hdr, reply, sizeof(reply));
		vfu_receive(greedy, &hdr, reply, sizeof(reply));
	} while (all);
	/* The helper can take several signals together if they are slow */
	while (!vfu_signals(event))
		vfu_check_alive(greedy);
}

/*
 * The client fills the counter of an eventfd, and makes it blocking again after
 * the device has checked it. Others do not wait for it.
 */
TEST(interrupt_without_room)
{
	const uint64_t full = UINT64_MAX - 1;
	struct device *dev = device_start();
	int other = vfu_open(dev, 1);
	int fd = vfu_open(dev, 0);
	int event = eventfd(0, EFD_CLOEXEC);

	vfu_put(fd, CONFIG, MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE, 2);
	CHECK_EQ(vfu_set_irqs(fd, SET_FDS, 0, 1, &event, 1), 0);
	CHECK_EQ(fcntl(event, F_SETFL, 0), 0);
	CHECK_EQ(write(event, &full, sizeof(full)), sizeof(full));
	/* The device does not wait for room. Signals that fit are not lost */
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 0, 1, NULL, 0), 0);
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 0, 1, NULL, 0), 0);
	vfu_check_alive(other);
	CHECK_EQ(vfu_signals(event), UINT64_MAX);
	CHECK_EQ(vfu_set_irqs(fd, TRIGGER, 0, 1, NULL, 0), 0);
	CHECK_EQ(vfu_signals(event), 1);
}

/* Return: errno of sending a file, or 0 */
static int send_file(int fd)
{
	union {
		struct cmsghdr hdr;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = {
		.hdr = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS },
	};
	struct iovec iov = { "x", 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	memcpy(CMSG_DATA(&control.hdr), &fd, sizeof(fd));
	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? errno : 0;
}

/* Only clients of NICs can pass files. */
TEST(files_for_wires_and_control)
{
	const char *dir = device_dir();
	const char *wire = tap_print("%s/wire", dir);
	const char *control = tap_print("%s/control", dir);
	const char *const args[] = {
		"--wire",    tap_print("stream,listen=%s", wire),
		"--control", control,
		NULL,
	};
	const int none = 0;
	int fd;

	device_spawn(args);
	fd = vfu_connect_path(wire);
	if (setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &none, sizeof(none)))
		tap_skip("the kernel lacks SO_PASSRIGHTS");
	CHECK_EQ(send_file(fd), EPERM);
	CHECK_EQ(send_file(vfu_connect_path(control)), EPERM);
}
