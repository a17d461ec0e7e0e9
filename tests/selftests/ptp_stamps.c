// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ptp_stamps NETDEV WHAT [ADDRESS]: tests the PTP hardware clock of an interface,
 * and the time stamps that it gives frames. ptp.sh runs this.
 *
 *   info               it has a clock, and stamps frames both ways
 *   time               prints what the clock shows, in nanoseconds
 *   set                the clock can be set, and shifted
 *   early, still_early sets it to the year 2000, and looks whether it still shows
 *                      that year
 *   rate               its rate can be changed
 *   on, off            turns time stamps on and off
 *   refused            what the NIC cannot do is refused
 *   received, sent     frames from or to ADDRESS have right time stamps
 *   unstamped          neither has one of the NIC
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define NSEC 1000000000LL
/* Largest change of the rate, in parts per million */
#define MAX_PPM 100000L
#define PATIENCE_MS 120000
/* Port that nobody listens at */
#define DISCARD 9

static const char *netdev;
static const char *address;
static clockid_t clock_id;

static bool is(bool good, const char *what)
{
	if (!good)
		printf("not so: %s (%s)\n", what, strerror(errno));
	return good;
}

static long long now(clockid_t id)
{
	struct timespec ts = { 0 };

	if (clock_gettime(id, &ts))
		perror("clock_gettime");
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

static int ask(unsigned long request, void *data)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq ifr = { .ifr_data = data };
	int ret;

	snprintf(ifr.ifr_name, IFNAMSIZ, "%s", netdev);
	ret = ioctl(fd, request, &ifr);
	close(fd);
	return ret;
}

static struct ethtool_ts_info get_info(void)
{
	struct ethtool_ts_info info = {
		.cmd = ETHTOOL_GET_TS_INFO,
		.phc_index = -1,
	};

	if (ask(SIOCETHTOOL, &info))
		perror("ETHTOOL_GET_TS_INFO");
	return info;
}

static bool open_clock(void)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/ptp%d", get_info().phc_index);
	fd = open(path, O_RDWR);
	/* As in clock_getres(2) */
	clock_id = ~(clockid_t)fd << 3 | 3;
	return is(fd >= 0, path);
}

static bool test_info(void)
{
	const unsigned int wanted =
		SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE |
		SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_TX_SOFTWARE;
	struct ethtool_ts_info info = get_info();

	return is((info.so_timestamping & wanted) == wanted, "stamps") &
	       is(info.tx_types == (1 << HWTSTAMP_TX_OFF | 1 << HWTSTAMP_TX_ON),
		  "types of sent frames") &
	       is(info.rx_filters == (1 << HWTSTAMP_FILTER_NONE |
				      1 << HWTSTAMP_FILTER_ALL),
		  "filters of received frames");
}

static bool print_time(void)
{
	long long shown = now(clock_id);

	printf("%lld\n", shown);
	return shown;
}

/* The clock shows a time that is @since later than @then, or more. */
static bool shows(long long then, long long since)
{
	long long shown = now(clock_id);
	long long most = now(CLOCK_MONOTONIC_RAW) - since;

	/* Clocks do not go at quite the same rate. */
	return is(shown >= then && shown <= then + most + most / 10 + NSEC,
		  "the time that was set");
}

static bool test_set(void)
{
	struct timespec wanted = { .tv_sec = 1000 };
	struct timex shift = { .modes = ADJ_SETOFFSET, .time.tv_sec = 500 };
	long long start = now(CLOCK_MONOTONIC_RAW);
	bool good;

	good = is(!clock_settime(clock_id, &wanted), "clock_settime") &&
	       shows(1000 * NSEC, start) &&
	       is(clock_adjtime(clock_id, &shift) >= 0, "a shift ahead") &&
	       shows(1500 * NSEC, start);
	shift.time.tv_sec = -1000;
	good &= is(clock_adjtime(clock_id, &shift) >= 0, "a shift back") &&
		shows(500 * NSEC, start);
	clock_gettime(CLOCK_REALTIME, &wanted);
	return is(!clock_settime(clock_id, &wanted), "clock_settime") && good;
}

/* Noon of January 1, 2000, and the end of that year */
#define EARLY 946728000LL
#define LATE 978307200LL

