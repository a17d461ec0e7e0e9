// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The admin queue, with several commands at a time. The typed functions for
 * commands are in cmd.c, and what is known of each that is under way in
 * admin_slot.c.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/sched/clock.h>

#include "mynic.h"
#include "trace.h"

/*
 * The device answers most commands within 10 to 30 us, or 100 us if its memory
 * is cold. Waking up from an interrupt takes longer, above all on emulated
 * processors. After 150 us, the device model may be waiting for this very
 * processor.
 */
#define MYNIC_ADMIN_SPIN_NS (150 * NSEC_PER_USEC)

/*
 * The rings stay when the device is reset, because a device that hangs may
 * still write to them.
 */
int mynic_admin_alloc(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;
	struct device *dev = &mdev->pdev->dev;
	unsigned int i;

	sema_init(&admin->free, MYNIC_AQ_SIZE);
	spin_lock_init(&admin->lock);
	for (i = 0; i < MYNIC_AQ_SIZE; i++)
		init_completion(&admin->slots[i].done);

	admin->cmds = dma_alloc_coherent(dev,
					 MYNIC_AQ_SIZE * sizeof(*admin->cmds),
					 &admin->cmds_dma, GFP_KERNEL);
	if (!admin->cmds)
		return -ENOMEM;
	admin->cpls = dma_alloc_coherent(dev,
					 MYNIC_AQ_SIZE * sizeof(*admin->cpls),
					 &admin->cpls_dma, GFP_KERNEL);
	if (!admin->cpls)
		goto err_cmds;
	admin->mboxes = dma_alloc_coherent(dev, MYNIC_AQ_SIZE * MYNIC_MBOX_SIZE,
					   &admin->mboxes_dma, GFP_KERNEL);
	if (!admin->mboxes)
		goto err_cpls;
	return 0;

err_cpls:
	dma_free_coherent(dev, MYNIC_AQ_SIZE * sizeof(*admin->cpls),
			  admin->cpls, admin->cpls_dma);
err_cmds:
	dma_free_coherent(dev, MYNIC_AQ_SIZE * sizeof(*admin->cmds),
			  admin->cmds, admin->cmds_dma);
	return -ENOMEM;
}

/* The device can no longer use the rings, and no command is under way. */
void mynic_admin_free(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;
	struct device *dev = &mdev->pdev->dev;

	dma_free_coherent(dev, MYNIC_AQ_SIZE * MYNIC_MBOX_SIZE, admin->mboxes,
			  admin->mboxes_dma);
	dma_free_coherent(dev, MYNIC_AQ_SIZE * sizeof(*admin->cpls),
			  admin->cpls, admin->cpls_dma);
	dma_free_coherent(dev, MYNIC_AQ_SIZE * sizeof(*admin->cmds),
			  admin->cmds, admin->cmds_dma);
}

/* Tell the device where the rings are. It has been told to reset itself. */
void mynic_admin_setup(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;
	unsigned long flags;

	spin_lock_irqsave(&admin->lock, flags);
	memset(admin->cmds, 0, MYNIC_AQ_SIZE * sizeof(*admin->cmds));
	memset(admin->cpls, 0, MYNIC_AQ_SIZE * sizeof(*admin->cpls));
	admin->pi = 0;
	admin->ci = 0;
	admin->armed = false;
	admin->mute = false;
	spin_unlock_irqrestore(&admin->lock, flags);

	writel(lower_32_bits(admin->cmds_dma),
	       mdev->regs + MYNIC_REG_AQ_CMD_LO);
	writel(upper_32_bits(admin->cmds_dma),
	       mdev->regs + MYNIC_REG_AQ_CMD_HI);
	writel(lower_32_bits(admin->cpls_dma),
	       mdev->regs + MYNIC_REG_AQ_CPL_LO);
	writel(upper_32_bits(admin->cpls_dma),
	       mdev->regs + MYNIC_REG_AQ_CPL_HI);
	writel(MYNIC_AQ_LOG_SIZE, mdev->regs + MYNIC_REG_AQ_LOG_SIZE);
}

static void mynic_admin_submit(struct mynic_dev *mdev,
			       const struct mynic_admin_cmd *cmd)
{
	struct mynic_admin *admin = &mdev->admin;
	struct mynic_admin_slot *slot = &admin->slots[le16_to_cpu(cmd->id)];

	lockdep_assert_held(&admin->lock);
	slot->opcode = cmd->opcode;
	slot->number = le32_to_cpu(cmd->number);
	trace_mynic_cmd(mdev, le16_to_cpu(cmd->id), slot->opcode, slot->number);
	admin->cmds[admin->pi++ % MYNIC_AQ_SIZE] = *cmd;
	if (!admin->mute)
		writel(admin->pi, mdev->regs + MYNIC_REG_AQ_DOORBELL);
}

