/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The commands of the device, a function each. Their layouts are in
 * mynic_regs.h, and the queue that carries them is in admin.c.
 */
#ifndef MYNIC_CMD_H
#define MYNIC_CMD_H

#include "mynic.h"

/**
 * struct mynic_port_state - result of QUERY_PORT
 * @mac: permanent MAC
 * @link_up: whether the wire carries packets
 * @speed_mbps: Mbit/s
 * @max_mtu: largest Ethernet payload, in bytes
 */
struct mynic_port_state {
	u8 mac[ETH_ALEN];
	bool link_up;
	u32 speed_mbps;
	u32 max_mtu;
};

const char *mynic_cmd_name(u8 opcode);
int mynic_cmd_nop(struct mynic_dev *mdev, u64 *clock);
int mynic_cmd_query_device(struct mynic_dev *mdev, struct mynic_caps *caps);
int mynic_cmd_query_port(struct mynic_dev *mdev, struct mynic_port_state *ps);
int mynic_cmd_modify_port(struct mynic_dev *mdev, bool up, const u8 *mac,
			  u32 mtu);
int mynic_cmd_query_stats(struct mynic_dev *mdev, u8 flags, u64 *values);
int mynic_cmd_set_gid(struct mynic_dev *mdev, u32 index,
		      const struct mynic_set_gid *entry);
int mynic_cmd_set_rx(struct mynic_dev *mdev, u32 qpn, u32 flags,
		     const void *macs, u32 num_macs);
int mynic_cmd_create_eq(struct mynic_dev *mdev,
			const struct mynic_create_eq *body, u32 *eqn);
void mynic_cmd_destroy_eq(struct mynic_dev *mdev, u32 eqn);
int mynic_cmd_alloc_pd(struct mynic_dev *mdev, u32 *pdn);
void mynic_cmd_dealloc_pd(struct mynic_dev *mdev, u32 pdn);
int mynic_cmd_alloc_xrcd(struct mynic_dev *mdev, u32 *xrcdn);
void mynic_cmd_dealloc_xrcd(struct mynic_dev *mdev, u32 xrcdn);
int mynic_cmd_create_mkey(struct mynic_dev *mdev, u8 flags,
			  const struct mynic_create_mkey *body, u32 *key);
int mynic_cmd_modify_mkey(struct mynic_dev *mdev, u32 key,
			  const struct mynic_create_mkey *body);
void mynic_cmd_destroy_mkey(struct mynic_dev *mdev, u32 key);
int mynic_cmd_destroy_region(struct mynic_dev *mdev, u32 key);
void mynic_cmd_sync_mkey(struct mynic_dev *mdev, u32 key);
void mynic_cmd_resume(struct mynic_dev *mdev, u32 qpn, u8 stage, u32 token,
		      bool failed);
int mynic_cmd_alloc_dm(struct mynic_dev *mdev, u64 length, u8 log_align,
		       u32 *number, u64 *offset);
void mynic_cmd_free_dm(struct mynic_dev *mdev, u32 number);
int mynic_cmd_query_mkey(struct mynic_dev *mdev, u32 key,
			 struct mynic_query_mkey *mbox);
int mynic_cmd_create_cq(struct mynic_dev *mdev, u8 flags,
			const struct mynic_create_cq *body, u32 *cqn);
int mynic_cmd_resize_cq(struct mynic_dev *mdev, u32 cqn,
			const struct mynic_resize *body);
int mynic_cmd_modify_cq(struct mynic_dev *mdev, u32 cqn, u16 count, u16 period);
void mynic_cmd_destroy_cq(struct mynic_dev *mdev, u32 cqn);
int mynic_cmd_query_cq(struct mynic_dev *mdev, u32 cqn,
		       struct mynic_query_cq *mbox);
int mynic_cmd_create_srq(struct mynic_dev *mdev,
			 const struct mynic_create_srq *mbox, u32 *srqn);
int mynic_cmd_modify_srq(struct mynic_dev *mdev, u32 srqn, u32 limit);
int mynic_cmd_query_srq(struct mynic_dev *mdev, u32 srqn,
			struct mynic_query_srq *body);
int mynic_cmd_resize_srq(struct mynic_dev *mdev, u32 srqn,
			 const struct mynic_resize *body);
void mynic_cmd_destroy_srq(struct mynic_dev *mdev, u32 srqn);
int mynic_cmd_create_qp(struct mynic_dev *mdev,
			const struct mynic_create_qp *mbox, u32 *qpn);
int mynic_cmd_modify_qp(struct mynic_dev *mdev, u32 qpn,
			const struct mynic_qp_attr *mbox);
int mynic_cmd_query_qp(struct mynic_dev *mdev, u32 qpn,
		       struct mynic_qp_attr *mbox);
void mynic_cmd_destroy_qp(struct mynic_dev *mdev, u32 qpn);
int mynic_cmd_attach_mcast(struct mynic_dev *mdev, u32 qpn,
			   const union ib_gid *gid);
int mynic_cmd_detach_mcast(struct mynic_dev *mdev, u32 qpn,
			   const union ib_gid *gid);
int mynic_cmd_create_flow(struct mynic_dev *mdev,
			  const struct mynic_create_flow *body,
			  const struct mynic_flow_spec *specs, u32 *number);
void mynic_cmd_destroy_flow(struct mynic_dev *mdev, u32 number);
int mynic_cmd_create_wq(struct mynic_dev *mdev,
			const struct mynic_create_wq *mbox, u32 *wqn);
int mynic_cmd_modify_wq(struct mynic_dev *mdev, u32 wqn,
			const struct mynic_modify_wq *body);
void mynic_cmd_destroy_wq(struct mynic_dev *mdev, u32 wqn);
int mynic_cmd_create_rwq_table(struct mynic_dev *mdev, u8 log_size,
			       const __le32 *wqns, u32 *number);
void mynic_cmd_destroy_rwq_table(struct mynic_dev *mdev, u32 number);
int mynic_cmd_create_counters(struct mynic_dev *mdev, u32 *number);
void mynic_cmd_destroy_counters(struct mynic_dev *mdev, u32 number);
int mynic_cmd_query_counters(struct mynic_dev *mdev, u32 number, u64 *values);
int mynic_cmd_bind_counters(struct mynic_dev *mdev, u32 qpn, u32 number);

int mynic_cmd_create_comp_cntr(struct mynic_dev *mdev, dma_addr_t addr,
			       u32 *number);
void mynic_cmd_destroy_comp_cntr(struct mynic_dev *mdev, u32 number);
int mynic_cmd_modify_comp_cntr(struct mynic_dev *mdev, u32 number, u8 entry,
			       u8 op, u64 value);
int mynic_cmd_attach_comp_cntr(struct mynic_dev *mdev, u32 qpn, u32 number,
			       u32 operations);

#endif /* MYNIC_CMD_H */
