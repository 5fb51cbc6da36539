# No network: at its control group's limit (memory.high) the service evicts images from memory and continues
memory_group
# /dev/null disables the reports of pressure, so that only the limit has an effect.
MEMORY_PRESSURE_WATCH=/dev/null serve short
check '{"source":"memory"}' 'before'
# The limit follows the memory use of the group.
lower_limit() { echo $(($(cat $SHORT/memory.current) - 400000)) > $SHORT/memory.high; is_from disk; }
wait_for 30 lower_limit
echo max > $SHORT/memory.high
check '{"source":"disk"}' 'throttled'
