// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of services: what a type has fits what it says of itself */
#include "core/engine/services.h"
#include "core/packet/opcode.h"
#include "core/qp/service.h"
#include "core/queue/sq.h"
#include "core/state/qp_types.h"
#include "harness_tap.h"
#include "mynic_regs.h"

static const uint8_t types[] = {
	MYNIC_QP_RC,	     MYNIC_QP_UC,      MYNIC_QP_UD,
	MYNIC_QP_GSI,	     MYNIC_QP_XRC_INI, MYNIC_QP_XRC_TGT,
	MYNIC_QP_RAW_PACKET, MYNIC_QP_DRIVER,
};

TEST(services_of_all_types)
{
	unsigned int num = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++)
		CHECK(services_has(types[i]));
	for (unsigned int type = 0; type < 256; type++)
		num += services_has(type);
	CHECK_EQ(num, ARRAY_SIZE(types));
	/* a process cannot make a WQ with CREATE_QP */
	CHECK(!services_has(QP_TYPE_RWQ));
}

static void check_sending(uint8_t type, const struct qp_service *service)
{
	bool in_order = service->send == sq_run;

	if (!service->send != service->xrc_tgt)
		FAIL("type %u: a send queue that nothing takes from", type);
	if (in_order != !!service->send_one)
		FAIL("type %u: no function sends one request", type);
}

static void check_connection(uint8_t type, const struct qp_service *service)
{
	if (service->connected &&
	    (!service->roce || !service->start_receiving || !service->reset))
		FAIL("type %u: a connection without a PSN", type);
	if (!service->connected && (service->reliable || service->bth))
		FAIL("type %u: reliable without a peer", type);
	if (service->reliable &&
	    (!service->init || !service->fini || !service->stop))
		FAIL("type %u: a requester that stays behind", type);
	if (service->roce != !!service->receive)
		FAIL("type %u: nothing takes its packets", type);
}

TEST(services_are_complete)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		check_sending(types[i], services_of(types[i]));
		check_connection(types[i], services_of(types[i]));
	}
}

/* Packets of a service have opcodes that another one does not take. */
TEST(services_have_their_own_opcodes)
{
	const uint8_t rc = services_of(MYNIC_QP_RC)->bth;
	const uint8_t uc = services_of(MYNIC_QP_UC)->bth;
	const uint8_t xrc = services_of(MYNIC_QP_XRC_INI)->bth;

	CHECK(rc != uc && rc != xrc && uc != xrc);
	CHECK_EQ(services_of(MYNIC_QP_XRC_TGT)->bth, xrc);
	CHECK_EQ(xrc, BTH_SERVICE_XRC << BTH_SERVICE_SHIFT);
}

/* Answers come only from those that can be asked. */
TEST(services_that_answer)
{
	CHECK(services_of(MYNIC_QP_RC)->answer);
	CHECK(services_of(MYNIC_QP_XRC_TGT)->answer);
	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++)
		if (services_of(types[i])->sends_only ||
		    !services_of(types[i])->connected)
			CHECK(!services_of(types[i])->answer);
}
