# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
A series of patches for another project's tree. The tree is not touched. The
files that are changed are copied to a repository of their own, and committed
there step by step. git format-patch prints the commits.

A directory describes the series. It has a file for each patch, in the order of
their names. After lines that begin with "# " come the subject, an empty line and
the text. Lines that begin with "+ " follow. Each names files of this project, by
patterns without directories in them, or a change of the tree, as NAME(). The file
"cover" is the cover letter.
"""

import glob
import os
import shutil
import subprocess
import tempfile

from tree import TOP, die


class Patch:
    """
    subject, text: of the commit. content: what the lines with "+ " say. files:
    the files of this project that it adds.
    """

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            lines = [line for line in file.read().split("\n")
                     if not line.startswith("# ")]
        self.name = os.path.basename(path)
        self.subject = lines[0]
        self.content = [line[2:] for line in lines if line.startswith("+ ")]
        self.text = "\n".join(line for line in lines[1:]
                              if not line.startswith("+ ")).strip()
        self.files = []


class Series:
    """
    places: directories of this project, and where they are in the tree.
    existing: files of the tree that the series changes.
    left_out: files in these places that are for this project only.
    steps: functions by name, which take the repository's directory.
    """

    def __init__(self, tree, name, places, existing, steps, left_out=()):
        description = os.path.join(TOP, "scripts/lib/upstream", name)
        names = sorted(os.listdir(description))
        self.patches = [Patch(os.path.join(description, patch))
                        for patch in names if patch != "cover"]
        self.cover = Patch(os.path.join(description, "cover"))
        self.tree = tree
        self.places = places
        self.existing = existing
        self.steps = steps
        self._find_files(left_out)

    def _find_files(self, left_out):
        """A file that no patch has would be missing in the tree, unnoticed."""
        free = set(self._all_files()) - set(left_out)
        for patch in self.patches:
            for pattern in patch.content:
                if pattern.endswith("()"):
                    continue
                found = glob.glob(os.path.join(TOP, pattern))
                found = {os.path.relpath(path, TOP) for path in found} & free
                if not found:
                    die(f"{patch.name}: no file is {pattern}")
                patch.files += sorted(found)
                free -= found
        if free:
            die(f"no patch has {min(free)}")

    def _all_files(self):
        for place in self.places:
            for directory, _, names in os.walk(os.path.join(TOP, place)):
                for name in names:
                    yield os.path.relpath(os.path.join(directory, name), TOP)

    def make(self, output, prefix, cover_text=""):
        """Write the series to the directory output, which is made."""
        if os.path.lexists(output):
            die(f"{output}: exists already")
        with tempfile.TemporaryDirectory(prefix="mynic-series.") as repository:
            self._begin(repository)
            for patch in self.patches:
                self._commit(repository, patch)
            self._print(repository, output, prefix, cover_text)

    def _git(self, repository, *args):
        done = subprocess.run(["git", "-C", repository, *args], text=True,
                              capture_output=True, check=False)
        if done.returncode:
            die(f"git {args[0]}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def _begin(self, repository):
        for name in self.existing:
            source = os.path.join(self.tree, name)
            if not os.path.isfile(source):
                die(f"{self.tree}: there is no {name}")
            place = os.path.join(repository, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.copy(source, place)
        self._git(repository, "init", "-q")
        self._git(repository, "add", "-f", ".")
        self._git(repository, "commit", "-q", "-m", "The tree as it was")

    def _commit(self, repository, patch):
        for path in patch.files:
            place = os.path.join(repository, self._place(path))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.copy(os.path.join(TOP, path), place)
        for item in patch.content:
            if item.endswith("()"):
                self.steps[item[:-2]](repository)
        self._git(repository, "add", "-f", ".")
        self._git(repository, "commit", "-q", "-s", "-m",
                  f"{patch.subject}\n\n{patch.text}")

    def _place(self, path):
        source = max((source for source in self.places
                      if path.startswith(source)), key=len)
        return self.places[source] + path[len(source):]

    def _print(self, repository, output, prefix, cover_text):
        # First elsewhere, so that a failure leaves nothing
        made = os.path.join(repository, ".git/series")
        self._git(repository, "format-patch", "-q", "-o", made,
                  "--cover-letter", "--subject-prefix", prefix,
                  f"HEAD~{len(self.patches)}")
        path = os.path.join(made, "0000-cover-letter.patch")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        text = text.replace("*** SUBJECT HERE ***", self.cover.subject)
        text = text.replace("*** BLURB HERE ***",
                            f"{self.cover.text}\n\n{cover_text}".rstrip())
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        shutil.copytree(made, output)


def identity():
    """Name and address of git's user, who signs the patches off."""
    done = subprocess.run(["git", "var", "GIT_AUTHOR_IDENT"], text=True,
                          capture_output=True, check=False)
    if done.returncode:
        die("git does not know who signs off: set user.name and user.email")
    return done.stdout.rsplit(" ", 2)[0]
