/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A capture records the packets that pass a port in both directions. It is a
 * file or a FIFO in the pcap format with nanoseconds, which tcpdump and
 * Wireshark read.
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
 * struct capture - state of a capture
 * @path: path of the file; NULL: the capture is closed
 * @events: event loop
 * @source: event source of @fd
 * @log: messages
 * @fd: the file; -1: a FIFO that has no reader
 * @fifo: the file is a FIFO
 * @inherited: @path is a name of a file descriptor that the process has
 * inherited
 * @waiting: @fd cannot take more at present
 * @failed: writing has failed for good
 * @try_at: when to look for a reader of the FIFO again, ns
 * @buf: buffer for records, CAPTURE_BUFFER bytes
 * @used: bytes of records in @buf
 * @written: bytes of @buf that are in the file already
 * @whole: offset in @buf of the first record that is not in the file completely
 * @pending: number of records from @whole on
 * @packets: number of packets in the file
 * @dropped: number of packets that are missing, for lack of room or of a reader
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
 * capture_open() - start a capture
 * @capture: closed or zeroed; must not move afterwards
 * @path: a new file; an empty file or an old capture, which is overwritten; or
 * a FIFO, which may have no reader yet
 * @events: event loop
 * @log: messages; must stay valid
 *
 * Return: 0 or -errno; -ELOOP: @path is a symbolic link; -EEXIST: it is a file
 * but no capture; -EBUSY: another capture goes there; -EINVAL: it is neither a
 * file nor a FIFO. A capture ends when its FIFO has a reader, and another
 * capture as well.
 */
int capture_open(struct capture *capture, const char *path,
		 struct events *events, struct log *log);

/** capture_open_fd() - start a capture in a file that is already open */
int capture_open_fd(struct capture *capture, int fd, struct events *events,
		    struct log *log);

/**
 * capture_close() - end a capture, after writing as much as does not block
 * @capture: an open capture. One more event may still arrive for it.
 */
void capture_close(struct capture *capture);

/**
 * capture_packet() - record a packet
 * @capture: the capture
 * @pkt: the packet
 *
 * It never blocks. A packet that finds no room is counted and left out.
 */
void capture_packet(struct capture *capture, const struct packet *pkt);

/*
 * capture_flush() - write the buffered records, so that readers see them at
 * once
 */
void capture_flush(struct capture *capture);

#endif /* MYNIC_HOST_CAPTURE_H */
