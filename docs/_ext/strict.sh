# Every cell of bash begins with this (conf.py): a command that fails in its middle fails the cell.
unset BASH_ENV
set -e
