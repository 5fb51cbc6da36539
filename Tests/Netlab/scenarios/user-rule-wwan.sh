# A rule routes one user over cellular; all others use Wi-Fi
wwan_up 700
ip route add default dev wwan0 table 100
wifi_up
ip rule add uidrange 65534-65534 table 100
check '{"kind":"wifi","metered":"no"}' root
CMD="setpriv --reuid=65534 --regid=65534 --clear-groups $CMD"
check '{"kind":"cellular","metered":"yes"}' nobody
