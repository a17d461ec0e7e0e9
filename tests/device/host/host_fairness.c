// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A victim in one process with a hostile guest or client of each kind, which
 * must lose nothing. The benchmark "fairness" measures how long it has to wait,
 * with the same hostile guests.
 */
#include <linux/vfio.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "harness_driver.h"
#include "harness_hostile.h"
#include "harness_vfu.h"
#include "remote_nic.h"

#define ROUNDS 8
#define MESSAGE_LEN 70001

static struct drv_pair victim_pair(const struct hostile *h)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	static const struct drv_path path = { .mtu = IBV_MTU_4096,
					      .timeout = 20 };
	struct drv_pair p = drv_pair_on(h->victim[0], h->victim[1], &init);

	drv_connect(p.a.qp, p.b.qp, &path);
	return p;
}

static void check_device(const struct hostile *h)
{
	int status;

	if (waitpid(h->device, &status, WNOHANG))
		FAIL("the device has ended, wait status 0x%x", status);
}

/* Check that no message to the victim is lost, repeated or wrong */
static void check_victim(struct drv_pair *p)
{
	drv_send_recv(&p->a, &p->b, MESSAGE_LEN);
	drv_send_recv(&p->b, &p->a, MESSAGE_LEN);
}

/*
 * Check counters that only others could have changed. Repetitions depend on
 * time
 */
static void check_counters(struct drv *d)
{
	static const enum mynic_stat none[] = {
		MYNIC_STAT_RX_DROP_QP,	  MYNIC_STAT_RX_DROP_HEADER,
		MYNIC_STAT_RX_DROP_ICRC,  MYNIC_STAT_RX_DROP_OVERRUN,
		MYNIC_STAT_TX_NAK_SEQ,	  MYNIC_STAT_TX_NAK_INVALID,
		MYNIC_STAT_TX_NAK_ACCESS, MYNIC_STAT_RETRY_EXCEEDED,
		MYNIC_STAT_SEND_ERRORS,	  MYNIC_STAT_RECV_ERRORS,
		MYNIC_STAT_CQ_OVERRUN,	  MYNIC_STAT_BAD_REGISTER,
		MYNIC_STAT_BAD_DOORBELL,  MYNIC_STAT_BAD_COMMAND,
		MYNIC_STAT_BAD_WQE,	  MYNIC_STAT_BAD_DMA,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(none); i++)
		if (drv_stat(d, none[i]))
			FAIL("counter %u of the victim is not 0", none[i]);
}

static void check(const void *with)
{
	const struct hostile_kind *kind = with;
	struct hostile *h = hostile_world(kind, true);
	struct drv_pair p = victim_pair(h);

	check_victim(&p);
	if (kind->begin)
		kind->begin(h);
	for (int i = 0; i < ROUNDS; i++) {
		kind->again(h);
		check_device(h);
		check_victim(&p);
	}
	check_counters(p.a.d);
	check_counters(p.b.d);
}

__attribute__((constructor)) static void add_tests(void)
{
	hostile_tests(check);
}
