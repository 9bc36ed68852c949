/** Detects the end of the parent process, after which no other process would stop this one. */

const pollMs = 250

/** Calls `onEnd` once: the kernel gives an orphan another parent. Without a pid, the parent is not watched. */
export function watchParent(pid: number | undefined, onEnd: () => void): void {
  if (pid === undefined) return
  const timer = setInterval(() => {
    if (process.ppid === pid) return
    clearInterval(timer)
    onEnd()
  }, pollMs).unref()
}
