// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of the vfio-user protocol. Sockets and messages are in vfio_user.c.
 */

#include <errno.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "client_file.h"
#include "dma_maps.h"
#include "pci.h"
#include "vfio_user_commands.h"

static const char version_format[] =
	"{\"capabilities\":{\"max_msg_fds\":%d,\"max_data_xfer_size\":%d,\"max_dma_maps\":%zu}}";

/* Bytes, including the three numbers */
#define VERSION_DATA_SIZE (sizeof(version_format) + 64)

/*
 * Copies the fixed part of the payload. Structures with argsz begin with it. It
 * says how many bytes the client has sent, or has room for.
 */
static int vfio_user_commands_get_args(const struct vfu_request *req,
				       void *args, size_t size)
{
	uint32_t argsz;

	if (req->len < size)
		return -EINVAL;
	memcpy(args, req->data, size);
	memcpy(&argsz, args, sizeof(argsz));
	return argsz < size ? -EINVAL : 0;
}

static int vfio_user_commands_put_reply(const struct vfu_request *req,
					const void *data, size_t len)
{
	memcpy(req->reply, data, len);
	return len;
}

/*
 * Capabilities of the client are ignored. None of them is a limit that this
 * server could exceed, and it uses no options.
 */
static int vfio_user_commands_do_version(struct vfu_server *server,
					 struct vfu_request *req)
{
	char *data = (char *)req->reply + sizeof(struct vfu_version);
	struct vfu_version version;

	if (server->negotiated || req->len < sizeof(version))
		return -EINVAL;
	memcpy(&version, req->data, sizeof(version));
	if (version.major != VFU_MAJOR)
		return -EPROTONOSUPPORT;
	if (req->len > sizeof(version) && req->data[req->len - 1])
		return -EINVAL;
	server->negotiated = true;
	version.minor = VFU_MINOR;
	vfio_user_commands_put_reply(req, &version, sizeof(version));
	if (req->len == sizeof(version))
		return sizeof(version);
	return sizeof(version) + 1 +
	       snprintf(data, VERSION_DATA_SIZE, version_format, VFU_MAX_FDS,
			VFU_MAX_XFER, server->maps->max);
}

static int vfio_user_commands_do_dma_map(struct vfu_server *server,
					 struct vfu_request *req)
{
	struct vfu_dma_map map;
	int prot = PROT_READ;
	int err;

	err = vfio_user_commands_get_args(req, &map, sizeof(map));
	if (err)
		return err;
	if (req->num_fds > 1 ||
	    map.flags & ~(VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE))
		return -EINVAL;
	/* The NIC does not support memory that it may write but not read. */
	if (!(map.flags & VFIO_DMA_MAP_FLAG_READ))
		return -EOPNOTSUPP;
	if (map.flags & VFIO_DMA_MAP_FLAG_WRITE)
		prot |= PROT_WRITE;
	return dma_maps_add(server->maps, map.iova, map.size,
			    req->num_fds ? req->fds[0] : -1, map.offset, prot);
}

static int vfio_user_commands_unmap(struct dma_maps *maps,
				    const struct vfu_dma_unmap *args)
{
	switch (args->flags) {
	case 0:
		return dma_maps_remove(maps, args->iova, args->size);
	case VFIO_DMA_UNMAP_FLAG_ALL:
		if (args->iova || args->size)
			return -EINVAL;
		dma_maps_clear(maps);
		return 0;
	default:
		return -EINVAL;
	}
}

static int vfio_user_commands_do_dma_unmap(struct vfu_server *server,
					   struct vfu_request *req)
{
	struct vfu_dma_unmap args;
	int err;

	err = vfio_user_commands_get_args(req, &args, sizeof(args));
	if (!err)
		err = vfio_user_commands_unmap(server->maps, &args);
	return err ? err :
		     vfio_user_commands_put_reply(req, &args, sizeof(args));
}

static int vfio_user_commands_do_get_info(struct vfu_request *req)
{
	struct vfu_device_info info;
	int err;

	err = vfio_user_commands_get_args(req, &info, sizeof(info));
	if (err)
		return err;
	info = (struct vfu_device_info){
		.argsz = sizeof(info),
		.flags = VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
		.num_regions = VFIO_PCI_NUM_REGIONS,
		.num_irqs = VFIO_PCI_NUM_IRQS,
	};
	return vfio_user_commands_put_reply(req, &info, sizeof(info));
}

