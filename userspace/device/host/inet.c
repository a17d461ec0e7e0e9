// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Parsing and look-up of internet addresses. */

#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "inet.h"

#define MAX_HOST 256

/* Splits at the last colon. Returns the port, or NULL */
static const char *inet_split(const char *text, char host[MAX_HOST])
{
	const char *colon = strrchr(text, ':');
	size_t len = colon - text;

	if (!colon || !colon[1] || len >= MAX_HOST)
		return NULL;
	if (*text == '[' && len > 1 && text[len - 1] == ']') {
		text++;
		len -= 2;
	} else if (memchr(text, ':', len)) {
		return NULL;
	}
	memcpy(host, text, len);
	host[len] = '\0';
	return colon + 1;
}

bool inet_parse(struct inet_address *address, const char *text, int type,
		int family, const char **error)
{
	struct addrinfo hints = {
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
		.ai_socktype = type,
		.ai_family = family,
	};
	struct addrinfo *found;
	char host[MAX_HOST];
	const char *port;
	int err;

	port = inet_split(text, host);
	if (!port) {
		*error = "it is not HOST:PORT or [ADDRESS]:PORT";
		return false;
	}
	err = getaddrinfo(*host ? host : NULL, port, &hints, &found);
	if (err) {
		*error = gai_strerror(err);
		return false;
	}
	memcpy(&address->addr, found->ai_addr, found->ai_addrlen);
	address->len = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}
