# VLAN and ipvlan on Wi-Fi
wifi_associate
ip link add link wlan0 name wlan0.7 type vlan id 7
ip link set wlan0.7 up
ip addr add 10.6.0.2/24 dev wlan0.7
ip route add default via 10.6.0.1 dev wlan0.7
check '{"kind":"wifi","metered":"no","via":[["wlan0.7","wlan0"]]}' vlan
ip link del wlan0.7
ip link add link wlan0 name ipvlan0 type ipvlan mode l2
ip link set ipvlan0 up
ip addr add 10.1.0.9/24 dev ipvlan0
ip route add default via 10.1.0.1 dev ipvlan0
check '{"kind":"wifi","metered":"no","via":[["ipvlan0","wlan0"]]}' ipvlan
