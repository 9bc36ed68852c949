/** The version in package.json. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'

export function packageVersion(): string {
  // The sources are one folder nearer to it than what the package holds.
  const file = findPackageJSON(import.meta.url)
  assert(file !== undefined, 'the program lies in a package')
  return JSON.parse(readFileSync(file, 'utf8')).version
}
