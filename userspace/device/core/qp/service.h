/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the type of a queue pair decides. engine/services.c has one service for
 * each type, made of functions of the wings below.
 */
#ifndef MYNIC_SERVICE_H
#define MYNIC_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outcome.h"

struct packet;
struct qp;
struct send_req;

/**
 * struct qp_service - the work of queue pairs of one type
 * @connected: a QP has one path for all requests
 * @reliable: a request that fails ends the QP, and not only its send queue
 * @xrc_tgt: a QP belongs to an XRC domain, and has no queues and no PD
 * @sends_only: a QP has no receive queue
 * @roce: its packets are RoCEv2, whose headers count for the rate
 * @bth: with @connected: service bits of the opcodes, in addition to those of
 *	RC
 * @init: adds what the service needs for a new QP; returns 0 or -ENOMEM
 * @fini: undoes @init
 * @start_receiving: the QP goes to RTR
 * @start_sending: the QP goes to RTS for the first time, with its PSN in &qp.sq
 * @reset: forgets messages, and what is on its way
 * @stop: the QP goes to ERR: it neither sends nor answers any more
 * @send: sends some packets of a QP in RTS or SQD; returns true if there is
 *	more to do now. NULL: the type has no send queue
 * @send_one: for sq_run(): sends the oldest request, which was not refused, or a
 *	part of it. Returns OUTCOME_MORE if other parts follow
 * @answer: sends some of the waiting answers of a QP that can receive; returns
 *	true if there is more to do now. NULL: the type does not answer
 * @receive: handles a packet of the type that is next in order, for a QP that
 *	can receive. A packet that has to wait is handled again. NULL: the type
 *	receives no RoCEv2 packets
 *
 * Each of @init, @fini, @start_receiving, @start_sending, @reset and @stop is
 * NULL if there is nothing to do.
 */
struct qp_service {
	bool connected;
	bool reliable;
	bool xrc_tgt;
	bool sends_only;
	bool roce;
	uint8_t bth;
	int (*init)(struct qp *qp);
	void (*fini)(struct qp *qp);
	void (*start_receiving)(struct qp *qp);
	void (*start_sending)(struct qp *qp);
	void (*reset)(struct qp *qp);
	void (*stop)(struct qp *qp);
	bool (*send)(struct qp *qp);
	enum outcome (*send_one)(struct qp *qp, struct send_req *req);
	bool (*answer)(struct qp *qp);
	void (*receive)(struct qp *qp, const struct packet *pkt);
};

#endif /* MYNIC_SERVICE_H */
