/**
 * Runs one test file: `node test/support/test-file.ts FILE`, a path or an URL. tap ends the root test once no test has been
 * open for three timers, and loses the tests of a part that still waits at its top level. Here, the root test stays open until
 * every part is loaded.
 */

import './end-with-parent.ts'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { processorSecondsOf } from './processor-time.ts'

// The runner cannot separate it from the processes that it lends.
process.once('exit', () => {
  const seconds = processorSecondsOf('self') + processorSecondsOf('children')
  process.stdout.write(`# processor time: ${seconds.toFixed(2)} s\n`)
})

// The file sees the arguments that it would have without this one.
process.argv.splice(1, 1)
const [, file = ''] = process.argv
Object.defineProperty(t, 'idle', { configurable: true, value: false })
await import(new URL(file, pathToFileURL('./')).href)
Reflect.deleteProperty(t, 'idle')
t.emit('idle')
