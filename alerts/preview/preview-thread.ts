/** Starts the thread of the previews with the first one, and ends it after a minute without any. */

import { Worker } from 'node:worker_threads'
import type { AlertReadings } from '../../query/alerts/alert-queries.ts'
import { bug } from '../../store/limits/bug.ts'
import { threadEnvironment } from '../../store/thread-environment.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import type { PreviewCommand, PreviewJob, PreviewReply, PreviewResult } from './preview-job.ts'

export interface PreviewSession {
  /** Resolves when they are evaluated. The buffers change hands. */
  take(readings: AlertReadings): Promise<void>
  end(): Promise<PreviewResult>
  /** The caller calls this when its client has left. It has no effect after an end. */
  leave(): void
}

interface PreviewThread {
  begin(job: PreviewJob): PreviewSession
  close(): Promise<void>
}

interface Waiting {
  resolve(reply: PreviewReply): void
  reject(error: Error): void
}

const idleMs = 60_000

export function createPreviewThread(): PreviewThread {
  let worker: Worker | undefined
  let lastId = 0
  let idle: NodeJS.Timeout | undefined
  /** Each running session has the resolver of its next reply. */
  const sessions = new Map<number, Waiting | undefined>()

  function start(): Worker {
    const started = new Worker(new URL('./preview-worker.ts', import.meta.url), {
      name: 'alert previews',
      resourceLimits: threadLimits.analyses,
      env: threadEnvironment(),
      execArgv: [],
    })
    started.on('message', (reply: PreviewReply) => {
      const waiting = sessions.get(reply.id)
      if (sessions.has(reply.id)) sessions.set(reply.id, undefined)
      waiting?.resolve(reply)
    })
    const end = (error: Error) => {
      if (worker !== started) return
      worker = undefined
      for (const waiting of sessions.values()) waiting?.reject(error)
      sessions.clear()
    }
    started.on('error', error => end(error instanceof Error ? error : new Error(String(error))))
    started.on('exit', () => end(new Error('the thread of the previews has ended')))
    return started
  }

  function ask(command: PreviewCommand, transfer: readonly ArrayBuffer[] = []): Promise<PreviewReply> {
    return new Promise((resolve, reject) => {
      if (worker === undefined || !sessions.has(command.id)) {
        reject(new Error('the thread of the previews has ended'))
        return
      }
      if (sessions.get(command.id) !== undefined) throw bug(`preview ${command.id} asks twice at once`)
      sessions.set(command.id, { resolve, reject })
      worker.postMessage(command, [...transfer])
    })
  }

  function left(id: number): void {
    sessions.delete(id)
    if (sessions.size > 0) return
    idle = setTimeout(() => void stop(), idleMs).unref()
  }

  async function stop(): Promise<void> {
    clearTimeout(idle)
    const ending = worker
    worker = undefined
    for (const waiting of sessions.values()) waiting?.reject(new Error('the thread of the previews is closed'))
    sessions.clear()
    await ending?.terminate()
  }

  function begin(job: PreviewJob): PreviewSession {
    clearTimeout(idle)
    worker ??= start()
    const id = ++lastId
    sessions.set(id, undefined)
    worker.postMessage({ id, kind: 'begin', job } satisfies PreviewCommand)
    return {
      async take(readings) {
        await ask({ id, kind: 'readings', readings }, buffersOf(readings))
      },
      async end() {
        const reply = await ask({ id, kind: 'end' })
        left(id)
        if (reply.kind !== 'done') throw bug(`preview ${id} has ended with ${reply.kind}`)
        return reply.result
      },
      leave() {
        if (!sessions.has(id)) return
        worker?.postMessage({ id, kind: 'leave' } satisfies PreviewCommand)
        left(id)
      },
    }
  }

  return { begin, close: stop }
}

/** Several columns may lie in one. */
function buffersOf({ device, timesUs, values }: AlertReadings): ArrayBuffer[] {
  const buffers = [device, timesUs, ...values].map(({ buffer }) => buffer)
  return [...new Set(buffers)].filter(buffer => buffer instanceof ArrayBuffer)
}
