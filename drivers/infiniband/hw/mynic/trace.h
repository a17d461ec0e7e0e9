/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints: communication of driver and device, and its effects */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mynic

#if !defined(MYNIC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MYNIC_TRACE_H

#include <linux/tracepoint.h>

#include "mynic.h"
#include "mynic_names.h"

/* clang-format off */

#define MYNIC_STATE_NAMES(name, last) \
	name(MYNIC_DOWN, "DOWN") \
	name(MYNIC_ASLEEP, "ASLEEP") \
	name(MYNIC_UP, "UP") \
	last(MYNIC_LOST, "LOST")

/* Programs that read traces do not know the values of enums. */
#define MYNIC_TRACE_ENUM(value, name) TRACE_DEFINE_ENUM(value);

MYNIC_CMD_NAMES(MYNIC_TRACE_ENUM, MYNIC_TRACE_ENUM)
MYNIC_AQ_STATUS_NAMES(MYNIC_TRACE_ENUM, MYNIC_TRACE_ENUM)
MYNIC_EVENT_NAMES(MYNIC_TRACE_ENUM, MYNIC_TRACE_ENUM)
MYNIC_QP_STATE_NAMES(MYNIC_TRACE_ENUM, MYNIC_TRACE_ENUM)
MYNIC_PAGE_STAGE_NAMES(MYNIC_TRACE_ENUM, MYNIC_TRACE_ENUM)
MYNIC_STATE_NAMES(MYNIC_TRACE_ENUM, MYNIC_TRACE_ENUM)

#define MYNIC_TRACE_NAME(value, name) { value, name },
#define MYNIC_TRACE_LAST(value, name) { value, name }
#define MYNIC_TRACE_NAMES(names) names(MYNIC_TRACE_NAME, MYNIC_TRACE_LAST)

TRACE_EVENT(mynic_cmd,
	TP_PROTO(const struct mynic_dev *mdev, u16 id, u8 opcode, u32 number),
	TP_ARGS(mdev, id, opcode, number),
	TP_STRUCT__entry(
		__string(dev, dev_name(&mdev->pdev->dev))
		__field(u16, id)
		__field(u8, opcode)
		__field(u32, number)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->id = id;
		__entry->opcode = opcode;
		__entry->number = number;
	),
	TP_printk("dev=%s id=%u opcode=%s number=%#x", __get_str(dev),
		  __entry->id,
		  __print_symbolic(__entry->opcode,
				   MYNIC_TRACE_NAMES(MYNIC_CMD_NAMES)),
		  __entry->number)
);

TRACE_EVENT(mynic_cmd_done,
	TP_PROTO(const struct mynic_dev *mdev, u8 opcode, u32 number,
		 const struct mynic_admin_cpl *cpl),
	TP_ARGS(mdev, opcode, number, cpl),
	TP_STRUCT__entry(
		__string(dev, dev_name(&mdev->pdev->dev))
		__field(u16, id)
		__field(u8, opcode)
		__field(u32, number)
		__field(u8, status)
		__field(u32, created)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->id = le16_to_cpu(cpl->id);
		__entry->opcode = opcode;
		__entry->number = number;
		__entry->status = cpl->status;
		__entry->created = le32_to_cpu(cpl->number);
	),
	TP_printk("dev=%s id=%u opcode=%s number=%#x status=%s created=%#x",
		  __get_str(dev), __entry->id,
		  __print_symbolic(__entry->opcode,
				   MYNIC_TRACE_NAMES(MYNIC_CMD_NAMES)),
		  __entry->number,
		  __print_symbolic(__entry->status,
				   MYNIC_TRACE_NAMES(MYNIC_AQ_STATUS_NAMES)),
		  __entry->created)
);

/* The type of a page fault includes the stage, which mynic_page_fault shows. */
TRACE_EVENT(mynic_event,
	TP_PROTO(const struct mynic_dev *mdev, u8 type, u32 number),
	TP_ARGS(mdev, type, number),
	TP_STRUCT__entry(
		__string(dev, dev_name(&mdev->pdev->dev))
		__field(u8, type)
		__field(u32, number)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->type = type;
		if ((u8)(type - MYNIC_EVENT_PAGE_FAULT) < MYNIC_PAGE_STAGES)
			__entry->type = MYNIC_EVENT_PAGE_FAULT;
		__entry->number = number;
	),
	TP_printk("dev=%s type=%s number=%#x", __get_str(dev),
		  __print_symbolic(__entry->type,
				   MYNIC_TRACE_NAMES(MYNIC_EVENT_NAMES)),
		  __entry->number)
);

