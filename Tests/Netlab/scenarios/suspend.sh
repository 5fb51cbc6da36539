# The computer wakes from sleep: changes that the kernel did not report are noticed at once
eth_up
dial pty /lab/modem
ip route add default dev ppp0 metric 50
# Another program holds the connection, as if it were a tunnel: the kernel has no message for that.
echo 'read -r < /run/never' > /run/sstpc
bash /run/sstpc 3>&- &
tunnel=$!
# Down to where the processor would be stopped, and back (Documentation/power/basic-pm-debugging.rst).
echo core > /sys/power/pm_test
echo 2 > /sys/module/suspend/parameters/pm_test_delay     # seconds; its clock counts whole ones
sleep_a_while() { echo "$tunnel" > /run/ppp0.pid; echo mem > /sys/power/state; }
watch '{"kind":"cellular","metered":"yes"}'
step 'awake again' '{"kind":"ethernet","vpn":true,"via":[["ppp0","eth0"]]}' sleep_a_while
