// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "paging.h"

#include <errno.h>

#include "core.h"
#include "packet_copy.h"

#define MAX_LEVELS 4
#define LOG_ENTRY_SIZE 3
#define ENTRY_FLAGS (MYNIC_PAGE_PRESENT | MYNIC_PAGE_WRITABLE)

/* What packets may take that wait for a page, of one QP and of all */
#define QP_HELD_BYTES (2u << 20)
#define NIC_HELD_BYTES (64u << 20)

/* Packets taken in one run, so that no QP keeps the others waiting */
#define QUANTUM 64

/**
 * struct held_packet - a packet that waits for a page
 * @link: in &paging.held
 * @size: bytes in all
 * @copy: from packet_copy(), which wants it aligned
 */
struct held_packet {
	STAILQ_ENTRY(held_packet) link;
	uint32_t size;
	uint64_t copy[];
};

static unsigned int covered_bits(const struct buf *buf)
{
	unsigned int list_bits = buf->log_list_size - LOG_ENTRY_SIZE;

	return buf->log_page_size + buf->levels * list_bits;
}

int paging_parse(struct buf *buf, const struct mynic_buf *src, uint64_t length)
{
	uint64_t end;

	*buf = (struct buf){
		.addr = le64toh(src->addr),
		.offset = le32toh(src->offset),
		.levels = src->levels,
		.log_page_size = src->log_page_size,
		.log_list_size = src->log_list_size,
	};
	if (!buf->levels || buf->levels > MAX_LEVELS || src->reserved_0b ||
	    buf->log_page_size < BUF_MIN_LOG_PAGE_SIZE ||
	    buf->log_page_size > BUF_MAX_LOG_PAGE_SIZE ||
	    buf->log_list_size < BUF_MIN_LOG_PAGE_SIZE ||
	    buf->log_list_size > BUF_MAX_LOG_LIST_SIZE ||
	    buf->addr & ((1ULL << buf->log_list_size) - 1) ||
	    buf->offset >> buf->log_page_size)
		return MYNIC_AQ_BAD_PARAM;
	if (__builtin_add_overflow(length, buf->offset, &end) ||
	    (covered_bits(buf) < 64 && end > 1ULL << covered_bits(buf)))
		return MYNIC_AQ_BAD_PARAM;
	return MYNIC_AQ_OK;
}

static int bad_dma(struct nic *nic)
{
	nic_count(nic, MYNIC_STAT_BAD_DMA);
	return -EFAULT;
}

/* The entry for a page, with its flags. Entries may change at any time */
static int walk(struct nic *nic, const struct buf *buf, uint64_t page,
		uint64_t *entry)
{
	unsigned int bits = buf->log_list_size - LOG_ENTRY_SIZE;
	uint64_t list = buf->addr;

	for (unsigned int level = buf->levels; level--;) {
		uint64_t index = page >> (level * bits) & ((1ULL << bits) - 1);
		const __le64 *ptr;

		ptr = dma_ptr(nic, list + (index << LOG_ENTRY_SIZE),
			      sizeof(*ptr), false);
		if (!ptr)
			return -EFAULT;
		*entry = le64toh(__atomic_load_n(ptr, __ATOMIC_ACQUIRE));
		if (!(*entry & MYNIC_PAGE_PRESENT))
			return -EAGAIN;
		list = *entry & ~(uint64_t)ENTRY_FLAGS;
		if (level && list & ((1ULL << buf->log_list_size) - 1))
			return bad_dma(nic);
	}
	return 0;
}

static int move_window(struct nic *nic, const struct buf *buf,
		       struct buf_window *window, uint64_t offset, bool write)
{
	uint64_t page_size = 1ULL << buf->log_page_size;
	uint64_t place = offset + buf->offset;
	uint64_t entry = 0, left;
	int err;

	window->generation = 0;
	err = walk(nic, buf, place >> buf->log_page_size, &entry);
	if (err)
		return err;
	if (write && !(entry & MYNIC_PAGE_WRITABLE))
		return -EAGAIN;
	if ((entry & (page_size - 1)) & ~(uint64_t)ENTRY_FLAGS)
		return bad_dma(nic);
	place &= page_size - 1;
	left = page_size - place;
	window->ptr = dma_extent(nic, (entry & ~(page_size - 1)) + place, &left,
				 &window->writable);
	if (!window->ptr)
		return -EFAULT;
	if (write && !window->writable)
		return bad_dma(nic);
	window->writable &= !!(entry & MYNIC_PAGE_WRITABLE);
	window->start = offset;
	window->end = offset + left;
	window->generation = nic->dma.generation;
	return 0;
}

int paging_extent(struct nic *nic, const struct buf *buf,
		  struct buf_window *window, uint64_t offset, uint64_t *len,
		  bool write, uint8_t **ptr)
{
	int err;

	if (window->generation != nic->dma.generation ||
	    offset < window->start || offset >= window->end ||
	    (write && !window->writable)) {
		err = move_window(nic, buf, window, offset, write);
		if (err)
			return err;
	}
	if (*len > window->end - offset)
		*len = window->end - offset;
	*ptr = window->ptr + (offset - window->start);
	return 0;
}

static bool is_same(const struct page_fault *a, const struct page_fault *b)
{
	return a->key == b->key && a->addr == b->addr && a->write == b->write;
}

