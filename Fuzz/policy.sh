#!/bin/sh
# Fuzzes the readers of policies with libFuzzer: Fuzz/policy.sh [SECONDS] (600 unless told).
# What it finds is kept in .build/fuzz; a crash leaves a file there and ends with an error.
set -eu
cd "$(dirname "$0")/.."
out=.build/fuzz
mkdir -p "$out/corpus"
compile() {
  module=$1
  shift
  swiftc -O -g -wmo -swift-version 6 -package-name feedimg -sanitize=fuzzer,address -parse-as-library \
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility \
    -I "$out" -module-name "$module" -emit-module-path "$out/$module.swiftmodule" -c "$@" -o "$out/$module.o"
}
for module in FeedimgJSON FeedimgModel FeedimgPolicy; do compile "$module" Sources/"$module"/*.swift; done
compile PolicyFuzzer Fuzz/PolicyFuzzer.swift
swiftc -sanitize=fuzzer,address "$out"/Feedimg*.o "$out/PolicyFuzzer.o" -o "$out/policy-fuzzer"
for file in Policies/*.md; do
  case $file in *.tests.md) kind=c ;; *) kind=m ;; esac
  { printf '%s' "$kind"; cat "$file"; } > "$out/corpus/$(basename "$file")"
done
printf 'j{"rules": [{"when": {"network": {"not": ["wifi"]}, "size": "< 1 MB"}, "image": "cached"}]}' \
  > "$out/corpus/policy.json"
cd "$out"
exec ./policy-fuzzer -max_total_time="${1:-600}" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
  -dict=../../Fuzz/policy.dict corpus
