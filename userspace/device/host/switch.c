// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/nic.h"
#include "log.h"
#include "switch.h"

/* About 1000 packets of the largest RoCE MTU; touched only as far as needed */
#define SWITCH_QUEUE_SIZE (4 << 20)

/* What of a struct packet is kept in a queue; the payload follows. */
#define HEADER_SIZE offsetof(struct packet, iov)

static size_t queued_size(const struct packet *pkt)
{
	size_t align = _Alignof(struct packet);

	return (HEADER_SIZE + pkt->payload_len + align - 1) / align * align;
}

static void enqueue(struct switch_port *to, const struct packet *pkt)
{
	struct packet_queue *queue = &to->filling;
	size_t size = queued_size(pkt);
	uint8_t *at = queue->buf + queue->used;

	if (size > SWITCH_QUEUE_SIZE - queue->used) {
		to->dropped++;
		log_line(to->log, "dropping packets, %" PRIu64 " so far",
			 to->dropped);
		return;
	}
	memcpy(at, pkt, HEADER_SIZE);
	at += HEADER_SIZE;
	for (uint32_t i = 0; i < pkt->niov; i++) {
		memcpy(at, pkt->iov[i].iov_base, pkt->iov[i].iov_len);
		at += pkt->iov[i].iov_len;
	}
	queue->used += size;
}

static void send_to(struct switch_port *to, const struct packet *pkt)
{
	to->sw->packets++;
	if (to->sending || to->filling.used || to->draining.used)
		enqueue(to, pkt);
	else
		nic_receive(to->nic, pkt);
}

static bool send_to_owner(struct net_switch *sw, const struct packet *pkt)
{
	bool found = false;

	for (unsigned int i = 0; i < sw->num; i++) {
		struct switch_port *to = sw->ports[i];

		if (!memcmp(nic_mac(to->nic), pkt->dmac, sizeof(pkt->dmac))) {
			send_to(to, pkt);
			found = true;
		}
	}
	return found;
}

void switch_transmit(struct switch_port *from, const struct packet *pkt)
{
	struct net_switch *sw = from->sw;
	bool multicast = pkt->dmac[0] & 1;

	from->sending = true;
	if (multicast || !send_to_owner(sw, pkt))
		for (unsigned int i = 0; i < sw->num; i++)
			if (sw->ports[i] != from)
				send_to(sw->ports[i], pkt);
	from->sending = false;
}

void switch_deliver(struct switch_port *port)
{
	struct packet_queue *queue = &port->draining;
	struct packet_queue full = port->filling;

	if (!full.used)
		return;
	port->filling = *queue;
	*queue = full;
	for (size_t at = 0; at < queue->used;) {
		struct packet pkt;

		memcpy(&pkt, queue->buf + at, HEADER_SIZE);
		pkt.niov = pkt.payload_len ? 1 : 0;
		pkt.iov[0].iov_base = queue->buf + at + HEADER_SIZE;
		pkt.iov[0].iov_len = pkt.payload_len;
		nic_receive(port->nic, &pkt);
		at += queued_size(&pkt);
	}
	queue->used = 0;
}

int switch_connect(struct net_switch *sw, struct switch_port *port,
		   struct nic *nic, struct log *log)
{
	if (sw->num == SWITCH_MAX_PORTS)
		return -ENOSPC;
	*port = (struct switch_port){
		.sw = sw,
		.nic = nic,
		.log = log,
		.filling.buf = malloc(SWITCH_QUEUE_SIZE),
		.draining.buf = malloc(SWITCH_QUEUE_SIZE),
	};
	if (!port->filling.buf || !port->draining.buf) {
		free(port->filling.buf);
		free(port->draining.buf);
		return -ENOMEM;
	}
	sw->ports[sw->num++] = port;
	return 0;
}

void switch_disconnect(struct switch_port *port)
{
	struct net_switch *sw = port->sw;

	for (unsigned int i = 0; i < sw->num; i++)
		if (sw->ports[i] == port)
			sw->ports[i--] = sw->ports[--sw->num];
	free(port->filling.buf);
	free(port->draining.buf);
}
