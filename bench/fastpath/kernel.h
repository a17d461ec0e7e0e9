/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A kernel for providers that are linked unchanged. kernel.c answers the
 * commands that libibverbs sends by ioctl(), and the file of a provider adds
 * the answers of its driver.
 */
#ifndef MYNIC_BENCH_KERNEL_H
#define MYNIC_BENCH_KERNEL_H

#include <infiniband/driver.h>

/* libibverbs: the version of the commands, which it would read from sysfs */
extern int abi_ver;

/* The providers */
extern const struct verbs_device_ops verbs_provider_bnxt_re;
extern const struct verbs_device_ops verbs_provider_efa;
extern const struct verbs_device_ops verbs_provider_erdma;
extern const struct verbs_device_ops verbs_provider_irdma;
extern const struct verbs_device_ops verbs_provider_mlx5;
extern const struct verbs_device_ops verbs_provider_rxe;

/*
 * The linker replaces functions of the C library by these, for libibverbs and
 * the provider.
 */
int __wrap_ioctl(int fd, unsigned long request, ...);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t offset);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t offset);

/* Number of all QPs */
#define KERNEL_QPN 0x11

/**
 * struct command - a command of the write ABI, with its answer
 * @number: enum ib_uverbs_write_cmds, with IB_USER_VERBS_CMD_FLAG_EXTENDED
 * @core_in: the RDMA core's part of the request
 * @in: the driver's part, or NULL
 * @in_len: bytes of that
 * @core_out: the RDMA core's part of the answer, which is filled in already
 * @out: the driver's part, zeroed, or NULL
 * @out_len: bytes of that
 */
struct command {
	uint32_t number;
	const void *core_in;
	const void *in;
	size_t in_len;
	void *core_out;
	void *out;
	size_t out_len;
};

/**
 * struct answer - answer to a command
 * @number: as in struct command
 * @fn: fills in the driver's part
 */
struct answer {
	uint32_t number;
	void (*fn)(const struct command *command);
};

/**
 * kernel_open() - open a device that a provider drives
 * @ops: the provider
 * @abi: version of the driver's ABI
 * @answers: the driver's parts of answers; the last element has no fn
 *
 * Return: the context.
 */
struct ibv_context *kernel_open(const struct verbs_device_ops *ops, int abi,
				const struct answer *answers);

/**
 * kernel_ioctl() - answer private ioctls of a driver
 * @fn: returns 0 or a positive errno
 */
void kernel_ioctl(int (*fn)(uint16_t object, uint16_t method,
			    struct ib_uverbs_attr *attrs, int num_attrs));

/**
 * kernel_alloc() - zeroed memory that the provider can map
 * @offset: out: mmap() offset
 * @size: bytes
 *
 * Return: the memory.
 */
void *kernel_alloc(uint64_t *offset, size_t size);

/* The driver's parts of a command, of which the provider must know all fields */
#define COMMAND_IN(command, type)                                     \
	((const type *)command_part((command)->in, (command)->in_len, \
				    sizeof(type)))
#define COMMAND_OUT(command, type) \
	((type *)command_part((command)->out, (command)->out_len, sizeof(type)))

void *command_part(const void *part, size_t len, size_t want);

#endif /* MYNIC_BENCH_KERNEL_H */
