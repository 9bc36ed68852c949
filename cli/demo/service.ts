/** The service as a child of the demo: started as `npm start` does it, watched, and stopped with it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

export interface DemoService {
  /** Resolves when readings are accepted. If the start fails, the service logs the reason. */
  started: Promise<Started>
  /** Resolves with the exit status when the service has ended, for whatever reason. */
  ended: Promise<number>
  stop(): Promise<void>
}

export interface Started {
  url: string
  /** The address for which the local admin token is valid, and the data directory with the token. */
  admin: { url: string; dataDirectory: string }
  token: string
}

export interface DemoServiceOptions {
  dataDirectory: string
  environment: Record<string, string | undefined>
  signal: AbortSignal
  /** Receives the service's log, a sentence at a time. */
  onLine: (sentence: string) => void
}

const root = resolve(import.meta.dirname, '..', '..')
const pollMs = 250

export function startDemoService(options: DemoServiceOptions): DemoService {
  const { dataDirectory, environment, signal, onLine } = options
  const child = spawn(process.execPath, ['service/main.ts'], {
    cwd: root,
    // The service ends with the demo, which signs in to get an API key.
    env: {
      ...environment,
      DATA_DIR: dataDirectory,
      LOG_FORMAT: 'json',
      PARENT_PID: String(process.pid),
      AUTH_HOST: 'on',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = endOf(child)

  async function start(): Promise<Started> {
    const url = await Promise.race([listening(child, onLine), ended])
    if (typeof url === 'number') throw new Error('The service did not start.')
    await ready(url, signal)
    const admin = { url, dataDirectory }
    return { url, admin, token: readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim() }
  }

  return {
    started: start(),
    ended,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function endOf(child: ChildProcess): Promise<number> {
  const [status] = await once(child, 'exit')
  return typeof status === 'number' ? status : 1
}

/** Reads the log of the service for as long as it runs; resolves with the address in it. */
function listening(child: ChildProcess, onLine: (sentence: string) => void): Promise<string> {
  return new Promise(resolve => {
    if (child.stdout === null) return
    createInterface({ input: child.stdout }).on('line', line => {
      const { msg, url, setupUrl } = readLogLine(line)
      // The demo makes an administrator of its own.
      if (setupUrl === undefined) onLine(msg)
      if (msg === 'listening' && url !== undefined) resolve(url)
    })
  })
}

const LogLine = z.object({ msg: z.string(), url: z.string().optional(), setupUrl: z.string().optional() })

function readLogLine(line: string): z.infer<typeof LogLine> {
  try {
    return LogLine.parse(JSON.parse(line))
  } catch {
    return { msg: line }
  }
}

async function ready(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/health/ready`, { signal })
    await response.text()
    if (response.ok) return
    await sleep(pollMs, undefined, { signal })
  }
}

/** Waits until the imported readings are visible to queries, with a timeout; returns whether they are. */
export async function visible(url: string, msMax: number, signal: AbortSignal): Promise<boolean> {
  const deadlineMs = Date.now() + msMax
  while (Date.now() < deadlineMs) {
    const metrics = await (await fetch(`${url}/metrics`, { signal })).text()
    if (/^barograph_lag_readings 0$/m.test(metrics)) return true
    await sleep(pollMs, undefined, { signal })
  }
  return false
}
