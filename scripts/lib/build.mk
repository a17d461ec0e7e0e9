# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What is built in the sandbox, under build/. The top Makefile calls this one
# there, with one job at a time for each checkout. All but the device model is for the
# machine of guests, whose Debian tree is in /run/root.
#
# guest-V	all that a guest with the kernel V needs; V may be debug, too
# initramfs-V	what a guest without mynics needs
# modules-V	mynic.ko for the kernel V, in build/kmod-V and build/guest
# peer		the program of both guests on a wire, for a guest with a kernel that
# 		scripts/lib/kernel/prepare has made ready
# provider	the provider, in build/rdma-core and build/guest
# device	the device model, in build/device
# installable	what "make install" needs beyond these: build/install
# docs		the documents as HTML, in build/docs; a warning is an error

MAKEFLAGS += --no-print-directory
of_guests = $(shell bash -c '. scripts/lib/common.sh && $(1)')
ARCHITECTURE := $(call of_guests,echo $$arch)
KERNELS := $(call of_guests,of_arch kernels)
# Parts of the name of a kernel, which is VERSION or VERSION-FLAVOUR, and its release
version = $(firstword $(subst -, ,$(1)))
flavour = $(patsubst $(version)%,%,$(1))
release = $(notdir $(firstword $(wildcard \
	/run/root/usr/lib/modules/$(version).*-$(ARCHITECTURE)$(flavour))))

# Anything made from the tree's own files is out of date when the tree is new.
TREE := /run/root/.stamp
MODULE_SOURCES := $(shell find Kbuild drivers include -type f 2>/dev/null)

.PHONY: provider device peer
.DELETE_ON_ERROR:

build/guest/usr/bin build/log:
	mkdir -p $@

# Static, so that it starts quickly. Guests may run the one that is replaced.
build/guest/usr/bin/peer: userspace/guest/peer.c $(TREE) | build/guest/usr/bin
	$(CC) -static -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -o $@.new $<
	mv $@.new $@

peer: build/guest/usr/bin/peer

define kernel_rules
.PHONY: guest-$(1) initramfs-$(1) modules-$(1)
guest-$(1): initramfs-$(1) modules-$(1) provider device
initramfs-$(1): build/initramfs-$(1).cpio build/vmlinux-$(1) build/guest/usr/bin/peer
modules-$(1): build/kmod-$(1)/installed

build/initramfs-$(1).cpio: $(wildcard scripts/lib/guest/*initramfs*) $(TREE)
	scripts/lib/guest/mkinitramfs $(call release,$(1)) $$@

build/vmlinux-$(1): scripts/lib/guest/mkvmlinux $(TREE)
	scripts/lib/guest/mkvmlinux /run/root/boot/vmlinuz-$(call release,$(1)) $$@

# "modules" of scripts/check has 7.3 only as in its tree. What makes up for older
# kernels must not warn there either.
build/kmod-$(1)/installed: scripts/lib/kmod $(MODULE_SOURCES) $(TREE)
	@test -e drivers/infiniband/hw/mynic/Makefile || \
		{ echo "there is no driver in drivers/infiniband/hw/mynic" >&2; exit 1; }
	@echo "building mynic.ko for Linux $(1)"
	scripts/lib/kmod build/kmod-$(1) /usr/lib/modules/$(call release,$(1))/build KCFLAGS=-Werror modules
	scripts/lib/guest/install-module build/kmod-$(1) $(call release,$(1))
	touch $$@
endef
$(foreach kernel,$(KERNELS),$(eval $(call kernel_rules,$(kernel))))

.PHONY: guest-debug initramfs-debug modules-debug
guest-debug: initramfs-debug modules-debug provider device
initramfs-debug: build/initramfs-debug.cpio build/vmlinux-debug build/guest/usr/bin/peer
modules-debug: build/kmod-debug/installed

# It decides itself whether there is something to do.
KERNEL_DEBUG := build/kernel-debug/.stamp
$(KERNEL_DEBUG): FORCE
	unshare --mount scripts/lib/kernel-debug/build build/kernel-debug
.PHONY: FORCE
FORCE:

build/initramfs-debug.cpio: $(wildcard scripts/lib/guest/*initramfs*) $(TREE) $(KERNEL_DEBUG)
	scripts/lib/guest/mkinitramfs $$(cat build/kernel-debug/release) $@ build/guest/usr

build/vmlinux-debug: $(KERNEL_DEBUG)
	cp build/kernel-debug/obj/vmlinux $@.new
	mv $@.new $@

build/kmod-debug/installed: scripts/lib/kmod $(MODULE_SOURCES) $(TREE) $(KERNEL_DEBUG)
	@echo "building mynic.ko for the kernel with debugging"
	scripts/lib/kmod build/kmod-debug build/kernel-debug/obj modules
	scripts/lib/kmod build/kmod-debug build/kernel-debug/obj \
		INSTALL_MOD_PATH=$(CURDIR)/build/guest/usr modules_install
	touch $@

DEVICE := -C userspace/device O=$(CURDIR)/build/device all

provider: | build/log
	@test -e userspace/provider/CMakeLists.txt || \
		{ echo "there is no provider in userspace/provider" >&2; exit 1; }
	scripts/lib/provider

device:
	@test -e userspace/device/Makefile || \
		{ echo "there is no device model in userspace/device" >&2; exit 1; }
	@$(MAKE) -q $(DEVICE) >/dev/null 2>&1 || \
		{ echo "building the device model" && $(MAKE) $(DEVICE); }

# Other programs than the tests may not look for libraries where this one was built.
MANUALS := $(patsubst userspace/provider/man/%.md,build/install/man/%, \
	$(wildcard userspace/provider/man/*.md))

.PHONY: installable
installable: provider $(MANUALS)
	cp build/rdma-core/build/lib/libmynic.so.1 build/install/
	echo 'file(RPATH_REMOVE FILE build/install/libmynic.so.1)' >build/install/rpath.cmake
	cmake -P build/install/rpath.cmake

build/install/man/%: userspace/provider/man/%.md
	mkdir -p $(@D)
	pandoc -s -t man -o $@ $<

DOCS := build/docs

.PHONY: docs
docs:
	@PYTHONDONTWRITEBYTECODE=1 sphinx-build -W -n -q --keep-going -b html \
		-d $(DOCS)/.doctrees Documentation $(DOCS)
