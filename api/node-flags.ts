/** How V8 is told to keep house. */

import { setFlagsFromString } from 'node:v8'

/**
 * What Node is started with. Without a limit V8 grows the room for short-lived values to 130 MB in a service that has
 * been busy once; with it to a quarter, at the same speed. `gc` is for the end of the start (main.ts).
 */
export const nodeFlags = ['--expose-gc', '--max-semi-space-size=16']

/** MB. Twice what an analysis thread keeps, and half of what it may grow by. */
const threadRoom = 32

/** What holds for the other threads; the main thread has its heap already and keeps to it. */
export function setThreadFlags(): void {
  // The limit of the command line would hold for every thread in place of the thread's own.
  setFlagsFromString('--max-semi-space-size=0')
  // Left to itself V8 searches the whole memory of a thread for garbage whenever a few megabytes were taken, typed
  // arrays included: once with every analysis, half of the time by helpers that the analysis then waits for.
  setFlagsFromString(`--initial-old-space-size=${threadRoom}`)
}
