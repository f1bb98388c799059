/**
 * A script in the place of runc, for runtimes that cannot be told what the machine lacks: takes out of a bundle what runc
 * would be refused here, and leaves everything else to runc.
 *
 * - Limits of huge pages on a cgroup v1 without that controller.
 * - OOM scores below that of the runtime, and the capability to lower them, where it lacks CAP_SYS_RESOURCE. containerd has
 *   a setting for the one and looks at its own capabilities for the other.
 */
export function modestRunc(runc: string): string {
  return `#!/bin/sh
previous= bundle= process=
for word in "$@"; do
  case $previous in
    --bundle | -b) bundle=$word ;;
    --process | -p) process=$word ;;
  esac
  previous=$word
done
for spec in \${bundle:+"$bundle/config.json"} \${process:+"$process"}; do
  if ! grep -q ' - cgroup2\\? [^ ]* .*hugetlb' /proc/self/mountinfo && [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then
    sed -i -z -E 's/,[[:space:]]*"hugepageLimits": *\\[[^]]*\\]//; s/"hugepageLimits": *\\[[^]]*\\],?//' "$spec"
  fi
  capabilities=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
  if [ $((0x$capabilities >> 24 & 1)) = 0 ]; then
    sed -i -z -E 's/"CAP_SYS_RESOURCE",[[:space:]]*//g; s/,[[:space:]]*"CAP_SYS_RESOURCE"//g' "$spec"
    own=$(cat /proc/self/oom_score_adj)
    wanted=$(sed -n -E 's/.*"oomScoreAdj": *(-?[0-9]+).*/\\1/p' "$spec")
    if [ -n "$wanted" ] && [ "$wanted" -lt "$own" ]; then
      sed -i -E "s/(\\"oomScoreAdj\\": *)-?[0-9]+/\\1$own/" "$spec"
    fi
  fi
done
exec ${runc} "$@"
`;
}