/*
 * Without the lock this is only a hint, as other threads take completions, too.
 */
static bool mynic_admin_pending(const struct mynic_admin *admin)
{
	u32 ci = READ_ONCE(admin->ci);

	return (READ_ONCE(admin->cpls[ci % MYNIC_AQ_SIZE].phase) & 1) ==
	       mynic_phase(ci, MYNIC_AQ_LOG_SIZE);
}

/*
 * Take all completions that the device has written, including those of other
 * threads.
 */
static void mynic_admin_take(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;
	struct mynic_admin_slot *slot;
	struct mynic_admin_cpl cpl;
	bool broken = false;
	unsigned long flags;
	unsigned int n;
	u16 id;

	spin_lock_irqsave(&admin->lock, flags);
	for (n = 0; n < MYNIC_AQ_SIZE && mynic_admin_pending(admin); n++) {
		dma_rmb();
		/*
		 * Copy first: the device must not change what has been checked.
		 */
		cpl = admin->cpls[admin->ci % MYNIC_AQ_SIZE];
		barrier();
		WRITE_ONCE(admin->ci, admin->ci + 1);
		id = le16_to_cpu(cpl.id);
		slot = id < MYNIC_AQ_SIZE ? &admin->slots[id] : NULL;
		if (!slot || !slot->busy || slot->completed) {
			broken = true;
			break;
		}
		slot->cpl = cpl;
		slot->completed = true;
		trace_mynic_cmd_done(mdev, slot->opcode, slot->number, &cpl);
		admin->sleepers -= slot->asleep;
		complete(&slot->done);
	}
	spin_unlock_irqrestore(&admin->lock, flags);
	if (broken)
		mynic_fail_device(
			mdev, "it completed a command that it was not given");
}

/*
 * Poll for a short while. The clock must not need a device access. The lock
 * disables interrupts, so take it only if there is a completion.
 */
static bool mynic_admin_spin(struct mynic_dev *mdev,
			     struct mynic_admin_slot *slot)
{
	u64 end = local_clock() + MYNIC_ADMIN_SPIN_NS;

	do {
		if (mynic_admin_pending(&mdev->admin))
			mynic_admin_take(mdev);
		/*
		 * Another thread may have taken it, or the device may have
		 * failed.
		 */
		if (completion_done(&slot->done))
			return true;
		cpu_relax();
	} while (!need_resched() && local_clock() < end);
	return false;
}

/* Ask for one interrupt, at the first completion that has not been taken. */
static void mynic_admin_arm(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;

	lockdep_assert_held(&admin->lock);
	admin->armed = true;
	admin->arm = admin->ci;
	writel(admin->arm, mdev->regs + MYNIC_REG_AQ_ARM);
}

/* From now on, an interrupt follows the completion. */
static void mynic_admin_fall_asleep(struct mynic_dev *mdev,
				    struct mynic_admin_slot *slot)
{
	struct mynic_admin *admin = &mdev->admin;
	unsigned long flags;

	spin_lock_irqsave(&admin->lock, flags);
	if (!slot->completed && !mynic_dead(mdev)) {
		slot->asleep = true;
		admin->sleepers++;
		if (!admin->armed)
			mynic_admin_arm(mdev);
	}
	spin_unlock_irqrestore(&admin->lock, flags);
}

/**
 * mynic_admin_exec() - execute a command
 * @mdev: device
 * @cmd: command; id and mailbox are filled in here
 * @in: data for the mailbox, or NULL
 * @out: buffer for the data that the device writes to the mailbox, or NULL
 * @len: bytes of @in or @out, at most MYNIC_MBOX_SIZE
 * @cpl: its completion
 *
 * Context: may sleep, at most until the health check finds that the device
 * hangs.
 * Return: 0 if there is a completion, whatever its status; -EIO if the device
 * is dead.
 */
int mynic_admin_exec(struct mynic_dev *mdev, struct mynic_admin_cmd *cmd,
		     const void *in, void *out, size_t len,
		     struct mynic_admin_cpl *cpl)
{
	struct mynic_admin *admin = &mdev->admin;
	struct mynic_admin_slot *slot;
	unsigned long flags;
	unsigned int id;
	int ret = -EIO;
	u8 *mbox;

	might_sleep();
	down(&admin->free);

