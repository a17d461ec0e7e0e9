/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Addressing of RoCEv2 packets: addresses, UDP source port, VLAN. */
#ifndef MYNIC_PATH_H
#define MYNIC_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "state/qp_types.h"

struct nic;
struct packet;

#define PATH_DEFAULT_PKEY 0xffff
#define PATH_MULTICAST_QPN 0xffffff
#define PATH_MAX_MTU 4096

/**
 * path_init() - start a packet with the headers of its path
 * @qp: the sending QP
 * @av: the path
 * @dest_qpn: destination QP
 * @pkt: result; headers behind the BTH and elements of the scatter list are not
 *	initialized
 *
 * Return: false if the source GID is empty, or not of the same IP version as
 * the destination.
 */
bool path_init(const struct qp *qp, const struct mynic_av *av,
	       uint32_t dest_qpn, struct packet *pkt);

/* Counts, pads and sends a packet of a QP. */
void path_send(struct qp *qp, struct packet *pkt);

/* log2 of the path MTU in bytes; for connected QPs. */
static inline unsigned int path_log_mtu(const struct qp *qp)
{
	return 7 + qp->attr.path_mtu;
}

/* Path MTU in bytes; for connected QPs. */
static inline uint32_t path_mtu(const struct qp *qp)
{
	return 1u << path_log_mtu(qp);
}

/**
 * path_train() - number of packets of a message that may form a train
 * @qp: connected QP
 * @num: number of packets to send, at least 2
 *
 * Between two NICs of one process nothing can lose, change or observe packets.
 * The packets need not be made one by one there.
 *
 * Return: 1 to @num. The &packet.train_mtu of a train is path_mtu().
 */
uint32_t path_train(const struct qp *qp, uint32_t num);

/* Packets, and thus PSNs, of a message with @len bytes. */
uint32_t path_packets(const struct qp *qp, uint32_t len);

/* Largest path MTU in bytes that the port's MTU allows. */
uint32_t path_port_mtu(const struct nic *nic);

#endif /* MYNIC_PATH_H */
