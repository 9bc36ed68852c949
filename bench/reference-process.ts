/** The Python process of a benchmark: reads commands and writes results, one JSON line each. */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Hooks } from './measure.ts'

export interface Reference {
  /** The versions that it runs with. */
  readonly versions: unknown
  ask(order: object): Promise<unknown>
}

export async function startReference(hooks: Hooks, python: string, file: string): Promise<Reference> {
  const script = join(import.meta.dirname, 'reference', file)
  const child = spawn(python, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  hooks.teardown(() => child.kill())
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`${python} ended with ${code}; see bench/reference/requirements.txt`)))
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const answer = async () => {
    const { value } = await Promise.race([lines.next(), failed])
    return JSON.parse(value as string)
  }
  const versions = await answer()
  return {
    versions,
    ask(order) {
      child.stdin.write(`${JSON.stringify(order)}\n`)
      return answer()
    },
  }
}
