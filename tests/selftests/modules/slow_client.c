// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A consumer in the kernel that does not let go of RDMA devices until it is told
 * to. The RDMA core takes devices away from it before it does from processes.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>

static bool let_go;
module_param(let_go, bool, 0600);
MODULE_PARM_DESC(let_go, "devices can be removed");

static int slow_client_add(struct ib_device *ibdev)
{
	return 0;
}

static void slow_client_remove(struct ib_device *ibdev, void *client_data)
{
	while (!READ_ONCE(let_go))
		msleep(20);
}

static struct ib_client slow_client = {
	.name = "slow_client",
	.add = slow_client_add,
	.remove = slow_client_remove,
};

static int __init slow_client_init(void)
{
	return ib_register_client(&slow_client);
}

static void __exit slow_client_exit(void)
{
	ib_unregister_client(&slow_client);
}

module_init(slow_client_init);
module_exit(slow_client_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("A consumer of RDMA devices that is slow, for tests");
MODULE_LICENSE("Dual BSD/GPL");
