/**
 * Loaded into a process by `--import`: writes, every half second, the most processor time that its main thread spent in
 * one go between two looks at it, milliseconds, as a line of the file that TURN_PROBE_FILE names. Unlike the delay of the
 * event loop it holds on a machine where other processes take their turns.
 */

import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const path = process.env['TURN_PROBE_FILE']
const lookEveryMs = 1
const writeEveryMs = 500

if (isMainThread && path !== undefined) {
  let before = process.threadCpuUsage()
  let longestUs = 0
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    longestUs = Math.max(longestUs, user + system)
  }, lookEveryMs).unref()
  setInterval(() => {
    appendFileSync(path, `${(longestUs / 1000).toFixed(1)}\n`)
    longestUs = 0
  }, writeEveryMs).unref()
}
