// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The vfio-user client for tests, and the start and end of the device model. */
#include <errno.h>
#include <linux/vfio.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness_tap.h"
#include "harness_vfu.h"
#include "mynic_regs.h"

/* Generous: only a server that never answers takes so long */
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

static void remove_dir(void *arg)
{
	/* Fails if a socket is still there. */
	CHECK_EQ(rmdir(arg), 0);
}

const char *device_dir(void)
{
	char *dir = tap_alloc(32);

	strcpy(dir, "/tmp/mynic-test-XXXXXX");
	CHECK(mkdtemp(dir));
	tap_at_end(remove_dir, dir);
	return dir;
}

/* Number of a file that the device model does not know */
#define UNUSED_FILENO 100

/* Start it with its output readable at @out[0]. It has @out[1] as file @fd. */
static pid_t start(const char *const args[], int out[2], int fd)
{
	const char *argv[DEVICE_MAX_ARGS + 3] = { program(),
						  "--exit-with-parent" };
	pid_t pid;

	for (int i = 0; args[i]; i++) {
		CHECK(i < DEVICE_MAX_ARGS);
		argv[i + 2] = args[i];
	}
	CHECK_EQ(pipe(out), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		dup2(out[1], fd);
		close(out[0]);
		close(out[1]);
		alarm(0);
		execv(argv[0], (char **)argv);
		_exit(127);
	}
	close(out[1]);
	return pid;
}

void device_end(pid_t pid)
{
	int status;

	kill(pid, SIGTERM);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (status)
		FAIL("the device model ended with wait status 0x%x", status);
}

static void end_child(void *arg)
{
	pid_t pid = *(pid_t *)arg;

	/* The test may have ended it. */
	if (!waitpid(pid, NULL, WNOHANG))
		device_end(pid);
}

pid_t device_spawn(const char *const args[])
{
	pid_t *pid = tap_alloc(sizeof(*pid));
	char ready[16] = "";
	int out[2];

	*pid = start(args, out, STDOUT_FILENO);
	CHECK_EQ(read(out[0], ready, sizeof(ready)), strlen("ready\n"));
	CHECK(!strcmp(ready, "ready\n"));
	close(out[0]);
	tap_at_end(end_child, pid);
	return *pid;
}

pid_t device_spawn_unheard(const char *const args[])
{
	pid_t *pid = tap_alloc(sizeof(*pid));
	int out[2];

	*pid = start(args, out, UNUSED_FILENO);
	tap_at_end(end_child, pid);
	return *pid;
}

const char *device_fail(const char *const args[], int status)
{
	char *text = tap_alloc(4096);
	size_t len = 0;
	int out[2];
	ssize_t n;
	pid_t pid;
	int got;

	pid = start(args, out, STDERR_FILENO);
	while ((n = read(out[0], text + len, 4095 - len)) > 0)
		len += n;
	close(out[0]);
	CHECK_EQ(waitpid(pid, &got, 0), pid);
	CHECK(WIFEXITED(got));
	CHECK_EQ(WEXITSTATUS(got), status);
	return text;
}

struct device *device_start(void)
{
	struct device *dev = tap_alloc(sizeof(*dev));
	const char *args[2 * VFU_TEST_NICS + 1] = {};
	char nics[VFU_TEST_NICS][64];

	dev->dir = device_dir();
	for (int i = 0; i < VFU_TEST_NICS; i++) {
		snprintf(dev->path[i], sizeof(dev->path[i]), "%s/%d", dev->dir,
			 i);
		snprintf(nics[i], sizeof(nics[i]), "socket=%s", dev->path[i]);
		args[2 * i] = "--nic";
		args[2 * i + 1] = nics[i];
	}
	dev->pid = device_spawn(args);
	return dev;
}

