// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The estimates of an RC requester, without a NIC */
#include "core/qp/loss_recovery.h"
#include "core/state/transport_types.h"
#include "harness_tap.h"

#define USEC 1000ull
#define SEC 1000000000ull

/* The connection lasts longer than its 32-bit PSNs */
TEST(round_trips_are_measured_for_ever)
{
	const uint32_t step = 1u << 20;
	struct loss_recovery r;
	uint64_t now = SEC;
	uint32_t una = 0;

	loss_recovery_start(&r, una);
	for (unsigned int i = 0; i < 5 * 4096; i++) {
		if (i == 1)
			loss_recovery_unclear(&r, una, now);
		loss_recovery_sent(&r, una + step - 1, una, now);
		CHECK(r.timing);
		now += 50 * USEC;
		una += step;
		loss_recovery_acked(&r, una, now);
		CHECK(!r.timing);
		CHECK_EQ(r.probe_after, 500 * USEC);
	}
}
