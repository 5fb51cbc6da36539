# The computer wakes from sleep: changes that the kernel did not report are noticed at once
eth_up
dial pty /lab/modem
ip route add default dev ppp0 metric 50
# Another program takes over the connection, like a tunnel. The kernel sends no message for that.
echo 'read -r < /run/never' > /run/sstpc
bash /run/sstpc 3>&- &
tunnel=$!
# Suspends up to the point where the processor would stop, and resumes (Documentation/power/basic-pm-debugging.rst).
echo core > /sys/power/pm_test
echo 2 > /sys/module/suspend/parameters/pm_test_delay     # seconds; its clock counts whole ones
sleep_a_while() { echo "$tunnel" > /run/ppp0.pid; echo mem > /sys/power/state; }
watch '{"kind":"cellular","metered":"yes"}'
step 'awake again' '{"kind":"ethernet","vpn":true,"via":[["ppp0","eth0"]]}' sleep_a_while
