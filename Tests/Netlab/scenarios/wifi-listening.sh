# Wi-Fi in monitor mode, with a default route
wifi_radio
iw dev wlan0 set type monitor
ip link set wlan0 up
ip route add default dev wlan0
check '{"kind":"offline"}'
