# Cellular: USB modem with the qmi_wwan driver without Ethernet headers, alone and multiplexed
usb_net ecm 0x1410 0x9011 'Novatel Expedite E371'
ip link set "$DEV" down
echo Y > "/sys/class/net/$DEV/qmi/raw_ip"
ip link set "$DEV" up
[ "$(cat "/sys/class/net/$DEV/type")" = 65534 ]
ip addr add 10.64.0.2/30 dev "$DEV"
ip route add default dev "$DEV"
check '{"kind":"cellular","metered":"yes","vpn":[false,null],"tether":[false,null]}' 'raw IP'
ip route del default
echo 1 > "/sys/class/net/$DEV/qmi/add_mux"
wait_for 5 has_netdev qmimux0
ip link set qmimux0 up
ip addr add 10.64.1.2/30 dev qmimux0
ip route add default dev qmimux0
check "{\"kind\":\"cellular\",\"metered\":\"yes\",\"vpn\":[false,null],\"via\":[[\"qmimux0\",\"$DEV\"]]}" 'multiplexed'
echo 1 > "/sys/class/net/$DEV/qmi/del_mux"
