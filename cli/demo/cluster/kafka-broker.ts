/** A broker as a child process, which can be killed, frozen, and started again on the same data and port. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runProgram } from '../../../store/process/find-program.ts'
import { logSize, logTail } from '../../../store/process/server-log.ts'
import { launch, type ServerProcess } from '../../../store/process/server-process.ts'
import type { KafkaJava } from './kafka-java.ts'

export interface KafkaBroker {
  /** `host:port`, for its clients. */
  address: string
  /** Resolves when it takes requests. It must not run. */
  start(): Promise<void>
  /** Sends SIGKILL and resolves when the process has ended. */
  kill(): Promise<void>
  /** The running process's pid. */
  pid(): number
  /** Sends SIGTERM, and SIGKILL when that takes too long. Resolves with the way in which the process has ended. */
  stop(): Promise<string | undefined>
}

export interface BrokerOptions {
  java: KafkaJava
  folder: string
  clusterId: string
  settings: string
  address: string
  /** Time that a stop may take. */
  stopTimeoutMs: number
}

const formatTimeoutMs = 120_000
const startTimeoutMs = 120_000
const pollMs = 50

/** Makes its files; `start` starts it. */
export async function createKafkaBroker({
  java,
  folder,
  clusterId,
  settings,
  address,
  stopTimeoutMs,
}: BrokerOptions): Promise<KafkaBroker> {
  const settingsPath = join(folder, 'server.properties')
  const logPath = join(folder, 'kafka.log')
  mkdirSync(folder, { recursive: true })
  writeFileSync(settingsPath, settings)
  const format = ['kafka.tools.StorageTool', 'format', `--cluster-id=${clusterId}`, '--config', settingsPath]
  const { ok, output } = await runProgram(java.command, [...java.args, ...format, '--ignore-formatted'], {
    environment: java.environment,
    timeoutMs: formatTimeoutMs,
  })
  if (!ok) throw new Error(`the folder of a broker cannot be made: ${output}`)
  let running: ServerProcess | undefined

  return {
    address,
    async start() {
      const from = logSize(logPath)
      const { command, args, environment } = java
      running = launch({
        command,
        args: [...args, 'kafka.Kafka', settingsPath],
        recordPath: join(folder, 'process'),
        logPath,
        environment,
        stopSteps: [
          { signal: 'SIGTERM', waitMs: stopTimeoutMs },
          { signal: 'SIGKILL', waitMs: 1000 },
        ],
      })
      const deadlineMs = performance.now() + startTimeoutMs
      while (!logTail(logPath, from).includes('Kafka Server started')) {
        if (running.ended() !== undefined || performance.now() > deadlineMs) {
          throw new Error(`a broker did not start (${running.ended() ?? 'too slow'}): ${logTail(logPath, from)}`)
        }
        await sleep(pollMs)
      }
    },
    async kill() {
      if (running !== undefined && running.ended() === undefined) process.kill(running.pid, 'SIGKILL')
      await running?.waitForEnd()
    },
    pid() {
      if (running === undefined) throw new Error('the broker has not been started')
      return running.pid
    },
    async stop() {
      await running?.stop()
      return running?.ended()
    },
  }
}
