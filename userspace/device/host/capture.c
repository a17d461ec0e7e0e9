// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Writing of captures (pcap) to files and FIFOs, without ever waiting for a
 * reader. A disk may make write(2) wait.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "clock.h"
#include "log.h"
#include "wire/frame.h"

/* Some milliseconds of a busy wire, for which a reader may be away */
#define CAPTURE_BUFFER (4 << 20)

/* Large enough to make a system call worthwhile */
#define FLUSH_BYTES (128 << 10)

#define TRY_INTERVAL (10 * NSEC_PER_SEC / 1000)

/* File format (draft-ietf-opsawg-pcap), in host byte order */
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

static const struct pcap_header header = {
	.magic = PCAP_MAGIC_NSEC,
	.major = 2,
	.minor = 4,
	.max_len = FRAME_MAX_LEN,
	.link_type = PCAP_ETHERNET,
};

/* A new file or a new reader needs a header. */
static void capture_put_header(struct capture *capture)
{
	memcpy(capture->buf, &header, sizeof(header));
	capture->used = sizeof(header);
	capture->written = 0;
	capture->whole = sizeof(header);
	capture->pending = 0;
}

static void capture_set_waiting(struct capture *capture, bool waiting)
{
	if (capture->waiting == waiting)
		return;
	capture->waiting = waiting;
	events_change(capture->events, &capture->source, capture->fd,
		      waiting ? EPOLLOUT : 0);
}

static void capture_close_file(struct capture *capture)
{
	if (capture->fd < 0)
		return;
	if (capture->fifo)
		events_remove(capture->events, capture->fd);
	close(capture->fd);
	capture->fd = -1;
	capture->waiting = false;
}

/* A partial record would be an error for readers of the file. */
static void capture_cut_to_records(struct capture *capture)
{
	off_t end = lseek(capture->fd, 0, SEEK_CUR);

	if (end < 0 || capture->written <= capture->whole)
		return;
	end -= capture->written - capture->whole;
	if (ftruncate(capture->fd, end))
		log_line(capture->log, "%s: its last record is not whole",
			 capture->path);
}

/* The reader has gone, or the disk is full. */
static void capture_lose_file(struct capture *capture, int err)
{
	if (!capture->fifo)
		capture_cut_to_records(capture);
	capture_close_file(capture);
	capture->dropped += capture->pending;
	capture->packets -= capture->pending;
	capture->used = 0;
	capture->written = 0;
	capture->whole = 0;
	capture->pending = 0;
	if (capture->fifo && err == EPIPE)
		return;
	capture->failed = true;
	log_line(capture->log, "%s: %s: capture ends", capture->path,
		 strerror(err));
}

/* The buffer has been written up to &capture.written. */
static void capture_count_records(struct capture *capture)
{
	struct pcap_record record;
	size_t end;

	while (capture->whole + sizeof(record) <= capture->written) {
		memcpy(&record, capture->buf + capture->whole, sizeof(record));
		end = capture->whole + sizeof(record) + record.captured_len;
		if (end > capture->written)
			return;
		capture->whole = end;
		capture->pending--;
	}
}

static void capture_write_buffer(struct capture *capture)
{
	ssize_t n;

	while (capture->written < capture->used) {
		n = write(capture->fd, capture->buf + capture->written,
			  capture->used - capture->written);
		if (n < 0) {
			if (errno == EAGAIN)
				capture_set_waiting(capture, true);
			else if (errno != EINTR)
				capture_lose_file(capture, errno);
			return;
		}
		capture->written += n;
		capture_count_records(capture);
	}
	capture->used = 0;
	capture->written = 0;
	capture->whole = 0;
	capture_set_waiting(capture, false);
}

/*
 * The path is a client's choice. It must not be followed through a link, and
 * not become a controlling terminal.
 */
static int capture_open_flags(const struct capture *capture)
{
	return O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
	       (capture->inherited ? 0 : O_NOFOLLOW);
}

/* Some file systems have no locks */
static bool capture_is_of_another(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
}

static void capture_try_fifo(struct capture *capture)
{
	uint64_t now = clock_ns();
	struct stat st;
	int fd;

	if (now < capture->try_at)
		return;
	capture->try_at = now + TRY_INTERVAL;
	fd = open(capture->path, O_WRONLY | capture_open_flags(capture));
	if (fd < 0)
		return;
	/* The file may have been replaced in the meantime. */
	if (fstat(fd, &st) || !S_ISFIFO(st.st_mode)) {
		close(fd);
		return;
	}
	if (capture_is_of_another(fd)) {
		close(fd);
		capture_lose_file(capture, EBUSY);
		return;
	}
	/* EPOLLERR, which is always reported, tells when the reader goes. */
	if (events_add(capture->events, &capture->source, fd, 0)) {
		close(fd);
		return;
	}
	capture->fd = fd;
	capture_put_header(capture);
}

