# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Adds what a guest is to do to the initramfs that all guests have."""


def cpio(files):
    """An archive in the format of initramfs: files in the directory vm."""
    out = bytearray()
    inode = 1 << 20  # beyond those of the archive before this one

    def member(name, mode, data):
        nonlocal inode
        inode += 1
        name = name.encode() + b"\0"
        fields = [inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0]
        out.extend(b"070701" + b"".join(b"%08X" % f for f in fields) + name)
        out.extend(bytes(-len(out) % 4) + data)
        out.extend(bytes(-len(out) % 4))

    member("vm", 0o040755, b"")
    for name, data in files.items():
        member("vm/" + name, 0o100644, data)
    member("TRAILER!!!", 0, b"")
    return bytes(out)


def make(path, base, archive):
    """Makes path of the archive base and one more."""
    with open(base, "rb") as old, open(path, "wb") as new:
        new.write(old.read())
        new.write(archive)
