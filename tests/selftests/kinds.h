/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the tests of all kinds of objects make, as variants of the fixture that
 * KINDS names. Without unmake, there is nothing to undo. A test has further kinds
 * of its own.
 */
#define KIND_OF(fixture, name) FIXTURE_VARIANT_ADD(fixture, name)
#define KIND(name) KIND_OF(KINDS, name)

KIND(pd){ .make = make_pd, .unmake = unmake_pd };
KIND(thread_domain){ .make = make_td, .unmake = unmake_td };
KIND(region){ .make = make_mr, .unmake = unmake_mr };
KIND(region_that_is_paged){ .make = make_odp_mr, .unmake = unmake_mr };
KIND(region_of_a_dma_buf){ .make = make_dmabuf_mr, .unmake = unmake_mr };
KIND(region_of_device_memory){ .make = make_dm_mr, .unmake = unmake_mr };
KIND(advice){ .make = prefetch };
KIND(rereg){ .make = rereg };
KIND(window){ .make = make_mw, .unmake = unmake_mw };
KIND(completion_channel){ .make = make_channel, .unmake = unmake_channel };
KIND(cq){ .make = make_cq, .unmake = unmake_cq };
KIND(resize_cq){ .make = resize_cq };
KIND(srq){ .make = make_srq, .unmake = unmake_srq };
KIND(resize_srq){ .make = resize_srq };
KIND(xrc_domain){ .make = make_xrcd, .unmake = unmake_xrcd };
KIND(xrc_srq){ .make = make_xrc_srq, .unmake = unmake_srq };
KIND(rc_qp){ .make = make_rc, .unmake = unmake_qp };
KIND(ud_qp){ .make = make_ud, .unmake = unmake_qp };
KIND(raw_qp){ .make = make_raw, .unmake = unmake_qp };
KIND(qp_with_a_table){ .make = make_rss_qp, .unmake = unmake_qp };
KIND(group){ .make = attach, .unmake = detach };
KIND(wq){ .make = make_wq, .unmake = unmake_wq };
KIND(flow_rule){ .make = make_flow, .unmake = unmake_flow };
