// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The port: its state, and sending. Receiving is in engine/ and ethernet/. */

#include "function/port.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "base/journal.h"
#include "base/mac.h"
#include "function/eq.h"
#include "mynic_regs.h"
#include "nic.h"
#include "packet/packet.h"
#include "state/function_types.h"
#include "state/nic_types.h"
#include "state/traffic.h"

#define PORT_NUMBER 1
#define DEFAULT_MTU 1500
#define MIN_MTU 68

void port_reset(struct nic *nic)
{
	struct port *port = &nic->port;

	memcpy(port->mac, nic->config.mac, sizeof(port->mac));
	port->up = false;
	port->mtu = DEFAULT_MTU;
	eq_drop(nic, &port->events);
	port->events.number = PORT_NUMBER;
}

static void port_set_link(struct nic *nic, bool up)
{
	struct port *port = &nic->port;

	if (port->link == up)
		return;
	port->link = up;
	if (!nic_enabled(nic))
		return;
	/* A pending event about the opposite change is out of date */
	eq_drop(nic, &port->events);
	eq_raise(nic, &port->events,
		 up ? MYNIC_EVENT_PORT_UP : MYNIC_EVENT_PORT_DOWN);
}

void nic_set_link(struct nic *nic, bool up)
{
	nic->port.carrier = up;
	port_set_link(nic, up && !nic->port.flaps);
}

void port_flap(struct nic *nic, bool down)
{
	nic->port.flaps = down;
	port_set_link(nic, nic->port.carrier && !down);
}

const uint8_t *nic_mac(const struct nic *nic)
{
	return nic->port.mac;
}

const uint8_t *nic_permanent_mac(const struct nic *nic)
{
	return nic->config.mac;
}

static bool port_may_have_mac(const struct nic *nic, const uint8_t mac[MAC_LEN])
{
	const struct nic_ops *ops = nic->config.ops;

	return mac_equal(mac, nic->config.mac) || !ops->may_have_mac ||
	       ops->may_have_mac(nic->config.ctx, mac);
}

int admin_query_port(struct nic *nic, struct admin_call *call)
{
	struct mynic_port_attr *attr = &call->port_attr;

	memcpy(attr->mac, nic->config.mac, sizeof(attr->mac));
	attr->link_up = nic->port.link;
	attr->speed_mbps = htole32(PORT_SPEED_MBPS);
	attr->max_mtu = htole32(PORT_MAX_MTU);
	return MYNIC_AQ_OK;
}

int admin_modify_port(struct nic *nic, struct admin_call *call)
{
	const struct mynic_modify_port *cmd = &call->cmd.modify_port;
	uint32_t mtu = le32toh(cmd->mtu);

	if (cmd->up > 1 || cmd->reserved_01 || mac_is_zero(cmd->mac) ||
	    mac_is_multicast(cmd->mac) || mtu < MIN_MTU || mtu > PORT_MAX_MTU)
		return MYNIC_AQ_BAD_PARAM;
	if (!port_may_have_mac(nic, cmd->mac))
		return MYNIC_AQ_BUSY;
	nic->port.up = cmd->up;
	nic->port.mtu = mtu;
	memcpy(nic->port.mac, cmd->mac, sizeof(nic->port.mac));
	return MYNIC_AQ_OK;
}

bool port_is_open(const struct nic *nic)
{
	return nic_enabled(nic) && nic->port.up && nic->port.link;
}

bool nic_can_receive(const struct nic *nic)
{
	return port_is_open(nic);
}

void port_transmit(struct nic *nic, const struct packet *pkt)
{
	if (!port_is_open(nic))
		return;
	nic->stats[MYNIC_STAT_TX_PACKETS] += packet_count(pkt);
	nic->stats[MYNIC_STAT_TX_BYTES] += packet_len(pkt);
	if (traffic_is_noted(nic))
		traffic_note_packet(nic, JOURNAL_SENT, pkt);
	nic->config.ops->transmit(nic->config.ctx, pkt);
}
