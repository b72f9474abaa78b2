#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The runs of threads.sh by a weft that ThreadSanitizer watches: a race is said on stderr and by the
# exit code, which threads.sh compares.
BUILD=build/tsan
export BUILD
unset WEFT
. "$(dirname "$0")/threads.sh"
