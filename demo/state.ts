/** State of the demo between runs: passwords, time offsets of the records, and the end of the imported history. */

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'

const DemoState = z.object({
  /** By device. */
  passwords: z.record(z.string(), z.string()),
  /** How far each record was moved, by device, so that a later run continues the same one. */
  shiftsMs: z.record(z.string(), z.number()),
  /** History is complete up to this moment. */
  filledUntilMs: z.number().optional(),
})
export type DemoState = z.infer<typeof DemoState>

const ownerOnly = 0o600

export function readDemoState(dataDirectory: string): DemoState {
  const path = statePath(dataDirectory)
  if (!existsSync(path)) return { passwords: {}, shiftsMs: {} }
  return DemoState.parse(JSON.parse(readFileSync(path, 'utf8')))
}

/** In one step, so that a kill in the middle leaves the old one. */
export function writeDemoState(dataDirectory: string, state: DemoState): void {
  const path = statePath(dataDirectory)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.new`, JSON.stringify(state, undefined, 2), { mode: ownerOnly })
  chmodSync(`${path}.new`, ownerOnly)
  renameSync(`${path}.new`, path)
}

function statePath(dataDirectory: string): string {
  return join(dataDirectory, 'demo', 'state.json')
}
