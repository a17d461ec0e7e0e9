// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <linux/vfio.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness_tap.h"
#include "harness_vfu.h"

/* Generous: only a server that does not answer at all takes that long */
#define ANSWER_LIMIT 100

#define MAX_MESSAGE 65536
#define MAX_FDS 64

static const char *program(void)
{
	const char *path = getenv("MYNIC_DEVICE");

	if (!path)
		FAIL("MYNIC_DEVICE is not set");
	return path;
}

static void device_stop(void *arg)
{
	struct device *dev = arg;
	int status;

	kill(dev->pid, SIGTERM);
	CHECK_EQ(waitpid(dev->pid, &status, 0), dev->pid);
	if (status)
		FAIL("the device model ended with wait status 0x%x", status);
	/* Fails if a socket is still there. */
	CHECK_EQ(rmdir(dev->dir), 0);
}

struct device *device_start(void)
{
	struct device *dev = tap_alloc(sizeof(*dev));
	char nics[VFU_TEST_NICS][64];
	char *argv[2 * VFU_TEST_NICS + 3];
	char ready[16] = "";
	int out[2];
	int n = 0;

	strcpy(dev->dir, "/tmp/mynic-test-XXXXXX");
	CHECK(mkdtemp(dev->dir));
	argv[n++] = (char *)program();
	argv[n++] = "--exit-with-parent";
	for (int i = 0; i < VFU_TEST_NICS; i++) {
		snprintf(dev->path[i], sizeof(dev->path[i]), "%s/%d", dev->dir,
			 i);
		snprintf(nics[i], sizeof(nics[i]), "socket=%s", dev->path[i]);
		argv[n++] = "--nic";
		argv[n++] = nics[i];
	}
	argv[n] = NULL;

	CHECK_EQ(pipe(out), 0);
	dev->pid = fork();
	CHECK(dev->pid >= 0);
	if (!dev->pid) {
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		alarm(0);
		execv(argv[0], argv);
		_exit(127);
	}
	close(out[1]);
	CHECK_EQ(read(out[0], ready, sizeof(ready)), strlen("ready\n"));
	CHECK(!strcmp(ready, "ready\n"));
	close(out[0]);
	tap_at_end(device_stop, dev);
	return dev;
}

int device_run(const char *const args[])
{
	const char *argv[16] = { program() };
	int status;
	pid_t pid;

	for (int i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execv(argv[0], (char **)argv);
		_exit(127);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int vfu_connect(const struct device *dev, unsigned int nic)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = ANSWER_LIMIT };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	strcpy(addr.sun_path, dev->path[nic]);
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)),
		 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

int vfu_open(const struct device *dev, unsigned int nic)
{
	static const char data[] = "\0\0\0\0{\"capabilities\":{}}";
	int fd = vfu_connect(dev, nic);
	char reply[256];

	CHECK((unsigned int)vfu_call(fd, VFU_VERSION, data, sizeof(data), reply,
				     sizeof(reply)) >
	      sizeof(struct vfu_version));
	return fd;
}

void vfu_send(int fd, const struct vfu_header *hdr, const void *payload,
	      size_t len, const int *fds, size_t num_fds)
{
	union {
		struct cmsghdr hdr;
		char buf[CMSG_SPACE(MAX_FDS * sizeof(int))];
	} control = {};
	struct iovec iov[] = {
		{ (void *)hdr, sizeof(*hdr) },
		{ (void *)payload, len },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	if (num_fds) {
		CHECK(num_fds <= MAX_FDS);
		msg.msg_control = control.buf;
		msg.msg_controllen = CMSG_SPACE(num_fds * sizeof(int));
		control.hdr.cmsg_level = SOL_SOCKET;
		control.hdr.cmsg_type = SCM_RIGHTS;
		control.hdr.cmsg_len = CMSG_LEN(num_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.hdr), fds, num_fds * sizeof(int));
	}
	CHECK_EQ(sendmsg(fd, &msg, MSG_NOSIGNAL), sizeof(*hdr) + len);
}

static void receive(int fd, void *data, size_t len)
{
	ssize_t n;

	/* To receive nothing would be to wait for the next message. */
	if (!len)
		return;
	n = recv(fd, data, len, MSG_WAITALL);
	if (n < 0)
		FAIL("waiting for the server: %s", strerror(errno));
	CHECK_EQ(n, len);
}

void vfu_receive(int fd, struct vfu_header *hdr, void *payload, size_t size)
{
	receive(fd, hdr, sizeof(*hdr));
	CHECK_EQ(hdr->flags & VFU_TYPE_MASK, VFU_TYPE_REPLY);
	CHECK(hdr->size >= sizeof(*hdr));
	CHECK(hdr->size - sizeof(*hdr) <= size);
	receive(fd, payload, hdr->size - sizeof(*hdr));
}

