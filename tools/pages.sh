#!/bin/sh
# Writes pprof-report's man pages and completions: TOOL SHARE makes SHARE/man and
# the folders that bash, zsh and fish read.
set -eu

tool=$1
share=$2

mkdir -p "$share/man/man1" "$share/man/man5" \
  "$share/bash-completion/completions" "$share/zsh/site-functions" \
  "$share/fish/vendor_completions.d"
"$tool" help -f man >"$share/man/man1/pprof-report.1"
"$tool" help -f man pprof.yaml >"$share/man/man5/pprof.yaml.5"
for verb in $("$tool" --help |
  sed -n '/^[A-Z].*:$/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
  "$tool" help -f man "$verb" >"$share/man/man1/pprof-report-$verb.1"
done
"$tool" help -f bash >"$share/bash-completion/completions/pprof-report"
"$tool" help -f zsh >"$share/zsh/site-functions/_pprof-report"
"$tool" help -f fish >"$share/fish/vendor_completions.d/pprof-report.fish"
