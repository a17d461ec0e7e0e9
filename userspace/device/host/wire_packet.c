// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A packet socket, which gives access to the network behind an interface of the
 * host. Frames that the host itself sends there do not arrive here, as on a
 * real wire.
 *
 * The kernel keeps a VLAN tag apart from the bytes of a frame, and may leave a
 * checksum for hardware to finish. This file restores both in the frame.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/util.h"
#include "mmsg.h"
#include "netif.h"
#include "wire.h"
#include "wire/frame.h"

/* Frames in one system call */
#define BATCH 16

#define MACS_LEN 12
#define TAG_LEN 4

/*
 * Bytes of the kernel's queue, for frames that arrive while this process does
 * not run
 */
#define SOCKET_BUFFER (4 << 20)

union control {
	struct cmsghdr align;
	char buf[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
};

/**
 * struct slot - room for a frame
 * @control: auxiliary data
 * @controllen: bytes of @control
 * @len: bytes from @hdr on
 * @hdr: work that the kernel has left for hardware
 * @tag: room for a VLAN tag
 * @frame: the frame, and one byte more to recognize frames that are too long
 */
struct slot {
	union control control;
	size_t controllen;
	size_t len;
	struct virtio_net_hdr hdr;
	uint8_t tag[TAG_LEN];
	uint8_t frame[FRAME_MAX_LEN + 1];
};

/**
 * struct packet_wire - state of a packet wire
 * @ifindex: interface that the socket is bound to
 * @told_gso: the log says that frames are too long
 * @slots: buffer for input
 */
struct packet_wire {
	unsigned int ifindex;
	bool told_gso;
	struct slot slots[BATCH];
};

static int wire_packet_bind_to(int fd, unsigned int ifindex)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = ifindex,
	};
	struct packet_mreq promisc = {
		.mr_ifindex = ifindex,
		.mr_type = PACKET_MR_PROMISC,
	};

	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc,
		       sizeof(promisc)))
		return -errno;
	return 0;
}

static void wire_packet_try(struct wire *wire)
{
	struct packet_wire *packet = wire->priv;
	unsigned int ifindex;
	const char *why;
	int err = 0;

	ifindex = netif_running(wire, &why);
	if (!ifindex) {
		wire_down(wire, "%s: %s", wire->config->ifname, why);
		return;
	}
	/* The interface may have been deleted and created again. */
	if (ifindex != packet->ifindex)
		err = wire_packet_bind_to(wire->fd, ifindex);
	if (err) {
		wire_down(wire, "%s: %s", wire->config->ifname, strerror(-err));
		return;
	}
	packet->ifindex = ifindex;
	wire_up(wire);
}

static int wire_packet_set_options(int fd)
{
	static const int options[] = {
		PACKET_VNET_HDR,
		PACKET_AUXDATA,
		PACKET_IGNORE_OUTGOING,
	};
	int size = SOCKET_BUFFER;
	int one = 1;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (setsockopt(fd, SOL_PACKET, options[i], &one, sizeof(one)))
			return -errno;
	/* Without these settings, more frames are lost under load. */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	return 0;
}

