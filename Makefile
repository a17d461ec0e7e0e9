# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

# The kernel that "make modules" builds for, on any machine with its headers.
KDIR ?= /lib/modules/$(shell uname -r)/build

KERNELS := $(shell bash -c '. scripts/lib/common.sh && of_arch kernels "$$own_arch"')
SILENT := $(findstring s,$(firstword -$(MAKEFLAGS)))
# Where things are built. An installed copy has it elsewhere.
BUILD ?= build
# With those of other machines' guests
ALL_KERNELS := $(sort $(shell sed -n 's/^kernels = //p' scripts/lib/architectures))
PARTS := provider device docs peer installable $(foreach k,$(ALL_KERNELS) debug,guest-$(k) initramfs-$(k) modules-$(k))

.PHONY: all help sandbox modules modules_install install uninstall deb image demo check check-apps fuzz-verbs bench clean distclean $(PARTS)

all: provider device $(KERNELS:%=modules-%)

help:
	@echo 'make demo             two NICs in a guest: the main RDMA programs, with figures'
	@echo 'make check            the tests; scripts/check --help'
	@echo 'make check-apps       more tests: systems and kernels of users, applications,'
	@echo '                      clusters, arm64, patches for Linux and rdma-core'
	@echo 'make fuzz-verbs       ten million random calls of libibverbs; takes many hours'
	@echo 'make bench            benchmarks; scripts/bench --help'
	@echo 'make                  build all: modules for both kernels, provider, device model'
	@echo 'make modules          mynic.ko for the kernel whose headers are in KDIR'
	@echo '                      (default: the running one), in build/kmod'
	@echo 'make modules_install  install that module, and run depmod'
	@echo 'make install          the programs, the provider and its headers, manual pages and'
	@echo '                      mynic-vm; DESTDIR and prefix (default: /usr/local)'
	@echo 'make uninstall        remove them'
	@echo 'make deb              Debian packages, in build/deb'
	@echo 'make image            a container image of scripts/vm and all that it needs'
	@echo 'make device           the device model, in build/device'
	@echo 'make provider         the rdma-core provider, in build/guest'
	@echo 'make docs             the documents as HTML, in build/docs'
	@echo 'make sandbox          the Debian tree that all is built and run in'
	@echo 'make clean            remove all that was built but the sandbox'
	@echo 'make distclean        also remove the sandbox'
	@echo 'scripts/vm --help     run a command in a guest'

sandbox:
	@scripts/sandbox

# One build at a time: guests that start together share what is built.
$(PARTS):
	@mkdir -p "$(BUILD)"
	@flock "$(BUILD)/.build.lock" \
		scripts/sandbox run -- make $(if $(SILENT),-s) -j2 -f scripts/lib/build.mk $@

modules:
	scripts/lib/kmod build/kmod $(KDIR) modules

modules_install:
	scripts/lib/kmod build/kmod $(KDIR) modules_install
	depmod -b "$(INSTALL_MOD_PATH)/" \
		"$$($(MAKE) -s --no-print-directory -C $(KDIR) kernelrelease)"

# DESTDIR, prefix and more: Documentation/install.rst
install: device installable
	@scripts/lib/install

uninstall:
	@scripts/lib/install --uninstall

# Each has a Debian tree of its own, which is kept.
deb: sandbox
	@scripts/sandbox run -- unshare --mount scripts/lib/deb build/deb
	@echo "packages are in build/deb"

image: device installable $(KERNELS:%=guest-%)
	@scripts/sandbox run -- unshare --mount scripts/lib/image build/mynic-image.tar
	@echo "the image is build/mynic-image.tar"

demo:
	@scripts/demo

check:
	@scripts/check

check-apps:
	@scripts/check unit-plain selftests-6.12 apps applications nodes connections kernels image \
		warm arches arm64 series

fuzz-verbs:
	@scripts/fuzz-verbs --kernel debug --calls 10000000 --shorten 240

bench:
	@scripts/bench

clean:
	find build -mindepth 1 -maxdepth 1 ! -name root ! -name 'root-*' ! -name 'tools-*' ! -name 'rdma-core-*' -exec rm -rf {} +

distclean:
	scripts/sandbox clean
	rm -rf build
