/** What the programs of the long tests have printed, for who wants to read it: in test/long/printed/. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, 'printed')

export function keepPrinted(file: string, text: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, file), text)
}