/*
 * @event is the event that reported the change, or 0 if the consumer asked for
 * it. The device does not report the old state, so @from is the last state that
 * the driver knows.
 */
TRACE_EVENT(mynic_qp_state,
	TP_PROTO(const struct mynic_dev *mdev, u32 qpn, u8 from, u8 to,
		 u8 event),
	TP_ARGS(mdev, qpn, from, to, event),
	TP_STRUCT__entry(
		__string(dev, dev_name(&mdev->pdev->dev))
		__field(u32, qpn)
		__field(u8, from)
		__field(u8, to)
		__field(u8, event)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = qpn;
		__entry->from = from;
		__entry->to = to;
		__entry->event = event;
	),
	TP_printk("dev=%s qpn=%#x from=%s to=%s cause=%s", __get_str(dev),
		  __entry->qpn,
		  __print_symbolic(__entry->from,
				   MYNIC_TRACE_NAMES(MYNIC_QP_STATE_NAMES)),
		  __print_symbolic(__entry->to,
				   MYNIC_TRACE_NAMES(MYNIC_QP_STATE_NAMES)),
		  __print_symbolic(__entry->event, { 0, "consumer" },
				   MYNIC_TRACE_NAMES(MYNIC_EVENT_NAMES)))
);

TRACE_EVENT(mynic_page_fault,
	TP_PROTO(const struct mynic_dev *mdev, u32 qpn, u8 stage,
		 const struct mynic_missing_pages *missing, int ret),
	TP_ARGS(mdev, qpn, stage, missing, ret),
	TP_STRUCT__entry(
		__string(dev, dev_name(&mdev->pdev->dev))
		__field(u32, qpn)
		__field(u8, stage)
		__field(bool, write)
		__field(u32, key)
		__field(u64, addr)
		__field(u32, length)
		__field(int, ret)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->qpn = qpn;
		__entry->stage = stage;
		__entry->write = missing->write;
		__entry->key = missing->key;
		__entry->addr = missing->addr;
		__entry->length = missing->length;
		__entry->ret = ret;
	),
	TP_printk("dev=%s qpn=%#x stage=%s key=%#x addr=%#llx length=%u write=%d ret=%d",
		  __get_str(dev), __entry->qpn,
		  __print_symbolic(__entry->stage,
				   MYNIC_TRACE_NAMES(MYNIC_PAGE_STAGE_NAMES)),
		  __entry->key, __entry->addr, __entry->length,
		  __entry->write, __entry->ret)
);

TRACE_EVENT(mynic_failure,
	TP_PROTO(const struct mynic_dev *mdev, bool hung, const char *why),
	TP_ARGS(mdev, hung, why),
	TP_STRUCT__entry(
		__string(dev, dev_name(&mdev->pdev->dev))
		__field(bool, hung)
		__string(why, why)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->hung = hung;
		__assign_str(why);
	),
	TP_printk("dev=%s hung=%d why=%s", __get_str(dev), __entry->hung,
		  __get_str(why))
);

TRACE_EVENT(mynic_state,
	TP_PROTO(const struct mynic_dev *mdev, u8 state),
	TP_ARGS(mdev, state),
	TP_STRUCT__entry(
		__string(dev, dev_name(&mdev->pdev->dev))
		__field(u8, state)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->state = state;
	),
	TP_printk("dev=%s state=%s", __get_str(dev),
		  __print_symbolic(__entry->state,
				   MYNIC_TRACE_NAMES(MYNIC_STATE_NAMES)))
);

DECLARE_EVENT_CLASS(mynic_attempt,
	TP_PROTO(const struct mynic_dev *mdev, int ret),
	TP_ARGS(mdev, ret),
	TP_STRUCT__entry(
		__string(dev, dev_name(&mdev->pdev->dev))
		__field(int, ret)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->ret = ret;
	),
	TP_printk("dev=%s ret=%d", __get_str(dev), __entry->ret)
);

DEFINE_EVENT(mynic_attempt, mynic_reset,
	TP_PROTO(const struct mynic_dev *mdev, int ret),
	TP_ARGS(mdev, ret)
);

DEFINE_EVENT(mynic_attempt, mynic_ping,
	TP_PROTO(const struct mynic_dev *mdev, int ret),
	TP_ARGS(mdev, ret)
);
/* clang-format on */

#endif /* MYNIC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
