#!/usr/bin/env bash
# Makes the release archive of what is committed: tools/dist.sh OUT leaves
# OUT/pprof-VERSION.tar.gz, its checksum and what it consists of (SPDX). The same
# commit makes the same bytes. A tag must be that of the version.
set -euo pipefail

out=$1
version=$(sed -n 's/^#define PPI_VERSION "\(.*\)"/\1/p' sdk/src/base/base.h)
name=pprof-$version

for tag in $(git tag --points-at HEAD 'v*'); do
  [ "$tag" = "v$version" ] ||
    { echo "dist: HEAD has the tag $tag, and is $version" >&2 && exit 1; }
done
mkdir -p "$out"
# The folder debian is Debian's own part.
git -c tar.umask=0022 archive --format=tar --prefix="$name/" HEAD -- . \
  ':(exclude)debian' | gzip -9n >"$out/$name.tar.gz"
cd "$out"
sha256sum "$name.tar.gz" >"$name.tar.gz.sha256"
cd - >/dev/null
python3 tools/sbom.py "$version" "$(git log -1 --format=%ct)" \
  "$out/$name.tar.gz.sha256" >"$out/$name.spdx.json"
echo "dist: $out/$name.tar.gz"
