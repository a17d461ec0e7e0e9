/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A vfio-user client for tests of the whole device model. It starts the program
 * that MYNIC_DEVICE names, and sends it the messages of QEMU, or invalid ones.
 * Any unexpected error fails the test.
 */
#ifndef MYNIC_HARNESS_VFU_H
#define MYNIC_HARNESS_VFU_H

#include <linux/vfio.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#include "host/vfio_user_proto.h"

#define VFU_TEST_NICS 2
#define DEVICE_MAX_ARGS 16

/**
 * struct device - a running device model
 * @pid: of the process
 * @dir: holds the sockets
 * @path: path of the socket of each NIC
 */
struct device {
	pid_t pid;
	const char *dir;
	char path[VFU_TEST_NICS][48];
};

/**
 * device_start() - start it with VFU_TEST_NICS NICs and wait until it is ready
 *
 * After the test, SIGTERM ends it. The test fails if its exit status is not 0,
 * or if it leaves a socket.
 *
 * Return: the device model, valid until the end of the test.
 */
struct device *device_start(void);

/** device_run() - start it with any arguments. Return: exit status, or -1 */
int device_run(const char *const args[]);

/**
 * device_fail() - start it with arguments that make it fail
 * @args: up to DEVICE_MAX_ARGS arguments and NULL
 * @status: expected exit status
 *
 * Return: its output on standard error.
 */
const char *device_fail(const char *const args[], int status);

/**
 * device_spawn() - start it with any arguments and wait until it is ready
 * @args: up to DEVICE_MAX_ARGS arguments and NULL
 *
 * When the test has passed it is ended as by device_end().
 *
 * Return: process.
 */
pid_t device_spawn(const char *const args[]);

/**
 * device_spawn_unheard() - start it with the standard output of the test
 * @args: up to DEVICE_MAX_ARGS arguments and NULL
 *
 * It may not be ready yet. It is ended like that of device_spawn().
 *
 * Return: process.
 */
pid_t device_spawn_unheard(const char *const args[]);

/** device_end() - end it by SIGTERM; fails if its exit status is not 0 */
void device_end(pid_t pid);

/** device_free_port() - find an unused port for SOCK_STREAM or SOCK_DGRAM */
unsigned int device_free_port(int type);

/*
 * device_udp_wire() - option for a UDP wire between two ports of this machine
 */
#define device_udp_wire(local, remote) \
	tap_print("udp,local=127.0.0.1:%u,remote=127.0.0.1:%u", local, remote)

/** device_cpu_ticks() - its processor time so far, in clock ticks */
uint64_t device_cpu_ticks(pid_t pid);

/** device_wait_idle() - wait until it sleeps and uses no processor time */
void device_wait_idle(pid_t pid);

/** device_enter_namespace() - have no network interfaces but the test's */
void device_enter_namespace(void);

/** device_address() - address of a UNIX socket */
struct sockaddr_un device_address(const char *path);

/** device_dir() - a new directory that must be empty when the test ends */
const char *device_dir(void);

/** vfu_connect() - connect to a NIC. Return: file descriptor */
int vfu_connect(const struct device *dev, unsigned int nic);

/** vfu_open() - connect to a NIC, and negotiate the version */
int vfu_open(const struct device *dev, unsigned int nic);

/* The same for any socket */
int vfu_connect_path(const char *path);
int vfu_open_path(const char *path);

/** vfu_send() - send a message with file descriptors and any header */
void vfu_send(int fd, const struct vfu_header *hdr, const void *payload,
	      size_t len, const int *fds, size_t num_fds);

/** vfu_receive() - receive a reply; @size bytes of room for its payload */
void vfu_receive(int fd, struct vfu_header *hdr, void *payload, size_t size);

/** vfu_wait_end() - wait until the server ends the connection, and close it */
void vfu_wait_end(int fd);

/** vfu_post() - send a command without a reply */
void vfu_post(int fd, uint16_t command, const void *payload, size_t len);

/**
 * vfu_call() - send a command and receive its reply
 * @fd: connection
 * @command: enum vfu_command or any other value
 * @payload: payload of the command
 * @len: bytes of @payload
 * @reply: out: payload of the reply
 * @size: bytes that fit in @reply; a longer payload fails the test
 *
 * Return: bytes of payload in the reply, or -errno.
 */
int vfu_call(int fd, uint16_t command, const void *payload, size_t len,
	     void *reply, size_t size);

/** vfu_call_fds() - likewise with files, for a reply without payload */
int vfu_call_fds(int fd, uint16_t command, const void *payload, size_t len,
		 const int *fds, size_t num_fds);

/* Access a region. Return: 0 or -errno */
int vfu_region_read(int fd, uint32_t region, uint64_t offset, void *data,
		    uint32_t len);
int vfu_region_write(int fd, uint32_t region, uint64_t offset, const void *data,
		     uint32_t len);

/* Access one little-endian value; any error fails the test */
uint32_t vfu_get(int fd, uint32_t region, uint64_t offset, uint32_t len);
void vfu_put(int fd, uint32_t region, uint64_t offset, uint32_t value,
	     uint32_t len);

/* Header of SET_IRQS for @num_ MSI-X vectors from @first_ on */
#define VFU_IRQ_SET(flags_, first_, num_)             \
	((struct vfio_irq_set){                       \
		.argsz = sizeof(struct vfio_irq_set), \
		.flags = (flags_),                    \
		.index = VFIO_PCI_MSIX_IRQ_INDEX,     \
		.start = (first_),                    \
		.count = (num_),                      \
	})

/** vfu_set_irqs() - SET_IRQS for MSI-X vectors. Return: 0 or -errno */
int vfu_set_irqs(int fd, uint32_t flags, uint32_t start, uint32_t count,
		 const int *fds, size_t num_fds);

/** vfu_check_alive() - check that the server answers */
void vfu_check_alive(int fd);

/** vfu_signals() - number of signals of an eventfd since the last call */
uint64_t vfu_signals(int event);

/** vfu_memory() - a file of @size bytes for a guest's memory */
int vfu_memory(size_t size);

/** vfu_map(), vfu_unmap() - DMA_MAP (@file -1: without a file), DMA_UNMAP */
int vfu_map(int fd, uint64_t iova, uint64_t size, int file, uint64_t offset);
int vfu_unmap(int fd, uint64_t iova, uint64_t size);

#endif /* MYNIC_HARNESS_VFU_H */
