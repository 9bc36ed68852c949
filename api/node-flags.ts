/** How V8 is told to keep house. */

import { setFlagsFromString } from 'node:v8'

/**
 * What Node is started with. Without a limit V8 grows the room for short-lived values to 130 MB in a service that has
 * been busy once; with it to a quarter, at the same speed. `gc` is for the end of the start (main.ts).
 */
export const nodeFlags = ['--expose-gc', '--max-semi-space-size=16']

/**
 * The limit of the command line holds for every thread in place of the thread's own, unless it is lifted. The main thread
 * has its heap already and keeps to it.
 */
export function leaveThreadsTheirOwnLimits(): void {
  setFlagsFromString('--max-semi-space-size=0')
}
