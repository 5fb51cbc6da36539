# Wi-Fi of an iPhone: Apple's element, and an address that is made up
ap_says dd040017f20a
wifi_up
check '{"kind":"wifi","metered":"yes"}'
