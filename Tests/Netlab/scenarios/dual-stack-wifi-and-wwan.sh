# IPv4 over Wi-Fi, IPv6 over cellular: a part of the data is metered
wwan_up
ip route del default
wifi_up
ip -6 addr add 2001:db8:64::2/64 dev wwan0 nodad
ip -6 route add default dev wwan0 metric 700
check '{"kind":"wifi","metered":"yes"}'
