/** The processes of Barograph in the cluster of the demo. */

import { mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Log } from '../../../store/log.ts'
import { freePort } from '../../../store/process/free-port.ts'
import { launch, type ServerProcess } from '../../../store/process/server-process.ts'
import { supervise } from '../../../store/process/supervisor.ts'

export interface Process {
  name: string
  role: 'api' | 'forward'
  port: number
  folder: string
  isReady: boolean
  running: ServerProcess | undefined
}

const root = resolve(import.meta.dirname, '..', '..', '..')
const pollMs = 500
const answerMs = 2000
const stopSteps = [
  { signal: 'SIGTERM', waitMs: 30_000 } as const,
  { signal: 'SIGKILL', waitMs: 1000 } as const,
] as const

export async function placeProcess(role: Process['role'], id: number, folder: string): Promise<Process> {
  const name = `${role}-${id}`
  const own = join(folder, name)
  mkdirSync(own, { recursive: true, mode: 0o700 })
  return { name, role, port: await freePort(), folder: own, isReady: false, running: undefined }
}

/** Restarts it whenever it ends. Returns a function that stops it. */
export function superviseProcess(
  one: Process,
  shared: Record<string, string | undefined>,
  log: Log,
): () => Promise<void> {
  const { name, role, port, folder } = one
  // Half of the processor time of loading the program.
  const compiled = { NODE_COMPILE_CACHE: join(dirname(folder), 'compiled') }
  const supervised = supervise({
    name,
    log,
    delayMsMax: 1000,
    start() {
      one.running = launch({
        command: process.execPath,
        args: [join(root, 'service', 'main.ts'), '--role', role],
        recordPath: `${folder}.process`,
        logPath: `${folder}.log`,
        environment: { ...shared, ...compiled, HOST: '127.0.0.1', PORT: String(port), DATA_DIR: folder },
        stopSteps,
      })
      return one.running
    },
    onEnd() {
      one.isReady = false
    },
  })
  return () => supervised.stop()
}

/** Polls like a load balancer. Returns a function that stops it. */
export function watchReadiness(processes: readonly Process[]): () => void {
  const timer = setInterval(() => {
    for (const one of processes) {
      void isReady(one.port).then(ready => {
        one.isReady = ready
      })
    }
  }, pollMs)
  return () => clearInterval(timer)
}

async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(answerMs) })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}
