/** Copies the source with some changes, as a folder from which a service can start. */

import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { productionFolders } from '../support/production-folders.ts'

export interface Change {
  file: string
  from: string
  to: string
}

const copied = [...productionFolders, 'docs', 'web/theme', 'web/words', 'package.json']

export function copySource(from: string, to: string, changes: readonly Change[]): void {
  const texts = changedTexts(from, changes)
  for (const name of copied) cpSync(join(from, name), join(to, name), { recursive: true })
  symlinkSync(join(from, 'node_modules'), join(to, 'node_modules'))
  for (const [file, text] of texts) writeFileSync(join(to, file), text)
}

export function changedTexts(from: string, changes: readonly Change[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const { file, from: before, to: after } of changes) {
    const text = texts.get(file) ?? readFileSync(join(from, file), 'utf8')
    if (text.split(before).length !== 2) throw new Error(`${file} does not have this once: ${before}`)
    texts.set(
      file,
      text.replace(before, () => after),
    )
  }
  return texts
}
