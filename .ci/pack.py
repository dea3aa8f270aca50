"""Packs a folder into an archive that depends on its files only.

    pack.py FOLDER ARCHIVE        (.tar.gz or .zip)

Names are sorted, owners and permissions are fixed, and all times are SOURCE_DATE_EPOCH, the time of
the commit: two builds with the same files are the same bytes.
"""

import gzip
import io
import os
import sys
import tarfile
import time
import zipfile

folder, archive = sys.argv[1].rstrip("/\\"), sys.argv[2]
epoch = int(os.environ["SOURCE_DATE_EPOCH"])
base = os.path.dirname(os.path.abspath(folder))
files = sorted(
    os.path.relpath(os.path.join(at, name), base).replace(os.sep, "/")
    for at, _, names in os.walk(folder)
    for name in names
)


def mode(name):
    """Permissions: programs have no extension, or that of Windows, and lie at the top."""
    program = name.count("/") == 1 and os.path.basename(name) in ("metastable", "metastable.exe")
    return 0o755 if program else 0o644


if archive.endswith(".zip"):
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name in files:
            # The format begins in 1980 and counts pairs of seconds.
            moment = time.gmtime(max(epoch, 315532800))[:6]
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100000 | mode(name)) << 16
            with open(os.path.join(base, name), "rb") as file:
                out.writestr(entry, file.read())
else:
    with (
        open(archive, "wb") as file,
        gzip.GzipFile("", "wb", 9, file, epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as out,
    ):
        for name in files:
            with open(os.path.join(base, name), "rb") as source:
                content = source.read()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), epoch, mode(name)
            out.addfile(entry, io.BytesIO(content))
