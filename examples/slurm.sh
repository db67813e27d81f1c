#!/bin/bash
# A table on a cluster: each job of the array runs the same command on the same
# folder, and takes the cases that no other job is at. A job that ends at its
# time limit, or with its node, loses the cases it was at and nothing else;
# running `sbatch slurm.sh` again does the rest. Exit code 1 means that
# something is refuted, which is not a failure.
#SBATCH --job-name=m2bridge
#SBATCH --array=1-16
#SBATCH --cpus-per-task=4
#SBATCH --mem=16G
#SBATCH --time=08:00:00
#SBATCH --requeue

GRID=${GRID:---d 1..6 --d-out 1..6 --a 1..6 --t 2}
OUT=${OUT:-${SLURM_SUBMIT_DIR:-.}/table}

# shellcheck disable=SC2086 # the grid is several words
m2bridge certify $GRID --out "$OUT" --workers "${SLURM_CPUS_PER_TASK:-1}" \
    --timeout 600 --memory 3G --quiet
code=$?
[ "$code" -eq 1 ] && exit 0
exit "$code"