int paging_wait(struct qp *qp, enum mynic_page_stage stage)
{
	struct paging_wait *wait = &qp->paging.waits[stage];
	struct paging *paging = &qp->paging;
	struct nic *nic = qp->nic;
	uint8_t bit = 1 << stage;

	if (paging->waiting & bit)
		return -EAGAIN;
	if (paging->failed & bit && is_same(&wait->fault, &nic->missing)) {
		paging->failed &= ~bit;
		return -EFAULT;
	}
	paging->waiting |= bit;
	paging->failed &= ~bit;
	wait->fault = nic->missing;
	wait->token = ++nic->page_token;
	event_raise(nic, &qp->events, MYNIC_EVENT_PAGE_FAULT + stage);
	return -EAGAIN;
}

void paging_describe(const struct nic *nic, struct mynic_eqe *eqe)
{
	const struct qp *qp = qp_find(nic, le32toh(eqe->number));
	const struct paging_wait *wait =
		&qp->paging.waits[eqe->type - MYNIC_EVENT_PAGE_FAULT];

	eqe->flags = wait->fault.write ? MYNIC_PAGE_FAULT_WRITE : 0;
	eqe->addr = htole64(wait->fault.addr);
	eqe->key = htole32(wait->fault.key);
	eqe->length = htole32(wait->fault.len);
	eqe->token = htole32(wait->token);
}

void paging_hold(struct qp *qp, const struct packet *pkt)
{
	size_t size = sizeof(struct held_packet) + packet_copy_size(pkt);
	struct paging *paging = &qp->paging;
	struct held_packet *held = NULL;
	struct nic *nic = qp->nic;

	if (paging->held_bytes + size <= QP_HELD_BYTES &&
	    nic->held_bytes + size <= NIC_HELD_BYTES)
		held = mem_alloc(&nic->mem, size);
	if (!held) {
		nic_count(nic, MYNIC_STAT_RX_DROP_OVERRUN);
		return;
	}
	held->size = size;
	packet_copy(held->copy, pkt);
	STAILQ_INSERT_TAIL(&paging->held, held, link);
	paging->held_bytes += size;
	nic->held_bytes += size;
}

static struct held_packet *take_first(struct qp *qp)
{
	struct held_packet *held = STAILQ_FIRST(&qp->paging.held);

	STAILQ_REMOVE_HEAD(&qp->paging.held, link);
	qp->paging.held_bytes -= held->size;
	qp->nic->held_bytes -= held->size;
	return held;
}

static void put_first(struct qp *qp, struct held_packet *held)
{
	STAILQ_INSERT_HEAD(&qp->paging.held, held, link);
	qp->paging.held_bytes += held->size;
	qp->nic->held_bytes += held->size;
}

bool paging_replay(struct qp *qp,
		   void (*fn)(struct qp *qp, const struct packet *pkt))
{
	struct paging *paging = &qp->paging;

	for (unsigned int i = 0; i < QUANTUM; i++) {
		struct held_packet *held;
		struct packet pkt;

		if (paging_waits(paging, MYNIC_PAGE_RECV) ||
		    STAILQ_EMPTY(&paging->held))
			return false;
		/* It may bring the end of the QP, and of all that is kept */
		held = take_first(qp);
		packet_load(held->copy, &pkt);
		fn(qp, &pkt);
		if (paging_waits(paging, MYNIC_PAGE_RECV)) {
			put_first(qp, held);
			return false;
		}
		paging_passed(paging, MYNIC_PAGE_RECV);
		mem_free(&qp->nic->mem, held);
		nic_charge(qp->nic, 1);
		if (nic_turn_is_over(qp->nic))
			break;
	}
	return !STAILQ_EMPTY(&paging->held);
}

void paging_init(struct qp *qp)
{
	qp->paging = (struct paging){ 0 };
	STAILQ_INIT(&qp->paging.held);
}

void paging_stop(struct qp *qp)
{
	while (!STAILQ_EMPTY(&qp->paging.held))
		mem_free(&qp->nic->mem, take_first(qp));
	qp->paging.waiting = 0;
	qp->paging.failed = 0;
	event_cancel(qp->nic, &qp->events,
		     ((1u << MYNIC_PAGE_STAGES) - 1) << MYNIC_EVENT_PAGE_FAULT);
}

int admin_resume(struct nic *nic, struct admin_call *call)
{
	const struct mynic_resume *cmd = &call->cmd.resume;
	struct qp *qp = qp_find(nic, le32toh(call->cmd.number));
	uint8_t bit;

	if (cmd->stage >= MYNIC_PAGE_STAGES || cmd->failed > 1)
		return MYNIC_AQ_BAD_PARAM;
	if (!qp)
		return MYNIC_AQ_BAD_NUMBER;
	bit = 1 << cmd->stage;
	if (!(qp->paging.waiting & bit) ||
	    le32toh(cmd->token) != qp->paging.waits[cmd->stage].token)
		return MYNIC_AQ_BAD_STATE;
	qp->paging.waiting &= ~bit;
	if (cmd->failed)
		qp->paging.failed |= bit;
	qp_schedule(nic, qp);
	return MYNIC_AQ_OK;
}
