# Wi-Fi of an iPhone: Apple's element, and a random address
ap_elements dd040017f20a
wifi_up
check '{"kind":"wifi","metered":"yes"}'
