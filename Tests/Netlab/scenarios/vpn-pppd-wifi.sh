# VPN program whose interface is made by pppd (as with SSTP), over Wi-Fi
wifi_up
ln -s /lab/modem /run/sstpc
dial pty /run/sstpc
ip route add default dev ppp0 metric 50
check '{"kind":"wifi","metered":"no","vpn":true,"via":[["ppp0","wlan0"]]}'
