# Run by the machine at boot, as jobs.service: Node.js of the host takes the commands.
set -e
# An address and a way out, as a node has them; what goes there is lost.
ip link add eth0 type dummy
ip address add 10.0.2.15/24 dev eth0
ip link set eth0 up
ip route add default via 10.0.2.2
printf 'search machine.test\nnameserver 10.0.2.3\n' >/etc/resolv.conf
mkdir -p /node
mountpoint -q /node || mount -t hostfs none /node -o ro,node
ln -sfn "/node/$(cat /exchange/node-name)" /usr/local/bin/node
exec /usr/local/bin/node /exchange/jobs.mjs