void capture_flush(struct capture *capture)
{
	if (capture->fd < 0 && capture->fifo && !capture->failed)
		capture_try_fifo(capture);
	if (capture->fd >= 0 && !capture->waiting && capture->used)
		capture_write_buffer(capture);
}

static void capture_fifo_ready(void *owner, uint32_t events)
{
	struct capture *capture = owner;

	if (capture->fd < 0)
		return;
	if (events & EPOLLERR)
		capture_lose_file(capture, EPIPE);
	else if (capture->waiting)
		capture_write_buffer(capture);
}

/* Makes room for @len bytes, if writing can do so. */
static bool capture_make_room(struct capture *capture, size_t len)
{
	if (len <= CAPTURE_BUFFER - capture->used)
		return true;
	capture_flush(capture);
	if (capture->fd < 0)
		return false;
	if (capture->whole > capture->written)
		return false; /* even the header does not fit */
	memmove(capture->buf, capture->buf + capture->whole,
		capture->used - capture->whole);
	capture->used -= capture->whole;
	capture->written -= capture->whole;
	capture->whole = 0;
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
	    !capture_make_room(capture, sizeof(record) + packet_len(pkt))) {
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

/* Only a capture or an empty file may be overwritten. */
static bool capture_is_capture(int fd, const struct stat *st)
{
	struct pcap_header found;

	return !st->st_size ||
	       (pread(fd, &found, sizeof(found), 0) == sizeof(found) &&
		!memcmp(&found, &header, sizeof(header)));
}

/* Returns 0 or -errno */
static int capture_begin_anew(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (capture_is_of_another(fd))
		return -EBUSY;
	if (!capture_is_capture(fd, &st))
		return -EEXIST;
	return ftruncate(fd, 0) ? -errno : 0;
}

static int capture_open_old(struct capture *capture)
{
	int err;

	capture->fd = open(capture->path, O_RDWR | capture_open_flags(capture));
	if (capture->fd < 0)
		return -errno;
	err = capture_begin_anew(capture->fd);
	if (err)
		close(capture->fd);
	return err;
}

static int capture_open_new(struct capture *capture)
{
	capture->fd =
		open(capture->path,
		     O_WRONLY | O_CREAT | O_EXCL | capture_open_flags(capture),
		     0600);
	if (capture->fd < 0)
		return -errno;
	/* Whoever has opened it since has taken it. */
	if (!capture_is_of_another(capture->fd))
		return 0;
	close(capture->fd);
	return -EBUSY;
}

/* Opening a file can have effects, so its type is checked before. */
static int capture_open_file(struct capture *capture)
{
	int follow = capture->inherited ? 0 : AT_SYMLINK_NOFOLLOW;
	struct stat st;
	int err;

	if (fstatat(AT_FDCWD, capture->path, &st, follow)) {
		if (errno != ENOENT)
			return -errno;
		err = capture_open_new(capture);
	} else if (S_ISFIFO(st.st_mode)) {
		capture->fifo = true;
		return 0;
	} else if (S_ISREG(st.st_mode)) {
		err = capture_open_old(capture);
	} else {
		err = S_ISLNK(st.st_mode) ? -ELOOP : -EINVAL;
	}
	if (!err)
		capture_put_header(capture);
	return err;
}

static void capture_free_buffers(struct capture *capture)
{
	free(capture->path);
	free(capture->buf);
	capture->path = NULL;
	capture->buf = NULL;
}

static int capture_begin(struct capture *capture, const char *path,
			 bool inherited, struct events *events, struct log *log)
{
	int err = -ENOMEM;

	*capture = (struct capture){
		.path = strdup(path),
		.inherited = inherited,
		.events = events,
		.source = { capture_fifo_ready, capture },
		.log = log,
		.fd = -1,
		.buf = malloc(CAPTURE_BUFFER),
	};
	if (capture->path && capture->buf)
		err = capture_open_file(capture);
	if (err)
		capture_free_buffers(capture);
	else
		capture_flush(capture);
	return err;
}

int capture_open(struct capture *capture, const char *path,
		 struct events *events, struct log *log)
{
	return capture_begin(capture, path, false, events, log);
}

/*
 * An inherited file is opened again. It needs flags of its own, and a FIFO is
 * opened for each reader.
 */
int capture_open_fd(struct capture *capture, int fd, struct events *events,
		    struct log *log)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return capture_begin(capture, path, true, events, log);
}

void capture_close(struct capture *capture)
{
	capture_flush(capture);
	capture_close_file(capture);
	capture_free_buffers(capture);
}