static bool set_early(void)
{
	const struct timespec early = { .tv_sec = EARLY };

	return is(!clock_settime(clock_id, &early), "clock_settime");
}

static bool is_early(void)
{
	long long shown = now(clock_id) / NSEC;

	return is(shown >= EARLY && shown < LATE, "the year that was set");
}

/* Two clocks at the same time, and how long it took to read them */
struct both {
	long long shown;
	long long real;
	long long took;
};

static struct both read_both(void)
{
	struct both both = { .real = now(CLOCK_MONOTONIC_RAW) };

	both.shown = now(clock_id);
	both.took = now(CLOCK_MONOTONIC_RAW) - both.real;
	return both;
}

/* Wait until what is elapsed is known to a hundredth. */
static double measure_rate(void)
{
	struct both first = read_both(), last;

	do {
		last = read_both();
	} while (last.real - first.real < 100 * (first.took + last.took));
	return (double)(last.shown - first.shown) / (last.real - first.real);
}

static bool set_rate(long ppm)
{
	struct timex change = { .modes = ADJ_FREQUENCY, .freq = ppm << 16 };

	return clock_adjtime(clock_id, &change) >= 0;
}

static bool rate_is(long ppm)
{
	double wanted = 1 + ppm / 1e6, rate;

	if (!is(set_rate(ppm), "clock_adjtime"))
		return false;
	rate = measure_rate();
	printf("rate %f, wanted %f\n", rate, wanted);
	return is(rate > wanted - .03 && rate < wanted + .03, "the rate");
}

static bool test_rate(void)
{
	bool good;

	good = rate_is(MAX_PPM) & rate_is(-MAX_PPM) & rate_is(0);
	return is(!set_rate(MAX_PPM + 1), "a rate that is too high") & good;
}

static int configure(int tx_type, int rx_filter)
{
	struct hwtstamp_config config = {
		.tx_type = tx_type,
		.rx_filter = rx_filter,
	};

	return ask(SIOCSHWTSTAMP, &config);
}

static struct hwtstamp_config get_config(void)
{
	struct hwtstamp_config config = { .tx_type = -1 };

	is(!ask(SIOCGHWTSTAMP, &config), "SIOCGHWTSTAMP");
	return config;
}

static bool test_refused(void)
{
	struct hwtstamp_config config;
	bool good, refused;

	good = is(!configure(HWTSTAMP_TX_ON, HWTSTAMP_FILTER_PTP_V2_EVENT),
		  "stamps of some frames");
	good &= is(get_config().rx_filter == HWTSTAMP_FILTER_ALL,
		   "all get stamps");
	refused = configure(HWTSTAMP_TX_ONESTEP_SYNC, HWTSTAMP_FILTER_NONE) &&
		  errno == ERANGE;
	good &= is(refused, "one step is refused");
	config = get_config();
	return good & is(config.tx_type == HWTSTAMP_TX_ON &&
				 config.rx_filter == HWTSTAMP_FILTER_ALL,
			 "what was refused changes nothing");
}

/* Receive a frame, or what became of one; return its stamps. */
static bool get_stamps(int fd, int flags, struct scm_timestamping *stamps)
{
	struct sockaddr_ll from = { 0 };
	char data[2048], control[512];
	struct iovec iov = { data, sizeof(data) };
	struct msghdr msg = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct pollfd pollfd = { .fd = fd, .events = flags ? 0 : POLLIN };
	struct cmsghdr *cmsg;

	memset(stamps, 0, sizeof(*stamps));
	if (!is(poll(&pollfd, 1, PATIENCE_MS) == 1, "a frame comes") ||
	    !is(recvmsg(fd, &msg, flags) >= 0, "recvmsg"))
		return false;
	if (from.sll_pkttype == PACKET_OUTGOING && !flags)
		return get_stamps(fd, flags, stamps);
	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg))
		if (cmsg->cmsg_level == SOL_SOCKET &&
		    cmsg->cmsg_type == SCM_TIMESTAMPING)
			memcpy(stamps, CMSG_DATA(cmsg), sizeof(*stamps));
	return true;
}

