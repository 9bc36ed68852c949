/** The thread of the previews: each is a run of its own, and they take turns by the pieces that come in. */

import { parentPort } from 'node:worker_threads'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { bug } from '../../store/limits/bug.ts'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import type { PreviewCommand, PreviewReply } from './preview-job.ts'
import { PreviewRun } from './preview-run.ts'

if (parentPort === null) throw bug('it is a thread')
const port = parentPort
lowerThreadPriority('below normal')
const runs = new Map<number, PreviewRun>()
const reply = (message: PreviewReply) => port.postMessage(message)

port.on('message', (command: PreviewCommand) => {
  const { id, kind } = command
  if (kind === 'begin') {
    runs.set(id, new PreviewRun(command.job, createLocalTime(command.job.timeZone)))
    return
  }
  const run = runs.get(id)
  if (run === undefined) throw bug(`unknown preview ${id}`)
  if (kind === 'readings') {
    run.take(command.readings)
    reply({ id, kind: 'taken' })
    return
  }
  runs.delete(id)
  if (kind === 'end') reply({ id, kind: 'done', result: run.end() })
})
