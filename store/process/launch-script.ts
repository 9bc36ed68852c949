/** The shell script that launches a server: it records the server, leaves a watchdog beside it, and becomes the server. */

export interface StopStep {
  signal: NodeJS.Signals
  waitMs: number
}

const pollMs = 100

/**
 * Arguments: the steps of a stop, the niceness (nice(1)), then the command. Descriptor 3 takes the record. Descriptor 4 is a pipe
 * whose other end only this process has: it closes when this process ends in any way, and the watchdog then runs the steps. The
 * watchdog is in the server's process group, so its number cannot be reused.
 *
 * It is forked before the server runs, so that a server never runs without one. It is forked twice, so that it is not a child of
 * the server, which PostgreSQL would not expect. Where the kernel schedules by sessions (sched(7), autogroup), the niceness of a
 * thread counts only within its session, and the server has a separate one: so the session gets the niceness, too. PostgreSQL's
 * children have groups of their own and are killed by their parent's number.
 */
export const launchScript = `
steps=$1; niceness=$2; shift 2
is_running() { kill -0 "$$"; }
send() {
  if [ "$1" = KILL ]; then
    read -r children < "/proc/$$/task/$$/children"
    [ -z "$children" ] || kill -s KILL $children
  fi
  kill -s "$1" -- "-$$"
}
watchdog() {
  trap '' HUP INT QUIT TERM
  read -r end
  PATH=$PATH:/usr/bin:/bin
  for step in $steps; do
    is_running || exit
    send "\${step%:*}"
    polls=\${step#*:}
    while [ "$polls" -gt 0 ] && is_running; do sleep ${pollMs / 1000} || sleep 1; polls=$((polls - 1)); done
  done
}
read -r stat < "/proc/$$/stat"
echo "$stat" >&3
(watchdog <&4 3>&- 4<&- >/dev/null 2>&1 &)
if [ "$niceness" != 0 ]; then
  { echo "$niceness" > "/proc/$$/autogroup"; } 2>/dev/null
  set -- nice -n "$niceness" "$@"
fi
exec "$@" 3>&- 4<&-
`

/** The first argument of the script. */
export function stepsText(steps: readonly StopStep[]): string {
  return steps.map(({ signal, waitMs }) => `${signal.slice(3)}:${Math.ceil(waitMs / pollMs)}`).join(' ')
}
