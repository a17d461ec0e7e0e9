/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Addresses of wires over TCP and UDP, and what they look like as text. The
 * sockets are in wire_stream.c and wire_udp.c.
 */
#ifndef MYNIC_HOST_INET_H
#define MYNIC_HOST_INET_H

#include <stdbool.h>
#include <sys/socket.h>

/**
 * struct inet_address - an address and port of TCP or UDP
 * @addr: the address
 * @len: bytes of @addr
 */
struct inet_address {
	struct sockaddr_storage addr;
	socklen_t len;
};

/**
 * inet_parse() - parse HOST:PORT, or [ADDRESS]:PORT for IPv6
 * @address: result
 * @text: the text. A HOST that is a name is looked up, and its first address is
 * used. An empty HOST stands for all own addresses.
 * @type: SOCK_STREAM or SOCK_DGRAM
 * @family: AF_INET, AF_INET6, or AF_UNSPEC for either
 * @error: out: on failure, a description of the error
 *
 * Return: true if @text is valid.
 */
bool inet_parse(struct inet_address *address, const char *text, int type,
		int family, const char **error);

#endif /* MYNIC_HOST_INET_H */
