// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* QPs that wait for room where their next packet goes. */

#include "qp/room.h"

#include <sys/queue.h>

#include "nic.h"
#include "state/nic_types.h"
#include "state/qp_types.h"

void rooms_init(struct nic *nic)
{
	for (unsigned int i = 0; i < NIC_WAYS; i++)
		TAILQ_INIT(&nic->rooms.ways[i].waiting);
}

int room_full_way(const struct qp *qp, const uint8_t dmac[6])
{
	const struct nic_config *config = &qp->nic->config;

	if (!config->ops->full_way)
		return -1;
	return config->ops->full_way(config->ctx, dmac);
}

void room_leave(struct qp *qp)
{
	struct room *room = &qp->room;

	if (!room->waits)
		return;
	room->waits = false;
	TAILQ_REMOVE(&qp->nic->rooms.ways[room->way].waiting, qp, room.link);
}

static void room_wait(struct qp *qp, unsigned int way)
{
	struct room *room = &qp->room;

	if (room->waits && room->way == way)
		return;
	room_leave(qp);
	room->waits = true;
	room->way = way;
	TAILQ_INSERT_TAIL(&qp->nic->rooms.ways[way].waiting, qp, room.link);
}

bool room_admit(struct qp *qp, const uint8_t dmac[6])
{
	int way = room_full_way(qp, dmac);

	if (way < 0) {
		room_leave(qp);
		return true;
	}
	qp->room.refused = true;
	/* There is none for those behind it either */
	qp->nic->rooms.resuming &= ~(1ull << way);
	room_wait(qp, way);
	return false;
}

void nic_resume(struct nic *nic, unsigned int way)
{
	struct rooms *rooms = &nic->rooms;

	rooms->num_resumes++;
	rooms->ways[way].num_resumes++;
	if (!TAILQ_EMPTY(&rooms->ways[way].waiting))
		rooms->resuming |= 1ull << way;
}

/* Ways take turns */
struct qp *room_next(struct nic *nic)
{
	struct rooms *rooms = &nic->rooms;

	while (rooms->resuming) {
		uint64_t later = rooms->resuming & -(2ull << rooms->last_way);
		unsigned int way =
			__builtin_ctzll(later ? later : rooms->resuming);
		struct qp *qp = TAILQ_FIRST(&rooms->ways[way].waiting);

		rooms->last_way = way;
		if (qp)
			return qp;
		rooms->resuming &= ~(1ull << way);
	}
	return NULL;
}
