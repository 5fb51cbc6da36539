# WireGuard over Ethernet, then over cellular
wwan_up 700
eth_up
wg_up 9.9.9.10
wg_quick_rules
eth_back() { ip link set eth0 up; eth_route; }
watch '{"kind":"ethernet","vpn":true,"via":[["wg0","eth0"]]}'
step 'eth0 down' '{"kind":"cellular","metered":"yes","vpn":true,"via":[["wg0","wwan0"]]}' ip link set eth0 down
step 'eth0 back' '{"kind":"ethernet","vpn":true,"via":[["wg0","eth0"]]}' eth_back