static void want_stamps(int fd, int flags)
{
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)))
		perror("SO_TIMESTAMPING");
}

/* There may be no carrier yet, and no neighbour. */
static bool have_pinged(void)
{
	char command[128];

	snprintf(command, sizeof(command), "ping -q -c 3 -w %d %s",
		 PATIENCE_MS / 1000, address);
	return is(!system(command), command);
}

static bool receive(struct scm_timestamping *stamps)
{
	struct sockaddr_ll any = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETHERTYPE_IP),
		.sll_ifindex = if_nametoindex(netdev),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	bool good;

	want_stamps(fd, SOF_TIMESTAMPING_RX_HARDWARE |
				SOF_TIMESTAMPING_RAW_HARDWARE);
	good = is(!bind(fd, (struct sockaddr *)&any, sizeof(any)), "bind") &&
	       have_pinged() && get_stamps(fd, 0, stamps);
	close(fd);
	return good;
}

static bool transmit(struct scm_timestamping *stamps)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(DISCARD),
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	bool good;

	inet_aton(address, &to.sin_addr);
	want_stamps(fd, SOF_TIMESTAMPING_TX_HARDWARE |
				SOF_TIMESTAMPING_TX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE |
				SOF_TIMESTAMPING_RAW_HARDWARE |
				SOF_TIMESTAMPING_OPT_TSONLY);
	good = is(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)) ==
			  1,
		  "sendto") &&
	       get_stamps(fd, MSG_ERRQUEUE, stamps);
	close(fd);
	return good;
}

static bool is_between(const struct scm_timestamping *stamps, long long start)
{
	long long stamp = stamps->ts[2].tv_sec * NSEC + stamps->ts[2].tv_nsec;
	long long end = now(clock_id);

	printf("begun at %lld, stamp %lld, ended at %lld\n", start, stamp, end);
	return is(start <= stamp && stamp <= end, "the time stamp");
}

static bool test_received(void)
{
	struct scm_timestamping stamps;
	long long start;

	/* No frame is on its way after this. */
	if (!have_pinged())
		return false;
	start = now(clock_id);
	return receive(&stamps) && is_between(&stamps, start);
}

static bool test_sent(void)
{
	struct scm_timestamping stamps;
	long long start;

	if (!have_pinged())
		return false;
	start = now(clock_id);
	return transmit(&stamps) && is_between(&stamps, start);
}

static bool has_none(const struct scm_timestamping *stamps)
{
	return is(!stamps->ts[2].tv_sec && !stamps->ts[2].tv_nsec,
		  "no time stamp");
}

static bool test_unstamped(void)
{
	struct scm_timestamping stamps;

	return receive(&stamps) && has_none(&stamps) && transmit(&stamps) &&
	       has_none(&stamps) &&
	       is(stamps.ts[0].tv_sec, "the stamp of the stack");
}

static bool turn_on(void)
{
	return is(!configure(HWTSTAMP_TX_ON, HWTSTAMP_FILTER_ALL),
		  "SIOCSHWTSTAMP");
}

static bool turn_off(void)
{
	return is(!configure(HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_NONE),
		  "SIOCSHWTSTAMP");
}

static const struct {
	const char *name;
	bool (*test)(void);
	bool addressed;
} tests[] = {
	{ "info", test_info, false },
	{ "time", print_time, false },
	{ "set", test_set, false },
	{ "early", set_early, false },
	{ "still_early", is_early, false },
	{ "rate", test_rate, false },
	{ "on", turn_on, false },
	{ "off", turn_off, false },
	{ "refused", test_refused, false },
	{ "received", test_received, true },
	{ "sent", test_sent, true },
	{ "unstamped", test_unstamped, true },
};

int main(int argc, char **argv)
{
	unsigned int i;

	for (i = 0; argc > 2 && i < sizeof(tests) / sizeof(*tests); i++) {
		if (strcmp(argv[2], tests[i].name) ||
		    argc != 3 + tests[i].addressed)
			continue;
		netdev = argv[1];
		address = argv[3];
		return !(open_clock() && tests[i].test());
	}
	fprintf(stderr, "usage: ptp_stamps NETDEV WHAT [ADDRESS]\n");
	return 2;
}
