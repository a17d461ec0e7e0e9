// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* vfio-user: messages, sessions, and clients that break the rules */
#include <errno.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness_tap.h"
#include "harness_vfu.h"
#include "mynic_regs.h"

#define CONFIG VFIO_PCI_CONFIG_REGION_INDEX

static const struct vfu_region_access read_magic = {
	.offset = MYNIC_REG_MAGIC,
	.region = MYNIC_BAR_REGS,
	.count = 4,
};

static struct vfu_header header(uint16_t id, uint16_t command, uint32_t size)
{
	return (struct vfu_header){
		.id = id,
		.command = command,
		.size = size,
	};
}

TEST(version_with_data)
{
	static const char data[] =
		"\0\0\7\0{\"capabilities\":{\"max_msg_fds\":8}}";
	int fd = vfu_connect(device_start(), 0);
	char reply[256] = {};
	struct vfu_version version;
	int n;

	n = vfu_call(fd, VFU_VERSION, data, sizeof(data), reply, sizeof(reply));
	CHECK(n > (int)sizeof(version));
	memcpy(&version, reply, sizeof(version));
	CHECK_EQ(version.major, 0);
	CHECK_EQ(version.minor, 0);
	CHECK_EQ(reply[n - 1], '\0');
	CHECK(strstr(reply + sizeof(version), "\"max_msg_fds\":16"));
	vfu_check_alive(fd);
	CHECK_EQ(vfu_call(fd, VFU_VERSION, data, sizeof(data), NULL, 0),
		 -EINVAL);
}

TEST(version_without_data)
{
	struct vfu_version version = {};
	int fd = vfu_connect(device_start(), 0);

	CHECK_EQ(vfu_call(fd, VFU_VERSION, &version, sizeof(version), &version,
			  sizeof(version)),
		 sizeof(version));
	vfu_check_alive(fd);
}

TEST(version_must_come_first)
{
	int fd = vfu_connect(device_start(), 0);

	for (uint16_t command = 2; command < 20; command++)
		CHECK_EQ(vfu_call(fd, command, NULL, 0, NULL, 0), -EINVAL);
	CHECK_EQ(vfu_call(fd, VFU_REGION_READ, &read_magic, sizeof(read_magic),
			  NULL, 0),
		 -EINVAL);
}

TEST(version_bad)
{
	int fd = vfu_connect(device_start(), 0);

	CHECK_EQ(vfu_call(fd, VFU_VERSION, "\0\0", 2, NULL, 0), -EINVAL);
	CHECK_EQ(vfu_call(fd, VFU_VERSION, "\1\0\0\0{}", 7, NULL, 0),
		 -EPROTONOSUPPORT);
	CHECK_EQ(vfu_call(fd, VFU_VERSION, "\0\0\0\0{}", 6, NULL, 0), -EINVAL);
	CHECK_EQ(vfu_call(fd, VFU_DEVICE_RESET, NULL, 0, NULL, 0), -EINVAL);
}

TEST(device_info)
{
	struct vfu_device_info info = { .argsz = sizeof(info) };
	int fd = vfu_open(device_start(), 0);

	CHECK_EQ(vfu_call(fd, VFU_DEVICE_GET_INFO, &info, sizeof(info), &info,
			  sizeof(info)),
		 sizeof(info));
	CHECK_EQ(info.argsz, sizeof(info));
	CHECK_EQ(info.flags, VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET);
	CHECK_EQ(info.num_regions, VFIO_PCI_NUM_REGIONS);
	CHECK_EQ(info.num_irqs, VFIO_PCI_NUM_IRQS);
	info.argsz = sizeof(info) - 1;
	CHECK_EQ(vfu_call(fd, VFU_DEVICE_GET_INFO, &info, sizeof(info), NULL,
			  0),
		 -EINVAL);
}