int device_run(const char *const args[])
{
	const char *argv[DEVICE_MAX_ARGS + 2] = { program() };
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

/* Field @number of /proc/PID/stat, see proc_pid_stat(5) */
static void read_stat(pid_t pid, int number, char *field, size_t size)
{
	char path[64], line[1024] = "";
	char *rest;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	CHECK(file);
	CHECK(fgets(line, sizeof(line), file));
	fclose(file);
	rest = strrchr(line, ')') + 2;
	for (int i = 3; i < number; i++)
		strsep(&rest, " ");
	snprintf(field, size, "%s", strsep(&rest, " "));
}

uint64_t device_cpu_ticks(pid_t pid)
{
	char user[32], system[32];

	read_stat(pid, 14, user, sizeof(user));
	read_stat(pid, 15, system, sizeof(system));
	return strtoull(user, NULL, 10) + strtoull(system, NULL, 10);
}

static char state(pid_t pid)
{
	char field[32];

	read_stat(pid, 3, field, sizeof(field));
	return field[0];
}

void device_wait_idle(pid_t pid)
{
	uint64_t ticks;

	do {
		while (state(pid) != 'S')
			usleep(1000);
		ticks = device_cpu_ticks(pid);
		usleep(500000);
	} while (device_cpu_ticks(pid) != ticks);
}

unsigned int device_free_port(int type)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	CHECK_EQ(bind(fd, (struct sockaddr *)&addr, len), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	close(fd);
	return ntohs(addr.sin_port);
}

void device_enter_namespace(void)
{
	if (unshare(CLONE_NEWNET))
		tap_skip("no permission to make a network namespace");
}

struct sockaddr_un device_address(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	strcpy(addr.sun_path, path);
	return addr;
}

int vfu_connect_path(const char *path)
{
	struct sockaddr_un addr = device_address(path);
	struct timeval limit = { .tv_sec = ANSWER_LIMIT };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)),
		 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

int vfu_connect(const struct device *dev, unsigned int nic)
{
	return vfu_connect_path(dev->path[nic]);
}

int vfu_open(const struct device *dev, unsigned int nic)
{
	return vfu_open_path(dev->path[nic]);
}

int vfu_open_path(const char *path)
{
	static const char data[] = "\0\0\0\0{\"capabilities\":{}}";
	int fd = vfu_connect_path(path);
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

	/* Receiving 0 bytes would wait for the next message. */
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

static uint16_t next_id;

/* The reply to the command that was sent last */
static int answer(int fd, uint16_t command, void *reply, size_t size)
{
	struct vfu_header hdr;

	vfu_receive(fd, &hdr, reply, size);
	CHECK_EQ(hdr.id, next_id);
	CHECK_EQ(hdr.command, command);
	if (!(hdr.flags & VFU_ERROR))
		return hdr.size - sizeof(hdr);
	CHECK_EQ(hdr.size, sizeof(hdr));
	CHECK(hdr.error);
	return -(int)hdr.error;
}

int vfu_call_fds(int fd, uint16_t command, const void *payload, size_t len,
		 const int *fds, size_t num_fds)
{
	struct vfu_header hdr = {
		.id = ++next_id,
		.command = command,
		.size = sizeof(hdr) + len,
	};

	vfu_send(fd, &hdr, payload, len, fds, num_fds);
	return answer(fd, command, NULL, 0);
}

int vfu_call(int fd, uint16_t command, const void *payload, size_t len,
	     void *reply, size_t size)
{
	struct vfu_header hdr = {
		.id = ++next_id,
		.command = command,
		.size = sizeof(hdr) + len,
	};

	vfu_send(fd, &hdr, payload, len, NULL, 0);
	return answer(fd, command, reply, size);
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
	struct vfio_irq_set set = VFU_IRQ_SET(flags, start, count);

	return vfu_call_fds(fd, VFU_DEVICE_SET_IRQS, &set, sizeof(set), fds,
			    num_fds);
}

void vfu_check_alive(int fd)
{
	CHECK_EQ(vfu_get(fd, MYNIC_BAR_REGS, MYNIC_REG_MAGIC, 4), MYNIC_MAGIC);
}

uint64_t vfu_signals(int event)
{
	uint64_t n = 0;

	if (read(event, &n, sizeof(n)) < 0)
		CHECK_EQ(errno, EAGAIN);
	return n;
}

int vfu_memory(size_t size)
{
	int file = memfd_create("guest", MFD_CLOEXEC);

	CHECK(file >= 0);
	CHECK_EQ(ftruncate(file, size), 0);
	return file;
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
			    file >= 0);
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
