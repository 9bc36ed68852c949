/** Keeps the screen on while the page is shown, where the browser can: over HTTPS and on the machine itself. */

import { whileVisible } from '../client/visibility.ts'

/** Returns what ends it. */
export function keepAwake(): () => void {
  let lock: WakeLockSentinel | undefined
  let isOver = false
  async function take(): Promise<void> {
    if (!('wakeLock' in navigator)) return
    try {
      const taken = await navigator.wakeLock.request('screen')
      if (isOver) await taken.release()
      else lock = taken
    } catch {
      // Refused, as where the battery is low: the screen does what it is set to.
    }
  }
  // A browser takes the lock away when the page is hidden.
  const stop = whileVisible(isVisible => {
    if (isVisible) void take()
  })
  return () => {
    isOver = true
    stop()
    void lock?.release()
  }
}