TEST(region_info)
{
	static const uint64_t sizes[VFIO_PCI_NUM_REGIONS] = {
		[MYNIC_BAR_REGS] = 4096,
		[MYNIC_BAR_UAR] = 64 << 20,
		[MYNIC_BAR_MSIX] = 4096,
		[CONFIG] = 4096,
	};
	const uint32_t rw = VFIO_REGION_INFO_FLAG_READ |
			    VFIO_REGION_INFO_FLAG_WRITE;
	int fd = vfu_open(device_start(), 0);

	for (uint32_t i = 0; i <= VFIO_PCI_NUM_REGIONS; i++) {
		struct vfio_region_info info = {
			.argsz = sizeof(info),
			.index = i,
		};
		int n = vfu_call(fd, VFU_DEVICE_GET_REGION_INFO, &info,
				 sizeof(info), &info, sizeof(info));

		if (i == VFIO_PCI_NUM_REGIONS) {
			CHECK_EQ(n, -EINVAL);
			break;
		}
		CHECK_EQ(n, sizeof(info));
		CHECK_EQ(info.argsz, sizeof(info));
		CHECK_EQ(info.index, i);
		CHECK_EQ(info.size, sizes[i]);
		CHECK_EQ(info.flags, sizes[i] ? rw : 0);
		CHECK_EQ(info.cap_offset, sizeof(info));
	}
}

TEST(irq_info)
{
	int fd = vfu_open(device_start(), 0);

	for (uint32_t i = 0; i < VFIO_PCI_NUM_IRQS + 1; i++) {
		struct vfio_irq_info info = {
			.argsz = sizeof(info),
			.index = i,
		};
		int n = vfu_call(fd, VFU_DEVICE_GET_IRQ_INFO, &info,
				 sizeof(info), &info, sizeof(info));

		if (i > VFIO_PCI_MSIX_IRQ_INDEX) {
			CHECK_EQ(n, -EINVAL);
			continue;
		}
		CHECK_EQ(n, sizeof(info));
		CHECK_EQ(info.index, i);
		CHECK_EQ(info.count, i == VFIO_PCI_MSIX_IRQ_INDEX ? 32 : 0);
	}
}

TEST(regions_are_bounded)
{
	static const struct {
		uint32_t region;
		uint64_t offset;
		uint32_t count;
	} bad[] = {
		{ CONFIG, 4096, 1 },
		{ CONFIG, 4095, 2 },
		{ CONFIG, 0, 0 },
		{ CONFIG, 1, 4096 },
		{ CONFIG, 0, 4097 },
		{ CONFIG, 0, UINT32_MAX },
		{ CONFIG, UINT64_MAX, 4 },
		{ CONFIG, UINT64_MAX - 3, 4 },
		{ MYNIC_BAR_REGS, 4096, 4 },
		{ MYNIC_BAR_REGS, 4093, 4 },
		{ MYNIC_BAR_REGS, 0, 9 },
		{ MYNIC_BAR_UAR, 64 << 20, 8 },
		{ MYNIC_BAR_UAR, (64 << 20) - 7, 8 },
		{ MYNIC_BAR_MSIX, 4096, 4 },
		{ 1, 0, 4 },
		{ 3, 0, 4 },
		{ 5, 0, 4 },
		{ VFIO_PCI_ROM_REGION_INDEX, 0, 4 },
		{ VFIO_PCI_VGA_REGION_INDEX, 0, 4 },
		{ 9, 0, 4 },
		{ UINT32_MAX, 0, 4 },
	};
	int fd = vfu_open(device_start(), 0);
	uint8_t data[4096] = {};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct vfu_region_access access = { bad[i].offset,
						    bad[i].region,
						    bad[i].count };
		uint8_t message[sizeof(access) + sizeof(data)] = {};

		CHECK_EQ(vfu_call(fd, VFU_REGION_READ, &access, sizeof(access),
				  NULL, 0),
			 -EINVAL);
		memcpy(message, &access, sizeof(access));
		CHECK_EQ(vfu_call(fd, VFU_REGION_WRITE, message,
				  sizeof(message), NULL, 0),
			 -EINVAL);
	}
	CHECK_EQ(vfu_region_read(fd, CONFIG, 0, data, sizeof(data)), 0);
	vfu_check_alive(fd);
}

