/** State of the demo between runs: credentials, and the ends of stored series. */

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'

const DemoState = z.object({
  /** Keys are names of devices. */
  passwords: z.record(z.string(), z.string()),
  /** Time of the first start. Defects of devices begin relative to it. */
  startedMs: z.number().optional(),
  /** History is complete up to this moment. */
  filledUntilMs: z.number().optional(),
  /** Owner of the air-quality stations. */
  account: z.object({ email: z.string(), password: z.string(), key: z.string() }).optional(),
  /** Keys are `sn`. All data points before this minute of the epoch are stored. */
  pointsUntil: z.record(z.string(), z.int()).default({}),
})
export type DemoState = z.infer<typeof DemoState>

const ownerOnly = 0o600

export function readDemoState(dataDirectory: string): DemoState {
  const path = statePath(dataDirectory)
  if (!existsSync(path)) return { passwords: {}, pointsUntil: {} }
  return DemoState.parse(JSON.parse(readFileSync(path, 'utf8')))
}

/** Writes the API key to a file of its own too, for scripts. */
export function writeDemoState(dataDirectory: string, state: DemoState): void {
  writePrivately(statePath(dataDirectory), JSON.stringify(state, undefined, 2))
  if (state.account !== undefined) writePrivately(apiKeyPath(dataDirectory), `${state.account.key}\n`)
}

/** Replaces the file in one step, so that a kill in the middle leaves the old one. */
function writePrivately(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.new`, text, { mode: ownerOnly })
  chmodSync(`${path}.new`, ownerOnly)
  renameSync(`${path}.new`, path)
}

function statePath(dataDirectory: string): string {
  return join(dataDirectory, 'demo', 'state.json')
}

function apiKeyPath(dataDirectory: string): string {
  return join(dataDirectory, 'demo', 'api-key')
}
