/** Notices that the process which has started this one has ended, in whatever way, so that nobody is left to stop it. */

const pollMs = 250

/** Calls once; the kernel hands the child of a process that has ended to another one. Without a pid nothing is watched. */
export function watchParent(pid: number | undefined, onEnd: () => void): void {
  if (pid === undefined) return
  const timer = setInterval(() => {
    if (process.ppid === pid) return
    clearInterval(timer)
    onEnd()
  }, pollMs).unref()
}