TEST(posted_writes_keep_their_order)
{
	struct {
		struct vfu_region_access access;
		uint32_t value;
	} __attribute__((packed)) write = {
		.access = { 0x3c, CONFIG, 1 }, /* Interrupt Line */
	};
	int fd = vfu_open(device_start(), 0);

	for (unsigned int i = 0; i < 20000; i++) {
		write.value = i;
		vfu_post(fd, VFU_REGION_WRITE, &write,
			 sizeof(write.access) + 1);
		if (i % 1000 == 999)
			CHECK_EQ(vfu_get(fd, CONFIG, 0x3c, 1), (uint8_t)i);
	}
}

TEST(posted_errors_get_no_reply)
{
	int fd = vfu_open(device_start(), 0);

	for (uint16_t command = 0; command < 100; command++)
		vfu_post(fd, command, "xyz", 3);
	vfu_check_alive(fd);
}

TEST(message_in_single_bytes)
{
	struct {
		struct vfu_header hdr;
		struct vfu_region_access access;
	} message = {
		.hdr = header(0x1234, VFU_REGION_READ, sizeof(message)),
		.access = read_magic,
	};
	int fd = vfu_open(device_start(), 0);
	const char *bytes = (const char *)&message;
	struct vfu_header hdr;
	uint8_t reply[64];

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < sizeof(message); i++)
			CHECK_EQ(send(fd, bytes + i, 1, 0), 1);
		vfu_receive(fd, &hdr, reply, sizeof(reply));
		CHECK_EQ(hdr.id, 0x1234);
		CHECK_EQ(hdr.size, sizeof(message) + 4);
		CHECK_MEM(reply + sizeof(message.access), "MNIC", 4);
	}
}

/* More replies than a socket takes, for a client that does not read */
TEST(client_that_does_not_read)
{
	enum { COMMANDS = 3000 };
	const struct vfu_region_access access = { 0, CONFIG, 4096 };
	struct vfu_header hdr = {
		.command = VFU_REGION_READ,
		.size = sizeof(hdr) + sizeof(access),
	};
	uint8_t message[sizeof(hdr) + sizeof(access)];
	int fd = vfu_open(device_start(), 0);
	unsigned int sent = 0;
	uint8_t reply[8192];

	while (sent < COMMANDS) {
		ssize_t n;

		hdr.id = sent;
		memcpy(message, &hdr, sizeof(hdr));
		memcpy(message + sizeof(hdr), &access, sizeof(access));
		n = send(fd, message, sizeof(message), MSG_DONTWAIT);
		if (n < 0)
			break;
		CHECK_EQ(n, sizeof(message));
		sent++;
	}
	for (unsigned int i = 0; i < sent; i++) {
		vfu_receive(fd, &hdr, reply, sizeof(reply));
		CHECK_EQ(hdr.id, i);
		CHECK_EQ(hdr.size, sizeof(hdr) + sizeof(access) + 4096);
	}
	vfu_check_alive(fd);
}

TEST(truncated_payloads)
{
	static const size_t needed[] = {
		[VFU_DMA_MAP] = sizeof(struct vfu_dma_map),
		[VFU_DMA_UNMAP] = sizeof(struct vfu_dma_unmap),
		[VFU_DEVICE_GET_INFO] = sizeof(struct vfu_device_info),
		[VFU_DEVICE_GET_REGION_INFO] = sizeof(struct vfio_region_info),
		[VFU_DEVICE_GET_IRQ_INFO] = sizeof(struct vfio_irq_info),
		[VFU_DEVICE_SET_IRQS] = sizeof(struct vfio_irq_set),
		[VFU_REGION_READ] = sizeof(struct vfu_region_access),
		[VFU_REGION_WRITE] = sizeof(struct vfu_region_access) + 4,
	};
	struct vfu_region_access write = { 0, MYNIC_BAR_REGS, 4 };
	int fd = vfu_open(device_start(), 0);
	uint8_t payload[64];

	for (uint16_t command = 0; command < ARRAY_SIZE(needed); command++) {
		memset(payload, 0x40, sizeof(payload));
		memset(payload + 4, 0, sizeof(payload) - 4);
		if (command == VFU_REGION_WRITE)
			memcpy(payload, &write, sizeof(write));
		for (size_t len = 0; len < needed[command]; len++)
			CHECK_EQ(vfu_call(fd, command, payload, len, NULL, 0),
				 -EINVAL);
	}
	vfu_check_alive(fd);
}

