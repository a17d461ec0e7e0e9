// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One service for each type of queue pair. The functions are in rdma/, in
 * ethernet/ and in datagram.c.
 */

#include "engine/services.h"

#include <stdbool.h>

#include "engine/datagram.h"
#include "mynic_regs.h"
#include "packet/opcode.h"
#include "qp/service.h"
#include "queue/sq.h"
#include "rdma/memcpy.h"
#include "rdma/rc.h"
#include "rdma/requester.h"
#include "rdma/responder.h"
#include "rdma/uc.h"
#include "rdma/ud.h"
#include "state/qp.h"

static const struct qp_service services[QP_TYPE_RWQ + 1] = {
	[MYNIC_QP_RC] = {
		.connected = true,
		.reliable = true,
		.bth = BTH_SERVICE_RC << BTH_SERVICE_SHIFT,
		.init = requester_init,
		.fini = requester_fini,
		.stop = rc_stop,
		.send = requester_run,
		.answer = responder_run,
		.receive = rc_receive,
	},
	[MYNIC_QP_UC] = {
		.connected = true,
		.bth = BTH_SERVICE_UC << BTH_SERVICE_SHIFT,
		.send = sq_run,
		.send_one = uc_send,
		.receive = uc_receive,
	},
	[MYNIC_QP_UD] = {
		.send = sq_run,
		.send_one = datagram_send,
		.receive = ud_take,
	},
	[MYNIC_QP_GSI] = {
		.send = sq_run,
		.send_one = datagram_send,
		.receive = ud_take,
	},
	[MYNIC_QP_RAW_PACKET] = {
		.send = sq_run,
		.send_one = datagram_send,
	},
	[MYNIC_QP_XRC_INI] = {
		.connected = true,
		.reliable = true,
		.bth = BTH_SERVICE_XRC << BTH_SERVICE_SHIFT,
		.init = requester_init,
		.fini = requester_fini,
		.stop = rc_stop,
		.send = requester_run,
		.receive = rc_receive,
	},
	[MYNIC_QP_XRC_TGT] = {
		.connected = true,
		.reliable = true,
		.bth = BTH_SERVICE_XRC << BTH_SERVICE_SHIFT,
		.stop = rc_stop,
		.answer = responder_run,
		.receive = rc_receive,
	},
	[MYNIC_QP_DRIVER] = {
		.send = sq_run,
		.send_one = memcpy_send,
	},
};

const struct qp_service *services_get(uint8_t type)
{
	return &services[type];
}
