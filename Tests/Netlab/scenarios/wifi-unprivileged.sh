# Metered Wi-Fi, read by a program without privileges
ap_elements dd080050f21104000000
wifi_up
CMD="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all $CMD"
check '{"kind":"wifi","metered":"yes"}'
