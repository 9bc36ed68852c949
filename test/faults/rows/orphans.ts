/** Row 27: whoever has started processes is killed, and nothing that was started is left. */

import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { familyOf, isRunning, parentOf, serverPid, until } from '../../support/processes.ts'
import type { Harness } from '../experiment.ts'
import { createHooks } from '../hooks.ts'
import type { Tally } from '../tally.ts'

/** A stop takes its seconds, and a busy machine makes many of them. */
const leftMsMax = 60_000
const ways = ['npm', 'service', 'service with frozen databases'] as const

export async function killParents(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    const folder = join(harness.folder, `orphans-${seed + cycle}`)
    mkdirSync(folder, { recursive: true, mode: 0o711 })
    await killOne(harness, tally, ways[cycle % ways.length] ?? 'npm', folder)
  }
}

async function killOne({ source }: Harness, tally: Tally, way: (typeof ways)[number], folder: string): Promise<void> {
  const hooks = createHooks()
  const child = spawn('npm', ['start', '--silent'], {
    cwd: source,
    env: { ...process.env, PORT: '0', DATA_DIR: folder, LOG_FORMAT: 'json' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const npm = child.pid ?? 0
  const started = () => [...new Set(familyOf(npm).flatMap(familyOf))]
  let pids: number[] = []
  hooks.teardown(() => {
    for (const pid of [...started(), ...pids].filter(isRunning)) process.kill(pid, 'SIGKILL')
  })
  try {
    let output = ''
    child.stdout.on('data', (text: Buffer) => (output += text.toString()))
    await until('the service listens', () => output.includes('"msg":"listening"') || child.exitCode !== null)
    const questdb = serverPid({ path: folder }, 'questdb')
    pids = started()
    if (way === 'service with frozen databases') {
      for (const pid of [questdb, serverPid({ path: folder }, 'postgres')]) process.kill(pid, 'SIGSTOP')
    }
    process.kill(way === 'npm' ? npm : parentOf(questdb), 'SIGKILL')
    tally.crashes++
    await untilGone(pids, tally, way)
  } finally {
    await hooks.undo()
  }
}

async function untilGone(pids: readonly number[], tally: Tally, way: string): Promise<void> {
  const startedMs = performance.now()
  while (pids.some(isRunning) && performance.now() - startedMs < leftMsMax) await sleep(20)
  const left = pids.filter(isRunning)
  const elapsedMs = Math.round(performance.now() - startedMs)
  if (left.length > 0) tally.problems.push(`${left.length} processes were left when ${way} was killed`)
  tally.notes.push(`${way} killed: the last process ended after ${elapsedMs} ms`)
}
