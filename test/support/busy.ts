/** A busy machine: two processes that never rest, and a random pause at the start of each Node that a test starts. */

import { spawn } from 'node:child_process'

const pauseMsMax = 1000
const pause = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * ${pauseMsMax})`
/** Threads have it, too. */
export const busyOptions = [`--import=data:text/javascript,${encodeURIComponent(pause)}`]

/** It checks once a second that its parent still exists. */
const spin = `import ${JSON.stringify(new URL('end-with-parent.ts', import.meta.url))}
  setInterval(() => { const endMs = Date.now() + 1000; while (Date.now() < endMs); }, 1)`

/** Keeps two processors busy until this process ends. */
export function keepBusy(): void {
  const words = ['--input-type=module', '--eval', spin]
  for (let i = 0; i < 2; i++) spawn(process.execPath, words, { stdio: 'ignore' }).unref()
}