TEST(unknown_commands)
{
	static const uint16_t unknown[] = { 0,	6,  11, 12,    14,    15,
					    16, 17, 18, 0x100, 0xffff };
	int fd = vfu_open(device_start(), 0);

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		CHECK_EQ(vfu_call(fd, unknown[i], "....", 4, NULL, 0),
			 -EOPNOTSUPP);
}

TEST(wrong_type)
{
	struct vfu_header hdr = {
		.command = VFU_DEVICE_RESET,
		.size = sizeof(hdr),
	};
	struct vfu_header reply;
	int fd = vfu_open(device_start(), 0);

	/* A reply without a request has no answer. */
	hdr.flags = VFU_TYPE_REPLY;
	vfu_send(fd, &hdr, NULL, 0, NULL, 0);
	hdr.flags = 2;
	hdr.id = 77;
	vfu_send(fd, &hdr, NULL, 0, NULL, 0);
	vfu_receive(fd, &reply, NULL, 0);
	CHECK_EQ(reply.id, 77);
	CHECK_EQ(reply.flags, VFU_TYPE_REPLY | VFU_ERROR);
	CHECK_EQ(reply.error, EINVAL);
	vfu_check_alive(fd);
}

/* After a size below that of the header, the next message cannot be found. */
TEST(size_below_header)
{
	struct device *dev = device_start();

	for (uint32_t size = 0; size < sizeof(struct vfu_header); size++) {
		struct vfu_header hdr = header(1, VFU_DEVICE_RESET, size);
		int fd = vfu_open(dev, 0);

		vfu_send(fd, &hdr, NULL, 0, NULL, 0);
		vfu_wait_end(fd);
	}
	vfu_check_alive(vfu_open(dev, 0));
}

TEST(message_too_long)
{
	static const uint32_t sizes[] = { 8193, 10000, 65536, 1 << 20 };
	int fd = vfu_open(device_start(), 0);
	int event = eventfd(0, 0);

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct vfu_header hdr = header(i, VFU_VERSION, sizes[i]);
		uint32_t len = sizes[i] - sizeof(hdr);
		uint8_t *payload = calloc(1, len);

		CHECK(payload);
		vfu_send(fd, &hdr, payload, len, &event, 1);
		free(payload);
		vfu_receive(fd, &hdr, NULL, 0);
		CHECK_EQ(hdr.id, i);
		CHECK_EQ(hdr.flags, VFU_TYPE_REPLY | VFU_ERROR);
		CHECK_EQ(hdr.error, E2BIG);
		vfu_check_alive(fd);
	}
}

TEST(longest_size)
{
	struct vfu_header hdr = header(1, VFU_REGION_WRITE, UINT32_MAX);
	struct device *dev = device_start();
	int fd = vfu_open(dev, 0);

	vfu_send(fd, &hdr, NULL, 0, NULL, 0);
	vfu_receive(fd, &hdr, NULL, 0);
	CHECK_EQ(hdr.error, E2BIG);
	for (int i = 0; i < 100; i++)
		vfu_send(fd, &hdr, NULL, 0, NULL, 0);
	close(fd);
	vfu_check_alive(vfu_open(dev, 0));
}

