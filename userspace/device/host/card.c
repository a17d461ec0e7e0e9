// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "card.h"
#include "clock.h"
#include "core/nic.h"

static void card_raise_irq(void *ctx, unsigned int vector)
{
	struct card *card = ctx;

	card->port.sw->interrupts++;
	irq_raise(&card->pci.irq, vector);
}

static void card_transmit(void *ctx, const struct packet *pkt)
{
	struct card *card = ctx;

	switch_transmit(&card->port, pkt);
}

static bool card_direct(void *ctx, const uint8_t dmac[6])
{
	const struct card *card = ctx;

	return switch_is_direct(&card->port, dmac);
}

static uint64_t card_now(void *ctx)
{
	(void)ctx;
	return clock_ns();
}

/* Of memory that is kept in a file, write to the file what has changed */
static int card_persist(void *ctx, void *ptr, size_t len)
{
	size_t skip = (uintptr_t)ptr % sysconf(_SC_PAGESIZE);

	(void)ctx;
	return msync((uint8_t *)ptr - skip, skip + len, MS_SYNC) ? -errno : 0;
}

static const struct nic_ops card_ops = {
	.raise_irq = card_raise_irq,
	.transmit = card_transmit,
	.direct = card_direct,
	.now = card_now,
	.persist = card_persist,
};

int card_open(struct card *card, const char *name, const uint8_t mac[6],
	      const char *path, struct events *events, struct net_switch *sw)
{
	struct nic_config config = { .ops = &card_ops, .ctx = card };
	int err;

	card->log.name = name;
	memcpy(config.mac, mac, sizeof(config.mac));
	if (getrandom(&config.seed, sizeof(config.seed), 0) < 0)
		return -errno;
	card->nic = nic_create(&config);
	if (!card->nic)
		return -ENOMEM;
	card->port.name = name;
	card->port.log = &card->log;
	card->port.nic = card->nic;
	err = switch_connect(sw, &card->port);
	if (err)
		goto err_nic;
	pci_init(&card->pci, card->nic);
	card->maps.nic = card->nic;
	card->server.events = events;
	card->server.log = &card->log;
	card->server.pci = &card->pci;
	card->server.maps = &card->maps;
	card->server.path = path;
	err = vfu_listen(&card->server);
	if (err)
		goto err_port;
	return 0;

err_port:
	switch_disconnect(&card->port);
err_nic:
	nic_destroy(card->nic);
	return err;
}

void card_close(struct card *card)
{
	vfu_close(&card->server);
	switch_disconnect(&card->port);
	nic_destroy(card->nic);
}
