# IPsec with an xfrm interface over Wi-Fi
wifi_up
ip link add ipsec0 type xfrm dev wlan0 if_id 42
ip link set ipsec0 up
ip addr add 10.9.2.2/24 dev ipsec0
ip route add default dev ipsec0 metric 50
check '{"kind":"wifi","metered":"no","vpn":true,"via":[["ipsec0","wlan0"]]}'
