// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * TSO: cutting a large TCP request into segments, each with its own header and
 * checksums.
 */

#include "ethernet/tso.h"

#include <net/ethernet.h>
#include <netinet/tcp.h>
#include <string.h>

#include "base/mac.h"
#include "ethernet/eth.h"
#include "mynic_regs.h"
#include "packet/headers.h"
#include "packet/ip.h"
#include "qp/cc.h"
#include "qp/path.h"
#include "qp/room.h"
#include "queue/wqe.h"
#include "rdma/ud.h"
#include "state/nic_types.h"
#include "state/qp_types.h"
#include "state/queue_types.h"
#include "state/transport_types.h"

/* Segments that are sent at a time */
#define QUANTUM 64

/* Units of a turn for each segment, which several receivers may get */
#define SEGMENT_UNITS 4

/* Flags of TCP (RFC 9293) that only the last or only the first segment has */
#define TCP_ONLY_LAST (TH_FIN | TH_PUSH)
#define TCP_ONLY_FIRST 0x80 /* CWR */

/**
 * struct cut - a segment of a request
 * @index: number of the segment, from 0
 * @offset: offset of its payload in the request
 * @len: bytes of payload
 * @last: it is the last segment
 */
struct cut {
	uint32_t index;
	uint32_t offset;
	uint32_t len;
	bool last;
};

static struct cut tso_cut(const struct send_req *req, uint32_t index)
{
	struct cut cut = {
		.index = index,
		.offset = index * req->mss,
		.last = index + 1 == tso_segments(req),
	};

	cut.len = cut.last ? req->length - cut.offset : req->mss;
	return cut;
}

/* Builds the contiguous bytes of a segment */
static enum outcome tso_build(struct qp *qp, const struct send_req *req,
			      const struct cut *cut, uint8_t *buf)
{
	struct sge_list list = send_sges(qp, req);

	memcpy(buf, wqe_tso_header(req), req->hdr_len);
	return sge_read(qp->nic, &list, cut->offset, cut->len,
			buf + req->hdr_len);
}

/*
 * Finds the IP and TCP headers, which must end the header of the request.
 * Length fields that differ between segments are not checked.
 */
static bool tso_find_tcp(const struct send_req *req, uint32_t *ip,
			 uint32_t *tcp)
{
	uint8_t header[MYNIC_SQ_MAX_STRIDE];
	struct headers headers;

	memcpy(header, wqe_tso_header(req), req->hdr_len);
	headers_parse(header, req->hdr_len, &headers);
	if (headers.outer.mpls || (!headers.outer.ipv4 && !headers.outer.ipv6))
		return false;
	*ip = (headers.outer.ipv4 ? headers.outer.ipv4 : headers.outer.ipv6) -
	      header;
	headers_store_be16(header + *ip + (headers.outer.ipv4 ? 2 : 4), 0);
	headers_parse(header, req->hdr_len, &headers);
	if (!headers.outer.tcp)
		return false;
	*tcp = headers.outer.tcp - header;
	return *tcp + (header[*tcp + 12] >> 4) * 4 == req->hdr_len;
}

/* Sets the fields that differ between segments, and then the checksums */
static void tso_fix_headers(uint8_t *frame, uint32_t len, uint32_t ip,
			    uint32_t tcp, const struct cut *cut)
{
	struct headers headers;

	if (frame[ip] >> 4 == 4) {
		headers_store_be16(frame + ip + 2, len - ip);
		headers_store_be16(frame + ip + 4,
				   headers_load_be16(frame + ip + 4) +
					   cut->index);
	} else {
		headers_store_be16(frame + ip + 4, len - ip - IPV6_LEN);
	}
	headers_store_be32(frame + tcp + 4,
			   headers_load_be32(frame + tcp + 4) + cut->offset);
	if (!cut->last)
		frame[tcp + 13] &= ~TCP_ONLY_LAST;
	if (cut->index)
		frame[tcp + 13] &= ~TCP_ONLY_FIRST;
	headers_parse(frame, len, &headers);
	headers_set_csum(&headers.outer);
}

/* Whether to stop for now, because the turn or this piece is over */
static bool tso_ends_piece(struct qp *qp, const struct send_req *req)
{
	nic_charge(qp->nic, SEGMENT_UNITS);
	return !(req->segments % QUANTUM) || nic_turn_is_over(qp->nic);
}

/* @extra: bytes of a segment besides its payload */
static bool tso_fits(const struct send_req *req, uint32_t extra, uint32_t max)
{
	return req->mss && req->length <= TSO_MAX_LENGTH &&
	       tso_segments(req) <= MYNIC_TSO_MAX_SEGMENTS &&
	       extra + req->mss <= max;
}

/*
 * Begins a request that tso_fits(), if it has not begun. Returns false if its
 * rate does not allow that yet, or there is no room for the first segment
 */
static bool tso_begin(struct qp *qp, struct send_req *req, uint32_t extra,
		      const uint8_t dmac[MAC_LEN])
{
	uint32_t num = tso_segments(req);

	if (req->num_psn)
		return true;
	if (!room_admit(qp, dmac))
		return false;
	if (qp->cc.paced &&
	    !cc_admit(qp, CC_REQUESTS, num, req->length + num * extra))
		return false;
	req->num_psn = 1;
	req->segments = 0;
	return true;
}

enum outcome tso_send_raw(struct qp *qp, struct send_req *req)
{
	uint32_t extra = req->hdr_len + eth_tag_len(req);
	uint8_t buf[ETH_MAX_FRAME];
	enum outcome outcome;
	uint32_t ip, tcp;

	if (!tso_fits(req, extra, sizeof(buf)))
		return wqe_refuse(qp->nic, OUTCOME_BAD_LEN);
	if (req->hdr_len < ETHER_HDR_LEN || !tso_find_tcp(req, &ip, &tcp))
		return wqe_refuse(qp->nic, OUTCOME_BAD_ENTRY);
	if (!tso_begin(qp, req, extra, wqe_tso_header(req)))
		return OUTCOME_WAIT;
	while (!tso_is_sent(req)) {
		struct cut c = tso_cut(req, req->segments);
		uint32_t len = req->hdr_len + c.len;

		if (!room_admit(qp, wqe_tso_header(req)))
			return OUTCOME_WAIT;
		outcome = tso_build(qp, req, &c, buf);
		if (outcome)
			return outcome;
		tso_fix_headers(buf, len, ip, tcp, &c);
		eth_send_bytes(qp, req, buf, len);
		req->segments++;
		if (tso_ends_piece(qp, req))
			break;
	}
	return OUTCOME_OK;
}

enum outcome tso_send_ud(struct qp *qp, struct send_req *req)
{
	uint8_t buf[PATH_MAX_MTU];
	enum outcome outcome;

	if (!tso_fits(req, req->hdr_len, path_port_mtu(qp->nic)))
		return wqe_refuse(qp->nic, OUTCOME_BAD_LEN);
	if (!tso_begin(qp, req, req->hdr_len, req->av.dmac))
		return OUTCOME_WAIT;
	while (!tso_is_sent(req)) {
		struct cut c = tso_cut(req, req->segments);

		if (!room_admit(qp, req->av.dmac))
			return OUTCOME_WAIT;
		outcome = tso_build(qp, req, &c, buf);
		if (outcome)
			return outcome;
		outcome = ud_send_bytes(qp, req, buf, req->hdr_len + c.len);
		if (outcome)
			return outcome;
		req->segments++;
		if (tso_ends_piece(qp, req))
			break;
	}
	return OUTCOME_OK;
}
