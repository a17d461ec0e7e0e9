/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reasons for which a responder refuses a request. */
#ifndef MYNIC_MESSAGE_FAULT_H
#define MYNIC_MESSAGE_FAULT_H

#include <errno.h>

/**
 * enum message_fault - why a packet cannot be executed
 * @MESSAGE_OK: it can be executed
 * @MESSAGE_NO_RECV: there is no receive request
 * @MESSAGE_BAD_RECV: the receive request or its memory is bad;
 *	&recv_queue.recv.error has the reason
 * @MESSAGE_TOO_LONG: the message does not fit in the receive request
 * @MESSAGE_BAD_LENGTH: the length of the packet or in the RETH is wrong
 * @MESSAGE_BAD_FETH: there is no such placement or selectivity
 * @MESSAGE_NOT_ALLOWED: the QP's access flags do not allow it
 * @MESSAGE_BAD_KEY: the key is unknown or does not allow it
 * @MESSAGE_NO_MEMORY: the memory of the region is not mapped
 * @MESSAGE_PAGE_FAULT: a page is missing and has been asked for
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

/* Converts an error of mkey_check_remote() or mkey_iov(). */
static inline enum message_fault message_mkey_fault(int err)
{
	if (err == -EACCES || err == -ERANGE)
		return MESSAGE_BAD_KEY;
	if (err == -EAGAIN)
		return MESSAGE_PAGE_FAULT;
	return err ? MESSAGE_NO_MEMORY : MESSAGE_OK;
}

#endif /* MYNIC_MESSAGE_FAULT_H */
