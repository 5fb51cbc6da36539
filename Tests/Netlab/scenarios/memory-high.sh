# No network: at its control group's limit (memory.high) the service evicts images from memory and continues
memory_group
# The kernel reports no stalls for it.
MEMORY_PRESSURE_WATCH=/dev/null serve short
check '{"source":"memory"}' 'at ease'
# The limit follows the memory use of the group.
tighten() { echo $(($(cat $SHORT/memory.current) - 400000)) > $SHORT/memory.high; comes_from disk; }
wait_for 30 tighten
echo max > $SHORT/memory.high
check '{"source":"disk"}' 'throttled'
