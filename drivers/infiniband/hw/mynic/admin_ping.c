// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A command to a device that hangs, to see whether it works again. Registers of
 * such a device must not be read, so the answer is looked for in memory.
 */
#include <linux/io.h>

#include "mynic.h"

/*
 * Give a command to a dead device, to see whether it answers. The command's id
 * belongs to no slot, so mynic_admin_ping_answered() cannot mistake another
 * completion for its own.
 */
void mynic_admin_ping(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;

	admin->cmds[0] = (struct mynic_admin_cmd){
		.opcode = MYNIC_CMD_NOP,
		.id = cpu_to_le16(MYNIC_AQ_SIZE),
	};
	writel(1, mdev->regs + MYNIC_REG_AQ_DOORBELL);
}

/*
 * Whether the device has answered a ping. If so, it has also been reset since
 * it failed.
 */
bool mynic_admin_ping_answered(const struct mynic_dev *mdev)
{
	const struct mynic_admin_cpl *cpl = mdev->admin.cpls;

	return READ_ONCE(cpl->phase) & 1 &&
	       le16_to_cpu(READ_ONCE(cpl->id)) == MYNIC_AQ_SIZE;
}

/* Forget the answer to a ping: it no longer proves anything. */
void mynic_admin_ping_forget(struct mynic_dev *mdev)
{
	if (mynic_admin_ping_answered(mdev))
		WRITE_ONCE(mdev->admin.cpls[0].phase, 0);
}
