/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Delivery of a frame to the receive queue of a QP or WQ. */
#ifndef MYNIC_ETH_RX_H
#define MYNIC_ETH_RX_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/headers.h"

struct qp;

#define VLAN_TAG_LEN 4

/**
 * struct eth_frame - a frame that is being received
 * @data: the frame as it arrived, without FCS
 * @len: bytes of @data
 * @vlan: TCI, or PACKET_NO_VLAN
 * @csum_ok: it has IP and TCP or UDP checksums, and they are correct
 * @headers: headers of the frame, with pointers into @data
 */
struct eth_frame {
	const uint8_t *data;
	uint32_t len;
	uint16_t vlan;
	bool csum_ok;
	struct headers headers;
};

/**
 * eth_deliver() - deliver a frame to a QP
 * @qp: RAW_PACKET QP in any state
 * @frame: the frame
 * @flow_tag: for the completion
 *
 * It counts whether the QP has received the frame.
 */
void eth_deliver(struct qp *qp, const struct eth_frame *frame,
		 uint32_t flow_tag);

#endif /* MYNIC_ETH_RX_H */
