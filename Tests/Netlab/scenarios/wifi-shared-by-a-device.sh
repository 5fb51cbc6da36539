# Wi-Fi of a device that shares its connection (Microsoft's tethering element)
ap_elements dd080050f2122b00020000
wifi_up
check '{"kind":"wifi","metered":"yes"}'
