# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

# Debian's build flags, less the level of optimisation
HARDENING := -g -fstack-protector-strong -fstack-clash-protection \
	-fcf-protection -Wformat -Werror=format-security -D_FORTIFY_SOURCE=2 \
	-DNDEBUG
WARNINGS := -Wall -Wextra -Wno-sign-compare -Wno-unused-parameter \
	-Wmissing-prototypes -Wshadow -Werror
