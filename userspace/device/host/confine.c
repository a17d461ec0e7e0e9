// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Confinement of the process: capabilities, resource limits, and a seccomp
 * filter of system calls.
 */

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/if_tun.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine.h"
#include "core/base/util.h"
#include "log.h"

/* More than the lists below need */
#define MAX_FILTER 512

/* Offset of the half of a 64-bit argument that holds an int */
#define LOW_HALF (htole32(1) == 1 ? 0 : 4)

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_ARG(n)                        \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
		 offsetof(struct seccomp_data, args) + 8 * (n) + LOW_HALF)
#define SKIP_UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, n)
#define SKIP_IF(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, n, 0)
#define SKIP_IF_SET(bits, n) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, n, 0)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)

/* Allowed with any arguments. libc does not call what an architecture lacks. */
static const int allowed[] = {
	/* turns of the event loop */
	SYS_epoll_pwait,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
	SYS_epoll_ctl,
	SYS_read,
	SYS_write,
	SYS_recvmsg,
	SYS_sendto,
	SYS_recvfrom,
	SYS_recvmmsg,
	SYS_sendmmsg,
	SYS_timerfd_settime,
	SYS_io_submit,
	SYS_sched_yield,
	SYS_futex,
	SYS_clock_gettime,
#ifdef SYS_gettimeofday
	SYS_gettimeofday,
#endif
	/* clients, peers and the control socket */
	SYS_accept4,
	SYS_close,
	SYS_connect,
	SYS_bind,
	SYS_shutdown,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_getsockname,
	SYS_getpeername,
	SYS_eventfd2,
	SYS_ppoll,
#ifdef SYS_poll
	SYS_poll,
#endif
	/* captures, and files from clients */
	SYS_openat,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_fstatfs,
	SYS_readlinkat,
	SYS_lseek,
	SYS_pread64,
	SYS_ftruncate,
	SYS_flock,
	SYS_unlinkat,
#ifdef SYS_unlink
	SYS_unlink,
#endif
	/* memory */
	SYS_brk,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_msync,
	/* processors, threads and signals */
	SYS_sched_getaffinity,
	SYS_sched_setaffinity,
	SYS_getcpu,
	SYS_getpid,
	SYS_gettid,
	SYS_getrandom,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_restart_syscall,
	SYS_set_robust_list,
	SYS_exit,
	SYS_exit_group,
#ifdef SYS_rseq
	SYS_rseq,
#endif
	/* error message of libc before it aborts */
	SYS_writev,
};

static const uint32_t families[] = { AF_UNIX, AF_INET, AF_INET6 };
static const uint32_t fcntls[] = { F_GETFL, F_SETFL, F_GET_SEALS };
static const uint32_t ioctls[] = { SIOCGIFFLAGS, SIOCGIFINDEX, TUNSETIFF };

/**
 * struct filter - a filter that is being built
 * @code: instructions
 * @num: number of instructions in @code
 */
struct filter {
	struct sock_filter code[MAX_FILTER];
	unsigned short num;
};

static void confine_put(struct filter *filter, struct sock_filter instruction)
{
	filter->code[filter->num++] = instruction;
}

/* AUDIT_ARCH_* of the architecture that this is built for */
static uint32_t confine_architecture(void)
{
	return __ehdr_start.e_machine |
	       (sizeof(long) == 8 ? __AUDIT_ARCH_64BIT : 0) |
	       (htole32(1) == 1 ? __AUDIT_ARCH_LE : 0);
}

