/** Tests wait for a named condition and never for a time. */

import { setTimeout as sleep } from 'node:timers/promises'

/** The limit only ends a hang: many times the need of the slowest machine. */
const deadlineMs = 15 * 60_000
const noticeEveryMs = 60_000
/** Most conditions ask a database, so the pauses grow with the wait: by a tenth of it. */
const [pollMsMin, pollMsMax] = [20, 250]

/** Resolves when the condition holds, else fails with its name. A condition that throws fails it too. */
export async function waitFor(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  let isOver = false
  let waitedMs = 0
  let timer: NodeJS.Timeout | undefined
  // The condition itself may hang, as a query to a frozen database does.
  const deadline = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      waitedMs += noticeEveryMs
      if (waitedMs >= deadlineMs) reject(new Error(`did not happen within ${waitedMs / 1000} s: ${what}`))
      else process.stderr.write(`waiting since ${waitedMs / 1000} s: ${what}\n`)
    }, noticeEveryMs)
  })
  const met = async () => {
    for (let pollMs = pollMsMin; !isOver && !(await condition()); pollMs = Math.min(pollMs * 1.1, pollMsMax)) {
      await sleep(pollMs)
    }
  }
  try {
    await Promise.race([met(), deadline])
  } finally {
    isOver = true
    clearInterval(timer)
  }
}
