/** How V8 is told to keep house. */

import { setFlagsFromString } from 'node:v8'

/**
 * What Node is started with. Without a limit V8 grows the room for short-lived values to 130 MB in a service that has
 * been busy once; with it to a quarter, at the same speed. `gc` is for the end of the start (main.ts).
 */
export const nodeFlags = ['--expose-gc', '--max-semi-space-size=16']

/** MB. An analysis thread keeps some 10; with 64 in place of 32 it grew by 77 while it was busy. */
const threadRoom = 32

/** What holds for the other threads; the main thread has its heap already and keeps to it. */
export function setThreadFlags(): void {
  // The limit of the command line would hold for every thread in place of the thread's own.
  setFlagsFromString('--max-semi-space-size=0')
  // Left to itself V8 searches all of a thread's memory for garbage when it has grown by some 10 MB: once with nearly
  // every analysis, and with helpers that take the core which the analysis runs on.
  setFlagsFromString(`--initial-old-space-size=${threadRoom}`)
}
