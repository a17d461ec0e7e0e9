// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Frames for tests, and RAW_PACKET QPs that send and receive them. */
#include "harness_eth.h"

/* Receive buffer for a wr_id */
#define RECV_AT(wr_id) (0x80000 + (wr_id) % 50 * 9400)

uint8_t *eth_put(struct eth_buf *buf, const void *bytes, uint32_t len)
{
	uint8_t *at = buf->data + buf->len;

	memcpy(at, bytes, len);
	buf->len += len;
	return at;
}

void eth_put16(struct eth_buf *buf, uint16_t value)
{
	value = htobe16(value);
	eth_put(buf, &value, sizeof(value));
}

void eth_put32(struct eth_buf *buf, uint32_t value)
{
	value = htobe32(value);
	eth_put(buf, &value, sizeof(value));
}

void eth_begin(struct eth_buf *buf, const void *dmac, uint16_t ethertype)
{
	buf->len = 0;
	eth_put(buf, dmac, 6);
	eth_put(buf, ETH_SENDER, 6);
	eth_put16(buf, ethertype);
}

void eth_put_ipv4(struct eth_buf *buf, uint32_t saddr, uint32_t daddr,
		  uint8_t proto, uint16_t len)
{
	eth_put16(buf, 0x4500);
	eth_put16(buf, 20 + len);
	eth_put16(buf, 0x1234); /* identification */
	eth_put16(buf, 0x4000);
	eth_put16(buf, 64 << 8 | proto);
	eth_put16(buf, 0);
	eth_put32(buf, saddr);
	eth_put32(buf, daddr);
}

void eth_put_ipv6(struct eth_buf *buf, const void *saddr, const void *daddr,
		  uint8_t proto, uint16_t len)
{
	eth_put32(buf, 0x6a512345);
	eth_put16(buf, len);
	eth_put16(buf, proto << 8 | 64);
	eth_put(buf, saddr, 16);
	eth_put(buf, daddr, 16);
}

void eth_put_udp(struct eth_buf *buf, uint16_t sport, uint16_t dport,
		 uint16_t len)
{
	eth_put16(buf, sport);
	eth_put16(buf, dport);
	eth_put16(buf, 8 + len);
	eth_put16(buf, 0);
}

void eth_put_tcp(struct eth_buf *buf, uint16_t sport, uint16_t dport,
		 uint32_t seq, uint8_t flags)
{
	eth_put16(buf, sport);
	eth_put16(buf, dport);
	eth_put32(buf, seq);
	eth_put32(buf, 0x01020304);
	eth_put16(buf, 0x5000 | flags);
	eth_put16(buf, 0xffff);
	eth_put32(buf, 0);
}

void eth_put_data(struct eth_buf *buf, uint32_t len, unsigned int seed)
{
	drv_fill(buf->data + buf->len, len, seed);
	buf->len += len;
}

static uint32_t add(uint32_t sum, const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 ? p[i] : p[i] << 8;
	return sum;
}

uint16_t eth_csum(const struct eth_buf *buf, uint32_t ip, uint32_t l4)
{
	const uint8_t *p = buf->data + ip;
	uint32_t sum = 0;

	if (!l4) {
		sum = add(0, p, 20);
	} else if (p[0] >> 4 == 4) {
		sum = add(p[9] + buf->len - l4, p + 12, 8);
		sum = add(sum, buf->data + l4, buf->len - l4);
	} else {
		sum = add(p[6] + buf->len - l4, p + 8, 32);
		sum = add(sum, buf->data + l4, buf->len - l4);
	}
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

static void put_csum(struct eth_buf *buf, uint32_t at, uint16_t sum)
{
	sum = ~sum;
	buf->data[at] = sum >> 8;
	buf->data[at + 1] = sum;
}

void eth_fix(struct eth_buf *buf, uint32_t ip, uint32_t l4)
{
	bool ipv4 = buf->data[ip] >> 4 == 4;
	uint8_t proto = buf->data[ip + (ipv4 ? 9 : 6)];
	uint32_t at = l4 + (proto == 6 ? 16 : 6);

	if (ipv4) {
		put_csum(buf, ip + 10, 0xffff);
		put_csum(buf, ip + 10, eth_csum(buf, ip, 0));
	}
	if (!l4)
		return;
	put_csum(buf, at, 0xffff);
	put_csum(buf, at, eth_csum(buf, ip, l4));
}

void eth_insert_tag(struct eth_buf *buf, uint16_t tci)
{
	uint8_t tag[] = { 0x81, 0, tci >> 8, tci };

	memmove(buf->data + 12 + sizeof(tag), buf->data + 12, buf->len - 12);
	memcpy(buf->data + 12, tag, sizeof(tag));
	buf->len += sizeof(tag);
}

void eth_raw_up(struct drv_qp *qp)
{
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_PORT,
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
	};

	CHECK_EQ(drv_modify_qp(qp, &attr), 0);
	CHECK_EQ(drv_set_state(qp, IBV_QPS_RTR), 0);
	CHECK_EQ(drv_set_state(qp, IBV_QPS_RTS), 0);
}

struct drv_pair eth_raw_pair(void)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RAW_PACKET };
	struct drv_pair p = drv_pair_unconnected(&init);

	eth_raw_up(p.a.qp);
	eth_raw_up(p.b.qp);
	return p;
}

void eth_send_frame(struct drv_end *end, const struct eth_buf *buf,
		    unsigned int flags)
{
	struct drv_wr wr = {
		.wr_id = DRV_WR_ID,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED | flags,
		.num_sge = 1,
		.sge = { drv_sge(end->mr, 0, buf->len) },
	};

	memcpy(end->mr->ptr, buf->data, buf->len);
	drv_post_send(end->qp, &wr);
	drv_expect(end->cq, DRV_WR_ID, IBV_WC_SUCCESS);
}

void eth_post(struct drv_end *end, uint64_t wr_id)
{
	struct mynic_sge sge = drv_sge(end->mr, RECV_AT(wr_id), 9234);

	memset(end->mr->ptr + RECV_AT(wr_id), 0xee, 9300);
	drv_post_recv(end->qp, wr_id, &sge, 1);
}

struct mynic_cqe eth_expect(struct drv_end *end, uint64_t wr_id,
			    const struct eth_buf *buf)
{
	struct mynic_cqe cqe = drv_expect(end->recv_cq, wr_id, IBV_WC_SUCCESS);

	CHECK_EQ(cqe.opcode, IBV_WC_RECV);
	CHECK_EQ(cqe.byte_len, buf->len);
	CHECK_EQ(cqe.qp_num, end->qp->number);
	CHECK_MEM(end->mr->ptr + RECV_AT(wr_id), buf->data, buf->len);
	CHECK_EQ(end->mr->ptr[RECV_AT(wr_id) + buf->len], 0xee);
	return cqe;
}

uint8_t eth_flow(struct drv_qp *qp, struct mynic_create_flow body,
		 const struct mynic_flow_spec *specs, uint32_t *number)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_FLOW };
	struct mynic_admin_cpl cpl;
	uint8_t status;

	body.qpn = qp->number;
	cmd.create_flow = body;
	status = drv_admin_in(qp->d, &cmd, &cpl,
			      specs ? (const void *)specs : "",
			      body.num_specs * sizeof(*specs));
	if (number)
		*number = cpl.number;
	return status;
}
