// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "clock.h"
#include "log.h"
#include "wire/frame.h"

/* Of a busy wire some milliseconds: as long as a reader may be away */
#define CAPTURE_BUFFER (4 << 20)

/* As much as makes a system call worth while */
#define FLUSH_BYTES (128 << 10)

#define TRY_INTERVAL (10 * NSEC_PER_SEC / 1000)

/* The file format: draft-ietf-opsawg-pcap, in host byte order */
#define PCAP_MAGIC_NSEC 0xa1b23c4d
#define PCAP_ETHERNET 1

struct pcap_header {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t reserved[2];
	uint32_t max_len;
	uint32_t link_type;
};

struct pcap_record {
	uint32_t sec;
	uint32_t nsec;
	uint32_t captured_len;
	uint32_t len;
};

/* A file begins, or begins again with another reader. */
static void put_header(struct capture *capture)
{
	struct pcap_header header = {
		.magic = PCAP_MAGIC_NSEC,
		.major = 2,
		.minor = 4,
		.max_len = FRAME_MAX_LEN,
		.link_type = PCAP_ETHERNET,
	};

	memcpy(capture->buf, &header, sizeof(header));
	capture->used = sizeof(header);
	capture->written = 0;
	capture->pending = 0;
}

static void set_waiting(struct capture *capture, bool waiting)
{
	if (capture->waiting == waiting)
		return;
	capture->waiting = waiting;
	events_change(capture->events, &capture->source, capture->fd,
		      waiting ? EPOLLOUT : 0);
}

static void close_file(struct capture *capture)
{
	if (capture->fd < 0)
		return;
	if (capture->fifo)
		events_remove(capture->events, capture->fd);
	close(capture->fd);
	capture->fd = -1;
	capture->waiting = false;
}

/* The reader has gone, or the disk is full. */
static void lose_file(struct capture *capture, int err)
{
	close_file(capture);
	capture->dropped += capture->pending;
	capture->packets -= capture->pending;
	capture->used = 0;
	capture->written = 0;
	capture->pending = 0;
	if (capture->fifo && err == EPIPE)
		return;
	capture->failed = true;
	log_line(capture->log, "%s: %s: capture ends", capture->path,
		 strerror(err));
}

static void write_buffer(struct capture *capture)
{
	ssize_t n;

	while (capture->written < capture->used) {
		n = write(capture->fd, capture->buf + capture->written,
			  capture->used - capture->written);
		if (n < 0) {
			if (errno == EAGAIN)
				set_waiting(capture, true);
			else if (errno != EINTR)
				lose_file(capture, errno);
			return;
		}
		capture->written += n;
	}
	capture->used = 0;
	capture->written = 0;
	capture->pending = 0;
	set_waiting(capture, false);
}

static void try_fifo(struct capture *capture)
{
	uint64_t now = clock_ns();
	int fd;

	if (now < capture->try_at)
		return;
	capture->try_at = now + TRY_INTERVAL;
	fd = open(capture->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	/* That the reader goes is always told. */
	if (events_add(capture->events, &capture->source, fd, 0)) {
		close(fd);
		return;
	}
	capture->fd = fd;
	put_header(capture);
}

void capture_flush(struct capture *capture)
{
	if (capture->fd < 0 && capture->fifo && !capture->failed)
		try_fifo(capture);
	if (capture->fd >= 0 && !capture->waiting && capture->used)
		write_buffer(capture);
}

static void fifo_ready(void *owner, uint32_t events)
{
	struct capture *capture = owner;

	if (capture->fd < 0)
		return;
	if (events & EPOLLERR)
		lose_file(capture, EPIPE);
	else if (capture->waiting)
		write_buffer(capture);
}

/* Make room for @len bytes if what is written takes it. */
static bool make_room(struct capture *capture, size_t len)
{
	if (len <= CAPTURE_BUFFER - capture->used)
		return true;
	capture_flush(capture);
	if (capture->fd < 0)
		return false;
	memmove(capture->buf, capture->buf + capture->written,
		capture->used - capture->written);
	capture->used -= capture->written;
	capture->written = 0;
	return len <= CAPTURE_BUFFER - capture->used;
}

void capture_packet(struct capture *capture, const struct packet *pkt)
{
	struct pcap_record record;
	struct frame frame;
	struct timespec ts;

	if (capture->fd < 0)
		capture_flush(capture);
	if (capture->fd < 0 ||
	    !make_room(capture, sizeof(record) + packet_len(pkt))) {
		capture->dropped++;
		return;
	}
	frame_build(&frame, pkt);
	clock_gettime(CLOCK_REALTIME, &ts);
	record = (struct pcap_record){
		.sec = ts.tv_sec,
		.nsec = ts.tv_nsec,
		.captured_len = frame.len,
		.len = frame.len,
	};
	memcpy(capture->buf + capture->used, &record, sizeof(record));
	frame_copy(&frame, capture->buf + capture->used + sizeof(record));
	capture->used += sizeof(record) + frame.len;
	capture->packets++;
	capture->pending++;
	if (capture->used >= FLUSH_BYTES)
		capture_flush(capture);
}

static int open_file(struct capture *capture)
{
	struct stat st;
	int err;

	if (!stat(capture->path, &st) && S_ISFIFO(st.st_mode)) {
		capture->fifo = true;
		return 0;
	}
	capture->fd = open(capture->path,
			   O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
	if (capture->fd < 0)
		return -errno;
	if (fstat(capture->fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else
		err = ftruncate(capture->fd, 0) ? -errno : 0;
	if (err) {
		close(capture->fd);
		return err;
	}
	put_header(capture);
	return 0;
}

static void free_buffers(struct capture *capture)
{
	free(capture->path);
	free(capture->buf);
	capture->path = NULL;
	capture->buf = NULL;
}

int capture_open(struct capture *capture, const char *path,
		 struct events *events, struct log *log)
{
	int err = -ENOMEM;

	*capture = (struct capture){
		.path = strdup(path),
		.events = events,
		.source = { fifo_ready, capture },
		.log = log,
		.fd = -1,
		.buf = malloc(CAPTURE_BUFFER),
	};
	if (capture->path && capture->buf)
		err = open_file(capture);
	if (err)
		free_buffers(capture);
	else
		capture_flush(capture);
	return err;
}

void capture_close(struct capture *capture)
{
	capture_flush(capture);
	close_file(capture);
	free_buffers(capture);
}
