/** Entry of the thread that evaluates rules. */

import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import { Engine, type EngineCommand, type EngineMessage } from './engine.ts'

lowerThreadPriority('below normal')

const port = parentPort
if (port === null) throw new Error('engine-thread.ts runs as a thread')

const engine = new Engine({
  post: (message: EngineMessage) => port.postMessage(message),
  later: call => void setImmediate(call),
})

port.on('message', (command: EngineCommand) => {
  if (command.kind === 'stop') port.close()
  else engine.take(command)
})