TEST(file_descriptors_where_none_belong)
{
	struct vfu_device_info info = { .argsz = sizeof(info) };
	int fd = vfu_open(device_start(), 0);
	int event = eventfd(0, 0);
	int fds[16];

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = event;
	/* More than would be possible if the server kept them */
	for (int i = 0; i < 2000; i++)
		CHECK_EQ(vfu_call_fds(fd, VFU_DEVICE_GET_INFO, &info,
				      sizeof(info), fds, ARRAY_SIZE(fds)),
			 -EINVAL);
	vfu_check_alive(fd);
}

TEST(too_many_file_descriptors)
{
	struct vfu_header hdr = header(1, VFU_DEVICE_RESET, sizeof(hdr));
	struct device *dev = device_start();
	int event = eventfd(0, 0);
	int fds[33];
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = event;
	fd = vfu_open(dev, 0);
	vfu_send(fd, &hdr, NULL, 0, fds, 17);
	vfu_wait_end(fd);

	/* A message in pieces of one byte */
	fd = vfu_open(dev, 0);
	for (size_t i = 0; i < sizeof(hdr) - 1; i++) {
		struct iovec iov = { (char *)&hdr + i, 1 };
		union {
			struct cmsghdr hdr;
			char buf[CMSG_SPACE(16 * sizeof(int))];
		} control = {
			.hdr = { CMSG_LEN(16 * sizeof(int)), SOL_SOCKET,
				 SCM_RIGHTS },
		};
		struct msghdr msg = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control),
		};

		memcpy(CMSG_DATA(&control.hdr), fds, 16 * sizeof(int));
		if (sendmsg(fd, &msg, MSG_NOSIGNAL) < 0)
			break;
	}
	vfu_wait_end(fd);
	vfu_check_alive(vfu_open(dev, 0));
}

/* Messages that are sent together get their own file descriptors. */
TEST(file_descriptors_of_pipelined_messages)
{
	struct vfio_irq_set set = VFU_IRQ_SET(
		VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 1);
	struct vfu_header hdr = {
		.command = VFU_DEVICE_SET_IRQS,
		.size = sizeof(hdr) + sizeof(set),
	};
	int fd = vfu_open(device_start(), 0);
	int events[32];

	for (uint32_t i = 0; i < ARRAY_SIZE(events); i++) {
		events[i] = eventfd(0, EFD_NONBLOCK);
		CHECK(events[i] >= 0);
		set.start = i;
		vfu_post(fd, VFU_REGION_WRITE, "", 1);
		vfu_send(fd, &hdr, &set, sizeof(set), &events[i], 1);
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(events); i++) {
		vfu_receive(fd, &hdr, NULL, 0);
		CHECK_EQ(hdr.flags, VFU_TYPE_REPLY);
	}
	/* MSI-X Enable */
	vfu_put(fd, CONFIG, 0xa2, 0x8000, 2);
	for (uint32_t i = 0; i < ARRAY_SIZE(events); i++) {
		struct pollfd pfd = { .fd = events[i], .events = POLLIN };
		uint64_t count;

		CHECK_EQ(vfu_set_irqs(fd,
				      VFIO_IRQ_SET_DATA_NONE |
					      VFIO_IRQ_SET_ACTION_TRIGGER,
				      i, 1, NULL, 0),
			 0);
		/* If signals are slow, the helper sends them a little later. */
		CHECK_EQ(poll(&pfd, 1, -1), 1);
		for (uint32_t j = 0; j < ARRAY_SIZE(events); j++)
			CHECK_EQ(read(events[j], &count, sizeof(count)),
				 i == j ? 8 : -1);
	}
}

