/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A record of the packets that pass a port, in both directions, as tcpdump and
 * Wireshark read it: pcap with nanoseconds, in a file or a FIFO.
 */
#ifndef MYNIC_HOST_CAPTURE_H
#define MYNIC_HOST_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct log;
struct packet;

/**
 * struct capture - a file that packets are recorded in
 * @path: of the file; NULL: there is none
 * @events: event loop
 * @source: event source of @fd
 * @log: messages
 * @fd: the file; of a FIFO that nobody reads -1
 * @fifo: it is one
 * @inherited: @path leads to a file that the process was started with
 * @waiting: until @fd can be written to
 * @failed: the file cannot be written any more
 * @try_at: when to look for a reader of the FIFO again, ns
 * @buf: records to be written, CAPTURE_BUFFER bytes
 * @used: bytes in @buf
 * @written: bytes of these that are behind
 * @whole: where in @buf the first record begins that is not all behind
 * @pending: records from there on
 * @packets: recorded
 * @dropped: not recorded: no room, or nobody reads
 */
struct capture {
	char *path;
	struct events *events;
	struct event_source source;
	struct log *log;
	int fd;
	bool fifo;
	bool inherited;
	bool waiting;
	bool failed;
	uint64_t try_at;
	uint8_t *buf;
	size_t used;
	size_t written;
	size_t whole;
	uint64_t pending;
	uint64_t packets;
	uint64_t dropped;
};

/**
 * capture_open() - begin a record
 * @capture: closed, or zeroed; must not move afterwards
 * @path: a file that is made, or one that is empty or a capture already, which
 *	is overwritten, or a FIFO, which may have no reader yet
 * @events: event loop
 * @log: messages; kept
 *
 * Return: 0 or -errno; -EINVAL if there is something else at @path, -ELOOP if
 * that is a link, -EEXIST if it is a file and no capture.
 */
int capture_open(struct capture *capture, const char *path,
		 struct events *events, struct log *log);

/** capture_open_fd() - capture_open() for a file that is open already */
int capture_open_fd(struct capture *capture, int fd, struct events *events,
		    struct log *log);

/**
 * capture_close() - write what there is, as far as that needs no waiting
 * @capture: open. An event may still come for it.
 */
void capture_close(struct capture *capture);

/**
 * capture_packet() - record a packet
 * @capture: the record
 * @pkt: the packet
 *
 * Never waits: a packet for which there is no room is counted and left out.
 */
void capture_packet(struct capture *capture, const struct packet *pkt);

/** capture_flush() - write what there is, so that readers see it at once */
void capture_flush(struct capture *capture);

#endif /* MYNIC_HOST_CAPTURE_H */
