// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One NIC with its surroundings: the core, the PCI function, DMA maps, the
 * helper thread, the vfio-user server and the port of the switch.
 */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "card.h"
#include "clock.h"
#include "core/nic.h"
#include "journal_text.h"

/* Entries of the journal that are logged when the NIC fails */
#define LAST_ENTRIES 8

static void card_raise_irq(void *ctx, unsigned int vector)
{
	struct card *card = ctx;

	card->port.sw->interrupts++;
	irq_raise(&card->pci.irq, vector);
}

static void card_transmit(void *ctx, const struct packet *pkt)
{
	struct card *card = ctx;
	struct net_switch *sw = card->port.sw;
	uint64_t units = sw->units;

	switch_transmit(&card->port, pkt);
	nic_spend(card->nic, sw->units - units);
}

static bool card_direct(void *ctx, const uint8_t dmac[6])
{
	const struct card *card = ctx;

	return switch_is_direct(&card->port, dmac);
}

static int card_full_way(void *ctx, const uint8_t dmac[6])
{
	const struct card *card = ctx;

	return switch_full_way(&card->port, dmac);
}

static bool card_may_have_mac(void *ctx, const uint8_t mac[6])
{
	const struct card *card = ctx;

	return switch_may_have_mac(&card->port, mac);
}

static uint64_t card_now(void *ctx)
{
	(void)ctx;
	return clock_ns();
}

static int card_persist_range(void *ptr, size_t len)
{
	size_t skip = (uintptr_t)ptr % sysconf(_SC_PAGESIZE);

	return msync((uint8_t *)ptr - skip, skip + len, MS_SYNC) ? -errno : 0;
}

static void card_persist_work(struct helper_job *work)
{
	struct persist_job *job = (struct persist_job *)work;

	job->err = 0;
	for (unsigned int i = 0; i < job->num && !job->err; i++)
		job->err = card_persist_range(job->iov[i].iov_base,
					      job->iov[i].iov_len);
}

static void card_persist_done(struct helper_job *work)
{
	struct persist_job *job = (struct persist_job *)work;

	nic_persisted(job->card->nic, job->err);
}

/*
 * Writes changes of a mapped file to its disk, which takes as long as the disk
 * needs. With tmpfs and hugetlbfs the memory is the file.
 */
static int card_persist(void *ctx, const struct iovec *iov, unsigned int num)
{
	struct card *card = ctx;
	struct persist_job *job = &card->persist;

	if (!card->maps.disk)
		return 0;
	if (num > CARD_PERSIST_IOV)
		return -EINVAL;
	job->job = (struct helper_job){ .work = card_persist_work,
					.done = card_persist_done };
	job->card = card;
	job->num = num;
	memcpy(job->iov, iov, num * sizeof(*iov));
	helper_submit(&card->helper, &job->job);
	return -EINPROGRESS;
}

/*
 * The last entry has the cause. The limit of other messages would cut it off:
 * the client may have caused them.
 */
static void card_failed(void *ctx)
{
	struct card *card = ctx;
	const struct journal *journal = nic_journal(card->nic);
	uint64_t i = journal_first(journal);
	char line[JOURNAL_LINE_SIZE];
	uint64_t now = clock_ns();

	if (card->told && now - card->told < LOG_INTERVAL)
		return;
	card->told = now;
	if (journal->num - i > LAST_ENTRIES)
		i = journal->num - LAST_ENTRIES;
	for (; i < journal->num; i++) {
		journal_text(journal_at(journal, i), line);
		log_line_always(&card->log, "%s", line);
	}
}

static const struct nic_ops card_ops = {
	.raise_irq = card_raise_irq,
	.transmit = card_transmit,
	.direct = card_direct,
	.full_way = card_full_way,
	.may_have_mac = card_may_have_mac,
	.now = card_now,
	.persist = card_persist,
	.failed = card_failed,
};

static void card_helper_ready(void *owner)
{
	struct card *card = owner;

	vfu_helper_ready(&card->server);
}

static int card_connect_nic(struct card *card, const struct card_config *config,
			    struct net_switch *sw)
{
	struct nic_config nic = {
		.ops = &card_ops,
		.ctx = card,
		.memory = config->memory,
	};
	int err;

	memcpy(nic.mac, config->mac, sizeof(nic.mac));
	if (getrandom(&nic.seed, sizeof(nic.seed), 0) < 0)
		return -errno;
	card->nic = nic_create(&nic);
	if (!card->nic)
		return -ENOMEM;
	card->port.name = config->name;
	card->port.trusted = config->trusted;
	card->port.log = &card->log;
	card->port.nic = card->nic;
	err = switch_connect(sw, &card->port);
	if (err)
		nic_destroy(card->nic);
	return err;
}

int card_open(struct card *card, const struct card_config *config,
	      struct events *events, struct net_switch *sw)
{
	int err;

	card->log.name = config->name;
	card->helper.events = events;
	card->helper.ready = card_helper_ready;
	card->helper.owner = card;
	err = helper_init(&card->helper);
	if (err)
		return err;
	err = card_connect_nic(card, config, sw);
	if (err)
		goto err_helper;
	err = pci_init(&card->pci, card->nic, &card->helper);
	if (err)
		goto err_port;
	card->maps.nic = card->nic;
	card->maps.helper = &card->helper;
	card->maps.max = config->max_maps;
	card->maps.disk = config->disk;
	dma_maps_init(&card->maps);
	card->server.events = events;
	card->server.log = &card->log;
	card->server.pci = &card->pci;
	card->server.maps = &card->maps;
	card->server.helper = &card->helper;
	card->server.port = &card->port;
	card->server.path = config->path;
	card->server.mode = config->mode;
	err = vfu_listen(&card->server);
	if (err)
		goto err_port;
	return 0;

err_port:
	switch_disconnect(&card->port);
	nic_destroy(card->nic);
err_helper:
	helper_release(&card->helper);
	return err;
}

int card_start(struct card *card)
{
	return helper_start(&card->helper);
}

void card_close(struct card *card)
{
	vfu_close(&card->server);
	helper_release(&card->helper);
	switch_disconnect(&card->port);
	nic_destroy(card->nic);
}