TEST(next_client_finds_a_fresh_function)
{
	struct device *dev = device_start();
	uint8_t before[4096], after[4096];
	int fd = vfu_open(dev, 0);
	int event = eventfd(0, 0);

	CHECK_EQ(vfu_region_read(fd, CONFIG, 0, before, sizeof(before)), 0);
	vfu_put(fd, CONFIG, 0x04, 0x0406, 2);
	vfu_put(fd, CONFIG, 0x10, 0xfe000000, 4);
	vfu_put(fd, CONFIG, 0xa2, 0x8000, 2);
	CHECK_EQ(vfu_set_irqs(fd,
			      VFIO_IRQ_SET_DATA_EVENTFD |
				      VFIO_IRQ_SET_ACTION_TRIGGER,
			      0, 1, &event, 1),
		 0);
	CHECK_EQ(vfu_map(fd, 0, 4096, -1, 0), 0);
	CHECK_EQ(vfu_map(fd, 0, 4096, -1, 0), -EEXIST);
	close(fd);

	fd = vfu_open(dev, 0);
	CHECK_EQ(vfu_region_read(fd, CONFIG, 0, after, sizeof(after)), 0);
	CHECK_MEM(after, before, sizeof(after));
	CHECK_EQ(vfu_map(fd, 0, 4096, -1, 0), 0);
}

TEST(second_client_waits_for_the_first)
{
	struct device *dev = device_start();
	int first = vfu_open(dev, 0);
	int second = vfu_connect(dev, 0);
	struct vfu_version version = {};
	struct vfu_header hdr = {
		.command = VFU_VERSION,
		.size = sizeof(hdr) + sizeof(version),
	};
	char none;

	vfu_send(second, &hdr, &version, sizeof(version), NULL, 0);
	for (int i = 0; i < 100; i++)
		vfu_check_alive(first);
	CHECK_EQ(recv(second, &none, 1, MSG_DONTWAIT), -1);
	close(first);
	vfu_receive(second, &hdr, &version, sizeof(version));
	vfu_check_alive(second);
}

TEST(clients_that_leave_at_once)
{
	struct device *dev = device_start();

	for (int i = 0; i < 300; i++) {
		int fd = i % 2 ? vfu_connect(dev, 0) : vfu_open(dev, 0);

		if (i % 3)
			CHECK(send(fd, "\1\2\3", i % 4, MSG_NOSIGNAL) >= 0);
		close(fd);
	}
	vfu_check_alive(vfu_open(dev, 0));
}

TEST(nics_are_apart)
{
	struct device *dev = device_start();
	int a = vfu_open(dev, 0);
	int b = vfu_open(dev, 1);

	vfu_put(a, CONFIG, 0x3c, 0x55, 1);
	CHECK_EQ(vfu_get(b, CONFIG, 0x3c, 1), 0);
	close(a);
	vfu_check_alive(b);
}

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Likely and unlikely values, so that some messages get past the first check */
static uint32_t random_value(uint32_t *state)
{
	static const uint32_t likely[] = { 0,  1,    2,	  4,	4,	    8,
					   7,  9,    16,  20,	24,	    32,
					   33, 4096, 256, 0x3c, UINT32_MAX, 1 };
	uint32_t r = next_random(state);

	return r & 1 ? likely[(r >> 8) % ARRAY_SIZE(likely)] :
		       next_random(state);
}

TEST(random_messages)
{
	struct device *dev = device_start();
	int event = eventfd(0, EFD_NONBLOCK);
	int fds[16];
	int fd = -1;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = event;
	for (uint32_t seed = 1; seed <= 20000; seed++) {
		uint32_t state = seed * 2654435761U;
		uint32_t payload[16];
		struct vfu_header hdr = {
			.command = next_random(&state) % 20,
			.size = sizeof(hdr) + next_random(&state) % 65,
			.flags = next_random(&state) % 8 ? VFU_NO_REPLY : 0x12,
		};

		if (seed % 1000 == 1) {
			if (fd >= 0)
				vfu_check_alive(fd);
			close(fd);
			fd = vfu_open(dev, 0);
		}
		for (size_t i = 0; i < ARRAY_SIZE(payload); i++)
			payload[i] = random_value(&state);
		vfu_send(fd, &hdr, payload, hdr.size - sizeof(hdr), fds,
			 next_random(&state) % 4 ? 0 :
						   next_random(&state) % 17);
	}
	vfu_check_alive(fd);
}
