# One default route with two next hops, Wi-Fi and cellular: the metered one counts, then the only one with a carrier
wwan_up
ip route del default
wifi_associate
ip addr add 10.1.0.2/24 dev wlan0
ip route add default nexthop via 10.1.0.1 dev wlan0 nexthop dev wwan0
check '{"kind":"wifi","metered":"yes"}' both
disconnect() { wpa_cli -p /run/wpa_supplicant -i wlan0 disconnect; wait_for 5 no_carrier wlan0; }
watch '{"kind":"wifi","metered":"yes"}'
step 'Wi-Fi disconnected' '{"kind":"cellular","metered":"yes"}' disconnect
