/**
 * Loaded into a process by `--import`: every half second, writes the longest processor time of a turn of its main
 * thread, in milliseconds, as a line of the file that TURN_PROBE_FILE names. Unlike the delay of the event loop, it is
 * valid on a machine with other busy processes.
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
