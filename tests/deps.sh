#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs those of the named Debian packages that are missing, as root or through sudo.
missing=
command -v gcc >/dev/null || set -- "$@" gcc libc6-dev
for package in "$@"; do
    dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed' ||
        missing="$missing $package"
done
[ -z "$missing" ] && exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
[ -z "$sudo" ] || command -v sudo >/dev/null || {
    echo "make deps: needs root or sudo to install:$missing" >&2
    exit 1
}
echo "installing$missing"
log=$(mktemp)
{ $sudo apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1 || {
    cat "$log" >&2
    echo "make deps: apt-get could not install:$missing" >&2
    exit 1
}
