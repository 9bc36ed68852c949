/** Writes the output of the long tests' programs to test/long/printed/. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, 'printed')

export function keepPrinted(file: string, text: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, file), text)
}
