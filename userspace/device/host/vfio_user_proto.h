/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages of the vfio-user protocol, version 0.0, as far as a PCI function
 * without migration needs them. They are in the byte order of the host. Other
 * structs are those of linux/vfio.h.
 */
#ifndef MYNIC_HOST_VFIO_USER_PROTO_H
#define MYNIC_HOST_VFIO_USER_PROTO_H

#include <stdint.h>

enum vfu_command {
	VFU_VERSION = 1,
	VFU_DMA_MAP = 2,
	VFU_DMA_UNMAP = 3,
	VFU_DEVICE_GET_INFO = 4,
	VFU_DEVICE_GET_REGION_INFO = 5,
	VFU_DEVICE_GET_IRQ_INFO = 7,
	VFU_DEVICE_SET_IRQS = 8,
	VFU_REGION_READ = 9,
	VFU_REGION_WRITE = 10,
	VFU_DEVICE_RESET = 13,
};

#define VFU_TYPE_MASK 0xf
#define VFU_TYPE_COMMAND 0x0
#define VFU_TYPE_REPLY 0x1
#define VFU_NO_REPLY 0x10
#define VFU_ERROR 0x20

/**
 * struct vfu_header - begins every message
 * @id: chosen by the sender of the command, echoed in the reply
 * @command: enum vfu_command
 * @size: bytes of the whole message
 * @flags: VFU_*
 * @error: errno in a reply with VFU_ERROR, which has no payload
 */
struct vfu_header {
	uint16_t id;
	uint16_t command;
	uint32_t size;
	uint32_t flags;
	uint32_t error;
};

_Static_assert(sizeof(struct vfu_header) == 16, "vfu_header");

#define VFU_MAJOR 0
#define VFU_MINOR 0

/**
 * struct vfu_version - payload of VERSION, both ways
 * @major: must be the same on both sides
 * @minor: the smaller one of both sides is used
 * @data: JSON with a NUL at its end, or nothing
 */
struct vfu_version {
	uint16_t major;
	uint16_t minor;
	char data[];
};

_Static_assert(sizeof(struct vfu_version) == 4, "vfu_version");

/**
 * struct vfu_dma_map - payload of DMA_MAP
 * @argsz: 32
 * @flags: VFIO_DMA_MAP_FLAG_READ, VFIO_DMA_MAP_FLAG_WRITE
 * @offset: in the file that comes with the message
 * @iova: DMA address of the first byte
 * @size: bytes
 */
struct vfu_dma_map {
	uint32_t argsz;
	uint32_t flags;
	uint64_t offset;
	uint64_t iova;
	uint64_t size;
};

_Static_assert(sizeof(struct vfu_dma_map) == 32, "vfu_dma_map");

/**
 * struct vfu_dma_unmap - payload of DMA_UNMAP, both ways
 * @argsz: 24
 * @flags: VFIO_DMA_UNMAP_FLAG_ALL or 0
 * @iova: DMA address of the first byte
 * @size: bytes
 */
struct vfu_dma_unmap {
	uint32_t argsz;
	uint32_t flags;
	uint64_t iova;
	uint64_t size;
};

_Static_assert(sizeof(struct vfu_dma_unmap) == 24, "vfu_dma_unmap");

/**
 * struct vfu_device_info - payload of DEVICE_GET_INFO, both ways
 * @argsz: 16
 * @flags: VFIO_DEVICE_FLAGS_*
 * @num_regions: regions
 * @num_irqs: interrupt types
 */
struct vfu_device_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t num_regions;
	uint32_t num_irqs;
};

_Static_assert(sizeof(struct vfu_device_info) == 16, "vfu_device_info");

/**
 * struct vfu_region_access - payload of REGION_READ and REGION_WRITE, both ways
 * @offset: in the region
 * @region: VFIO_PCI_*_REGION_INDEX
 * @count: bytes
 * @data: of a read in the reply, of a write in the command
 */
struct vfu_region_access {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
	uint8_t data[];
};

_Static_assert(sizeof(struct vfu_region_access) == 16, "vfu_region_access");

#endif /* MYNIC_HOST_VFIO_USER_PROTO_H */