static void confine_allow(struct filter *filter, int call)
{
	confine_put(filter, (struct sock_filter)SKIP_UNLESS(call, 1));
	confine_put(filter, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
}

/* Allows a system call if an argument has one of some values */
static void confine_allow_values(struct filter *filter, int call,
				 unsigned int arg, const uint32_t *values,
				 unsigned int num)
{
	confine_put(filter, (struct sock_filter)SKIP_UNLESS(call, num + 3));
	confine_put(filter, (struct sock_filter)LOAD_ARG(arg));
	for (unsigned int i = 0; i < num; i++)
		confine_put(filter,
			    (struct sock_filter)SKIP_IF(values[i], num - i));
	confine_put(filter, (struct sock_filter)RETURN(SECCOMP_RET_TRAP));
	confine_put(filter, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
}

/* Allows a system call if an argument has none of these bits */
static void confine_allow_without(struct filter *filter, int call,
				  unsigned int arg, uint32_t bits)
{
	confine_put(filter, (struct sock_filter)SKIP_UNLESS(call, 4));
	confine_put(filter, (struct sock_filter)LOAD_ARG(arg));
	confine_put(filter, (struct sock_filter)SKIP_IF_SET(bits, 1));
	confine_put(filter, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	confine_put(filter, (struct sock_filter)RETURN(SECCOMP_RET_TRAP));
}

static void confine_make_filter(struct filter *filter)
{
	uint32_t self = getpid();

	confine_put(filter, (struct sock_filter)LOAD(arch));
	confine_put(filter,
		    (struct sock_filter)SKIP_IF(confine_architecture(), 1));
	confine_put(filter,
		    (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS));
	confine_put(filter, (struct sock_filter)LOAD(nr));
	for (unsigned int i = 0; i < ARRAY_SIZE(allowed); i++)
		confine_allow(filter, allowed[i]);
	confine_allow_without(filter, SYS_mmap, 2, PROT_EXEC);
	confine_allow_without(filter, SYS_mprotect, 2, PROT_EXEC);
	confine_allow_values(filter, SYS_socket, 0, families,
			     ARRAY_SIZE(families));
	confine_allow_values(filter, SYS_fcntl, 1, fcntls, ARRAY_SIZE(fcntls));
	confine_allow_values(filter, SYS_ioctl, 1, ioctls, ARRAY_SIZE(ioctls));
	/* for abort() */
	confine_allow_values(filter, SYS_tgkill, 0, &self, 1);
	confine_put(filter, (struct sock_filter)RETURN(SECCOMP_RET_TRAP));
}

/*
 * The handler is removed, so that the signal ends the process. The call is not
 * repeated for that: with other arguments it might be allowed.
 */
static void confine_not_allowed(int number, siginfo_t *info, void *context)
{
	char line[96];
	int len;

	(void)number;
	(void)context;
	len = snprintf(line, sizeof(line),
		       "mynic-device: system call %d is not allowed: ending\n",
		       info->si_syscall);
	log_write(line, len);
	raise(SIGSYS);
}

int confine_system_calls(void)
{
	struct sigaction action = {
		.sa_sigaction = confine_not_allowed,
		.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER,
	};
	struct filter filter = { .num = 0 };
	struct sock_fprog program = { .filter = filter.code };
	long thread;

	if (!CONFINE_SYSTEM_CALLS)
		return 0;
	confine_make_filter(&filter);
	program.len = filter.num;
	sigaction(SIGSYS, &action, NULL);
	thread = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			 SECCOMP_FILTER_FLAG_TSYNC, &program);
	if (thread < 0)
		return -errno;
	return thread ? -EBUSY : 0;
}

int confine_privileges(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	/*
	 * A process without the right to drop capabilities from the set cannot
	 * gain any by it either.
	 */
	for (int i = 0; !prctl(PR_CAPBSET_DROP, i, 0, 0, 0); i++)
		;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &header, none) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return 0;
}

/* Lowers a limit if it is higher. */
static int confine_set_limit(int resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return -errno;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	return setrlimit(resource, &limit) ? -errno : 0;
}

/* Bytes that count for RLIMIT_DATA at present, or 0 */
static rlim_t confine_used_data(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long kbytes = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "VmData: %lu kB", &kbytes) != 1)
		;
	if (file)
		fclose(file);
	return (rlim_t)kbytes << 10;
}

int confine_resources(size_t bytes, size_t files)
{
	rlim_t used = confine_used_data();
	int err;

	if (!used)
		return -ENODATA;
	err = confine_set_limit(RLIMIT_DATA, used + bytes);
	if (!err)
		err = confine_set_limit(RLIMIT_NOFILE, files);
	if (!err)
		err = confine_set_limit(RLIMIT_MEMLOCK, 0);
	return err;
}
