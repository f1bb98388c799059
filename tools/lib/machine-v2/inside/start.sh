# Run by the machine at boot, as jobs.service: Node.js of the host takes the commands.
set -e
mkdir -p /node
mountpoint -q /node || mount -t hostfs none /node -o ro,node
ln -sfn "/node/$(cat /exchange/node-name)" /usr/local/bin/node
exec /usr/local/bin/node /exchange/jobs.mjs
