# Bond of Ethernet and Wi-Fi, one of them in use
eth_link
ip link set eth0 down
ip link add bond0 type bond mode active-backup miimon 50 fail_over_mac active
ip link set eth0 master bond0
ip link set bond0 up
wait_for 5 carrier bond0
wifi_associate_in_bond() {
    wifi_radio
    ip link set wlan0 down
    ip link set wlan0 master bond0
    wpa_supplicant -B -i wlan0 -D nl80211 -c /lab/wpa_supplicant.conf
    wait_for 15 carrier wlan0
}
wifi_associate_in_bond
ip addr add 10.2.0.2/24 dev bond0
ip route add default via 10.2.0.1 dev bond0
check '{"kind":"ethernet","via":[["bond0","eth0"]]}' cable
ip link set eth0 down
uses_wifi() { [ "$(cat /sys/class/net/bond0/bonding/active_slave)" = wlan0 ]; }
wait_for 5 uses_wifi
check '{"kind":"wifi","metered":"no","via":[["bond0","wlan0"]]}' 'cable pulled'
