// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One service for each type of queue pair. The functions are in rdma/, in
 * ethernet/ and in datagram.c.
 */

#include "engine/services.h"

#include "engine/datagram.h"
#include "mynic_regs.h"
#include "packet/opcode.h"
#include "qp/service.h"
#include "queue/sq.h"
#include "rdma/memcpy.h"
#include "rdma/rc.h"
#include "rdma/requester.h"
#include "rdma/responder.h"
#include "rdma/response.h"
#include "rdma/response_queue.h"
#include "rdma/uc.h"
#include "rdma/ud.h"
#include "state/qp_types.h"

static const struct qp_service services[QP_TYPE_RWQ + 1] = {
	[MYNIC_QP_RC] = {
		.connected = true,
		.reliable = true,
		.roce = true,
		.bth = BTH_SERVICE_RC << BTH_SERVICE_SHIFT,
		.init = requester_init,
		.fini = rc_fini,
		.start_receiving = responder_start,
		.start_sending = requester_start,
		.reset = rc_reset,
		.stop = rc_stop,
		.send = requester_run,
		.answer = responder_run,
		.receive = rc_receive,
	},
	[MYNIC_QP_UC] = {
		.connected = true,
		.roce = true,
		.bth = BTH_SERVICE_UC << BTH_SERVICE_SHIFT,
		.start_receiving = responder_start,
		.reset = responder_reset,
		.send = sq_run,
		.send_one = uc_send,
		.receive = uc_receive,
	},
	[MYNIC_QP_UD] = {
		.roce = true,
		.send = sq_run,
		.send_one = datagram_send_ud,
		.receive = ud_take,
	},
	[MYNIC_QP_GSI] = {
		.roce = true,
		.send = sq_run,
		.send_one = datagram_send_ud,
		.receive = ud_take,
	},
	[MYNIC_QP_RAW_PACKET] = {
		.send = sq_run,
		.send_one = datagram_send_raw,
	},
	[MYNIC_QP_XRC_INI] = {
		.connected = true,
		.reliable = true,
		.sends_only = true,
		.roce = true,
		.bth = BTH_SERVICE_XRC << BTH_SERVICE_SHIFT,
		.init = requester_init,
		.fini = rc_fini,
		/* It answers nothing, but QUERY_QP reports its receive PSN */
		.start_receiving = responder_start,
		.start_sending = requester_start,
		.reset = rc_reset,
		.stop = requester_stop,
		.send = requester_run,
		.receive = rc_receive,
	},
	[MYNIC_QP_XRC_TGT] = {
		.connected = true,
		.xrc_tgt = true,
		.roce = true,
		.bth = BTH_SERVICE_XRC << BTH_SERVICE_SHIFT,
		.fini = responder_reset,
		.start_receiving = responder_start,
		.reset = responder_reset,
		.stop = responses_stop,
		.answer = responder_run,
		.receive = rc_receive,
	},
	[MYNIC_QP_DRIVER] = {
		.sends_only = true,
		.send = sq_run,
		.send_one = memcpy_send,
	},
	/* A WQ receives frames, which eth_rx.c gives to it */
	[QP_TYPE_RWQ] = { 0 },
};

bool services_has(uint8_t type)
{
	return type < QP_TYPE_RWQ &&
	       (services[type].send || services[type].answer);
}

const struct qp_service *services_of(uint8_t type)
{
	return &services[type];
}
