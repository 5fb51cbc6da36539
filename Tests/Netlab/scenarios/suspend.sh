# The computer wakes from sleep: it detects at once a change that the kernel did not report
eth_up
dial pty /lab/modem
ip route add default dev ppp0 metric 50
# Another program takes over the connection, as a tunnel does. The kernel does not report that.
echo 'read -r < /run/never' > /run/sstpc
bash /run/sstpc 3>&- &
tunnel=$!
# Stops just before the processor would stop, and resumes (Documentation/power/basic-pm-debugging.rst).
echo core > /sys/power/pm_test
echo 2 > /sys/module/suspend/parameters/pm_test_delay     # whole seconds
suspend_computer() { echo "$tunnel" > /run/ppp0.pid; echo mem > /sys/power/state; }
watch '{"kind":"cellular","metered":"yes"}'
step 'resumed' '{"kind":"ethernet","vpn":true,"via":[["ppp0","eth0"]]}' suspend_computer
