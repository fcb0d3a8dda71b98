#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Slurm's Epilog, on each node, as root: what the job's processes have left in
# memory becomes logs, as their user, for nobody recovers another user's spool.
# Other jobs of that user go on: what still runs is left alone.
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}:/usr/sbin:/sbin  # Slurm sets none
export PATH
exec runuser -u "$SLURM_JOB_USER" -- recover.sh
