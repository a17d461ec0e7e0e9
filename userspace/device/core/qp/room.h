/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Room where packets go. A wire whose peer is slow has none for a while. QPs
 * that have something for it wait in the order of their turns.
 */
#ifndef MYNIC_ROOM_H
#define MYNIC_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct nic;
struct qp;

void rooms_init(struct nic *nic);

/* The way that a packet to @dmac would go if it had room; see &nic_ops.full_way */
int room_full_way(const struct qp *qp, const uint8_t dmac[6]);

/**
 * room_admit() - check whether there is room where the next packet goes
 * @qp: the sending QP
 * @dmac: destination
 *
 * Acknowledgments and the like need not ask: they are small, and who asks for
 * them has to have room.
 *
 * Return: false if there is none. The QP gets a turn when there is some, and
 * keeps its place if it had one. It must send nothing more in this turn.
 */
bool room_admit(struct qp *qp, const uint8_t dmac[6]);

/* Has a QP wait no more. */
void room_leave(struct qp *qp);

/* The next QP that may have room now, or NULL */
struct qp *room_next(struct nic *nic);

#endif /* MYNIC_ROOM_H */
