# No network: the limit of its control group (memory.high) takes images from the service's memory, and it goes on
memory_group
# Of stalls it is not told.
MEMORY_PRESSURE_WATCH=/dev/null serve short
check '{"source":"memory"}' 'at ease'
# The limit follows what the group takes.
tighten() { echo $(($(cat $SHORT/memory.current) - 400000)) > $SHORT/memory.high; comes_from disk; }
wait_for 30 tighten
echo max > $SHORT/memory.high
check '{"source":"disk"}' 'throttled'
