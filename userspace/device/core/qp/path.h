/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How a RoCEv2 packet finds its way: addresses, UDP source port, VLAN. */
#ifndef MYNIC_PATH_H
#define MYNIC_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/mynic-hw.h>

#include "qp/qp.h"

struct packet;

#define PATH_DEFAULT_PKEY 0xffff
#define PATH_MULTICAST_QPN 0xffffff
#define PATH_MAX_MTU 4096

/**
 * path_init() - make a packet without payload, with all that the path says
 * @qp: the sender
 * @av: the path
 * @dest_qpn: destination QP
 * @pkt: result; the headers behind the BTH and the elements of the scatter list
 *	are not touched
 *
 * Return: false if the path's source GID is empty or of another kind than the
 * destination.
 */
bool path_init(const struct qp *qp, const struct mynic_av *av,
	       uint32_t dest_qpn, struct packet *pkt);

/** path_send() - count, pad and transmit a packet of a QP */
void path_send(struct qp *qp, struct packet *pkt);

/** path_log_mtu() - log2 of the path MTU of a connected QP in bytes */
static inline unsigned int path_log_mtu(const struct qp *qp)
{
	return 7 + qp->attr.path_mtu;
}

/** path_mtu() - the path MTU of a connected QP, bytes */
static inline uint32_t path_mtu(const struct qp *qp)
{
	return 1u << path_log_mtu(qp);
}

/**
 * path_train() - how many packets of a message may go as one
 * @qp: connected QP
 * @num: how many there are, at least 2
 *
 * Where nothing is between two NICs that could lose, change or see packets
 * there is no need to make them one by one.
 *
 * Return: 1 to @num; all in &packet.segment are path_mtu().
 */
uint32_t path_train(const struct qp *qp, uint32_t num);

/** path_packets() - packets, and PSNs, that @len bytes of message take */
uint32_t path_packets(const struct qp *qp, uint32_t len);

/** path_port_mtu() - the largest path MTU that the port's MTU allows, bytes */
uint32_t path_port_mtu(const struct nic *nic);

#endif /* MYNIC_PATH_H */
