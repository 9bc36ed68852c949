/** A copy of the source with some changes, which a service can be started from. */

import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { productionFolders } from '../support/production-folders.ts'

export interface Change {
  file: string
  from: string
  to: string
}

const copied = [...productionFolders, 'docs', 'theme', 'package.json']

/** Throws when what is to be changed is not there. */
export function copySource(from: string, to: string, changes: Change[]): void {
  for (const name of copied) cpSync(join(from, name), join(to, name), { recursive: true })
  symlinkSync(join(from, 'node_modules'), join(to, 'node_modules'))
  for (const change of changes) {
    const path = join(to, change.file)
    const text = readFileSync(path, 'utf8')
    if (text.split(change.from).length !== 2) throw new Error(`${change.file} does not have this once: ${change.from}`)
    writeFileSync(
      path,
      text.replace(change.from, () => change.to),
    )
  }
}
