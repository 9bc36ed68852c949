/** Every regular expression literal in the folders that run in production. */

import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join, resolve } from 'node:path'
import { tokenizer } from 'acorn'
import { productionFolders } from './production-folders.ts'

const root = resolve(import.meta.dirname, '../..')

export interface SourceRegexp {
  /** `service/settings/config.ts:14` */
  place: string
  regexp: RegExp
}

export function sourceFiles(): { file: string; text: string }[] {
  return productionFolders.flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map(name => ({ file: join(folder, name), text: readFileSync(join(root, folder, name), 'utf8') })),
  )
}

export function regexpsIn(file: string, text: string): SourceRegexp[] {
  const found: SourceRegexp[] = []
  // Types become blanks, so lines keep their numbers.
  const script = stripTypeScriptTypes(text, { mode: 'strip' })
  const tokens = tokenizer(script, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    allowHashBang: true,
    locations: true,
  })
  for (const token of tokens) {
    if (token.type.label !== 'regexp') continue
    const { pattern, flags } = (token as unknown as { value: { pattern: string; flags: string } }).value
    found.push({ place: `${file}:${token.loc?.start.line}`, regexp: new RegExp(pattern, flags) })
  }
  return found
}
