/** The load generator as the harness sees it. */

import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { TestHooks } from '../support/databases.ts'
import { freeze } from '../support/frozen.ts'
import { messageOf } from '../support/processes.ts'
import type { LoadCommand, LoadMessage, LoadOrder, LoadResult } from './load-order.ts'

export interface LoadProcess {
  revoked(device: string, password: string, atMs: number): void
  /** Nothing is sent until what it hands back is called. */
  pause(): () => void
  /** Waits for the answers that are outstanding. May be called twice. */
  stop(): Promise<LoadResult>
}

export async function startLoadProcess(t: TestHooks, order: LoadOrder): Promise<LoadProcess> {
  const child = fork(join(import.meta.dirname, 'load.ts'))
  t.teardown(() => child.kill('SIGKILL'))
  const send = (command: LoadCommand) => child.send(command)
  const result = new Promise<LoadResult>((resolve, reject) => {
    child.on('message', (message: LoadMessage) => {
      if (message.kind === 'stopped') resolve(message.result)
    })
    child.on('exit', code => {
      const fail = () => reject(new Error(`the load generator has ended with ${code}`))
      // Its last message may be read after its end is seen.
      if (child.connected) child.once('disconnect', fail)
      else fail()
    })
  })
  // Looked at when it is stopped.
  result.catch(() => undefined)
  let stopped = false
  send({ kind: 'start', order })
  await messageOf(child)
  return {
    revoked: (device, password, atMs) => send({ kind: 'revoked', device, password, atMs }),
    pause: () => freeze(child.pid as number),
    stop() {
      if (!stopped) send({ kind: 'stop' })
      stopped = true
      return result
    },
  }
}
