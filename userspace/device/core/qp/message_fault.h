/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Why a responder does not execute a request. */
#ifndef MYNIC_MESSAGE_FAULT_H
#define MYNIC_MESSAGE_FAULT_H

#include <errno.h>

/**
 * enum message_fault - why a packet cannot be executed
 * @MESSAGE_OK: it can
 * @MESSAGE_NO_RECV: there is no receive request
 * @MESSAGE_BAD_RECV: the receive request is malformed, or its memory bad:
 *	&responder.recv.error says why
 * @MESSAGE_TOO_LONG: more than the receive request takes
 * @MESSAGE_BAD_LENGTH: of the packet, or in the RETH
 * @MESSAGE_BAD_FETH: no such placement or selectivity
 * @MESSAGE_NOT_ALLOWED: by the QP's access flags
 * @MESSAGE_BAD_KEY: no such key, or not for this
 * @MESSAGE_NO_MEMORY: the region's memory is not there
 * @MESSAGE_PAGE_FAULT: a page of it has to be brought first
 */
enum message_fault {
	MESSAGE_OK,
	MESSAGE_NO_RECV,
	MESSAGE_BAD_RECV,
	MESSAGE_TOO_LONG,
	MESSAGE_BAD_LENGTH,
	MESSAGE_BAD_FETH,
	MESSAGE_NOT_ALLOWED,
	MESSAGE_BAD_KEY,
	MESSAGE_NO_MEMORY,
	MESSAGE_PAGE_FAULT,
};

/** message_mkey_fault() - what mkey_check_remote() or mkey_iov() said */
static inline enum message_fault message_mkey_fault(int err)
{
	if (err == -EACCES || err == -ERANGE)
		return MESSAGE_BAD_KEY;
	if (err == -EAGAIN)
		return MESSAGE_PAGE_FAULT;
	return err ? MESSAGE_NO_MEMORY : MESSAGE_OK;
}

#endif /* MYNIC_MESSAGE_FAULT_H */