void vfu_wait_end(int fd)
{
	char rest[4096];
	ssize_t n;

	while ((n = recv(fd, rest, sizeof(rest), 0)) > 0)
		;
	if (n < 0 && errno != ECONNRESET)
		FAIL("waiting for the end: %s", strerror(errno));
	close(fd);
}

void vfu_post(int fd, uint16_t command, const void *payload, size_t len)
{
	struct vfu_header hdr = {
		.command = command,
		.size = sizeof(hdr) + len,
		.flags = VFU_NO_REPLY,
	};

	vfu_send(fd, &hdr, payload, len, NULL, 0);
}

int vfu_call_fds(int fd, uint16_t command, const void *payload, size_t len,
		 const int *fds, size_t num_fds, void *reply, size_t size)
{
	static uint16_t id;
	struct vfu_header hdr = {
		.id = ++id,
		.command = command,
		.size = sizeof(hdr) + len,
	};

	vfu_send(fd, &hdr, payload, len, fds, num_fds);
	vfu_receive(fd, &hdr, reply, size);
	CHECK_EQ(hdr.id, id);
	CHECK_EQ(hdr.command, command);
	if (!(hdr.flags & VFU_ERROR))
		return hdr.size - sizeof(hdr);
	CHECK_EQ(hdr.size, sizeof(hdr));
	CHECK(hdr.error);
	return -(int)hdr.error;
}

int vfu_region_read(int fd, uint32_t region, uint64_t offset, void *data,
		    uint32_t len)
{
	struct vfu_region_access access = { offset, region, len };
	uint8_t reply[sizeof(access) + 4096];
	int n;

	n = vfu_call(fd, VFU_REGION_READ, &access, sizeof(access), reply,
		     sizeof(reply));
	if (n < 0)
		return n;
	CHECK_EQ(n, sizeof(access) + len);
	CHECK_MEM(reply, &access, sizeof(access));
	memcpy(data, reply + sizeof(access), len);
	return 0;
}

int vfu_region_write(int fd, uint32_t region, uint64_t offset, const void *data,
		     uint32_t len)
{
	struct vfu_region_access access = { offset, region, len };
	uint8_t message[sizeof(access) + 4096];
	uint8_t reply[sizeof(access)];
	int n;

	CHECK(len <= 4096);
	memcpy(message, &access, sizeof(access));
	memcpy(message + sizeof(access), data, len);
	n = vfu_call(fd, VFU_REGION_WRITE, message, sizeof(access) + len, reply,
		     sizeof(reply));
	if (n < 0)
		return n;
	CHECK_EQ(n, sizeof(access));
	CHECK_MEM(reply, &access, sizeof(access));
	return 0;
}

uint32_t vfu_get(int fd, uint32_t region, uint64_t offset, uint32_t len)
{
	uint32_t value = 0;

	CHECK_EQ(vfu_region_read(fd, region, offset, &value, len), 0);
	return value;
}

void vfu_put(int fd, uint32_t region, uint64_t offset, uint32_t value,
	     uint32_t len)
{
	CHECK_EQ(vfu_region_write(fd, region, offset, &value, len), 0);
}

int vfu_set_irqs(int fd, uint32_t flags, uint32_t start, uint32_t count,
		 const int *fds, size_t num_fds)
{
	struct vfio_irq_set set = {
		.argsz = sizeof(set),
		.flags = flags,
		.index = VFIO_PCI_MSIX_IRQ_INDEX,
		.start = start,
		.count = count,
	};

	return vfu_call_fds(fd, VFU_DEVICE_SET_IRQS, &set, sizeof(set), fds,
			    num_fds, NULL, 0);
}

int vfu_map(int fd, uint64_t iova, uint64_t size, int file, uint64_t offset)
{
	struct vfu_dma_map map = {
		.argsz = sizeof(map),
		.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.offset = offset,
		.iova = iova,
		.size = size,
	};

	return vfu_call_fds(fd, VFU_DMA_MAP, &map, sizeof(map), &file,
			    file >= 0, NULL, 0);
}

int vfu_unmap(int fd, uint64_t iova, uint64_t size)
{
	struct vfu_dma_unmap unmap = {
		.argsz = sizeof(unmap),
		.iova = iova,
		.size = size,
	};
	struct vfu_dma_unmap reply;
	int n;

	n = vfu_call(fd, VFU_DMA_UNMAP, &unmap, sizeof(unmap), &reply,
		     sizeof(reply));
	if (n < 0)
		return n;
	CHECK_EQ(n, sizeof(reply));
	CHECK_MEM(&reply, &unmap, sizeof(reply));
	return 0;
}
