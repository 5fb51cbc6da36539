# Cellular: Qualcomm's multiplexer (rmnet) on a USB modem that passes its frames through
usb_net ecm 0x1410 0x9011 'Novatel Expedite E371'
ip link set "$DEV" down
echo Y > "/sys/class/net/$DEV/qmi/raw_ip"
echo Y > "/sys/class/net/$DEV/qmi/pass_through"
ip link set "$DEV" up
modprobe rmnet
ip link add link "$DEV" name rmnet0 type rmnet mux_id 1
ip link set rmnet0 up
ip addr add 10.64.0.2/30 dev rmnet0
ip route add default dev rmnet0
check '{"kind":"cellular","metered":"yes","vpn":[false,null],"tether":[false,null]}'
