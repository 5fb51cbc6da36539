# A tunnel in a tunnel: GRE in WireGuard over cellular
wwan_up
wg_up 9.9.9.10
wg_quick_rules
ip link add gre1 type gre local 10.9.0.2 remote 203.0.113.9
ip link set gre1 up
ip addr add 10.9.1.2/30 dev gre1
ip route add 203.0.113.9 dev wg0 table 51820
ip route replace default dev gre1 table 51820
check '{"kind":"cellular","metered":"yes","vpn":true,"via":[["gre1","wg0","wwan0"]]}'
