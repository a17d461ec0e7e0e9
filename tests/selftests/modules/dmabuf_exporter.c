// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An exporter of dma-bufs that revokes them on request. It is for tests only,
 * because its memory is not charged to users of the device file.
 */
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "exporter.h"

#define MAX_PAGES 4096

/**
 * struct exporter_buf - memory of a dma-buf
 * @num_pages: number of pages
 * @num_mapped: importers that have it mapped; under the reservation lock
 * @revoked: it can no longer be mapped; under the reservation lock
 * @pages: zeroed when they are made
 */
struct exporter_buf {
	unsigned int num_pages;
	unsigned int num_mapped;
	bool revoked;
	struct page *pages[] __counted_by(num_pages);
};

static int exporter_pin(struct dma_buf_attachment *attach)
{
	struct exporter_buf *buf = attach->dmabuf->priv;

	return buf->revoked ? -ENODEV : 0;
}

static void exporter_unpin(struct dma_buf_attachment *attach)
{
}

static struct sg_table *exporter_map(struct dma_buf_attachment *attach,
				     enum dma_data_direction dir)
{
	struct exporter_buf *buf = attach->dmabuf->priv;
	struct sg_table *sgt;
	int ret;

	if (buf->revoked)
		return ERR_PTR(-ENODEV);
	sgt = kzalloc_obj(*sgt);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table_from_pages(sgt, buf->pages, buf->num_pages, 0,
					(size_t)buf->num_pages << PAGE_SHIFT,
					GFP_KERNEL);
	if (ret)
		goto err_free;
	ret = dma_map_sgtable(attach->dev, sgt, dir, DMA_ATTR_REQUIRE_COHERENT);
	if (ret)
		goto err_table;
	buf->num_mapped++;
	return sgt;

err_table:
	sg_free_table(sgt);
err_free:
	kfree(sgt);
	return ERR_PTR(ret);
}

static void exporter_unmap(struct dma_buf_attachment *attach,
			   struct sg_table *sgt, enum dma_data_direction dir)
{
	struct exporter_buf *buf = attach->dmabuf->priv;

	dma_unmap_sgtable(attach->dev, sgt, dir, DMA_ATTR_REQUIRE_COHERENT);
	sg_free_table(sgt);
	kfree(sgt);
	buf->num_mapped--;
}

static int exporter_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct exporter_buf *buf = dmabuf->priv;

	return vm_map_pages(vma, buf->pages, buf->num_pages);
}

static void exporter_free(struct exporter_buf *buf)
{
	unsigned int i;

	for (i = 0; i < buf->num_pages && buf->pages[i]; i++)
		put_page(buf->pages[i]);
	kvfree(buf);
}

static void exporter_release(struct dma_buf *dmabuf)
{
	exporter_free(dmabuf->priv);
}

static const struct dma_buf_ops exporter_dmabuf_ops = {
	.pin = exporter_pin,
	.unpin = exporter_unpin,
	.map_dma_buf = exporter_map,
	.unmap_dma_buf = exporter_unmap,
	.mmap = exporter_mmap,
	.release = exporter_release,
};

static struct exporter_buf *exporter_alloc(unsigned int num_pages)
{
	struct exporter_buf *buf;
	unsigned int i;

	buf = kvzalloc(struct_size(buf, pages, num_pages), GFP_KERNEL);
	if (!buf)
		return NULL;
	buf->num_pages = num_pages;
	for (i = 0; i < num_pages; i++) {
		buf->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!buf->pages[i]) {
			exporter_free(buf);
			return NULL;
		}
	}
	return buf;
}

static long exporter_make(u32 num_pages)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct exporter_buf *buf;
	struct dma_buf *dmabuf;
	int fd;

	if (!num_pages || num_pages > MAX_PAGES)
		return -EINVAL;
	buf = exporter_alloc(num_pages);
	if (!buf)
		return -ENOMEM;
	info.ops = &exporter_dmabuf_ops;
	info.size = (size_t)num_pages << PAGE_SHIFT;
	info.flags = O_RDWR;
	info.priv = buf;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		exporter_free(buf);
		return PTR_ERR(dmabuf);
	}
	fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(dmabuf);
	return fd;
}

static long exporter_revoke(int fd)
{
	struct exporter_buf *buf;
	struct dma_buf *dmabuf;
	long left = -EINVAL;

	dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	if (dmabuf->ops == &exporter_dmabuf_ops) {
		buf = dmabuf->priv;
		dma_resv_lock(dmabuf->resv, NULL);
		buf->revoked = true;
		dma_buf_invalidate_mappings(dmabuf);
		left = buf->num_mapped;
		dma_resv_unlock(dmabuf->resv);
	}
	dma_buf_put(dmabuf);
	return left;
}

static long exporter_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	u32 value;

	if (get_user(value, (u32 __user *)arg))
		return -EFAULT;
	switch (cmd) {
	case EXPORTER_MAKE:
		return exporter_make(value);
	case EXPORTER_REVOKE:
		return exporter_revoke(value);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations exporter_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = exporter_ioctl,
};

static struct miscdevice exporter_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = EXPORTER_DEVICE,
	.fops = &exporter_fops,
	.mode = 0600,
};

module_misc_device(exporter_misc);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("dma-bufs that are taken back, for tests");
MODULE_LICENSE("Dual BSD/GPL");
EXPORTER_IMPORT_NS;
