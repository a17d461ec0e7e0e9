# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # see scenario
# RDS: sockets that exchange messages, and memory by RDMA

modules=(rds_rdma)

set_up() { :; }

run() { "$here/rds-pair" "$near_ip" "$far_ip" $((PATIENCE / 2)); }

# Sockets do not belong to a NIC, and what was not acknowledged is sent again.
survives() { [ "$1" != kill ]; }

# The module keeps its connections, and Linux 7.3 cannot unload it without a warning:
# see Documentation/errors.rst.
tear_down() { :; }
