/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pairs as text, for the control socket (Documentation/live.rst). */
#ifndef MYNIC_HOST_QP_TEXT_H
#define MYNIC_HOST_QP_TEXT_H

#include <stdio.h>

struct qp_info;

/* One line, which begins with @port, for programs */
void qp_text_line(FILE *out, const char *port, const struct qp_info *info);

/* Several lines, for people */
void qp_text_all(FILE *out, const struct qp_info *info);

#endif /* MYNIC_HOST_QP_TEXT_H */
