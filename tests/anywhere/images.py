#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""images.py: tests of scripts/lib/root/unpack with images that this file makes, good,
bad and hostile. Runs in the sandbox, in the project's directory, and prints TAP.

images.py --oci DIR FILE: only make an OCI archive of the directory DIR.
"""

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile

UNPACK = os.path.abspath("scripts/lib/root/unpack")

# Runs it with a file that is another one when it is opened again.
CHANGER = """
import builtins, os, runpy, sys
unpack, path, evil = %r, %r, %r
real = builtins.open
def changing(name, *mode, **more):
    file = real(name, *mode, **more)
    if name == path:
        with real(path + ".new", "wb") as new:
            new.write(evil)
        os.rename(path + ".new", path)
    return file
builtins.open = changing
sys.argv = [unpack] + sys.argv[1:]
runpy.run_path(unpack, run_name="__main__")
"""


def member(name, data=None, **fields):
    """(member, data) of a tar; a directory without data"""
    info = tarfile.TarInfo(name)
    info.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
    info.mode = 0o755 if data is None else 0o644
    info.size = len(data or b"")
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def symlink(name, target):
    return member(name, b"", type=tarfile.SYMTYPE, linkname=target, size=0)


def hardlink(name, target):
    return member(name, b"", type=tarfile.LNKTYPE, linkname=target, size=0)


def tar_of(*members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data or b""))
    return out.getvalue()


def blob(files, data):
    digest = hashlib.sha256(data).hexdigest()
    files["blobs/sha256/" + digest] = data
    return {"digest": "sha256:" + digest, "size": len(data)}


def oci(layers, architecture="amd64", compress=lambda data: data):
    """The files of an OCI image, by name"""
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}'}
    config = {"architecture": architecture, "os": "linux", "config": {"Env": ["COLOUR=blue"]}}
    manifest = {
        "schemaVersion": 2,
        "config": blob(files, json.dumps(config).encode()),
        "layers": [blob(files, compress(layer)) for layer in layers],
    }
    platform = {"os": "linux", "architecture": architecture}
    inner = {"manifests": [{**blob(files, json.dumps(manifest).encode()), "platform": platform}]}
    outer = {"manifests": [blob(files, json.dumps(inner).encode())]}
    files["index.json"] = json.dumps(outer).encode()
    return files


def docker(layers):
    files = {"%d/layer.tar" % k: layer for k, layer in enumerate(layers)}
    config = {"architecture": "amd64", "config": {"Env": None}}
    files["config.json"] = json.dumps(config).encode()
    files["manifest.json"] = json.dumps([{"Config": "config.json",
                                          "Layers": list(files)[:len(layers)]}]).encode()
    return files


def archive(files):
    return tar_of(*(member(name, data) for name, data in files.items()))


BASE = tar_of(member("bin"), member("bin/sh", b"#!shell", mode=0o755),
              member("etc"), member("etc/old", b"old"), member("etc/kept", b"kept"),
              member("opaque"), member("opaque/below", b"below"),
              symlink("lib", "usr/lib"), member("usr"), member("usr/lib"),
              symlink("link", "etc/kept"))
UPPER = tar_of(member("etc/.wh.old", b""), member("opaque/above", b"above"),
               member("opaque/.wh..wh..opq", b""), member("lib/library", b"library"),
               member("link", b"a file now"))


class Tests:
    def __init__(self, place):
        self.place = place
        self.number = 0
        self.root = ""

    def unpack(self, data, limit=1 << 30):
        """The status and the errors of an unpacking, and sets self.root."""
        self.number += 1
        target = "%s/%d" % (self.place, self.number)
        os.mkdir(target)
        path = target + ".image"
        if isinstance(data, dict):
            os.mkdir(path)
            for name, content in data.items():
                os.makedirs(os.path.dirname(path + "/" + name), exist_ok=True)
                with open(path + "/" + name, "wb") as file:
                    file.write(content)
        else:
            with open(path, "wb") as file:
                file.write(data)
        self.root = target + "/root"
        done = subprocess.run([UNPACK, path, target, path, str(limit)], stderr=subprocess.PIPE, text=True,
                              check=False)
        return done.returncode, done.stderr

    def read(self, name):
        path = self.root + "/" + name
        if os.path.islink(path):
            return "-> " + os.readlink(path)
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()

    def result(self, good, name, detail=""):
        if not good:
            print("# " + str(detail).replace("\n", "\n# "))
        print("%s %d - %s" % ("ok" if good else "not ok", self.number, name), flush=True)

    def layered(self, name, data):
        status, errors = self.unpack(data)
        found = {path: self.read(path) for path in (
            "bin/sh", "etc/old", "etc/kept", "opaque/below", "opaque/above", "usr/lib/library",
            "lib", "link", "etc/.wh.old")}
        self.result((status, found) == (0, {
            "bin/sh": "#!shell", "etc/old": None, "etc/kept": "kept", "opaque/below": None,
            "opaque/above": "above", "usr/lib/library": "library", "lib": "-> usr/lib",
            "link": "a file now", "etc/.wh.old": None}), name, (status, errors, found))

    def refused(self, name, data, word, limit=1 << 30):
        status, errors = self.unpack(data, limit)
        good = status == 2 and word in errors and errors.count("\n") == 1
        self.result(good, name, (status, errors))

    def harmless(self, name, *members):
        """Nothing outside of the root is changed, whether the image is taken or not."""
        status, errors = self.unpack(tar_of(*members))
        with open(self.place + "/precious", encoding="utf-8") as file:
            content = file.read()
        outside = sorted(one for one in os.listdir(self.place) if not one[0].isdigit())
        self.result(content == "precious" and outside == ["precious"], name,
                    (status, errors, content, outside))


def compressed(program):
    return lambda data: subprocess.run([program, "-c"], input=data, stdout=subprocess.PIPE,
                                       check=True).stdout


def good_images(tests):
    tests.layered("OCI archive", archive(oci([BASE, UPPER])))
    for program in ("gzip", "xz", "zstd"):
        tests.layered("OCI archive with layers of " + program,
                      archive(oci([BASE, UPPER], compress=compressed(program))))
        tests.layered("docker-archive, compressed by " + program,
                      compressed(program)(archive(docker([BASE, UPPER]))))
    tests.layered("OCI directory", oci([BASE, UPPER]))
    tests.unpack(archive(oci([BASE])))
    with open(tests.root + "/../environment", "rb") as file:
        variables = file.read()
    tests.result(variables == b"COLOUR=blue\0", "variables of an OCI image", variables)
    tests.unpack(gzip.compress(BASE))
    tests.result(tests.read("bin/sh") == "#!shell", "tar of a root")


def bad_images(tests):
    no_image = "it is no image"
    tests.refused("a text", b"no image\n" * 1000, no_image)
    tests.refused("an empty file", b"", no_image)
    tests.refused("compressed nonsense", gzip.compress(b"nonsense" * 1000), no_image)
    tests.refused("a truncated compressed file", gzip.compress(os.urandom(100000))[:5000], "gzip")
    tests.refused("another architecture", archive(oci([BASE], "arm64")), "arm64")
    files = oci([BASE])
    largest = max(files, key=lambda name: len(files[name]))
    tests.refused("a damaged layer", archive({**files, largest: files[largest] + b"x"}), "damaged")
    del files[largest]
    tests.refused("a layer that is missing", archive(files), "lacks")
    tests.refused("a manifest that is no JSON", archive({**docker([BASE]), "manifest.json": b"{"}),
                  "JSON")
    tests.refused("a manifest of another shape",
                  archive({**docker([BASE]), "manifest.json": b'["x"]'}), no_image)
    files = oci([BASE])
    files["index.json"] = b'{"manifests": [{"digest": "sha256:../../../etc/passwd"}]}'
    tests.refused("a digest that is a path", archive(files), "digest")
    malformed_images(tests)


def malformed_images(tests):
    """What is a tar and JSON, but has values that nobody expects."""
    no_image = "it is no image"
    for name, json_file in (("deep JSON", b"[" * 200000), ("NaN", b"NaN"),
                            ("a layer with a NUL in its name",
                             b'[{"Config": "config.json", "Layers": ["a\\u0000b"]}]')):
        tests.refused(name, archive({**docker([BASE]), "manifest.json": json_file}),
                      "lacks" if b"u0000" in json_file else no_image)
    tests.refused("a variable that is no text", archive({
        **docker([BASE]), "config.json": b'{"config": {"Env": ["A=\\ud800"]}}'}), no_image)
    tests.refused("an OCI directory without an index", {"oci-layout": b"{}"}, "lacks index.json")
    for field, text in (("mtime", "nan"), ("mtime", "1e300"), ("uid", str(1 << 70)),
                        ("path", "a\0b"), ("GNU.sparse.map", "x,y")):
        layer = tar_of(member("file", b"x", pax_headers={field: text}))
        tests.refused("%s is %r" % (field, text), archive(docker([layer])), no_image)
    tests.refused("a name of two lines", archive(docker([tar_of(member("a\n/../b", b""))])), "..")
    long_name = tarfile.TarInfo("x" * 200).tobuf(format=tarfile.GNU_FORMAT)[:1024]
    tests.refused("a name after a name after a name", long_name * 3000, no_image)


def large_images(tests):
    """What takes more than the limit, in each place"""
    word = "more than the limit"
    large = tar_of(member("zeros", bytes(3 << 20)))
    tests.refused("an archive over the limit", large, word, 1 << 20)
    tests.refused("a compressed one", gzip.compress(large), word, 1 << 20)
    for program in ("xz", "zstd"):
        tests.refused("a layer of %s over the limit" % program,
                      oci([large], compress=compressed(program)), word, 1 << 20)
    # The archive itself and one layer are within it.
    tests.refused("layers that together are over the limit",
                  oci([BASE, BASE], compress=gzip.compress), word, 20000)
    sparse = tar_of(member("sparse", b"x" * 512, pax_headers={
        "GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.size": str(1 << 40),
        "GNU.sparse.realsize": str(1 << 40), "GNU.sparse.map": "0,512"}))
    tests.refused("a sparse file over the limit", sparse, word)
    status, errors = tests.unpack(large, 8 << 20)
    tests.result(status == 0, "within the limit", errors)


def changed_images(tests):
    """A layer becomes another one after its first reading."""
    files = oci([BASE])
    name = max(files, key=lambda one: len(files[one]))
    tests.number += 1
    image, target = ["%s/%d%s" % (tests.place, tests.number, end) for end in (".image", "")]
    os.mkdir(target)
    for one, data in files.items():
        os.makedirs(os.path.dirname(image + "/" + one), exist_ok=True)
        with open(image + "/" + one, "wb") as file:
            file.write(data)
    script = CHANGER % (UNPACK, image + "/" + name, tar_of(member("evil", b"evil")))
    done = subprocess.run([sys.executable, "-B", "-c", script, image, target],
                          stderr=subprocess.PIPE, text=True, check=False)
    evil = os.path.exists(target + "/root/evil")
    tests.result(not evil, "a layer is changed between its check and its use",
                 (done.returncode, done.stderr))


def hostile_images(tests):
    """A root escapes to ../.. of itself, by each way there is."""
    tests.harmless("a path with ..", member("../../precious", b"evil"))
    tests.harmless("an absolute path", member(tests.place + "/precious", b"evil"))
    tests.harmless("a link up, and a file through it",
                   symlink("up", "../.."), member("up/precious", b"evil"))
    tests.harmless("an absolute link, and a file through it",
                   symlink("up", tests.place), member("up/precious", b"evil"))
    tests.harmless("a file over a link",
                   symlink("file", tests.place + "/precious"), member("file", b"evil"))
    tests.harmless("a hard link to a file outside, and a file over it",
                   hardlink("file", "../../precious"), member("file", b"evil"))
    tests.harmless("a hard link by way of a link", symlink("up", "../.."),
                   hardlink("file", "up/precious"), member("file", b"evil"))
    tests.harmless("a whiteout of ..", member(".wh...", b""))
    tests.harmless("a whiteout through a link",
                   symlink("up", tests.place), member("up/.wh.precious", b""))
    tests.harmless("an opaque directory through a link",
                   symlink("up", tests.place), member("up/.wh..wh..opq", b""))
    tests.unpack(tar_of(member("null", b"", type=tarfile.CHRTYPE, devmajor=1, devminor=3),
                        member("bin"), member("bin/sh", b"#!shell")))
    tests.result(tests.read("null") is None and tests.read("bin/sh") == "#!shell",
                 "device nodes are left out")


def make_oci(directory, path):
    """An OCI archive whose only layer is what is in the directory"""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.add(directory, arcname=".")
    with open(path, "wb") as out:
        out.write(archive(oci([layer.getvalue()], compress=gzip.compress)))


def main():
    if sys.argv[1:2] == ["--oci"]:
        make_oci(*sys.argv[2:])
        return
    print("TAP version 13")
    with tempfile.TemporaryDirectory() as place:
        with open(place + "/precious", "w", encoding="utf-8") as file:
            file.write("precious")
        tests = Tests(place)
        good_images(tests)
        bad_images(tests)
        large_images(tests)
        changed_images(tests)
        hostile_images(tests)
        print("1..%d" % tests.number)


if __name__ == "__main__":
    main()
