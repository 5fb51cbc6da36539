# Cellular: USB modem with the cdc_mbim driver
usb_device 0x2cb7 0x01a0 "
    09 02 0000 02 01 00 c0 32
    08 0b 00 02 02 0e 00 00
    09 04 00 00 01 02 0e 00 00
    05 24 00 1001  05 24 06 00 01  0c 24 1b 0001 0010 20 80 0008 20
    07 05 85 03 4000 05
    09 04 01 00 00 0a 00 02 00
    09 04 01 01 02 0a 00 02 00  07 05 81 02 0002 00  07 05 02 02 0002 00" \
    a180=1c000100004000000400000004000000004000000400000004000000 \
    a185=00400000
[ "$(basename "$(readlink "/sys/class/net/$DEV/device/driver")")" = cdc_mbim ]
ip addr add 10.64.0.2/30 dev "$DEV"
ip route add default dev "$DEV"
check '{"kind":"cellular","metered":"yes","vpn":[false,null],"tether":[false,null]}'