	spin_lock_irqsave(&admin->lock, flags);
	if (mynic_dead(mdev)) {
		spin_unlock_irqrestore(&admin->lock, flags);
		up(&admin->free);
		return -EIO;
	}
	id = mynic_admin_slot_take(admin);
	slot = &admin->slots[id];
	mbox = admin->mboxes + id * MYNIC_MBOX_SIZE;

	cmd->id = cpu_to_le16(id);
	if (len) {
		cmd->mbox_addr =
			cpu_to_le64(admin->mboxes_dma + id * MYNIC_MBOX_SIZE);
		cmd->mbox_len = cpu_to_le32(len);
		if (in)
			memcpy(mbox, in, len);
		else
			memset(mbox, 0, len);
	}
	mynic_admin_submit(mdev, cmd);
	spin_unlock_irqrestore(&admin->lock, flags);

	if (!mynic_admin_spin(mdev, slot)) {
		mynic_admin_fall_asleep(mdev, slot);
		/* If the device hangs, the health check ends this wait. */
		wait_for_completion(&slot->done);
	}

	spin_lock_irqsave(&admin->lock, flags);
	if (slot->completed) {
		*cpl = slot->cpl;
		if (out)
			memcpy(out, mbox, len);
		ret = 0;
	}
	mynic_admin_slot_free(admin, slot);
	spin_unlock_irqrestore(&admin->lock, flags);
	up(&admin->free);
	return ret;
}

/**
 * mynic_admin_irq() - handle the interrupt of admin completions
 * @mdev: device
 *
 * A thread that polls may have taken completions for which others had requested
 * this interrupt. Theirs may still be to come. So ask for the next interrupt as
 * long as any thread sleeps.
 *
 * Context: interrupt handler of vector 0.
 * Return: whether there were completions since the last request for an
 * interrupt, which means that the device had a reason for this one.
 */
bool mynic_admin_irq(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;
	unsigned long flags;
	bool asked;

	mynic_admin_take(mdev);
	spin_lock_irqsave(&admin->lock, flags);
	asked = admin->armed && admin->ci != admin->arm;
	admin->armed = false;
	if (admin->sleepers && !mynic_dead(mdev))
		mynic_admin_arm(mdev);
	spin_unlock_irqrestore(&admin->lock, flags);
	return asked;
}

/* If no slot is free, the commands that occupy them serve the same purpose. */
static void mynic_admin_start_beat(struct mynic_dev *mdev)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_NOP };
	struct mynic_admin *admin = &mdev->admin;
	unsigned int id;

	lockdep_assert_held(&admin->lock);
	if (down_trylock(&admin->free))
		return;
	id = mynic_admin_slot_take(admin);
	admin->beat = &admin->slots[id];
	cmd.id = cpu_to_le16(id);
	mynic_admin_submit(mdev, &cmd);
}

/**
 * mynic_admin_check() - find commands that the device leaves unanswered
 * @mdev: device; if it is alive, a command is under way afterwards
 * @counts: commands under way get older
 * @stuck: such a command
 *
 * No register is read: a device that hangs would stop the processor.
 *
 * Context: at regular intervals while the device is up.
 * Return: whether there is such a command.
 */
bool mynic_admin_check(struct mynic_dev *mdev, bool counts,
		       struct mynic_admin_stuck *stuck)
{
	struct mynic_admin *admin = &mdev->admin;
	const struct mynic_admin_slot *slot;
	unsigned long flags;

	/* Recover from a lost interrupt. */
	mynic_admin_take(mdev);
	spin_lock_irqsave(&admin->lock, flags);
	slot = counts ? mynic_admin_slots_age(admin) : NULL;
	if (slot)
		*stuck = (struct mynic_admin_stuck){
			.opcode = slot->opcode,
			.number = slot->number,
		};
	if (mynic_dead(mdev) || (admin->beat && admin->beat->completed))
		mynic_admin_slot_end_beat(admin);
	if (!mynic_dead(mdev) && !admin->beat)
		mynic_admin_start_beat(mdev);
	spin_unlock_irqrestore(&admin->lock, flags);
	return slot;
}

/*
 * Make the device fail, for tests: it answers no command any more (@hang), or
 * reports a fatal error.
 */
void mynic_admin_provoke(struct mynic_dev *mdev, bool hang)
{
	struct mynic_admin *admin = &mdev->admin;
	unsigned long flags;

	spin_lock_irqsave(&admin->lock, flags);
	admin->mute = true;
	if (!hang)
		writel(admin->pi + MYNIC_AQ_SIZE + 1,
		       mdev->regs + MYNIC_REG_AQ_DOORBELL);
	spin_unlock_irqrestore(&admin->lock, flags);
}
