/** A file with the whole seconds by which the clocks of all processes that read it are ahead: empty or missing for none. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'

export function clockFileMs(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8')) * 1000
  } catch {
    return 0
  }
}

/** At one moment for all of them. */
export function setClockFile(path: string, aheadSeconds: number): void {
  writeFileSync(`${path}.new`, String(aheadSeconds))
  renameSync(`${path}.new`, path)
}
