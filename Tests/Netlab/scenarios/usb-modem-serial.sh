# Cellular: USB modem that looks like Ethernet (cdc_ether), with a serial port beside it
USB_ALSO=acm
usb_net ecm 0x2cb7 0x0007 'Fibocom Modem'
usb_route
reachable
wait_for 5 [ -c /dev/ttyACM0 ]
check '{"kind":"cellular","metered":"yes","tether":[false,null]}'