static int vfio_user_commands_do_get_region_info(struct vfu_request *req)
{
	struct vfio_region_info info;
	int err;

	err = vfio_user_commands_get_args(req, &info, sizeof(info));
	if (err)
		return err;
	if (info.index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	/* QEMU checks cap_offset even if there are no capabilities. */
	info = (struct vfio_region_info){
		.argsz = sizeof(info),
		.index = info.index,
		.cap_offset = sizeof(info),
		.size = pci_region_size(info.index),
	};
	if (info.size)
		info.flags = VFIO_REGION_INFO_FLAG_READ |
			     VFIO_REGION_INFO_FLAG_WRITE;
	return vfio_user_commands_put_reply(req, &info, sizeof(info));
}

static int vfio_user_commands_do_get_irq_info(struct vfu_request *req)
{
	struct vfio_irq_info info;
	int err;

	err = vfio_user_commands_get_args(req, &info, sizeof(info));
	if (err)
		return err;
	if (info.index > VFIO_PCI_MSIX_IRQ_INDEX)
		return -EINVAL;
	info = (struct vfio_irq_info){
		.argsz = sizeof(info),
		.index = info.index,
	};
	if (info.index == VFIO_PCI_MSIX_IRQ_INDEX) {
		info.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE;
		info.count = MYNIC_MAX_VECTORS;
	}
	return vfio_user_commands_put_reply(req, &info, sizeof(info));
}

/* Sets the eventfds of a range, or removes them if there are no files */
static int vfio_user_commands_set_eventfds(struct irq_vectors *irq,
					   const struct vfio_irq_set *set,
					   struct vfu_request *req)
{
	if (req->num_fds && req->num_fds != set->count)
		return -EINVAL;
	for (size_t i = 0; i < req->num_fds; i++)
		if (!client_file_is_eventfd(req->fds[i]))
			return -EINVAL;
	for (uint32_t i = 0; i < set->count; i++)
		irq_set_fd(irq, set->start + i,
			   req->num_fds ? req->fds[i] : -1);
	for (size_t i = 0; i < req->num_fds; i++)
		req->fds[i] = -1;
	irq_raise_pending(irq);
	return 0;
}

/* Triggers the interrupts of a range: all, or those that are true in @bools */
static int vfio_user_commands_trigger(struct irq_vectors *irq,
				      const struct vfio_irq_set *set,
				      const uint8_t *bools)
{
	uint32_t vectors = 0;

	for (uint32_t i = 0; i < set->count; i++)
		if (!bools || bools[i])
			vectors |= 1U << (set->start + i);
	irq_raise_all(irq, vectors);
	return 0;
}

static int vfio_user_commands_do_set_irqs(struct vfu_server *server,
					  struct vfu_request *req)
{
	struct irq_vectors *irq = &server->pci->irq;
	struct vfio_irq_set set;
	uint32_t limit = 0;
	int err;

	err = vfio_user_commands_get_args(req, &set, sizeof(set));
	if (err)
		return err;
	if (set.index == VFIO_PCI_MSIX_IRQ_INDEX)
		limit = MYNIC_MAX_VECTORS;
	else if (set.index > VFIO_PCI_MSIX_IRQ_INDEX)
		return -EINVAL;
	if (set.count > limit || set.start > limit - set.count)
		return -EINVAL;

	switch (set.flags) {
	case VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER:
		if (set.count)
			return vfio_user_commands_trigger(irq, &set, NULL);
		if (set.start)
			return -EINVAL;
		if (limit)
			irq_release(irq);
		return 0;
	case VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER:
		if (!set.count || req->len - sizeof(set) < set.count)
			return -EINVAL;
		return vfio_user_commands_trigger(irq, &set,
						  req->data + sizeof(set));
	case VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER:
		return set.count ?
			       vfio_user_commands_set_eventfds(irq, &set, req) :
			       -EINVAL;
	default:
		return -EINVAL;
	}
}

static int vfio_user_commands_get_access(const struct vfu_request *req,
					 struct vfu_region_access *access)
{
	if (req->len < sizeof(*access))
		return -EINVAL;
	memcpy(access, req->data, sizeof(*access));
	return access->count > VFU_MAX_XFER ? -EINVAL : 0;
}

static int vfio_user_commands_do_region_read(struct vfu_server *server,
					     struct vfu_request *req)
{
	struct vfu_region_access access;
	int err;

	err = vfio_user_commands_get_access(req, &access);
	if (!err)
		err = pci_read(server->pci, access.region, access.offset,
			       req->reply + sizeof(access), access.count);
	if (err)
		return err;
	return vfio_user_commands_put_reply(req, &access, sizeof(access)) +
	       access.count;
}

static int vfio_user_commands_do_region_write(struct vfu_server *server,
					      struct vfu_request *req)
{
	struct vfu_region_access access;
	int err;

	err = vfio_user_commands_get_access(req, &access);
	if (err)
		return err;
	if (req->len - sizeof(access) < access.count)
		return -EINVAL;
	err = pci_write(server->pci, access.region, access.offset,
			req->data + sizeof(access), access.count);
	return err ? err :
		     vfio_user_commands_put_reply(req, &access, sizeof(access));
}

int vfu_handle(struct vfu_server *server, uint16_t command,
	       struct vfu_request *req)
{
	if (!server->negotiated && command != VFU_VERSION)
		return -EINVAL;
	if (req->num_fds && command != VFU_DMA_MAP &&
	    command != VFU_DEVICE_SET_IRQS)
		return -EINVAL;
	switch (command) {
	case VFU_REGION_WRITE:
		return vfio_user_commands_do_region_write(server, req);
	case VFU_REGION_READ:
		return vfio_user_commands_do_region_read(server, req);
	case VFU_VERSION:
		return vfio_user_commands_do_version(server, req);
	case VFU_DMA_MAP:
		return vfio_user_commands_do_dma_map(server, req);
	case VFU_DMA_UNMAP:
		return vfio_user_commands_do_dma_unmap(server, req);
	case VFU_DEVICE_GET_INFO:
		return vfio_user_commands_do_get_info(req);
	case VFU_DEVICE_GET_REGION_INFO:
		return vfio_user_commands_do_get_region_info(req);
	case VFU_DEVICE_GET_IRQ_INFO:
		return vfio_user_commands_do_get_irq_info(req);
	case VFU_DEVICE_SET_IRQS:
		return vfio_user_commands_do_set_irqs(server, req);
	case VFU_DEVICE_RESET:
		pci_reset(server->pci);
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}
