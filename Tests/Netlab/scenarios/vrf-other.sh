# The uplink belongs to a VRF, and the program does not
pci_nic
ip link add blue type vrf table 10
ip link set blue up
ip link set enp0s5 master blue
ip addr add 10.5.0.2/24 dev enp0s5
ip route add default via 10.5.0.1 dev enp0s5 table 10
check '{"kind":"offline"}' outside