/* Returns a file descriptor, or -errno */
static int wire_packet_open_socket(unsigned int ifindex)
{
	int err;
	int fd;

	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = wire_packet_set_options(fd);
	if (!err)
		err = wire_packet_bind_to(fd, ifindex);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int wire_packet_open(struct wire *wire)
{
	const char *ifname = wire->config->ifname;
	struct packet_wire *packet;
	int err;
	int fd;

	packet = calloc(1, sizeof(*packet));
	if (!packet)
		return wire_error(wire, -ENOMEM, "get memory");
	wire->priv = packet;
	packet->ifindex = if_nametoindex(ifname);
	if (!packet->ifindex) {
		err = wire_error(wire, -errno, "use interface %s", ifname);
		goto err_free;
	}
	fd = wire_packet_open_socket(packet->ifindex);
	if (fd < 0) {
		err = wire_error(wire, fd, "open a packet socket on %s",
				 ifname);
		goto err_free;
	}
	err = netif_open(wire, fd);
	if (err)
		goto err_free;
	return 0;

err_free:
	free(packet);
	return err;
}

/*
 * Stores the internet checksum (RFC 1071) of the bytes from @start on, at
 * @start + @offset
 */
static bool wire_packet_finish_checksum(uint8_t *frame, size_t len,
					size_t start, size_t offset)
{
	uint32_t sum = 0;

	if (start > len || offset + 2 > len - start)
		return false;
	for (size_t i = start; i < len; i++)
		sum += (i - start) % 2 ? frame[i] : frame[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	sum = ~sum & 0xffff;
	/*
	 * In UDP 0 means that there is no checksum; in TCP both values are
	 * equivalent.
	 */
	if (!sum)
		sum = 0xffff;
	frame[start + offset] = sum >> 8;
	frame[start + offset + 1] = sum;
	return true;
}

static const struct tpacket_auxdata *wire_packet_find_auxdata(struct slot *slot)
{
	struct msghdr msg = {
		.msg_control = &slot->control,
		.msg_controllen = slot->controllen,
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	if (!cmsg || cmsg->cmsg_level != SOL_PACKET ||
	    cmsg->cmsg_type != PACKET_AUXDATA)
		return NULL;
	return (const void *)CMSG_DATA(cmsg);
}

static uint8_t *wire_packet_put_tag_back(uint8_t *frame,
					 const struct tpacket_auxdata *auxdata)
{
	uint16_t tag[2] = { htons(ETH_P_8021Q), htons(auxdata->tp_vlan_tci) };

	if (auxdata->tp_status & TP_STATUS_VLAN_TPID_VALID)
		tag[0] = htons(auxdata->tp_vlan_tpid);
	memmove(frame - TAG_LEN, frame, MACS_LEN);
	memcpy(frame - TAG_LEN + MACS_LEN, tag, TAG_LEN);
	return frame - TAG_LEN;
}

static bool wire_packet_is_several_frames(struct wire *wire,
					  const struct virtio_net_hdr *hdr)
{
	struct packet_wire *packet = wire->priv;

	if (hdr->gso_type == VIRTIO_NET_HDR_GSO_NONE)
		return false;
	if (!packet->told_gso)
		log_line(&wire->log,
			 "%s joins frames: turn GRO and TSO off (ethtool -K)",
			 wire->config->ifname);
	packet->told_gso = true;
	return true;
}

static void wire_packet_receive_slot(struct wire *wire, struct slot *slot)
{
	const struct tpacket_auxdata *auxdata = wire_packet_find_auxdata(slot);
	const struct virtio_net_hdr *hdr = &slot->hdr;
	size_t len = slot->len - sizeof(*hdr);
	uint8_t *frame = slot->frame;

	if (slot->len < sizeof(*hdr) ||
	    wire_packet_is_several_frames(wire, hdr) ||
	    (hdr->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM &&
	     !wire_packet_finish_checksum(frame, len, hdr->csum_start,
					  hdr->csum_offset))) {
		wire->port.stats.rx_bad++;
		return;
	}
	if (auxdata && auxdata->tp_status & TP_STATUS_VLAN_VALID &&
	    len >= MACS_LEN) {
		frame = wire_packet_put_tag_back(frame, auxdata);
		len += TAG_LEN;
	}
	wire_receive(wire, frame, len);
}

/* Fills the slots. Returns 0 or -errno */
static int wire_packet_receive_batch(struct wire *wire)
{
	struct packet_wire *packet = wire->priv;
	struct mmsghdr msgs[BATCH];
	struct iovec iov[BATCH][2];
	int num;

	for (unsigned int i = 0; i < BATCH; i++) {
		struct slot *slot = &packet->slots[i];

		iov[i][0] = (struct iovec){ &slot->hdr, sizeof(slot->hdr) };
		iov[i][1] = (struct iovec){ slot->frame, sizeof(slot->frame) };
		msgs[i].msg_hdr = (struct msghdr){
			.msg_iov = iov[i],
			.msg_iovlen = 2,
			.msg_control = &slot->control,
			.msg_controllen = sizeof(slot->control),
		};
	}
	num = recvmmsg(wire->fd, msgs, BATCH, MSG_DONTWAIT, NULL);
	if (num < 0)
		return -errno;
	for (int i = 0; i < num; i++) {
		packet->slots[i].len = msgs[i].msg_len;
		packet->slots[i].controllen = msgs[i].msg_hdr.msg_controllen;
	}
	wire_batch_begin(wire, num);
	return 0;
}

/* Returns 0, or why no frame could be received */
static int wire_packet_receive(struct wire *wire)
{
	struct packet_wire *packet = wire->priv;
	int err;

	do {
		if (!wire->backlog) {
			err = wire_packet_receive_batch(wire);
			if (err)
				return err;
		}
		while (wire->backlog) {
			wire_packet_receive_slot(
				wire, &packet->slots[wire_batch_next(wire)]);
			if (wire_turn_is_over(wire))
				return 0;
		}
	} while (wire->rx_len == BATCH);
	return 0;
}

static void wire_packet_ready(struct wire *wire)
{
	int err = wire_packet_receive(wire);

	if (err && err != -EAGAIN && err != -EINTR)
		wire_down(wire, "%s: %s", wire->config->ifname, strerror(-err));
}

static int wire_packet_flush(struct wire *wire)
{
	struct virtio_net_hdr hdr = {};

	return mmsg_flush(wire, (struct iovec){ &hdr, sizeof(hdr) });
}

static void wire_packet_close(struct wire *wire)
{
	netif_close(wire);
	free(wire->priv);
}

const struct wire_kind wire_packet = {
	.name = "packet",
	.open = wire_packet_open,
	.try = wire_packet_try,
	.ready = wire_packet_ready,
	.flush = wire_packet_flush,
	.drop = netif_drop,
	.close = wire_packet_close,
};
