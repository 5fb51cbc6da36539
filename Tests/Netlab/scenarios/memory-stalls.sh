# No network: programs wait for memory (/proc/pressure/memory), and the service evicts images from memory
memory_group
serve scenario
check '{"source":"memory"}' 'before'
echo 0 > $SHORT/memory.high
(echo "$BASHPID" > $SHORT/cgroup.procs; exec head -c 50000000 /dev/zero > /run/data) &
wait_for 30 is_from disk
check '{"source":"disk"}' 'stalled'
