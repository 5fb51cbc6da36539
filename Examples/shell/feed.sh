#!/bin/sh
# Fetches a feed in advance, then saves its images: feed.sh ITEMS.jsonl FOLDER. Needs `feedimg serve` and curl.
set -eu
ask() { curl --silent --show-error --fail-with-body --unix-socket "$XDG_RUNTIME_DIR/feedimg.sock" "$@"; }

# The progress, as server-sent events. Interrupting the command stops the prefetch.
ask 'http://localhost/v1/prefetch?limit=20MB' --no-buffer --data-binary "@$1" -H 'Content-Type: application/x-ndjson'
number=0
while read -r item || [ -n "$item" ]; do
  number=$((number + 1))
  # In place of an image that cannot be shown, the file has the reason as JSON.
  ask -G http://localhost/v1/image -d width=800 --data-urlencode "item=$item" -o "$2/$number" ||
    mv "$2/$number" "$2/$number.json"
done <"$1"
